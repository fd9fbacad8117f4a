import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection, PublishedField } from '../definition/published.ts'
import { itemValue } from '../definition/field-type.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { Json } from '../protocol/json.ts'
import { unaddressable } from '../protocol/key.ts'
import { repeatedName } from '../protocol/names.ts'
import type { ItemValues } from './query.ts'

const maximumUnknown = 100
const longestName = 256
const longestEcho = 1000

/** What a consumer sent to be saved, checked against the definition. */
export interface Submitted {
  /** The accepted values in canonical form. */
  readonly values: Readonly<ItemValues>
  /** What is wrong with the rest; empty when all is well. */
  readonly faults: readonly ValidationEntry[]
  /** The known fields as the consumer sent them, for the echo of a failed save. */
  readonly echo: Readonly<ItemValues>
}

/**
 * Checks a body against the definition (D15, D16): unknown fields, types, sizes. `key` is the key of
 * the item's path, which a body may repeat but not change. `rounded` names the members whose number is an
 * integer only because it was rounded.
 */
export function checkSubmitted(
  collection: PublishedCollection,
  body: Readonly<Record<string, unknown>>,
  key: readonly StoredValue[] = [],
  rounded?: ReadonlySet<string>,
): Submitted {
  const known: ItemValues = {}
  for (const { name } of collection.fields) {
    if (Object.hasOwn(body, name) && body[name] !== undefined) known[name] = body[name] as Json
  }
  const faults = [...collection.constraints(known)]
  if (rounded !== undefined && rounded.size > 0) faults.push(...roundedFaults(collection, rounded))
  const wrong = new Set(faults.map((fault) => fault.field))
  const values: ItemValues = {}
  for (const [name, value] of Object.entries(known)) {
    if (!wrong.has(name))
      values[name] = canonical(collection.byName.get(name) as PublishedField, value)
  }
  for (const [index, part] of collection.key.entries()) {
    const moved =
      key.length > 0 && part.name in values && stored(part, values[part.name]) !== key[index]
    if (moved) faults.push(fault(part.name, 'is the key of the item and can not be changed'))
  }
  return { values, faults: [...faults, ...unknownFields(collection, body)], echo: echoOf(known) }
}

/** The faults of a key that no path could name (section 2.3, D11). */
export function keyFaults(
  collection: PublishedCollection,
  values: ItemValues,
): readonly ValidationEntry[] {
  return collection.key.flatMap((part) => {
    const value = values[part.name]
    const reason =
      typeof value === 'string' ? unaddressable(value, collection.key.length) : undefined
    return reason === undefined ? [] : [fault(part.name, reason)]
  })
}

/** The required fields without value, among those named. */
export function requiredFaults(
  collection: PublishedCollection,
  values: ItemValues,
  among: (field: PublishedField) => boolean,
): readonly ValidationEntry[] {
  return collection.fields
    .filter((field) => field.required && (values[field.name] ?? null) === null && among(field))
    .map((field) => fault(field.name, 'is required'))
}

// A double has no such limit: there a rounded number is the nearest one.
function roundedFaults(
  collection: PublishedCollection,
  rounded: ReadonlySet<string>,
): readonly ValidationEntry[] {
  return collection.fields
    .filter(({ name, type }) => rounded.has(name) && (type === 'integer' || type === 'bigint'))
    .map(({ name, kind, definition }) => fault(name, `must be ${kind.mustBe(definition)}`))
}

/** A fault of one field. */
export function fault(field: string, reason: string): ValidationEntry {
  return { message: `${field} ${reason}.`, severity: 'error', field }
}

/** The stored form of an item's value. */
export function stored(field: PublishedField, value: Json | undefined): StoredValue {
  return value === null || value === undefined ? null : field.kind.store(value, field.definition)
}

/** Entries in the order of the definition; those of no known field come last (D22). */
export function inDefinitionOrder(
  collection: PublishedCollection,
  entries: readonly ValidationEntry[],
): readonly ValidationEntry[] {
  const place = (entry: ValidationEntry) => {
    const index = entry.field === undefined ? -1 : collection.allNames.indexOf(entry.field)
    return index < 0 ? collection.allNames.length : index
  }
  return entries.toSorted((left, right) => place(left) - place(right))
}

function canonical(field: PublishedField, value: Json): Json {
  return itemValue(field.type, stored(field, value))
}

function unknownFields(
  collection: PublishedCollection,
  body: Readonly<Record<string, unknown>>,
): readonly ValidationEntry[] {
  const unknown = Object.keys(body).filter((name) => !collection.byName.has(name))
  return unknown.slice(0, maximumUnknown).map((name) => ({
    message: `Unknown field: ${repeatedName(name)}.`,
    severity: 'error',
    field: name.slice(0, longestName).toWellFormed(),
  }))
}

// The echo repeats what the consumer sent, but not at any length, and never as broken Unicode.
function echoOf(known: Readonly<ItemValues>): ItemValues {
  const echo: ItemValues = {}
  for (const [name, value] of Object.entries(known)) {
    if (typeof value === 'string') echo[name] = value.slice(0, longestEcho).toWellFormed()
    else if (typeof value !== 'object' || value === null) echo[name] = value
    else {
      const text = JSON.stringify(value)
      if (text.length <= longestEcho && text.isWellFormed()) echo[name] = value
    }
  }
  return echo
}
