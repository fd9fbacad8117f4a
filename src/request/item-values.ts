import { hasFraction, withoutZeroFraction } from '../definition/value-forms.ts'
import { suggestion } from '../checks/nearest-name.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { Json } from '../protocol/json.ts'
import type { ItemValues } from './query.ts'

/**
 * Returns a new item: the given values, completed with generated values, defaults and null. Throws a
 * TypeError if a default function returns a value of a wrong type, or one that breaks a constraint.
 * Defaults that are values are checked at start.
 */
export function completeItem(
  collection: PublishedCollection,
  given: Readonly<ItemValues>,
  now: () => Date,
): ItemValues {
  const item: ItemValues = {}
  let computed: ItemValues | undefined
  for (const field of collection.fields) {
    const { name } = field
    const value = given[name]
    if (value !== undefined) item[name] = value
    else {
      item[name] = defaultOf(field, now)
      if (typeof field.definition.default === 'function') (computed ??= {})[name] = item[name]
    }
  }
  if (computed !== undefined) requireValid(collection, computed)
  return item
}

/** Returns an error for each constraint that a value of an item does not satisfy, in definition order. */
export function constraintFaults(
  { fields }: PublishedCollection,
  item: Readonly<ItemValues>,
): readonly ValidationEntry[] {
  return fields.flatMap(({ name, check }) => check(item[name]))
}

/**
 * Returns the canonical form of an item that a handler may have changed. Throws a TypeError for unknown
 * fields and wrong types.
 */
export function acceptedItem(
  collection: PublishedCollection,
  item: Readonly<ItemValues>,
): ItemValues {
  const accepted: ItemValues = {}
  for (const name of Object.keys(item)) {
    const value: unknown = item[name]
    const field = fieldOf(collection, name)
    accepted[name] = value === null || value === undefined ? null : field.accept(value)
  }
  return accepted
}

/**
 * Returns the canonical form of an item that a `before` handler may have changed; `stored` is null for a new one. Throws
 * a TypeError for unknown fields, wrong types and another key than the stored one.
 */
export function changedItem(
  collection: PublishedCollection,
  item: Readonly<ItemValues>,
  stored: Readonly<ItemValues> | null,
): ItemValues {
  const accepted = acceptedItem(collection, item)
  if (stored === null) return accepted
  for (const { name, store } of collection.key) {
    if (store(accepted[name]) !== store(stored[name])) {
      throw new TypeError(
        `The field ${name} is part of the key of a stored item, which can't change.`,
      )
    }
  }
  return accepted
}

/** Returns a copy of an item that application code may change, also within its json values. */
export function ownCopy(
  { hasJson, fields }: PublishedCollection,
  item: Readonly<ItemValues>,
): ItemValues {
  const copy: ItemValues = Object.assign({}, item)
  if (!hasJson) return copy
  for (const { name, type, show, store } of fields) {
    if (type === 'json' && copy[name] !== undefined) copy[name] = show(store(copy[name]))
  }
  return copy
}

/** Returns a copy of an item that can't be changed, not even within its json values. */
export function frozenCopy(
  collection: PublishedCollection,
  item: Readonly<ItemValues>,
): Readonly<ItemValues> {
  const copy = ownCopy(collection, item)
  if (collection.hasJson) Object.values(copy).forEach(freezeJson)
  return Object.freeze(copy)
}

function freezeJson(value: Json | undefined): void {
  if (typeof value !== 'object' || value === null) return
  Object.values(value).forEach(freezeJson)
  Object.freeze(value)
}

/** Returns a field by name. Throws a TypeError that suggests the nearest name if it is unknown. */
export function fieldOf(collection: PublishedCollection, name: string): PublishedField {
  const field = collection.byName.get(name)
  if (field === undefined) throw unknownFieldError(collection, name)
  return field
}

/** Returns the error for a name that is not a field, with the nearest name. */
export function unknownFieldError(collection: PublishedCollection, name: string): TypeError {
  if (collection.responseFields.has(name)) {
    return new TypeError(
      `The field ${name} of ${collection.name} is computed, so it can't be filtered or saved.`,
    )
  }
  const advice = suggestion(name, collection.allNames, 'fields')
  return new TypeError(`The collection ${collection.name} has no field ${name}; ${advice}`)
}

function defaultOf(field: PublishedField, now: () => Date): ItemValues[string] {
  if (field.generated === 'uuid') return crypto.randomUUID()
  if (field.generated === 'now') return timeOf(field, now())
  if (field.hasColumnDefault) return null
  const declared = (field.definition as { readonly default?: unknown }).default
  const value: unknown = typeof declared === 'function' ? (declared as () => unknown)() : declared
  if (value === undefined || value === null) return null
  return field.accept(value)
}

function requireValid(collection: PublishedCollection, computed: ItemValues): void {
  const [first] = constraintFaults(collection, computed)
  if (first === undefined) return
  throw new TypeError(
    `The default function of ${collection.application}/${collection.name}.${first.field} returned a value that the field does not accept: ${first.message}`,
  )
}

function timeOf({ type, definition }: PublishedField, now: Date): string {
  const complete = now.toISOString()
  if (type === 'date') return complete.slice(0, 10)
  const instant = hasFraction(definition) ? complete : `${complete.slice(0, 19)}Z`
  return withoutZeroFraction(type === 'dateTime' ? instant.slice(0, -1) : instant)
}
