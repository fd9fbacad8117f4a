import { expect, onTestFinished } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import {
  boolean,
  date,
  decimal,
  defineCollection,
  double,
  instant,
  integer,
  text,
  uuid,
} from '../../../src/entries/index.ts'
import { searchText, type Row, type StorageAdapter } from '../../../src/storage/adapter.ts'
import { sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'
import { openHandle } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'

export const fields = {
  id: integer({ search: false }),
  code: text({ search: false }),
  part: text({ search: false }),
  name: text(),
  note: text(),
  amount: decimal({ precision: 9, scale: 2 }),
  quantity: integer(),
  day: date(),
  at: instant(),
  token: uuid(),
  flag: boolean({ search: true }),
  ratio: double({ search: true }),
}

/** The keys by which an index identifies rows: a number, a string, and two columns. */
export const keys = { number: 'id', string: 'code', two: ['code', 'part'] } as const
export type KeyName = keyof typeof keys

/** Returns a collection and the same one without index. */
export function collectionsBy(key: KeyName) {
  const data = { key: keys[key], fields, table: 'notes' } as const
  return {
    indexed: publishCollection('app', 'notes', defineCollection({ ...data, search: 'indexed' })),
    plain: publishCollection('app', 'notes', defineCollection(data)),
  }
}

const empty = Object.fromEntries(Object.keys(fields).map((name) => [name, null]))

export function rowOf(id: number, values: Row): Row {
  return { ...empty, id, code: `c${id}`, part: `p${id % 3}`, ...values }
}

export interface Files {
  readonly indexed: StorageAdapter
  readonly plain: StorageAdapter
  readonly path: string
  /** Returns the ids that a search finds. Fails if they differ without the index. */
  find(needle: string, searched?: readonly string[], changes?: object): Promise<readonly unknown[]>
}

const searchNames = Object.entries(fields)
  .filter(([name]) => !['id', 'code', 'part'].includes(name))
  .map(([name]) => name)

export async function filesOf(key: KeyName, driver: SqliteDriver, before = ''): Promise<Files> {
  const path = `${temporaryFolder()}/a.db`
  if (before !== '') {
    const handle = openHandle(driver, path)
    handle.exec(before)
    handle.close()
  }
  const collections = collectionsBy(key)
  const indexed = sqliteStorage(path, { driver, ensureSchema: true })
  await indexed.open([collections.indexed])
  const plain = sqliteStorage(path, { driver })
  await plain.open([collections.plain])
  onTestFinished(() => Promise.all([indexed.close(), plain.close()]).then(() => undefined))
  return {
    indexed,
    plain,
    path,
    async find(needle, searched = searchNames, changes = {}) {
      const search = { fields: searched, text: searchText(needle) }
      const query = (collection: typeof collections.plain) =>
        queryOf(collection, { search, limit: 100_000, count: true, ...changes })
      const expected = await plain.filter(collections.plain, query(collections.plain))
      const found = await indexed.filter(collections.indexed, query(collections.indexed))
      expect(found).toEqual(expected)
      return found.rows.map(({ id }) => id)
    },
  }
}

export async function insert(
  { indexed }: Files,
  key: KeyName,
  rows: readonly Row[],
): Promise<void> {
  const collection = collectionsOf.get(indexed) ?? collectionsBy(key).indexed
  collectionsOf.set(indexed, collection)
  await indexed.transaction({ mode: 'write', brief: false }, async (open) => {
    for (const row of rows) await open.insert(collection, row)
  })
}

const collectionsOf = new WeakMap<StorageAdapter, ReturnType<typeof collectionsBy>['indexed']>()
