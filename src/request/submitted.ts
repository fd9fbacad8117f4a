import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { Json } from '../protocol/json.ts'
import { unaddressable } from '../protocol/key.ts'
import { repeatedName } from '../protocol/names.ts'
import type { ItemValues } from './query.ts'

const maxUnknownFields = 100
const maxNameLength = 256
const maxEchoLength = 1000

/** The checked values of a save. */
export interface Submitted {
  /** The accepted values in canonical form. */
  readonly values: Readonly<ItemValues>
  /** The errors of all other values. */
  readonly faults: readonly ValidationEntry[]
  /** The values of computed fields as the client sent them; undefined if it sent none. */
  readonly computed: Readonly<Record<string, unknown>> | undefined
  /** The known fields as the client sent them. */
  readonly sent: Readonly<ItemValues>
}

/**
 * Checks a body against the definition: unknown fields, types, constraints. `key` is the key of the
 * item's path, which a body may repeat but not change. `rounded` names the members whose number is an
 * integer only because it was rounded.
 */
export function checkSubmitted(
  collection: PublishedCollection,
  body: Readonly<Record<string, unknown>>,
  key: readonly StoredValue[] = [],
  rounded?: ReadonlySet<string>,
): Submitted {
  const sent: ItemValues = {}
  const fields: PublishedField[] = []
  for (const field of collection.fields) {
    const { name } = field
    if (!Object.hasOwn(body, name) || body[name] === undefined) continue
    sent[name] = body[name] as Json
    fields.push(field)
  }
  const faults = [...collection.constraints(sent)]
  if (rounded !== undefined && rounded.size > 0) faults.push(...roundedFaults(collection, rounded))
  const values: ItemValues = {}
  for (const field of fields) {
    const { name } = field
    if (faults.length > 0 && faults.some((one) => one.field === name)) continue
    values[name] = field.show(field.store(sent[name]))
  }
  for (let index = 0; index < key.length; index++) {
    const { name, store } = collection.key[index] as PublishedField
    const moved = name in values && store(values[name]) !== key[index]
    if (moved) faults.push(fault(name, 'is the key of the item and can not be changed'))
  }
  faults.push(...unknownFields(collection, body))
  return { values, faults, computed: computedIn(collection, body), sent }
}

/** Returns the errors of a key that can't be written in a path. */
export function keyFaults(
  collection: PublishedCollection,
  values: ItemValues,
): readonly ValidationEntry[] {
  let faults: ValidationEntry[] | undefined
  for (const part of collection.key) {
    const value = values[part.name]
    if (typeof value !== 'string') continue
    const reason = unaddressable(value, collection.key.length)
    if (reason !== undefined) (faults ??= []).push(fault(part.name, reason))
  }
  return faults ?? none
}

/** Returns an error for each required field without a value, if `among` accepts the field. */
export function requiredFaults(
  collection: PublishedCollection,
  values: ItemValues,
  among: (field: PublishedField) => boolean,
): readonly ValidationEntry[] {
  let faults: ValidationEntry[] | undefined
  for (const field of collection.fields) {
    if (!field.required || (values[field.name] ?? null) !== null || !among(field)) continue
    faults ??= []
    faults.push(fault(field.name, 'is required'))
  }
  return faults ?? none
}

const none: readonly ValidationEntry[] = []

// A double may be rounded: it is the nearest representable number.
function roundedFaults(
  collection: PublishedCollection,
  rounded: ReadonlySet<string>,
): readonly ValidationEntry[] {
  return Array.from(rounded).flatMap((name) => {
    const field = collection.byName.get(name)
    if (field?.type !== 'integer' && field?.type !== 'bigint') return []
    return [fault(name, `must be ${field.mustBe}`)]
  })
}

/** Returns an error of one field. */
export function fault(field: string, reason: string): ValidationEntry {
  return { message: `${field} ${reason}.`, severity: 'error', field }
}

/** Sorts entries in definition order; those without a known field come last. */
export function inDefinitionOrder(
  collection: PublishedCollection,
  entries: readonly ValidationEntry[],
): readonly ValidationEntry[] {
  const places: readonly (string | undefined)[] = collection.allNames
  const place = (entry: ValidationEntry) => {
    const index = places.indexOf(entry.field)
    return index < 0 ? collection.allNames.length : index
  }
  return entries.toSorted((left, right) => place(left) - place(right))
}

function computedIn(
  { computed }: PublishedCollection,
  body: Readonly<Record<string, unknown>>,
): Submitted['computed'] {
  if (computed.length === 0) return undefined
  const given = computed.filter(({ name }) => Object.hasOwn(body, name) && body[name] !== undefined)
  if (given.length === 0) return undefined
  return Object.fromEntries(given.map(({ name }) => [name, body[name]]))
}

function unknownFields(
  collection: PublishedCollection,
  body: Readonly<Record<string, unknown>>,
): readonly ValidationEntry[] {
  const unknown = Object.keys(body).filter((name) => !collection.responseFields.has(name))
  if (unknown.length === 0) return none
  return unknown.slice(0, maxUnknownFields).map((name) => ({
    message: `Unknown field: ${repeatedName(name)}.`,
    severity: 'error',
    field: name.slice(0, maxNameLength).toWellFormed(),
  }))
}

/** Returns what a rejected save repeats of the fields that the client sent: well-formed, and limited in length. */
export function echoOf({ sent }: Submitted): Readonly<ItemValues> {
  const echo: ItemValues = {}
  for (const name of Object.keys(sent)) {
    const value = sent[name]
    if (value === undefined) continue
    if (typeof value === 'string') echo[name] = value.slice(0, maxEchoLength).toWellFormed()
    else if (typeof value !== 'object') echo[name] = value
    else {
      const text = JSON.stringify(value)
      if (text.length <= maxEchoLength && text.isWellFormed()) echo[name] = value
    }
  }
  return echo
}
