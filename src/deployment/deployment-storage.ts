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

/** What stands behind the collections of deployment. */
export interface DeploymentStorageParts {
  /** Where everything is kept. */
  readonly storage: StorageAdapter
  /** The endpoint name of deployment's application, once the service is known that publishes it. */
  readonly application: () => string
  readonly environment: () => EnvironmentRecord
  readonly store: Pick<ReleaseStore, 'file'>
  /** Builds a release, and resolves to its row when that has ended. */
  readonly buildNow: (row: Row) => Promise<Row>
  /** Queues the build of a release. */
  readonly enqueue: (row: Row) => Promise<Row>
  readonly opened: (collections: readonly PublishedCollection[]) => void
  readonly closing: () => Promise<void>
}

const { releases } = deploymentCollections

// Callers can't read when a build ended, so the definition can't name it: of one date, the latest build
// comes first.
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
 * The host's storage, with what deployment keeps beside it: its published collections are views of the
 * releases, an insert into them is a build, and the environment is a row of its own. Everything else
 * passes through untouched.
 */
export function deploymentStorage(parts: DeploymentStorageParts): StorageAdapter {
  const { application, environment } = parts
  const storage = checkedStorage(parts.storage)
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

  // A file is never copied on its way: base64 has nothing that would have to be escaped.
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

  // Only single items have the file, so that there is one of them at most.
  const fileOf = async (row: Row): Promise<string | null> =>
    row['fileName'] === null ? null : parts.store.file(row['releaseId'] as string)

  const own: StorageTransaction = {
    filter,
    insert: (collection, row) =>
      collection.name === endpoints.queue ? parts.enqueue(row) : parts.buildNow(row),
    update: () => Promise.reject(new Error('Releases are changed by their builds.')),
    delete: () => Promise.reject(new Error('Releases are not deleted.')),
  }

  return markSelfChecking<StorageAdapter>({
    name: storage.name,
    supports: { ...storage.supports, textPages: true },
    open: (collections) => {
      const others = collections.filter((collection) => !isOwn(collection))
      const opening = storage.open([...others, ...Object.values(deploymentCollections)])
      return whenDone(opening, () => {
        parts.opened(others)
      })
    },
    filter: (collection, query) =>
      isOwn(collection) ? filter(collection, query) : storage.filter(collection, query),
    filterText: (collection, query) =>
      isOwn(collection) ? ownText(collection, query) : storage.filterText?.(collection, query),
    ...(storage.version !== undefined && { version: () => storage.version?.() }),
    transaction: (options, work) =>
      // A build may take minutes: nothing of it runs in a transaction of the host's storage.
      options.collection !== undefined && isOwn(options.collection)
        ? work(own)
        : storage.transaction(options, work),
    beforeClose: () => {
      storage.beforeClose?.()
      parts.closing().catch(() => undefined)
    },
    close: async () => {
      await parts.closing()
      await storage.close()
    },
  })
}
