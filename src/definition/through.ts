import type { Mistake } from '../checks/mistakes.ts'
import { listed, suggestion } from '../checks/nearest-name.ts'
import { isPlainObject } from '../checks/plain-object.ts'
import { keyNamesOf, type CollectionDefinition } from './collection.ts'
import { isThrough, type Through } from './conditions.ts'
import { fieldOf, type Field } from './field.ts'
import { isServed } from './serve.ts'

/** Returns the fields of a condition through another collection, in the order of its key. */
export function throughFields({ field, fields }: Through): readonly string[] {
  return fields ?? (field === undefined ? [] : [field])
}

/** Returns the mistake in a condition of a collection through another one; undefined if there is none. */
export function throughMistake(
  from: CollectionDefinition,
  given: Through,
  to: CollectionDefinition | undefined,
): Mistake | undefined {
  const unknown = Object.keys(given).find((name) => !members.includes(name))
  if (unknown !== undefined)
    return { place: unknown, advice: `leave it out; ${suggestion(unknown, members)}` }
  const { collection: target, field, fields } = given
  if (to === undefined) {
    return { place: 'collection', advice: 'must be a collection of the same application' }
  }
  if (isServed(from)) {
    return {
      place: 'collection',
      advice: 'a served collection is not in the database: write a function',
    }
  }
  if (isServed(to)) {
    return {
      place: 'collection',
      advice: `${target} is served by functions, and not in the database`,
    }
  }
  const place = fields === undefined ? 'field' : 'fields'
  if ((field === undefined) === (fields === undefined)) {
    return { place: 'field', advice: 'name either field, or fields for a composite key' }
  }
  const key = keyNamesOf(to)
  const names = throughFields(given)
  if (key.length === 0 || names.length !== key.length) {
    const parts = key.length === 0 ? 'has no key' : `has the key ${listed(key)}`
    return { place, advice: `${target} ${parts}: name one field for each part` }
  }
  for (const [index, name] of names.entries()) {
    const own = fieldOf(from.fields, name)
    const part = to.fields[key[index] as string] as Field
    if (own === undefined) {
      return {
        place,
        advice: `${name} is not a field; ${suggestion(name, Object.keys(from.fields), 'fields')}`,
      }
    }
    if (formOf(own) === formOf(part)) continue
    return {
      place,
      advice: `${name} must be ${formOf(part)}, as ${key[index] as string} of ${target} is`,
    }
  }
  return undefined
}

const members = ['field', 'fields', 'collection']

/** Describes what decides the stored form of a value. Equal values have equal forms. */
function formOf(field: Field): string {
  const scale = field.type === 'decimal' ? ` with scale ${field.scale}` : ''
  const { storedAs } = field as { readonly storedAs?: string | undefined }
  const stored = storedAs === undefined ? '' : ` stored as ${storedAs}`
  return `a field of type ${field.type}${scale}${stored}`
}

/** Returns the names of the collections that a row rule goes through, if it is data. */
export function throughTargets({ rows }: Pick<CollectionDefinition, 'rows'>): readonly string[] {
  if (rows === undefined || typeof rows === 'function') return []
  return [...targetsIn({ through: rows.through }), ...targetsIn(rows.where)]
}

function targetsIn(given: unknown): readonly string[] {
  if (Array.isArray(given)) return given.flatMap(targetsIn)
  if (!isPlainObject(given)) return []
  return Object.entries(given).flatMap(([name, value]) => {
    if (name !== 'through') return targetsIn(value)
    const all: readonly unknown[] = Array.isArray(value) ? value : [value]
    return all.filter(isThrough).map(({ collection }) => collection)
  })
}
