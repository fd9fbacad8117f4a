import { hasFraction, withoutZeroFraction } from '../definition/value-forms.ts'
import type { Field } from '../definition/field.ts'
import { suggestion } from '../checks/nearest-name.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { Json } from '../protocol/json.ts'
import { runtime } from '../runtime.ts'
import type { ItemValues, Row } from './query.ts'
import { itemOf } from './serialize.ts'

/**
 * Returns the row of a new item: the given values, completed with generated values, defaults and null. Throws a
 * TypeError if a default function returns a value of a wrong type, or one that breaks a constraint.
 * Defaults that are values are checked at start.
 */
export function completeRow(collection: PublishedCollection, given: Row, now: () => Date): Row {
  const row: Record<string, StoredValue> = {}
  for (const field of collection.fields) {
    const value = given[field.name]
    row[field.name] = value === undefined ? defaultOf(collection, field, now) : value
  }
  return row
}

/** Returns an error for each constraint that a value of a row does not satisfy, in definition order. */
export function constraintFaults(
  { fields }: PublishedCollection,
  row: Row,
): readonly ValidationEntry[] {
  return fields.flatMap(({ name, check, show }) => check(show(row[name] ?? null)))
}

/**
 * Returns the row of an item that a handler may have changed. Throws a TypeError for unknown fields and wrong
 * types.
 */
export function acceptedRow(collection: PublishedCollection, item: Readonly<ItemValues>): Row {
  const accepted: Record<string, StoredValue> = {}
  for (const name of Object.keys(item)) {
    const value: unknown = item[name]
    const field = fieldOf(collection, name)
    accepted[name] = value === null || value === undefined ? null : field.accept(value, item)
  }
  return accepted
}

/**
 * Returns the row of an item that a `before` handler may have changed; `stored` is null for a new one. Throws a
 * TypeError for unknown fields, wrong types and another key than the stored one.
 */
export function changedRow(
  collection: PublishedCollection,
  item: Readonly<ItemValues>,
  stored: Row | null,
): Row {
  const accepted = acceptedRow(collection, item)
  if (stored === null) return accepted
  for (const { name } of collection.key) {
    if (accepted[name] !== stored[name]) {
      throw new TypeError(
        `The field ${name} is part of the key of a stored item, which can't change.`,
      )
    }
  }
  return accepted
}

/** Returns the item of a row, with the named fields, that can't be changed, not even within its json values. */
export function frozenItem(
  collection: PublishedCollection,
  row: Row,
  names: readonly string[] = collection.allNames,
): Readonly<ItemValues> {
  const item = itemOf(collection, row, names)
  if (collection.hasJson) Object.values(item).forEach(freezeJson)
  return Object.freeze(item)
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

function defaultOf(
  { application, name }: PublishedCollection,
  field: PublishedField,
  now: () => Date,
): StoredValue {
  if (field.generated === 'uuid') return runtime.randomUUID()
  const { definition } = field
  if ('generated' in definition && definition.generated === 'now')
    return currentTime(definition, now())
  if (field.hasColumnDefault) return null
  const declared: unknown = definition.default
  const isComputed = typeof declared === 'function'
  const value: unknown = isComputed ? (declared as () => unknown)() : declared
  if (value === undefined || value === null) return null
  const stored = field.accept(value)
  const [fault] = isComputed ? field.check(value) : []
  if (fault === undefined) return stored
  throw new TypeError(
    `The default function of ${application}/${name}.${field.name} returned a value that the field does not accept: ${fault.message}`,
  )
}

type TimeField = Extract<Field, { readonly type: 'date' | 'time' | 'dateTime' | 'instant' }>

function currentTime(definition: TimeField, now: Date): string {
  const complete = now.toISOString()
  const toSecond = complete.slice(0, 19)
  switch (definition.type) {
    case 'date':
      return complete.slice(0, 10)
    case 'time':
      return complete.slice(11, 19)
    case 'dateTime':
      return withoutZeroFraction(hasFraction(definition) ? complete.slice(0, -1) : toSecond)
    case 'instant':
      return withoutZeroFraction(hasFraction(definition) ? complete : `${toSecond}Z`)
  }
}
