import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { messageOf, type Named } from '../messages/message.ts'
import { entryOf, type ValidationEntry } from '../protocol/envelope.ts'
import { canonicalJson, type Json } from '../protocol/json.ts'
import { copySource, memberText } from '../protocol/json-text.ts'
import { repeatedName } from '../protocol/names.ts'
import type { ItemValues, Row } from './query.ts'

const maxUnknownFields = 100
const maxNameLength = 256
const maxEchoLength = 1000

/** The checked values of a save. */
export interface Submitted {
  /** The stored forms of the accepted values. */
  readonly values: Row
  /** The errors of all other values. */
  readonly faults: readonly ValidationEntry[]
  /** The values of computed fields as the client sent them; undefined if it sent none. */
  readonly computed: Readonly<Record<string, unknown>> | undefined
  /** The members of the body as the client sent them, including unknown fields. */
  readonly sent: Readonly<Record<string, unknown>>
}

/** Returns the names of the fields whose JSON text a body must keep. */
export function exactNames({ hasJson, responseFields }: PublishedCollection): readonly string[] {
  if (!hasJson) return []
  const fields = [...responseFields.values()]
  return fields.filter(({ type }) => type === 'json').map(({ name }) => name)
}

/**
 * Checks a body against the definition: types, constraints, unknown fields. `key` is the key of the item's path,
 * which a body may repeat but not change. `rounded` names the members whose number is an integer only because
 * it was rounded.
 */
export function checkSubmitted(
  collection: PublishedCollection,
  sent: Readonly<Record<string, unknown>>,
  key: readonly StoredValue[] = [],
  rounded: ReadonlySet<string> = noNames,
): Submitted {
  const values: Record<string, StoredValue> = {}
  const faults: ValidationEntry[] = []
  for (const field of collection.fields) {
    const { name, check } = field
    // No field has the name of a member that all objects inherit.
    const value = sent[name]
    if (value === undefined) continue
    const found = check(value)
    const isRounded = rounded.has(name) && isWhole(field)
    if (found.length === 0 && !isRounded) values[name] = field.store(value as Json, sent)
    else faults.push(...found)
    if (isRounded) faults.push(typeFault(field))
  }
  for (let index = 0; index < key.length; index++) {
    const field = collection.key[index] as PublishedField
    const value = values[field.name]
    const moved = value !== undefined && value !== key[index]
    if (moved) faults.push(fault(field, 'keyChanged'))
  }
  faults.push(...unknownFields(collection, sent))
  return { values, faults, computed: computedIn(collection, sent), sent }
}

const noNames: ReadonlySet<string> = new Set()

// A double may be rounded: it is the nearest representable number.
function isWhole({ type }: PublishedField): boolean {
  return type === 'integer' || type === 'bigint'
}

/** Returns an error for each required field without a value, if `among` accepts the field. */
export function requiredFaults(
  collection: PublishedCollection,
  values: Row,
  among: (field: PublishedField) => boolean,
): readonly ValidationEntry[] {
  let faults: ValidationEntry[] | undefined
  for (const field of collection.fields) {
    if (!field.required || (values[field.name] ?? null) !== null || !among(field)) continue
    faults ??= []
    faults.push(fault(field, 'required'))
  }
  return faults ?? none
}

const none: readonly ValidationEntry[] = []

/**
 * Returns whether stored values of a field are the same value. JSON may have its members in another order, and write
 * its numbers differently.
 */
export function isSame(
  { type, show }: PublishedField,
  one: StoredValue,
  other: StoredValue,
): boolean {
  if (one === other) return true
  return type === 'json' && canonicalJson(show(one)) === canonicalJson(show(other))
}

/** Returns an error of one field, with a message that has no other values. */
export function fault(
  field: Named,
  name: 'required' | 'readOnly' | 'keyChanged' | 'keyEmpty' | 'keyWithComma' | 'keyOfDots',
): ValidationEntry {
  return entryOf(messageOf(name, { field }), field.name)
}

function typeFault(field: PublishedField): ValidationEntry {
  const { text, values } = field.kind.message(field.definition)
  return entryOf({ text, values: { field, ...values } }, field.name)
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
  return unknown
    .slice(0, maxUnknownFields)
    .map((name) =>
      entryOf(
        messageOf('unknownField', { name: repeatedName(name) }),
        name.slice(0, maxNameLength).toWellFormed(),
      ),
    )
}

/** Returns what a rejected save repeats of the fields that the client sent: well-formed, and limited in length. */
export function echoOf(
  { responseFields }: PublishedCollection,
  { sent }: Submitted,
): Readonly<ItemValues> {
  const echo: ItemValues = {}
  for (const name of responseFields.keys()) {
    const value = sent[name] as Json | undefined
    if (value === undefined) continue
    const text = jsonText(sent, name)
    const isShort = text !== undefined && text.length <= maxEchoLength && text.isWellFormed()
    if (isShort) copySource(echo, name, sent, name)
    if (typeof value === 'string') echo[name] = value.slice(0, maxEchoLength).toWellFormed()
    else if (typeof value !== 'object' || value === null || isShort) echo[name] = value
  }
  return echo
}

/** Returns the JSON text of a submitted value; undefined if application code has submitted one that has none. */
function jsonText(sent: Submitted['sent'], name: string): string | undefined {
  try {
    return memberText(sent, name, sent[name])
  } catch {
    return undefined
  }
}
