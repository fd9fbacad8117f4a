import type { PublishedCollection } from '../definition/published.ts'
import { whenDone, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import { oneItem } from '../request/query.ts'
import { isStorageError, type StorageReader } from './adapter.ts'

/**
 * Reads at most one row of one collection. Throws what storage throws, except for a row that does not fit its
 * definition.
 */
export function requireReadable(
  storage: StorageReader,
  collections: readonly PublishedCollection[],
): MaybePromise<void> {
  // One without a key may be a view, of which each read takes long.
  const collection = collections.find(({ key }) => key.length > 0) ?? collections[0]
  if (collection === undefined) return
  const { key, fields } = collection
  const selected = key.length > 0 ? key : fields.slice(0, 1)
  const query = oneItem(
    [],
    selected.map(({ name }) => name),
  )
  return whenFailed(
    () => whenDone(storage.filter(collection, query), () => undefined),
    (error) => {
      if (!isStorageError(error) || error.kind !== 'unfit') throw error
    },
  )
}
