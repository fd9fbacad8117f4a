import type { Principal } from '../definition/principal.ts'
import type { PublishedField } from '../definition/published-field.ts'
import { withFields, type PublishedCollection } from '../definition/published.ts'
import { messageOf, textOf, withMessage, type Message } from '../messages/message.ts'
import { entryOf, type ValidationEntry } from '../protocol/envelope.ts'
import type { Condition, ItemValues, Row } from './query.ts'
import { holdsOneOf } from './roles.ts'
import { rowsOf } from './rows.ts'
import { itemOf } from './serialize.ts'

/** What one caller may use of a collection. Fields outside it are treated as unknown. */
export interface View {
  /** The whole collection, for storage and application code. */
  readonly collection: PublishedCollection
  /** The collection with the fields that the caller may read. */
  readonly readable: PublishedCollection
  /** The same without the fields that pages leave out. */
  readonly listed: PublishedCollection
  /** The collection with the fields that the caller may send: readable or writable ones. */
  readonly sendable: PublishedCollection
  /** The fields that the caller's roles do not let it set. */
  readonly unwritable: readonly PublishedField[]
  /** The fields that the caller can't set as a client: the unwritable and the read-only ones. */
  readonly fixed: readonly PublishedField[]
  /** The row rule of the caller, as conditions. */
  readonly rows: readonly Condition[]
}

/** Returns the view of a caller. Throws FORBIDDEN if the row rule allows the caller no rows. */
export function viewOf(collection: PublishedCollection, caller: Principal): View {
  if (caller.kind === 'system') return wholeView(collection)
  const view = fieldsViewOf(collection, caller)
  const rows = rowsOf(collection, caller)
  if (rows.length === 0) return view
  const { readable, listed, sendable, unwritable, fixed } = view
  return { collection, readable, listed, sendable, unwritable, fixed, rows }
}

/** Returns the view of a caller without its row rule: what its roles allow. */
export function fieldsViewOf(collection: PublishedCollection, caller: Principal): View {
  return planOf(collection).fieldsFor(caller)
}

/**
 * Returns an entry for each field of a group, with a message that names all of them. `shownTo` are the callers that
 * receive it: those who can read each of the fields, or those who can read or set each of them.
 */
export function groupEntries(
  fields: readonly string[],
  message: Message,
  shownTo: 'readable' | 'sendable',
): readonly ValidationEntry[] {
  if (fields.length === 0) return [entryOf(message)]
  return fields.map((field) => {
    const entry = entryOf(message, field)
    return showOnlyWith(entry, { fields, shownTo })
  })
}

/** Makes an entry neutral for callers who may not know all fields that its message is about, and returns it. */
export function showOnlyWith(entry: ValidationEntry, group: Group): ValidationEntry {
  groups.set(entry, group)
  return entry
}

// An entry has one field, and its message names others.
const groups = new WeakMap<ValidationEntry, Group>()

interface Group {
  readonly fields: readonly string[]
  readonly shownTo: 'readable' | 'sendable'
}

/**
 * Returns validation entries as the caller may see them. All errors about hidden fields become one entry with a
 * neutral message and no field. So does each warning, with its identifier. Information about a hidden field is left out.
 */
export function entriesFor(
  view: View,
  entries: readonly ValidationEntry[],
): readonly ValidationEntry[] {
  if (entries.length === 0) return entries
  const shown: ValidationEntry[] = []
  for (const entry of entries) {
    const { field, ...rest } = entry
    const isHidden = isAboutHidden(view, entry)
    if (isHidden && entry.severity === 'information') continue
    const own = isHidden ? withMessage({ ...rest, message: hiddenText }, hiddenValue) : entry
    if (!isSameError(own) || !shown.some(isSameError)) shown.push(own)
  }
  return shown
}

const hiddenValue = messageOf('hiddenValue', {})
const hiddenText = textOf(hiddenValue)

function isSameError({ message, severity, field }: ValidationEntry): boolean {
  return message === hiddenText && severity === 'error' && field === undefined
}

function isAboutHidden(view: View, entry: ValidationEntry): boolean {
  const { field } = entry
  const group = groups.get(entry)
  if (group !== undefined) return group.fields.some((name) => !view[group.shownTo].byName.has(name))
  if (field === undefined || view.sendable.responseFields.has(field)) return false
  return view.collection.responseFields.has(field)
}

/** Returns the validation entries of any event as a caller may see them. */
export function entriesShownTo(
  caller: Principal,
  collection: PublishedCollection,
  entries: readonly ValidationEntry[],
): readonly ValidationEntry[] {
  if (caller.kind === 'system') return entries
  return entriesFor(planOf(collection).fieldsFor(caller), entries)
}

/** Returns what the caller may read of the item of a row. */
export function readableItem({ collection, readable }: View, row: Row): Readonly<ItemValues> {
  return itemOf(collection, row, readable.allNames)
}

interface ViewPlan {
  readonly fieldsFor: (caller: Principal) => View
}

const plans = new WeakMap<PublishedCollection, ViewPlan>()
const wholes = new WeakMap<PublishedCollection, View>()

/** Returns the view of `system`: all fields and rows. */
export function wholeView(collection: PublishedCollection): View {
  const known = wholes.get(collection)
  if (known !== undefined) return known
  const view: View = {
    collection,
    readable: collection,
    listed: narrowed(collection, (field) => !field.itemOnly),
    sendable: collection,
    unwritable: [],
    fixed: collection.fields.filter(({ readOnly }) => readOnly),
    rows: [],
  }
  wholes.set(collection, view)
  return view
}

function planOf(collection: PublishedCollection): ViewPlan {
  const known = plans.get(collection)
  if (known !== undefined) return known
  const plan = makePlan(collection)
  plans.set(collection, plan)
  return plan
}

// One view for each combination of the roles that the fields name.
function makePlan(collection: PublishedCollection): ViewPlan {
  const lists = collection.fields
    .flatMap(({ readableBy, writableBy }) => [readableBy, writableBy])
    .concat(collection.computed.map(({ field }) => field.readableBy))
    .filter((roles) => roles !== undefined)
  if (lists.length === 0) {
    const whole = wholeView(collection)
    return { fieldsFor: () => whole }
  }
  const named = Array.from(new Set(lists.flat()))
  const views = new Map<string, View>()
  return {
    fieldsFor: (caller) => {
      // Stryker disable next-line StringLiteral: all keys of the map have the same start
      let held = ''
      for (const role of named) held += caller.roles.includes(role) ? '1' : '0'
      const known = views.get(held)
      if (known !== undefined) return known
      const view = fieldsView(collection, caller)
      views.set(held, view)
      return view
    },
  }
}

function fieldsView(collection: PublishedCollection, caller: Principal): View {
  const reads = new Set<PublishedField>()
  const writes = new Set<PublishedField>()
  for (const field of collection.fields) {
    if (field.readableBy === undefined || holdsOneOf(caller, field.readableBy)) reads.add(field)
    if (field.writableBy === undefined || holdsOneOf(caller, field.writableBy)) writes.add(field)
  }
  for (const { field, needs } of collection.computed) {
    const isReadable =
      field.readableBy === undefined
        ? needs.every((need) => reads.has(need))
        : holdsOneOf(caller, field.readableBy)
    if (isReadable) reads.add(field)
  }
  const readable = narrowed(collection, (field) => reads.has(field))
  return {
    collection,
    readable,
    listed: narrowed(readable, (field) => !field.itemOnly),
    sendable: narrowed(
      collection,
      (field) => reads.has(field) || (writes.has(field) && !field.readOnly),
    ),
    unwritable: collection.fields.filter((field) => !writes.has(field)),
    fixed: collection.fields.filter((field) => !writes.has(field) || field.readOnly),
    rows: [],
  }
}

function narrowed(
  collection: PublishedCollection,
  allowed: (field: PublishedField) => boolean,
): PublishedCollection {
  const fields = collection.fields.filter(allowed)
  const computed = collection.computed.filter(({ field }) => allowed(field))
  const isWhole =
    fields.length === collection.fields.length && computed.length === collection.computed.length
  return isWhole ? collection : withFields(collection, fields, computed)
}
