import { withoutZeroFraction } from '../definition/calendar.ts'
import type { Field } from '../definition/field.ts'
import type { PublishedCollection, PublishedField } from '../definition/published.ts'
import { acceptedType } from './accepted.ts'
import type { ItemValues } from './query.ts'

/**
 * A new item: the given values, and where there is none the field's default, generated value or
 * null. Throws a TypeError when a default of the host has a wrong type.
 */
export function completeItem(
  collection: PublishedCollection,
  given: Readonly<ItemValues>,
  now: () => Date,
): ItemValues {
  const item: ItemValues = {}
  for (const field of collection.fields) {
    item[field.name] = field.name in given ? (given[field.name] ?? null) : defaultOf(field, now)
  }
  return item
}

function defaultOf(field: PublishedField, now: () => Date): ItemValues[string] {
  if (field.generated === 'uuid') return crypto.randomUUID()
  if (field.generated === 'now') return timeOf(field.type, now())
  const declared = (field.definition as { readonly default?: unknown }).default
  const value: unknown = typeof declared === 'function' ? (declared as () => unknown)() : declared
  if (value === undefined || value === null) return null
  return acceptedType(field, value)
}

function timeOf(type: Field['type'], now: Date): string {
  const instant = now.toISOString()
  if (type === 'date') return instant.slice(0, 10)
  return withoutZeroFraction(type === 'dateTime' ? instant.slice(0, -1) : instant)
}
