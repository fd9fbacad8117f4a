import type { PublishedCollection } from '../definition/published.ts'
import { withoutZeroFraction } from '../definition/value-forms.ts'
import { whenDone, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import { equal } from '../request/query.ts'
import { isStorageError, StorageError } from './adapter.ts'
import type {
  Row,
  StoragePage,
  StorageQuery,
  StorageReader,
  StorageTransaction,
} from './adapter.ts'

/** A part of the rows that meet the conditions. */
export interface TablePage {
  /** The fields to sort by; `-name` is descending. Default: the key. */
  readonly sort?: readonly string[]
  /** Default: no limit. */
  readonly limit?: number
  /** Default 0. */
  readonly offset?: number
  /** The fields to read. Default: all. */
  readonly select?: readonly string[]
  /** Whether no other transaction may change the rows until the end of this one. Default false. */
  readonly lock?: boolean
}

/** Reads of a table. In all methods, `where` names fields and the values that they must equal. */
export interface TableReader {
  /** Returns the first row by key, or undefined. Synchronous if storage is. */
  one(where: Row, select?: readonly string[]): MaybePromise<Row | undefined>
  /** Returns all rows. They are of one state if the reader is a transaction of mode `read`. */
  all(where: Row, page?: TablePage): Promise<readonly Row[]>
  /** Returns the number of rows. Synchronous if storage is. */
  count(where: Row): MaybePromise<number>
}

/** Reads and writes of a table in a transaction. */
export interface Table extends TableReader {
  /** Inserts a row, completed with null, and returns it as stored. Rejects as storage does. */
  insert(row: Row): MaybePromise<Row>
  /**
   * Inserts a row, completed with null, that the transaction has not found. If another transaction has inserted
   * it in the meantime, throws a StorageError that is a conflict, so that the work is repeated and finds it.
   */
  insertMissing(row: Row): MaybePromise<Row>
  /** Changes the row that meets all conditions, which contain the key. Returns undefined if there is none. */
  change(where: Row, changes: Row): MaybePromise<Row | undefined>
  /** Removes the row that meets all conditions, which contain the key. Returns undefined if there is none. */
  remove(where: Row): MaybePromise<Row | undefined>
}

const batchSize = 500

/** Returns the reads of a table, for collections that the library itself keeps. */
export function tableReader(reader: StorageReader, collection: PublishedCollection): TableReader {
  const filter = (query: StorageQuery): MaybePromise<StoragePage> =>
    filterTable(reader, collection, query)

  return {
    one: (where, select = collection.allNames) =>
      whenDone(
        filter(queryOfTable(collection, where, { limit: 1, select })),
        ({ rows }) => rows[0],
      ),
    async all(where, page = {}) {
      const { limit = Infinity, offset = 0 } = page
      const rows: Row[] = []
      for (;;) {
        const size = Math.min(batchSize, limit - rows.length)
        const part = { ...page, limit: size, offset: offset + rows.length }
        const batch = await filter(queryOfTable(collection, where, part))
        rows.push(...batch.rows)
        if (batch.rows.length < batchSize || rows.length === limit) return rows
      }
    },
    count(where) {
      const select = collection.key.map(({ name }) => name)
      const query = queryOfTable(collection, where, { limit: 0, select })
      return whenDone(filter({ ...query, count: true }), ({ count }) => count ?? 0)
    },
  }
}

/** Returns the query of the rows whose fields have the values of `where`. */
export function queryOfTable(
  collection: PublishedCollection,
  where: Row,
  {
    sort,
    limit = Infinity,
    offset = 0,
    select = collection.allNames,
    lock = false,
  }: TablePage = {},
): StorageQuery {
  return {
    conditions: conditionsOf(collection, where),
    search: null,
    sort: orderOf(sort ?? collection.key.map(({ name }) => name)),
    limit,
    offset,
    select,
    count: false,
    ...(lock && { lock }),
  }
}

/** Returns a page of a table, for collections that the library itself keeps. Synchronous if storage is. */
export function filterTable(
  reader: StorageReader,
  collection: PublishedCollection,
  query: StorageQuery,
): MaybePromise<StoragePage> {
  return whenFailed(() => reader.filter(collection, query), failed)
}

/** Returns the reads and writes of a table in a transaction, for collections that the library keeps. */
export function table(transaction: StorageTransaction, collection: PublishedCollection): Table {
  const insert = (row: Row): MaybePromise<Row> => {
    const complete = collection.allNames.map((name) => [name, row[name] ?? null] as const)
    const values = canonical(collection, Object.fromEntries(complete))
    return whenFailed(() => transaction.insert(collection, values), failed)
  }
  return {
    ...tableReader(transaction, collection),
    insert,
    insertMissing: (row) =>
      whenFailed(
        () => insert(row),
        (error) => {
          if (!isStorageError(error) || error.kind !== 'duplicate') throw error
          throw new StorageError('unavailable', { cause: error, isConflict: true })
        },
      ),
    change: (where, changes) =>
      whenFailed(
        () =>
          transaction.update(
            collection,
            conditionsOf(collection, where),
            canonical(collection, changes),
          ),
        failed,
      ),
    remove: (where) =>
      whenFailed(() => transaction.delete(collection, conditionsOf(collection, where)), failed),
  }
}

// A client must not receive 403 for a table of the library.
function failed(error: unknown): never {
  if (!isStorageError(error) || error.kind !== 'forbidden') throw error
  throw new Error('The database does not let its role use a table of rowgate.', { cause: error })
}

function conditionsOf(collection: PublishedCollection, where: Row): StorageQuery['conditions'] {
  return Object.entries(canonical(collection, where)).map(([field, value]) => equal(field, value))
}

/** Returns values in the form that storage keeps: `Date` writes a fraction of zero, which an instant does not have. */
function canonical({ byName }: PublishedCollection, row: Row): Row {
  const times = Object.entries(row).flatMap(([name, value]) =>
    typeof value === 'string' && byName.get(name)?.type === 'instant'
      ? [[name, withoutZeroFraction(value)] as const]
      : [],
  )
  return times.length === 0 ? row : { ...row, ...Object.fromEntries(times) }
}

function orderOf(names: readonly string[]): StorageQuery['sort'] {
  return names.map((name) => {
    const descending = name.startsWith('-')
    return { field: descending ? name.slice(1) : name, descending }
  })
}
