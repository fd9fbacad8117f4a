import type { PublishedCollection } from '../definition/published.ts'
import { whenDone } from '../maybe-promise.ts'
import type { Row, StorageQuery } from '../request/query.ts'
import { encodeRow } from '../request/serialize.ts'
import {
  markSelfChecking,
  type StorageAdapter,
  type StoragePage,
  type StorageTextPage,
  type StorageTransaction,
} from '../storage/adapter.ts'
import { checkedStorage } from '../storage/checked.ts'
import { endpoints } from './application.ts'
import { deploymentCollections } from './collections.ts'
import type { EnvironmentRecord } from './environment.ts'
import type { ReleaseStore } from './release-store.ts'

/** What the storage of deployment uses. */
export interface DeploymentStorageDependencies {
  /** The storage of the application. */
  readonly storage: StorageAdapter
  /** Returns the endpoint name of deployment's application; final once a service publishes it. */
  readonly application: () => string
  readonly environment: () => EnvironmentRecord
  readonly store: Pick<ReleaseStore, 'file'>
  /** Builds a release, and resolves to its row when the build has ended. */
  readonly buildNow: (row: Row) => Promise<Row>
  /** Queues the build of a release. */
  readonly enqueue: (row: Row) => Promise<Row>
  readonly opened: (collections: readonly PublishedCollection[]) => void
  readonly closing: () => Promise<void>
}

const { releases } = deploymentCollections

// Releases of one date are sorted by the end of their builds, latest first. `defaultSort` can not name
// `built`, since clients can not read it.
function sortOf({ name }: PublishedCollection, { sort }: StorageQuery): StorageQuery['sort'] {
  const [first, second] = sort
  const isDefault =
    name === endpoints.release &&
    sort.length === 2 &&
    first?.field === 'releaseDate' &&
    first.descending &&
    second?.field === 'releaseId' &&
    !second.descending
  return isDefault ? [first, { field: 'built', descending: true }, second] : sort
}

/**
 * Returns a storage that serves the published collections of deployment and passes all others to the
 * application's storage. Releases and the queue are views of the stored releases, and an insert starts
 * a build. The environment is a single row.
 */
export function deploymentStorage(dependencies: DeploymentStorageDependencies): StorageAdapter {
  const { application, environment } = dependencies
  const storage = checkedStorage(dependencies.storage)
  const isOwn = (collection: PublishedCollection): boolean =>
    collection.application === application()

  const filter = async (
    collection: PublishedCollection,
    query: StorageQuery,
  ): Promise<StoragePage> => {
    if (collection.name === endpoints.metadata) {
      return { rows: [{ ...environment() }], count: null }
    }
    const select = query.select.filter((name) => releases.byName.has(name))
    const page = await storage.filter(releases, {
      ...query,
      sort: sortOf(collection, query),
      select,
    })
    if (!query.select.includes('file')) return page
    const rows = await Promise.all(
      page.rows.map(async (row) => ({ ...row, file: await fileOf(row) })),
    )
    return { ...page, rows }
  }

  // Base64 needs no JSON escapes. Encoding the file with the row would copy it, up to 256 MiB.
  const ownText = async (
    collection: PublishedCollection,
    query: StorageQuery,
  ): Promise<StorageTextPage | undefined> => {
    const at = query.select.indexOf('file')
    if (at < 0) return undefined
    const { rows, count } = await filter(collection, query)
    const items = rows.map((row) => {
      const left = encodeRow(collection, row, query.select.slice(0, at)).slice(0, -1)
      const right = encodeRow(collection, row, query.select.slice(at + 1)).slice(1)
      return `${left},"file":${row['file'] === null ? 'null' : `"${row['file']}"`},${right}`
    })
    return { items, count }
  }

  // `file` is an item-only field, so a page has at most one.
  const fileOf = async (row: Row): Promise<string | null> =>
    row['fileName'] === null ? null : dependencies.store.file(row['releaseId'] as string)

  const own: StorageTransaction = {
    filter,
    insert: (collection, row) =>
      collection.name === endpoints.queue ? dependencies.enqueue(row) : dependencies.buildNow(row),
    update: () => Promise.reject(new Error('Releases can only be changed by their builds.')),
    delete: () => Promise.reject(new Error('Releases can not be deleted.')),
  }

  return markSelfChecking<StorageAdapter>({
    name: storage.name,
    supports: { ...storage.supports, textPages: true },
    open: (collections) => {
      const others = collections.filter((collection) => !isOwn(collection))
      const opening = storage.open([...others, ...Object.values(deploymentCollections)])
      return whenDone(opening, () => {
        dependencies.opened(others)
      })
    },
    filter: (collection, query) =>
      isOwn(collection) ? filter(collection, query) : storage.filter(collection, query),
    filterText: (collection, query) =>
      isOwn(collection) ? ownText(collection, query) : storage.filterText?.(collection, query),
    ...(storage.version !== undefined && { version: () => storage.version?.() }),
    transaction: (options, work) =>
      // A build may take minutes, so it does not run in a transaction of the application's storage.
      options.collection !== undefined && isOwn(options.collection)
        ? work(own)
        : storage.transaction(options, work),
    beforeClose: () => {
      storage.beforeClose?.()
      dependencies.closing().catch(() => undefined)
    },
    close: async () => {
      await dependencies.closing()
      await storage.close()
    },
  })
}
