import { equal } from '../request/query.ts'
import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Condition, Row, SortField, StoragePage, StorageReader } from '../storage/adapter.ts'
import type { SecurityStorage } from './collections.ts'

const pageSize = 500

/** Reads all rows that match the conditions, from one snapshot of the storage. */
export function readAllRows(
  storage: SecurityStorage,
  collection: PublishedCollection,
  conditions: readonly Condition[],
  order: readonly string[],
): Promise<readonly Row[]> {
  return storage.transaction({ mode: 'read', brief: true, priority: 'high' }, (reader) =>
    readPages(reader, collection, conditions, order),
  )
}

/** Reads all rows that match the conditions, page by page in a transaction. */
export async function readPages(
  reader: StorageReader,
  collection: PublishedCollection,
  conditions: readonly Condition[],
  order: readonly string[],
): Promise<readonly Row[]> {
  const sort = order.map((field) => ({ field, descending: false }))
  const rows: Row[] = []
  for (;;) {
    const query = { conditions, search: null, sort, limit: pageSize, offset: rows.length }
    const select = collection.allNames
    const page = await reader.filter(collection, { ...query, select, count: false })
    rows.push(...page.rows)
    if (page.rows.length < pageSize) return rows
  }
}

/** Returns a function that finds a row by key, synchronously if the storage does. The query is prepared once. */
export function rowFinder(
  storage: SecurityStorage,
  collection: PublishedCollection,
  select: readonly string[] = collection.allNames,
): (key: string) => MaybePromise<Row | undefined> {
  const [field = ''] = collection.key.map(({ name }) => name)
  const sort: readonly SortField[] = Object.freeze([{ field, descending: false }])
  return (key) => {
    const conditions = [equal(field, key)]
    const query = { conditions, search: null, sort, limit: 1, offset: 0, select, count: false }
    return whenDone(storage.filter(collection, query), firstRow)
  }
}

/** Reads the first row that matches the conditions, in the order of the collection's key. */
export async function readRow(
  reader: StorageReader,
  collection: PublishedCollection,
  conditions: readonly Condition[],
): Promise<Row | undefined> {
  const sort: readonly SortField[] = collection.key.map(({ name }) => ({
    field: name,
    descending: false,
  }))
  const query = { conditions, search: null, sort, limit: 1, offset: 0, count: false }
  return firstRow(await reader.filter(collection, { ...query, select: collection.allNames }))
}

function firstRow({ rows }: StoragePage): Row | undefined {
  return rows[0]
}
