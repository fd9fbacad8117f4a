import type { PublishedCollection } from '../../definition/published.ts'
import { oneItem } from '../../request/query.ts'
import { isStorageError, type StorageReader } from '../adapter.ts'

/**
 * Reads at most one row of one collection. Rejects with what storage rejects with, except for a row that does not
 * fit its definition.
 */
export async function requireReadable(
  storage: StorageReader,
  collections: readonly PublishedCollection[],
): Promise<void> {
  // One without a key may be a view, of which each read takes long.
  const collection = collections.find(({ key }) => key.length > 0) ?? collections[0]
  if (collection === undefined) return
  try {
    await storage.filter(collection, oneItem([], collection.allNames.slice(0, 1)))
  } catch (error) {
    if (!isStorageError(error) || error.kind !== 'unfit') throw error
  }
}
