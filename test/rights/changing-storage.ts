import type {
  PublishedCollection,
  Row,
  StorageAdapter,
  StoredValue,
} from '../../src/entries/storage.ts'

/** A storage that can be exchanged for an empty one below a running service. */
export interface ChangingStorage {
  readonly storage: StorageAdapter
  /** Exchanges it for a new one, which holds these items in every collection. */
  plant(items: readonly Readonly<Record<string, unknown>>[]): Promise<void>
}

/** Services take long to create: many runs of a property share one. */
export function changingStorage(create: () => StorageAdapter): ChangingStorage {
  let inner = create()
  let published: readonly PublishedCollection[] = []
  const { filterText, filterTexts } = inner
  return {
    storage: {
      name: inner.name,
      supports: inner.supports,
      open: (collections) => {
        published = collections
        return inner.open(collections)
      },
      filter: (collection, query) => inner.filter(collection, query),
      ...(filterText !== undefined && {
        filterText: (...given) => (inner as Required<StorageAdapter>).filterText(...given),
      }),
      ...(filterTexts !== undefined && {
        filterTexts: (...given) => (inner as Required<StorageAdapter>).filterTexts(...given),
      }),
      transaction: (options, work) => inner.transaction(options, work),
      close: () => inner.close(),
    },
    plant: async (items) => {
      await inner.close()
      inner = create()
      await inner.open(published)
      await inner.transaction({ mode: 'write', brief: true }, async (transaction) => {
        for (const collection of published) {
          for (const item of items) await transaction.insert(collection, rowOf(collection, item))
        }
      })
    },
  }
}

function rowOf({ fields }: PublishedCollection, item: Readonly<Record<string, unknown>>): Row {
  const entries = fields.map(({ name, type }) => {
    const value = (item[name] ?? null) as StoredValue
    return [name, type === 'json' && value !== null ? JSON.stringify(value) : value] as const
  })
  return Object.fromEntries(entries)
}
