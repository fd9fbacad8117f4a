import type { Bounds, FieldTypeName, TextOptions } from '../definition/field.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { Json } from '../protocol/json.ts'
import type { DescribedCollection } from './described.ts'
import { isRequired, writableFields } from './item-schemas.ts'

/** The values of an example by field. */
export type Example = Readonly<Record<string, Json>>

/**
 * Returns an example of the value of a field: the example of the definition, or one that follows from its enumeration,
 * default, minimum or type. Returns undefined if that would not satisfy the definition, as with a pattern.
 */
export function exampleOf(field: PublishedField): Json | undefined {
  const { definition, type } = field
  const { example, enumeration, default: byDefault } = definition
  const { minimum } = definition as Bounds<Json>
  const hasDefault = typeof byDefault !== 'function' && byDefault !== 'database'
  const value =
    example ??
    enumeration?.[0] ??
    (hasDefault ? byDefault : undefined) ??
    minimum ??
    (type === 'text' ? textExample(field) : typeExamples[type])
  const isValid = field.check(value).length === 0
  return isValid ? field.show(field.store(value)) : undefined
}

/** Returns an example of an item; undefined if a required field has no example. */
export function itemExample(fields: Iterable<PublishedField>): Example | undefined {
  return complete(
    Array.from(fields, (field) => [
      field.name,
      field.required ? exampleOf(field) : (declaredExample(field) ?? null),
    ]),
  )
}

/** Returns an example of a new item; undefined if a required field has no example. */
export function insertExample(described: DescribedCollection): Example | undefined {
  return complete(
    writableFields(described, 'Insert').flatMap((field) => {
      const isNeeded = isRequired(described, field)
      const example = isNeeded ? exampleOf(field) : declaredExample(field)
      return isNeeded || example !== undefined ? [[field.name, example]] : []
    }),
  )
}

/** Returns an example of an update, of the last field that has one; undefined if no field has one. */
export function updateExample(described: DescribedCollection): Example | undefined {
  const last = writableFields(described, 'Update').findLast(
    (field) => declaredExample(field) !== undefined,
  )
  return last && complete([[last.name, declaredExample(last)]])
}

function declaredExample(field: PublishedField): Json | undefined {
  const { example } = field.definition
  return example === undefined ? undefined : field.show(field.store(example))
}

function complete(entries: readonly (readonly [string, Json | undefined])[]): Example | undefined {
  if (entries.some(([, value]) => value === undefined)) return undefined
  return Object.fromEntries(entries) as Example
}

// Its name, as long as the field allows.
function textExample({ name, definition }: PublishedField): string {
  const { minLength = 0, maxLength = Infinity } = definition as TextOptions
  const characters = Array.from(name.padEnd(Math.min(minLength, maxExampleLength), 'x'))
  return characters.slice(0, maxLength).join('')
}

const maxExampleLength = 1000

const typeExamples: Readonly<Record<Exclude<FieldTypeName, 'text'>, Json>> = {
  integer: 1,
  bigint: '1',
  decimal: '1',
  double: 1,
  boolean: true,
  date: '2026-01-31',
  time: '12:00:00',
  dateTime: '2026-01-31T12:00:00',
  instant: '2026-01-31T12:00:00Z',
  uuid: '018f4e9c-2a6b-7c3d-9e4f-5a6b7c8d9e0f',
  json: {},
}
