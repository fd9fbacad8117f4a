import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { equal, oneItem, type Row } from '../request/query.ts'
import { isStorageError, StorageError, type StorageTransaction } from '../storage/adapter.ts'
import { isConflict } from '../work/repeat-conflicts.ts'

/** Keys that inserts of repeated work have found in use, although the transaction did not see their rows. */
export type UnseenKeys = Set<string>

/**
 * Returns a transaction for work that is repeated after conflicts. It notes a conflict, because code may throw an
 * error of its own for it. An insert of a key that another transaction has inserted since this one began is a conflict as
 * well: the repeated work finds the item. If it does not, the duplicate stays an error: the database has another
 * comparison of strings, or a unique index that the definition does not have.
 */
export function notingConflicts(
  on: StorageTransaction,
  note: (conflict: StorageError) => void,
  unseen: UnseenKeys,
): StorageTransaction {
  async function noting<Result>(call: () => MaybePromise<Result>): Promise<Result> {
    try {
      return await call()
    } catch (error) {
      if (isConflict(error)) note(error)
      throw error
    }
  }

  async function insert(collection: PublishedCollection, row: Row): Promise<Row> {
    try {
      return await on.insert(collection, row)
    } catch (error) {
      if (!isStorageError(error) || error.kind !== 'duplicate') throw error
      const values = keyOf(collection, row, error)
      const isConflicting =
        values !== undefined && (await isFirstUnseen(on, collection, values, unseen))
      if (!isConflicting) throw error
      throw new StorageError('unavailable', { cause: error, isConflict: true })
    }
  }

  return {
    filter: (...given) => noting(() => on.filter(...given)),
    insert: (...given) => noting(() => insert(...given)),
    update: (...given) => noting(() => on.update(...given)),
    ...(on.updateText !== undefined && {
      updateText: (...given) => noting(() => on.updateText?.(...given)),
    }),
    delete: (...given) => noting(() => on.delete(...given)),
  }
}

/** Returns whether a transaction does not see the row of a key in use, for the first time of repeated work. */
async function isFirstUnseen(
  on: StorageTransaction,
  collection: PublishedCollection,
  values: readonly StoredValue[],
  unseen: UnseenKeys,
): Promise<boolean> {
  const { application, name, key } = collection
  const conditions = key.map((field, index) => equal(field.name, values[index] ?? null))
  const query = oneItem(
    conditions,
    key.map((field) => field.name),
  )
  try {
    if ((await on.filter(collection, query)).rows.length > 0) return false
  } catch {
    // Not every storage can read after a failure.
    return false
  }
  const id = JSON.stringify([application, name, ...values])
  if (unseen.has(id)) return false
  unseen.add(id)
  return true
}

/** Returns the key of a row that may be the reason of a duplicate; undefined if another value certainly is. */
function keyOf(
  { key }: PublishedCollection,
  row: Row,
  { fields }: StorageError,
): readonly StoredValue[] | undefined {
  const values = key.map(({ name }) => row[name] ?? null)
  if (values.length === 0 || values.includes(null)) return undefined
  const isOther = fields.length > 0 && !key.some(({ name }) => fields.includes(name))
  return isOther ? undefined : values
}
