import { whenDone, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { equal, oneItem, type Row } from '../request/query.ts'
import { isStorageError, StorageError, type StorageTransaction } from '../storage/adapter.ts'
import { isConflict } from '../work/repeat-conflicts.ts'
import type { Log } from './runtime.ts'

/** Keys that inserts of repeated work have found in use, although the transaction did not see their rows. */
export type UnseenKeys = Set<string>

/**
 * Returns a transaction for work that is repeated after conflicts. It notes a conflict in the log, because code may throw an
 * error of its own for it. An insert of a key that another transaction has inserted since this one began is a conflict as
 * well: the repeated work finds the item. If it does not, the duplicate stays an error: the database has another
 * comparison of strings, or a unique index that the definition does not have.
 */
export function notingConflicts(
  on: StorageTransaction,
  log: Log,
  unseen: UnseenKeys,
): StorageTransaction {
  function noting<Result>(call: () => MaybePromise<Result>): MaybePromise<Result> {
    return whenFailed(call, (error) => {
      if (isConflict(error)) log.conflict ??= error
      throw error
    })
  }

  function throwDuplicate(
    collection: PublishedCollection,
    row: Row,
    error: StorageError,
  ): MaybePromise<never> {
    const values = keyOf(collection, row, error)
    if (values === undefined) throw error
    const { application, name, key } = collection
    const id = JSON.stringify([application, name, ...values])
    const conditions = key.map((field, index) => equal(field.name, values[index] ?? null))
    const found = whenFailed(
      () => whenDone(on.filter(collection, oneItem(conditions, namesOf(key))), isNotEmpty),
      // Not every storage can read after a failure.
      () => true,
    )
    return whenDone(found, (isSeen) => {
      if (isSeen || unseen.has(id)) throw error
      unseen.add(id)
      throw new StorageError('unavailable', { cause: error, isConflict: true })
    })
  }

  return {
    filter: (...given) => noting(() => on.filter(...given)),
    insert: (collection, row) =>
      noting(() =>
        whenFailed(
          () => on.insert(collection, row),
          (error) => {
            if (!isStorageError(error) || error.kind !== 'duplicate') throw error
            return throwDuplicate(collection, row, error)
          },
        ),
      ),
    update: (...given) => noting(() => on.update(...given)),
    ...(on.updateText !== undefined && {
      updateText: (...given) => noting(() => on.updateText?.(...given)),
    }),
    delete: (...given) => noting(() => on.delete(...given)),
  }
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

function namesOf(fields: PublishedCollection['key']): readonly string[] {
  return fields.map(({ name }) => name)
}

function isNotEmpty({ rows }: { readonly rows: readonly Row[] }): boolean {
  return rows.length > 0
}
