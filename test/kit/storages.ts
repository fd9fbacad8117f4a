import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { memoryStorage } from '../../src/entries/index.ts'
import type { MaybePromise } from '../../src/maybe-promise.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../src/entries/storage.ts'

/** A kind of storage, empty each time. */
export interface Storage {
  readonly name: string
  /** Whether its rows are in a server, so that no response is ready at once. Default false. */
  readonly isRemote?: boolean
  open(): { readonly storage: StorageAdapter; readonly remove: () => MaybePromise<void> }
}

/** Whether this is `npm run test:matrix`, which runs what `npm test` leaves out. */
export const isMatrix = process.env['MATRIX'] === 'on'

export const memory: Storage = {
  name: 'memory',
  open: () => ({ storage: memoryStorage(), remove: () => undefined }),
}

export const sqlite: Storage = {
  name: 'sqlite',
  open: () => {
    const directory = mkdtempSync(join(tmpdir(), 'rowgate-'))
    return {
      storage: sqliteStorage(join(directory, 'data.db'), {
        ensureSchema: true,
        // Nothing here survives the process anyway.
        synchronous: 'NORMAL',
      }),
      remove: () => rmSync(directory, { recursive: true }),
    }
  },
}

/** The storages of this process. A new adapter is one more row. */
export const localStorages: readonly Storage[] = [memory, sqlite]

/** The storages in servers that respond. Empty in `npm test`, where few tests need them. */
export const remoteStorages: readonly Storage[] = isMatrix
  ? (await import('./database-servers.ts')).serverStorages
  : []

/** The storages behind a service: those of this process, and in `npm run test:matrix` those in servers that respond. */
export const storages: readonly Storage[] =
  remoteStorages.length === 0 ? localStorages : remoteStorages

/** Opens a storage that is removed after the test. Default: a SQLite file. */
export function openStorage(on: Storage = sqlite): StorageAdapter {
  const { storage, remove } = on.open()
  onTestFinished(remove)
  return storage
}

/** Creates a folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Reads all rows of a collection, in the order of its key. */
export async function allRows(
  storage: Pick<StorageAdapter, 'filter'>,
  collection: PublishedCollection,
): Promise<readonly Row[]> {
  const page = await storage.filter(collection, {
    conditions: [],
    search: null,
    sort: collection.tieBreakers.map(({ name }) => ({ field: name, descending: false })),
    limit: 1_000_000,
    offset: 0,
    select: collection.allNames,
    count: false,
  })
  return page.rows
}

/** A storage that remembers the collections for which it was opened. */
export interface InspectedStorage {
  readonly storage: StorageAdapter
  readonly collections: () => readonly PublishedCollection[]
  /** Returns how many transactions have begun, and how many of them have ended. */
  readonly transactions: () => readonly [begun: number, ended: number]
  /** Reads all rows of a collection of the application `app`. */
  readonly rows: (name: string) => Promise<readonly Row[]>
}

/** Lets a test read the rows of a storage without the service. */
export function inspected(storage: StorageAdapter): InspectedStorage {
  let collections: readonly PublishedCollection[] = []
  let [begun, ended] = [0, 0]
  return {
    storage: {
      ...storage,
      open: (published) => {
        collections = published
        return storage.open(published)
      },
      transaction: async (options, work) => {
        begun++
        try {
          return await storage.transaction(options, work)
        } finally {
          ended++
        }
      },
    },
    transactions: () => [begun, ended],
    collections: () => collections,
    rows: async (name) => {
      const collection = collections.find((one) => one.application === 'app' && one.name === name)
      if (collection === undefined) throw new Error(`There is no collection ${name}.`)
      return allRows(storage, collection)
    },
  }
}
