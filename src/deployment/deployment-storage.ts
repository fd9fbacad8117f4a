import type { PublishedCollection } from '../definition/published.ts'
import { whenDone } from '../maybe-promise.ts'
import type { Row, StorageQuery } from '../event/query.ts'
import type { StorageAdapter, StoragePage, StorageTransaction } from '../storage/adapter.ts'
import { endpoints } from './application.ts'
import { deploymentCollections } from './collections.ts'
import type { EnvironmentRecord } from './environment.ts'
import type { ReleaseStore } from './release-store.ts'

/** What stands behind the collections of deployment. */
export interface DeploymentStorageParts {
  /** Where everything is kept. */
  readonly storage: StorageAdapter
  /** The endpoint name of deployment's application. */
  readonly application: string
  readonly environment: EnvironmentRecord
  readonly store: Pick<ReleaseStore, 'file'>
  /** Builds a release, and resolves to its row when that has ended. */
  readonly buildNow: (row: Row) => Promise<Row>
  /** Queues the build of a release. */
  readonly enqueue: (row: Row) => Promise<Row>
  readonly opened: (collections: readonly PublishedCollection[]) => void
  readonly closing: () => Promise<void>
}

const { releases } = deploymentCollections

/**
 * The host's storage, with what deployment keeps beside it: its published collections are views of the
 * releases, an insert into them is a build, and the environment is a row of its own. Everything else
 * passes through untouched.
 */
export function deploymentStorage(parts: DeploymentStorageParts): StorageAdapter {
  const { storage, application, environment } = parts
  const isOwn = (collection: PublishedCollection): boolean => collection.application === application

  const filter = async (
    collection: PublishedCollection,
    query: StorageQuery,
  ): Promise<StoragePage> => {
    if (collection.name === endpoints.metadata) {
      return { rows: [{ ...environment }], count: null }
    }
    const select = query.select.filter((name) => releases.byName.has(name))
    const page = await storage.filter(releases, { ...query, select })
    if (!query.select.includes('file')) return page
    const rows = await Promise.all(
      page.rows.map(async (row) => ({ ...row, file: await fileOf(row) })),
    )
    return { ...page, rows }
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

  return {
    name: storage.name,
    supports: storage.supports,
    open: (collections) => {
      const others = collections.filter((collection) => !isOwn(collection))
      const opening = storage.open([...others, ...Object.values(deploymentCollections)])
      return whenDone(opening, () => {
        parts.opened(others)
      })
    },
    filter: (collection, query) =>
      isOwn(collection) ? filter(collection, query) : storage.filter(collection, query),
    ...(storage.filterText !== undefined && {
      filterText: (collection, query) =>
        isOwn(collection) ? undefined : storage.filterText?.(collection, query),
    }),
    ...(storage.version !== undefined && { version: () => storage.version?.() }),
    transaction: (options, work) =>
      // A build may take minutes: nothing of it runs in a transaction of the host's storage.
      options.collection !== undefined && isOwn(options.collection)
        ? work(own)
        : storage.transaction(options, work),
    close: async () => {
      await parts.closing()
      await storage.close()
    },
  }
}
