import { withoutUndefined } from '../definition/options.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { StorageError, vouchFor, type StorageAdapter } from './adapter.ts'
import { checkedStorage } from './checked.ts'
import { mountTransaction, type Party } from './mount-transaction.ts'

/**
 * Makes one storage of several. A key names what its adapter keeps: `'application/collection'`,
 * `'application'`, or `'*'` for the rest; the most specific one counts. An adapter may stand under
 * several keys.
 *
 * A transaction begins on an adapter when it first touches one of its collections, and each adapter
 * keeps its own promises. Two adapters can't commit as one, though: commits follow each other in the
 * order of the first touches. When one fails, the transaction rejects with its error, and those that
 * have not committed yet are undone, but those that have stay committed. So keep in one adapter what
 * must never come apart. Snapshots of two adapters are not of the same instant either.
 */
export function mount(adapters: Readonly<Record<string, StorageAdapter>>): StorageAdapter {
  const given = withoutUndefined(adapters)
  const checked = new Map(
    [...new Set(Object.values(given))].map((adapter) => [adapter, checkedStorage(adapter)]),
  )
  const mounts = new Map(
    Object.entries(given).map(([name, adapter]) => [name, checked.get(adapter) as StorageAdapter]),
  )
  const distinct = [...checked.values()]
  const homes = new Map<PublishedCollection, StorageAdapter>()
  const parties = new Set<Party>()
  let closed = false
  const homeOf = (collection: PublishedCollection): StorageAdapter => {
    const home = homes.get(collection)
    if (home !== undefined) return home
    throw new TypeError(`No storage was opened with ${pathOf(collection)}.`)
  }
  const textPages = distinct.some(({ supports }) => supports.textPages)
  return vouchFor<StorageAdapter>({
    name: `mount(${distinct.map(({ name }) => name).join(', ')})`,
    supports: {
      textPages,
      durable: distinct.every(({ supports }) => supports.durable),
      generatedNumbers: distinct.every(({ supports }) => supports.generatedNumbers),
    },
    open: async (collections) => {
      for (const [collection, home] of route(mounts, collections)) homes.set(collection, home)
      for (const adapter of distinct) {
        await adapter.open(collections.filter((collection) => homes.get(collection) === adapter))
      }
    },
    filter: async (collection, query) => homeOf(collection).filter(collection, query),
    version: () => {
      const versions = distinct.map((adapter) => adapter.version?.())
      // Joined with commas, two pairs of texts could look the same.
      return versions.includes(undefined) ? undefined : JSON.stringify(versions)
    },
    ...(textPages && {
      filterText: async (collection, query) => {
        const home = homeOf(collection)
        return home.supports.textPages ? home.filterText?.(collection, query) : undefined
      },
    }),
    transaction: async (options, work) => {
      if (closed) throw new StorageError('unavailable')
      // Sharing a commit would let the transactions of one adapter wait for each other on another.
      const brief = options.brief && distinct.length === 1
      return mountTransaction({ homeOf, parties, options: { ...options, brief } }, work)
    },
    beforeClose: () => {
      for (const adapter of distinct) adapter.beforeClose?.()
    },
    close: async () => {
      closed = true
      const results = await Promise.allSettled(distinct.map(async (adapter) => adapter.close()))
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },
  })
}

function route(
  mounts: ReadonlyMap<string, StorageAdapter>,
  collections: readonly PublishedCollection[],
): ReadonlyMap<PublishedCollection, StorageAdapter> {
  const unused = new Set(mounts.keys())
  // What is left for the rest may well be nothing.
  unused.delete('*')
  const routes = new Map<PublishedCollection, StorageAdapter>()
  for (const collection of collections) {
    const names = [pathOf(collection), collection.application, '*']
    const name = names.find((candidate) => mounts.has(candidate))
    const home = name === undefined ? undefined : mounts.get(name)
    if (name === undefined || home === undefined) {
      throw new TypeError(`The collection ${pathOf(collection)} has no storage: mount one.`)
    }
    unused.delete(name)
    routes.set(collection, home)
  }
  for (const name of unused) {
    throw new TypeError(`The mount '${name}' keeps no collection: none has this name.`)
  }
  return routes
}

function pathOf({ application, name }: PublishedCollection): string {
  return `${application}/${name}`
}
