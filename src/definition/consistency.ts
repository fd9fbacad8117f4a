import type { ApplicationDefinitions } from './application.ts'
import type { Mistake } from './mistake.ts'
import type { CollectionDefinition } from './collection.ts'
import { compileConstraints } from './constraints.ts'
import type { Bounds, DecimalOptions, Field, TextOptions } from './field.ts'
import { fieldTypes } from './field-type.ts'
import { pageMistakes } from './page-mistakes.ts'
import { isPattern } from './pattern.ts'
import { publishableEvents } from './published.ts'
import { unreadableOrder } from './readable-order.ts'
import { rightsMistakes } from './rights-mistakes.ts'
import { sharedTableMistakes } from './shared-tables.ts'
import type { Json } from '../protocol/json.ts'

/** What is wrong with well-formed applications: names that fit nothing, values that can't be. */
export function inconsistencies(
  applications: ApplicationDefinitions,
  maximumPageSize: number,
): readonly Mistake[] {
  const mistakes = Object.entries(applications).flatMap(([name, application]) =>
    Object.entries(application.collections).flatMap(([collection, definition]) => {
      const place = `applications.${name}.collections.${collection}`
      return [
        ...checkCollection(definition, maximumPageSize),
        ...unreadableOrder(application, definition),
      ].map((mistake) => ({ place: `${place}.${mistake.place}`, advice: mistake.advice }))
    }),
  )
  return [...mistakes, ...sharedTableMistakes(applications)]
}

function checkCollection(
  collection: CollectionDefinition,
  maximumPageSize: number,
): readonly Mistake[] {
  const names = Object.keys(collection.fields)
  if (names.length === 0) return [{ place: 'fields', advice: 'declare at least one field' }]
  return [
    ...checkKey(collection),
    ...Object.entries(collection.fields).flatMap(([name, field]) =>
      checkField(field).map(({ place, advice }) => ({ place: `fields.${name}.${place}`, advice })),
    ),
    ...checkColumns(collection),
    ...pageMistakes(collection, maximumPageSize),
    ...checkRules(collection),
    ...rightsMistakes(collection),
  ]
}

function checkKey(collection: CollectionDefinition): readonly Mistake[] {
  const { key, fields, publishes = [] } = collection
  const names = typeof key === 'string' ? [key] : (key ?? [])
  const mistakes: Mistake[] = []
  for (const name of names) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) {
      const known = Object.keys(fields).join(', ')
      mistakes.push({ place: 'key', advice: `${name} is no field; the fields are ${known}` })
    } else if (!fieldTypes[field.type].filterable || field.type === 'double') {
      mistakes.push({
        place: 'key',
        advice: `a ${field.type} field like ${name} can not be in a key`,
      })
    }
  }
  if (new Set(names).size < names.length)
    mistakes.push({ place: 'key', advice: 'name each field once' })
  for (const event of publishes) {
    if (publishableEvents(collection).includes(event)) continue
    const advice =
      collection.singleton === true
        ? `a singleton can't publish ${event}: leave it out`
        : `${event} needs a key: declare one, or leave it out`
    mistakes.push({ place: 'publishes', advice })
  }
  for (const [name, field] of Object.entries(fields)) {
    if (!('generated' in field) || field.generated !== 'database') continue
    if (names.length === 1 && names[0] === name) continue
    const advice = 'the database numbers only a field that is the whole key'
    mistakes.push({ place: `fields.${name}.generated`, advice })
  }
  return mistakes
}

function checkField(field: Field): readonly Mistake[] {
  const { minLength = 0, maxLength = Infinity, pattern } = field as TextOptions
  const { minimum, maximum } = field as Bounds<Json>
  const declared = field as { readonly default?: unknown; readonly generated?: string }
  const { precision, scale } = field as DecimalOptions
  const mistakes: Mistake[] = []
  if (field.type === 'decimal' && scale > precision) {
    return [{ place: 'scale', advice: `must be at most the precision, ${precision}` }]
  }
  if (minLength > maxLength)
    mistakes.push({ place: 'minLength', advice: 'must be at most maxLength' })
  if (pattern !== undefined && !isPattern(pattern)) {
    mistakes.push({ place: 'pattern', advice: 'must be a regular expression in Unicode mode' })
  }
  const values: readonly (readonly [string, unknown])[] = [
    ['minimum', minimum],
    ['maximum', maximum],
    ['default', typeof declared.default === 'function' ? undefined : declared.default],
    ...(field.enumeration ?? []).map((value) => ['enumeration', value] as const),
  ]
  const { accepts, mustBe, compare, store } = fieldTypes[field.type]
  for (const [place, value] of values) {
    if (value === undefined || (value === null && place === 'default')) continue
    if (!accepts(value as Json, field)) mistakes.push({ place, advice: `must be ${mustBe(field)}` })
  }
  if (
    mistakes.length === 0 &&
    minimum !== undefined &&
    maximum !== undefined &&
    compare !== undefined
  ) {
    const apart = compare(store(minimum, field), store(maximum, field))
    if (apart > 0) mistakes.push({ place: 'minimum', advice: 'must be at most maximum' })
  }
  if (declared.generated !== undefined && declared.default !== undefined) {
    mistakes.push({ place: 'default', advice: 'leave it out, or leave out generated' })
  }
  return mistakes.length > 0 ? mistakes : checkDefault(field, declared.default)
}

// A default that breaks the field's own constraints would be stored without anyone looking.
function checkDefault(field: Field, value: unknown): readonly Mistake[] {
  if (value === undefined || typeof value === 'function') return []
  // A pattern is evaluated by a check of its own.
  const { pattern: _pattern, ...others } = field as TextOptions & Field
  const faults = compileConstraints({ it: others })({ it: value })
  return faults.map(({ message }) => ({
    place: 'default',
    advice: message.replace(/^it /, '').replace(/\.$/, ''),
  }))
}

function checkColumns({ fields }: CollectionDefinition): readonly Mistake[] {
  const seen = new Map<string, string>()
  return Object.entries(fields).flatMap(([name, field]) => {
    const column = (field.column ?? name).toLowerCase()
    const other = seen.get(column)
    seen.set(column, name)
    if (other === undefined) return []
    const advice = `${other} is kept in the same column; give one of them another (option column)`
    return [{ place: `fields.${name}`, advice }]
  })
}

function checkRules({ validations = [], fields }: CollectionDefinition): readonly Mistake[] {
  const names = new Set<string>()
  return validations.flatMap((rule, index) => {
    const place = `validations.${index}`
    const mistakes: Mistake[] = []
    if (names.has(rule.name)) {
      mistakes.push({
        place: `${place}.name`,
        advice: `another rule is called ${rule.name} already`,
      })
    }
    names.add(rule.name)
    if (rule.field !== undefined && !Object.hasOwn(fields, rule.field)) {
      const known = Object.keys(fields).join(', ')
      mistakes.push({
        place: `${place}.field`,
        advice: `${rule.field} is no field; the fields are ${known}`,
      })
    }
    return mistakes
  })
}
