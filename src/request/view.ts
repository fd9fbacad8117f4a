import { system, type Principal } from '../definition/principal.ts'
import {
  withFields,
  type PublishedCollection,
  type PublishedField,
} from '../definition/published.ts'
import { forbidden } from '../errors.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { ItemValues } from './query.ts'
import { rowsOf, type RowCondition } from './rows.ts'

/** A collection as one caller may use it (D45). What it leaves out does not exist for that caller. */
export interface View {
  /** The whole collection: for storage and for code of the host. */
  readonly collection: PublishedCollection
  /** The collection with the fields that the caller may read. */
  readonly readable: PublishedCollection
  /** The same, as pages have it. */
  readonly listed: PublishedCollection
  /** The fields that the caller may name in a body: to read or to write them. */
  readonly sendable: PublishedCollection
  /** Whether the caller's roles let it set a field. */
  readonly mayWrite: (field: PublishedField) => boolean
  /** The rows that the caller sees and writes, as conditions. */
  readonly rows: readonly RowCondition[]
}

/** The view of a caller. Throws FORBIDDEN for a caller whom the row rule leaves no row. */
export function viewOf(collection: PublishedCollection, caller: Principal): View {
  const plan = planOf(collection)
  if (caller === system) return wholeView(collection)
  const view = plan.fieldsFor(caller)
  const rows = rowsOf(collection, caller)
  return rows.length === 0 ? view : { ...view, rows }
}

/** Throws FORBIDDEN unless the caller may invoke the event (D26). */
export function requireRight(
  { rolesFor, application, name }: PublishedCollection,
  event: keyof PublishedCollection['rolesFor'],
  caller: Principal,
): void {
  if (caller === system) return
  for (const roles of rolesFor[event]) {
    if (holdsOneOf(caller, roles)) continue
    const held = caller.roles.length === 0 ? 'no roles' : caller.roles.join(', ')
    const reason = `${event} of ${application}/${name} needs one of the roles ${roles.join(', ')}; the caller has ${held}`
    throw forbidden({ user: caller.user, reason })
  }
}

/**
 * Validation entries as the caller may see them. One about a field that the caller can't see says
 * neither which field it is nor what is wrong with it; mere information about it is left out.
 */
export function entriesFor(
  view: View,
  entries: readonly ValidationEntry[],
): readonly ValidationEntry[] {
  const { collection, sendable } = view
  if (sendable === collection || entries.length === 0) return entries
  return entries.flatMap((entry) => {
    const { field, ...rest } = entry
    const isHidden =
      field !== undefined && collection.byName.has(field) && !sendable.byName.has(field)
    if (!isHidden) return [entry]
    if (entry.severity === 'information') return []
    return [{ ...rest, message: 'A value that you can not see does not allow this.' }]
  })
}

/** Validation entries about any collection as a caller may see them, whoever's event they come from. */
export function entriesShownTo(
  caller: Principal,
  collection: PublishedCollection,
  entries: readonly ValidationEntry[],
): readonly ValidationEntry[] {
  const plan = planOf(collection)
  if (caller === system) return entries
  return entriesFor(plan.fieldsFor(caller), entries)
}

/** The values of an item that the caller may read. */
export function readableValues(
  { collection, readable }: View,
  item: Readonly<ItemValues>,
): Readonly<ItemValues> {
  if (readable === collection) return item
  return Object.fromEntries(Object.entries(item).filter(([name]) => readable.byName.has(name)))
}

interface ViewPlan {
  readonly fieldsFor: (caller: Principal) => View
}

const plans = new WeakMap<PublishedCollection, ViewPlan>()
const wholes = new WeakMap<PublishedCollection, View>()

/** The view of everything. */
export function wholeView(collection: PublishedCollection): View {
  const known = wholes.get(collection)
  if (known !== undefined) return known
  const view: View = {
    collection,
    readable: collection,
    listed: narrowed(collection, (field) => !field.itemOnly),
    sendable: collection,
    mayWrite: () => true,
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

// There are no more views than combinations of the roles that the definition names.
function makePlan(collection: PublishedCollection): ViewPlan {
  const lists = collection.fields.flatMap(({ readableBy, writableBy }) => [
    ...(readableBy === undefined ? [] : [readableBy]),
    ...(writableBy === undefined ? [] : [writableBy]),
  ])
  if (lists.length === 0) {
    const whole = wholeView(collection)
    return { fieldsFor: () => whole }
  }
  const named = Array.from(new Set(lists.flat()))
  const views = new Map<string, View>()
  return {
    fieldsFor: (caller) => {
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
  const readable = narrowed(collection, (field) => reads.has(field))
  return {
    collection,
    readable,
    listed: narrowed(readable, (field) => !field.itemOnly),
    sendable: narrowed(
      collection,
      (field) => reads.has(field) || (writes.has(field) && !field.readOnly),
    ),
    mayWrite: (field) => writes.has(field),
    rows: [],
  }
}

function narrowed(
  collection: PublishedCollection,
  allowed: (field: PublishedField) => boolean,
): PublishedCollection {
  const fields = collection.fields.filter(allowed)
  return fields.length === collection.fields.length ? collection : withFields(collection, fields)
}

function holdsOneOf(caller: Principal, roles: readonly string[]): boolean {
  return roles.some((role) => caller.roles.includes(role))
}
