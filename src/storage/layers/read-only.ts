import type { PublishedCollection } from '../../definition/published.ts'
import type { StorageAdapter, StorageReader } from '../adapter.ts'

/**
 * Returns an adapter of which nothing is written, for commands that only read. It is opened without a change. The
 * tables that it would create are empty.
 */
export function readOnlyStorage(adapter: StorageAdapter): StorageAdapter {
  const missing = new Set<PublishedCollection>()
  const filterOf =
    (reader: StorageReader): StorageReader['filter'] =>
    (collection, query) =>
      missing.has(collection)
        ? { rows: [], count: query.count ? 0 : null }
        : reader.filter(collection, query)
  const reject = (): Promise<never> =>
    Promise.reject(
      new Error(
        'A command that only reads has opened the service, so that nothing can be written.',
      ),
    )
  return {
    name: adapter.name,
    supports: { ...adapter.supports, textPages: false },
    open: (collections) =>
      adapter.open(collections, {
        missing: (collection) => {
          missing.add(collection)
        },
      }),
    filter: filterOf(adapter),
    connections: () => adapter.connections?.() ?? [],
    ...(adapter.inspect !== undefined && {
      inspect: async (collections, progress) => {
        const problems = (await adapter.inspect?.(collections, progress)) ?? []
        const places = new Set(
          Array.from(missing, ({ application, name }) => `${application}/${name}`),
        )
        return problems.filter(({ collection }) => !places.has(collection))
      },
    }),
    transaction: ({ brief }, work) =>
      adapter.transaction({ mode: 'read', brief }, (transaction) =>
        work({ filter: filterOf(transaction), insert: reject, update: reject, delete: reject }),
      ),
    close: () => adapter.close(),
  }
}
