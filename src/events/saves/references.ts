import type { Principal } from '../../definition/principal.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import { isServiceError } from '../../errors.ts'
import type { InsertEvent, UpdateEvent } from '../../request/event.ts'
import { hasPath } from '../../request/item-path.ts'
import { equal, oneItem, type Condition, type Row } from '../../request/query.ts'
import { requireRight } from '../../request/roles.ts'
import { viewOf, type View } from '../../request/view.ts'
import type { Scope } from '../scope.ts'

/** The item of a save whose references are checked. */
export interface ReferringItem {
  readonly event: InsertEvent | UpdateEvent
  readonly scope: Scope
  /** Null for an insert. */
  readonly stored: Row | null
  readonly item: Row
}

/**
 * Returns the references that must be read before the item is written. A reference that storage enforces is not read if
 * the caller may read all items: storage then rejects the write.
 */
export function dueReferences(referring: ReferringItem): readonly Reference[] {
  const { event, scope } = referring
  return event.collection.references.filter(
    (reference) =>
      (needsRead(reference, scope) ||
        namesNewKey(reference, referring) ||
        !namesPath(reference, referring.item)) &&
      isDue(reference, referring),
  )
}

/** Returns the references of the item that refer to no item, or to one that the caller may not read. */
export async function missingReferences(
  referring: ReferringItem,
  among: readonly Reference[] = referring.event.collection.references,
): Promise<readonly Reference[]> {
  const missing: Reference[] = []
  for (const reference of among) {
    if (isDue(reference, referring) && !(await exists(reference, referring)))
      missing.push(reference)
  }
  return missing
}

/** Returns whether a reference that an update may change has to be read before the item is written. */
export function changesReadReference(
  { collection, submitted: { values } }: UpdateEvent,
  scope: Scope,
): boolean {
  return collection.references.some(
    (reference) =>
      reference.fields.some(({ name }) => name in values) &&
      (needsRead(reference, scope) || !namesPath(reference, values)),
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

// A reference of several fields refers to no item if one of them is null.
function isDue({ fields }: Reference, referring: ReferringItem): boolean {
  return storedValues(fields, referring.item) !== undefined && isChanged(fields, referring)
}

// A new item can't refer to itself by a key that storage generates. A database would accept a number that
// happens to be the next one.
function namesNewKey({ to }: Reference, { event, stored, item }: ReferringItem): boolean {
  return stored === null && to === event.collection && to.key.some(({ name }) => item[name] == null)
}

function needsRead(reference: Reference, { unit, caller }: Scope): boolean {
  if (unit.runtime.adapter.enforces?.(reference) !== true) return true
  const { to } = reference
  if (to.rows === undefined && to.rolesFor.Filter.length === 0) return false
  return readableRows(to, caller.principal)?.length !== 0
}

async function exists(
  reference: Reference,
  { event, scope, stored, item }: ReferringItem,
): Promise<boolean> {
  const { fields, to } = reference
  const rows = readableRows(to, scope.caller.principal)
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
  return (await scope.source.filter(to, query)).rows.length > 0
}
