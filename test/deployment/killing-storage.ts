import type { StorageAdapter, StorageTransaction } from '../../src/entries/storage.ts'

/** Told at each point of a build at which its process may die. */
export type Mark = (point: string) => void

/** Marks the moments before and after each call of a storage, inside transactions and around their commit. */
export function killingStorage(storage: StorageAdapter, mark: Mark): StorageAdapter {
  const around = async <Result>(point: string, work: () => Result): Promise<Awaited<Result>> => {
    mark(`before ${point}`)
    const result = await work()
    mark(`after ${point}`)
    return result
  }
  const within = (inner: StorageTransaction): StorageTransaction => ({
    filter: (collection, query) =>
      around(`filter ${collection.table} within`, () => inner.filter(collection, query)),
    insert: (collection, row) =>
      around(`insert ${collection.table}`, () => inner.insert(collection, row)),
    update: (collection, conditions, changes) =>
      around(`update ${collection.table}`, () => inner.update(collection, conditions, changes)),
    delete: (collection, conditions) =>
      around(`delete ${collection.table}`, () => inner.delete(collection, conditions)),
  })
  return {
    name: storage.name,
    supports: storage.supports,
    open: (collections) => storage.open(collections),
    close: () => storage.close(),
    filter: (collection, query) =>
      around(`filter ${collection.table}`, () => storage.filter(collection, query)),
    transaction: (options, work) =>
      around('transaction', () =>
        storage.transaction(options, async (inner) => {
          mark('after begin')
          const result = await work(within(inner))
          mark('before commit')
          return result
        }),
      ),
  }
}
