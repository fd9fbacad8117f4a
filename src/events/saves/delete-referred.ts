import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { errorOf, notFound } from '../../errors.ts'
import { messageOf } from '../../messages/message.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { DeleteEvent } from '../../request/event.ts'
import { oneItem, type Condition, type Row } from '../../request/query.ts'
import { viewOf } from '../../request/view.ts'
import { isStorageError, type StorageAdapter } from '../../storage/adapter.ts'
import {
  effectsOf,
  namesToRead,
  referencesInto,
  type Effects,
  type StoredRow,
} from './delete-effects.ts'
import { equalTo, readableRows } from './references.ts'
import type { WrittenItem } from './stage.ts'
import type { Scope } from '../scope.ts'

// SQLite undoes only a part of a cascade of more levels than its limit for triggers, which is 1000.
const maxStorageLevels = 500

/**
 * Deletes an item to which other items may refer. Throws ITEM_IN_USE if one of them restricts the delete. If
 * storage does not enforce all references, changes or deletes the referring items first.
 */
export async function deleteReferred(
  event: DeleteEvent,
  scope: Scope,
  remove: Deletes['remove'],
): Promise<WrittenItem> {
  const { adapter } = scope.unit.runtime
  const deletes = { event, scope, remove }
  const kind = deletesInStorage(event.collection, adapter)
  if (kind !== 'alone') return deleteAll(deletes, kind === 'withinLevels')
  try {
    return await remove()
  } catch (error) {
    requireReferenced(error)
    const effects = await effectsAfter(deletes)
    if (effects === undefined) throw error
    await rejectUsed(effects, scope)
    // ON DELETE RESTRICT also rejects the delete of an item to which only items refer that are deleted as well.
    return applyEffects(deletes, effects)
  }
}

interface Deletes {
  readonly event: DeleteEvent
  readonly scope: Scope
  readonly remove: () => MaybePromise<{ readonly row: Row }>
}

/**
 * Returns whether storage performs the effects of a delete: not at all, up to a number of levels if a cascade leads
 * back to the collection, or completely.
 */
function deletesInStorage(
  collection: PublishedCollection,
  adapter: StorageAdapter,
  above: readonly PublishedCollection[] = [],
): 'not' | 'withinLevels' | 'alone' {
  const path = [...above, collection]
  let found: 'withinLevels' | 'alone' = 'alone'
  for (const { reference } of referencesInto(collection, adapter)) {
    if (adapter.enforces?.(reference) !== true || hasSharedNull(reference)) return 'not'
    const { from, onDelete } = reference
    if (onDelete !== 'cascade') continue
    const further = path.includes(from) ? 'withinLevels' : deletesInStorage(from, adapter, path)
    if (further === 'not') return 'not'
    if (further === 'withinLevels') found = further
  }
  return found
}

// If a field of two references becomes null, the order in which storage follows them changes the result.
function hasSharedNull(reference: Reference): boolean {
  const { from, fields, onDelete } = reference
  return from.references.some(
    (other) =>
      other !== reference &&
      (onDelete === 'setNull' || other.onDelete === 'setNull') &&
      other.fields.some((field) => fields.includes(field)),
  )
}

async function deleteAll(deletes: Deletes, isInStorage: boolean): Promise<WrittenItem> {
  const { event, scope, remove } = deletes
  const effects = await effectsOf(event, scope)
  if (effects === undefined) throw notFound()
  await rejectUsed(effects, scope)
  if (!isInStorage || effects.levels > maxStorageLevels) return applyEffects(deletes, effects)
  try {
    return await remove()
  } catch (error) {
    requireReferenced(error)
    return applyEffects(deletes, effects)
  }
}

/** Throws the error again unless storage rejected the delete because other items refer to the item. */
function requireReferenced(error: unknown): void {
  if (!isStorageError(error) || error.kind !== 'referenced') throw error
}

async function applyEffects({ scope, remove }: Deletes, effects: Effects): Promise<WrittenItem> {
  const { source, unit } = scope
  const { doomed, detached } = effects
  // If a later step fails, the transaction must be rolled back.
  unit.wrote(doomed.length - 1 + detached.length)
  for (const { collection, row, fields } of detached)
    await source.update(collection, keyConditions(collection, row), nullsOf(fields))
  const changed = await deleteRows(doomed, source)
  const { row } = await remove()
  return { row: { ...row, ...changed } }
}

/**
 * Deletes all rows but the first, in an order that storage accepts. First detaches rows that refer to each other in a
 * circle. Returns the former values of the first row that became null.
 */
async function deleteRows(doomed: readonly StoredRow[], source: Scope['source']): Promise<Row> {
  const [first, ...others] = doomed as readonly [StoredRow, ...StoredRow[]]
  const formerOf = (names: readonly string[]): Row =>
    Object.fromEntries(names.map((name) => [name, first.row[name] ?? null]))
  // Otherwise a cascade of storage would delete it with a row to which it refers.
  const circle = namesInCircle(first, others)
  let former = formerOf(circle)
  if (circle.length > 0) {
    await source.update(
      first.collection,
      keyConditions(first.collection, first.row),
      nullsOf(circle),
    )
  }
  for (let left = referringFirst(others), isDetached = false; left.length > 0;) {
    const kept: StoredRow[] = []
    let failure: unknown
    for (const one of left) {
      const { collection, row } = one
      try {
        await source.delete(collection, keyConditions(collection, row))
      } catch (error) {
        requireReferenced(error)
        kept.push(one)
        failure = error
      }
    }
    if (kept.length === left.length) {
      if (isDetached) throw failure
      isDetached = true
      for (const { collection, row } of [...kept, first])
        await source.update(collection, keyConditions(collection, row), detaching(collection))
      former = formerOf(Object.keys(detaching(first.collection)))
    }
    left = kept
  }
  return former
}

/** Returns the nullable fields by which a row refers to one of the other rows. */
function namesInCircle({ collection, row }: StoredRow, others: readonly StoredRow[]): string[] {
  const leading = collection.references.filter(({ fields, to }) => {
    if (fields.some((field) => field.required || field.inKey)) return false
    return others.some(
      (other) =>
        other.collection === to &&
        fields.every(({ name }, index) => row[name] === other.row[to.key[index]?.name ?? '']),
    )
  })
  return leading.flatMap(({ fields }) => fields.map(({ name }) => name))
}

/** Returns nulls for the fields of references of a collection that can be null. */
function detaching({ references, key }: PublishedCollection): Row {
  const fields = references.flatMap((reference) => reference.fields)
  return nullsOf(fields.filter((field) => !key.includes(field)).map(({ name }) => name))
}

function nullsOf(names: readonly string[]): Row {
  return Object.fromEntries(names.map((name) => [name, null]))
}

/** Returns the effects of a delete that storage has rejected; undefined if storage can no longer read. */
async function effectsAfter({ event, scope }: Deletes): Promise<Effects | undefined> {
  try {
    return await effectsOf(event, scope)
  } catch (error) {
    // Not every storage can read after a failure.
    if (isStorageError(error)) return undefined
    throw error
  }
}

/** Returns rows in an order in which storage can delete them: each row follows the rows that refer to it. */
function referringFirst(rows: readonly StoredRow[]): readonly StoredRow[] {
  const remaining = new Set(rows.map(({ collection }) => collection))
  const ordered: StoredRow[] = []
  for (;;) {
    const isFree = ({ referredBy }: PublishedCollection): boolean =>
      referredBy.every(({ reference: { from, to } }) => from === to || !remaining.has(from))
    const [first] = remaining
    const next = [...remaining].find(isFree) ?? first
    if (next === undefined) return ordered
    remaining.delete(next)
    ordered.push(...rows.filter(({ collection }) => collection === next).toReversed())
  }
}

/** Throws ITEM_IN_USE if references restrict the delete. Names the collections that the caller may read. */
async function rejectUsed({ restricting: found }: Effects, scope: Scope): Promise<void> {
  if (found.size === 0) return
  const names = new Set<string>()
  for (const [reference, conditions] of found) {
    if (await isVisible(reference, conditions, scope)) names.add(reference.from.name)
  }
  const collections = [...names].join(', ')
  const message =
    names.size === 0 ? messageOf('itemInUse', {}) : messageOf('itemInUseBy', { collections })
  throw errorOf('ITEM_IN_USE', message)
}

async function isVisible(
  { from, fields }: Reference,
  conditions: readonly Condition[],
  { source, caller }: Scope,
): Promise<boolean> {
  const { principal } = caller
  const rows = readableRows(from, principal)
  if (rows === undefined) return false
  const { readable } = viewOf(from, principal)
  if (!fields.every(({ name }) => readable.byName.has(name))) return false
  if (rows.length === 0) return true
  const query = oneItem([...conditions, ...rows], namesToRead(from))
  return (await source.filter(from, query)).rows.length > 0
}

function keyConditions({ key }: PublishedCollection, row: Row): readonly Condition[] {
  return equalTo(
    key,
    key.map(({ name }) => row[name] ?? null),
  )
}
