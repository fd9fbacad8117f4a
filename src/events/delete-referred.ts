import type { PublishedCollection, Reference } from '../definition/published.ts'
import type { StoredValue } from '../definition/field-type.ts'
import { notFound, ServiceError } from '../errors.ts'
import { whenFailed, type MaybePromise } from '../maybe-promise.ts'
import type { DeleteEvent } from '../request/event.ts'
import { oneItem, type Condition, type Row } from '../request/query.ts'
import { viewOf } from '../request/view.ts'
import { isStorageError, type StorageReader } from '../storage/adapter.ts'
import { equalTo, readableRows } from './references.ts'
import type { Scope } from './scope.ts'

const batchSize = 500
const maxLevels = 1000

/**
 * Deletes an item to which others may refer. Throws ITEM_IN_USE if one of them restricts the delete. If
 * storage does not enforce all references, changes or deletes the referring items before.
 */
export function deleteReferred<Result>(
  event: DeleteEvent,
  scope: Scope,
  remove: () => MaybePromise<Result>,
): MaybePromise<Result> {
  if (!isEnforced(event.collection, scope)) return deleteAll(event, scope, remove)
  return whenFailed(remove, async (error) => {
    if (!isStorageError(error) || error.kind !== 'referenced') throw error
    await explain(event, scope)
    throw error
  })
}

/**
 * Returns whether storage does all that a delete of an item of the collection leads to. A cascade within one
 * collection has any number of levels. SQLite may keep a part of the changes if there are too many.
 */
function isEnforced(
  collection: PublishedCollection,
  scope: Scope,
  above: readonly PublishedCollection[] = [],
): boolean {
  const { adapter } = scope.terms.runtime
  return collection.referredBy.every(({ reference }) => {
    if (adapter.enforces?.(reference) !== true) return false
    const { from, onDelete } = reference
    if (onDelete !== 'cascade') return true
    const path = [...above, collection]
    return !path.includes(from) && isEnforced(from, scope, path)
  })
}

async function deleteAll<Result>(
  event: DeleteEvent,
  scope: Scope,
  remove: () => MaybePromise<Result>,
): Promise<Result> {
  const effects = await effectsOf(event, scope.source)
  if (effects === undefined) throw notFound()
  await rejectUsed(effects, scope)
  const { doomed, detached } = effects
  // If a later step fails, the transaction must be rolled back.
  scope.terms.running.log.writes += doomed.length - 1 + detached.length
  for (const { collection, row, fields } of detached) {
    const changes = Object.fromEntries(fields.map((name) => [name, null]))
    await scope.source.update(collection, keyConditions(collection, row), changes)
  }
  for (const { collection, row } of referringFirst(doomed.slice(1)))
    await scope.source.delete(collection, keyConditions(collection, row))
  return remove()
}

/** Throws ITEM_IN_USE if references of the definition explain why storage has rejected a delete. */
async function explain(event: DeleteEvent, scope: Scope): Promise<void> {
  let effects: Effects | undefined
  try {
    effects = await effectsOf(event, scope.source)
  } catch (error) {
    // Not every storage can read after a failure.
    if (isStorageError(error)) return
    throw error
  }
  if (effects !== undefined) await rejectUsed(effects, scope)
}

/** Returns rows in an order in which storage can delete them: each after those that refer to it. */
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

interface StoredRow {
  readonly collection: PublishedCollection
  readonly row: Row
}

/** What a delete leads to. */
interface Effects {
  /** The rows to delete: that of the event first, and each before those that refer to it. */
  readonly doomed: readonly StoredRow[]
  /** The rows whose fields become null. */
  readonly detached: readonly (StoredRow & { readonly fields: readonly string[] })[]
  /** The references that restrict the delete, with the values of a referring row. */
  readonly restricting: ReadonlyMap<Reference, readonly Condition[]>
}

async function effectsOf(event: DeleteEvent, reader: StorageReader): Promise<Effects | undefined> {
  const { collection, conditions } = event
  const { rows } = await reader.filter(collection, oneItem(conditions, namesToRead(collection)))
  const [first] = rows
  if (first === undefined) return undefined
  const doomed: StoredRow[] = [{ collection, row: first }]
  const ids = new Set([idOf(collection, first)])
  const detaching: (StoredRow & { readonly fields: readonly string[] })[] = []
  for (let from = 0, level = 0; from < doomed.length; level++) {
    if (level > maxLevels) throw inUse(`More than ${maxLevels} levels of items refer to this one.`)
    const added: StoredRow[] = []
    for (const { reference, conditions: referring } of referencesTo(doomed.slice(from))) {
      if (reference.onDelete === 'restrict') continue
      for await (const row of rowsOf(reader, reference.from, referring)) {
        const stored = { collection: reference.from, row }
        const id = idOf(reference.from, row)
        if (ids.has(id)) continue
        if (reference.onDelete === 'setNull') {
          detaching.push({ ...stored, fields: reference.fields.map(({ name }) => name) })
          continue
        }
        ids.add(id)
        added.push(stored)
      }
    }
    from = doomed.length
    doomed.push(...added)
  }
  const detached = detaching.filter((one) => !ids.has(idOf(one.collection, one.row)))
  return { doomed, detached, restricting: await restricting(doomed, ids, reader) }
}

async function restricting(
  doomed: readonly StoredRow[],
  ids: ReadonlySet<string>,
  reader: StorageReader,
): Promise<ReadonlyMap<Reference, readonly Condition[]>> {
  const found = new Map<Reference, readonly Condition[]>()
  for (const { reference, conditions } of referencesTo(doomed)) {
    const { from, onDelete } = reference
    if (onDelete !== 'restrict' || found.has(reference)) continue
    const isDeleted = (row: Row): boolean => from.key.length > 0 && ids.has(idOf(from, row))
    for await (const row of rowsOf(reader, from, conditions)) {
      if (isDeleted(row)) continue
      found.set(reference, conditions)
      break
    }
  }
  return found
}

function* referencesTo(
  rows: readonly StoredRow[],
): Generator<{ readonly reference: Reference; readonly conditions: readonly Condition[] }> {
  for (const { collection, row } of rows) {
    for (const { reference, key } of collection.referredBy) {
      const values = key.map(({ name }): StoredValue => row[name] ?? null)
      yield { reference, conditions: equalTo(reference.fields, values) }
    }
  }
}

/** Reads all rows that meet conditions. The first read is of one row. */
async function* rowsOf(
  reader: StorageReader,
  collection: PublishedCollection,
  conditions: readonly Condition[],
): AsyncGenerator<Row> {
  const sort = collection.tieBreakers.map(({ name }) => ({ field: name, descending: false }))
  const select = namesToRead(collection)
  for (let offset = 0, limit = 1; ; offset += limit, limit = batchSize) {
    const query = { ...oneItem(conditions, select), sort, offset, limit }
    const { rows } = await reader.filter(collection, query)
    yield* rows
    if (rows.length < limit) return
  }
}

function namesToRead({ key, tieBreakers, referredBy }: PublishedCollection): readonly string[] {
  const fields = [...(key.length > 0 ? key : tieBreakers), ...referredBy.flatMap((one) => one.key)]
  return [...new Set(fields.map(({ name }) => name))]
}

/** Throws ITEM_IN_USE if references restrict the delete. Names the collections that the caller may read. */
async function rejectUsed({ restricting: found }: Effects, scope: Scope): Promise<void> {
  if (found.size === 0) return
  const names = new Set<string>()
  for (const [reference, conditions] of found) {
    if (await isVisible(reference, conditions, scope)) names.add(reference.from.name)
  }
  const message = 'Other items still refer to this one'
  throw inUse(names.size === 0 ? `${message}.` : `${message}: ${[...names].join(', ')}.`)
}

async function isVisible(
  { from, fields }: Reference,
  conditions: readonly Condition[],
  { source, terms: { caller } }: Scope,
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

function inUse(message: string): ServiceError {
  return new ServiceError('ITEM_IN_USE', message)
}

function idOf(collection: PublishedCollection, row: Row): string {
  const key = collection.key.map(({ name }) => row[name] ?? null)
  return JSON.stringify([collection.table.toLowerCase(), key])
}

function keyConditions(collection: PublishedCollection, row: Row): readonly Condition[] {
  const values = collection.key.map(({ name }): StoredValue => row[name] ?? null)
  return equalTo(collection.key, values)
}
