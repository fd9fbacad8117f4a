import type { Principal } from '../definition/principal.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import type { StoredValue } from '../definition/field-type.ts'
import { isServiceError } from '../errors.ts'
import { inSequence, whenDone, type MaybePromise } from '../maybe-promise.ts'
import type { InsertEvent, UpdateEvent } from '../request/event.ts'
import { hasPath } from '../request/item-path.ts'
import { equal, oneItem, type Condition, type Row } from '../request/query.ts'
import { requireRight } from '../request/roles.ts'
import { viewOf, type View } from '../request/view.ts'
import type { Terms } from './runtime.ts'
import type { Scope } from './scope.ts'

/** The item of a save as its references see it. */
export interface ReferringItem {
  readonly event: InsertEvent | UpdateEvent
  readonly scope: Scope
  /** Null for an insert. */
  readonly stored: Row | null
  readonly item: Row
}

/**
 * Returns whether the item refers only to items that exist and that the caller may read. References that
 * storage enforces are not read if the caller may read all items; storage rejects the write then.
 */
export function refersToItems(referring: ReferringItem): MaybePromise<boolean> {
  const { event, scope } = referring
  const due = event.collection.references.filter(
    (reference) =>
      (needsRead(reference, scope.terms) ||
        namesNewKey(reference, referring) ||
        !namesPath(reference, referring.item)) &&
      isDue(reference, referring),
  )
  if (due.length === 0) return true
  return whenDone(missingReferences(referring, due), (missing) => missing.length === 0)
}

/** Returns the references of the item that refer to nothing that the caller may read. */
export function missingReferences(
  referring: ReferringItem,
  among: readonly Reference[] = referring.event.collection.references,
): MaybePromise<readonly Reference[]> {
  const missing: Reference[] = []
  const visited = inSequence(among, (reference) => {
    if (!isDue(reference, referring)) return
    return whenDone(exists(reference, referring), (found) => {
      if (!found) missing.push(reference)
    })
  })
  return whenDone(visited, () => missing)
}

/** Returns whether a reference that an update may change has to be read before the item is written. */
export function changesReadReference(
  { collection, submitted: { values } }: UpdateEvent,
  terms: Terms,
): boolean {
  return collection.references.some(
    (reference) =>
      reference.fields.some(({ name }) => name in values) &&
      (needsRead(reference, terms) || !namesPath(reference, values)),
  )
}

// No client can read an item that no path leads to, even if storage has it. An absent part may have any value.
function namesPath({ fields, to }: Reference, item: Row): boolean {
  if (to.maxKeyLength === Infinity) return true
  const parts = fields.map(({ name }) => item[name])
  return parts.every((part) => part !== undefined) && hasPath(to, parts)
}

/**
 * Returns the row rule of a caller for a collection; undefined if the caller may not read the collection.
 */
export function readableRows(
  collection: PublishedCollection,
  caller: Principal,
): View['rows'] | undefined {
  try {
    requireRight(collection, 'Filter', caller)
    return viewOf(collection, caller).rows
  } catch (error) {
    if (isServiceError(error) && error.code === 'FORBIDDEN') return undefined
    throw error
  }
}

/** Returns the stored values of fields; undefined if one of them is null. */
export function storedValues(
  fields: readonly PublishedField[],
  item: Row,
): readonly StoredValue[] | undefined {
  const values = fields.map(({ name }) => item[name] ?? null)
  return values.includes(null) ? undefined : values
}

/** Returns the conditions that fields have values. */
export function equalTo(
  fields: readonly PublishedField[],
  values: readonly StoredValue[],
): readonly Condition[] {
  return fields.map(({ name }, index) => equal(name, values[index] ?? null))
}

/** Returns whether the item has another value than the stored item in one of the fields. */
export function isChanged(
  fields: readonly PublishedField[],
  { stored, item }: Pick<ReferringItem, 'stored' | 'item'>,
): boolean {
  if (stored === null) return true
  return fields.some(({ name }) => (item[name] ?? null) !== (stored[name] ?? null))
}

// A reference with a null refers to nothing, also if it has other parts.
function isDue({ fields }: Reference, referring: ReferringItem): boolean {
  return storedValues(fields, referring.item) !== undefined && isChanged(fields, referring)
}

// A new item can't refer to itself by a key that storage generates. A database would accept a number that
// happens to be the next one.
function namesNewKey({ to }: Reference, { event, stored, item }: ReferringItem): boolean {
  return stored === null && to === event.collection && to.key.some(({ name }) => item[name] == null)
}

function needsRead(reference: Reference, { runtime, caller }: Terms): boolean {
  if (runtime.adapter.enforces?.(reference) !== true) return true
  const { to } = reference
  if (to.rows === undefined && to.rolesFor.Filter.length === 0) return false
  return readableRows(to, caller.principal)?.length !== 0
}

function exists(
  reference: Reference,
  { event, scope, stored, item }: ReferringItem,
): MaybePromise<boolean> {
  const { fields, to } = reference
  const rows = readableRows(to, scope.terms.caller.principal)
  if (rows === undefined) return false
  if (!namesPath(reference, item)) return false
  const values = storedValues(fields, item) ?? []
  // A new item may refer to itself.
  if (stored === null && to === event.collection) {
    const own = storedValues(to.key, item)
    if (own?.every((part, index) => part === values[index]) === true) return true
  }
  const conditions = [...equalTo(to.key, values), ...rows]
  const query = oneItem(
    conditions,
    to.key.map(({ name }) => name),
  )
  return whenDone(scope.source.filter(to, query), (page) => page.rows.length > 0)
}
