import type {
  MaybePromise,
  PublishedCollection,
  StorageAdapter,
} from '../../src/entries/storage.ts'
import type { Cell } from '../kit/cells.ts'

/** Called for each read and each transaction, before storage is. With what it throws they reject. */
export type Watch = (reads: string) => void

/**
 * A cell whose storage is watched: with the collection that is read (`application/name`), or `a
 * transaction`.
 */
export function watched(cell: Cell, watch: Watch): Cell {
  return {
    ...cell,
    storage: {
      ...cell.storage,
      open: () => {
        const { storage, remove } = cell.storage.open()
        return { storage: watchedStorage(storage, watch), remove }
      },
    },
  }
}

function watchedStorage(storage: StorageAdapter, watch: Watch): StorageAdapter {
  const filterText = storage.filterText?.bind(storage)
  const filterTexts = storage.filterTexts?.bind(storage)
  const watching = <Result>(reads: string, work: () => MaybePromise<Result>) => {
    try {
      watch(reads)
    } catch (error) {
      return Promise.reject<Result>(error)
    }
    return work()
  }
  return {
    ...storage,
    // Every read is counted, and unreachable storage reports no version.
    version: () => undefined,
    filter: (collection, query) =>
      watching(nameOf(collection), () => storage.filter(collection, query)),
    ...(filterText && {
      filterText: (collection, query) =>
        watching(nameOf(collection), () => filterText(collection, query)),
    }),
    ...(filterTexts && {
      filterTexts: (collection, queries) =>
        watching(nameOf(collection), () => filterTexts(collection, queries)),
    }),
    transaction: async (options, work) =>
      watching('a transaction', () => storage.transaction(options, work)),
  }
}

function nameOf({ application, name }: PublishedCollection): string {
  return `${application}/${name}`
}
