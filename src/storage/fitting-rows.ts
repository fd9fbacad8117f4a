import type { PublishedCollection } from '../definition/published.ts'
import { isStorageError, type Row, type StorageError, type StorageReader } from './adapter.ts'
import type { StorageQuery } from '../request/query.ts'
import { filterTable, queryOfTable, type Table, type TablePage } from './table.ts'

/** A row that another program has written so that it does not fit its fields. */
export interface UnfitRow {
  /** The values of its key, and of the fields that were to be read in this case; undefined if the key does not fit. */
  readonly key: Row | undefined
  readonly error: StorageError
}

/** The rows of a part of a table. */
export interface FittingRows {
  readonly rows: readonly Row[]
  /** Those that were left out. */
  readonly unfit: readonly UnfitRow[]
  /** Whether there may be further rows behind them. */
  readonly isFull: boolean
}

/** A row, or why it could not be read. */
export type ReadRow = { readonly row: Row } | UnfitRow

const rowsAtOnce = 500

/**
 * Reads rows of a table that the library keeps. A row with a value that does not fit its field is left out, so
 * that it does not hide the others: if a read fails, its rows are read in halves.
 */
export async function readFitting(
  reader: StorageReader,
  collection: PublishedCollection,
  where: Row,
  page: TablePage = {},
): Promise<FittingRows> {
  const query = queryOfTable(collection, where, page)
  const read = await filterFitting(reader, collection, query)
  return {
    rows: read.flatMap((one) => ('row' in one ? [one.row] : [])),
    unfit: read.flatMap((one) => ('row' in one ? [] : [one])),
    isFull: read.length === query.limit,
  }
}

/**
 * Reads the rows of a query of a table that the library keeps, in its order. It has no count. Of a row that does not fit,
 * the fields `partly` are read if these fit.
 */
export async function filterFitting(
  reader: StorageReader,
  collection: PublishedCollection,
  query: StorageQuery,
  partly: readonly string[] = [],
): Promise<readonly ReadRow[]> {
  const found: ReadRow[] = []
  const part = async (offset: number, limit: number, select = query.select) =>
    (await filterTable(reader, collection, { ...query, select, limit, offset, count: false })).rows

  /** Reads a part, and returns the number of rows that it has. */
  async function read(from: number, count: number): Promise<number> {
    try {
      const rows = await part(from, count)
      for (const row of rows) found.push({ row })
      return rows.length
    } catch (error) {
      if (!isStorageError(error) || error.kind !== 'unfit') throw error
      if (count > 1) {
        const half = Math.floor(count / 2)
        const first = await read(from, half)
        return first < half ? first : first + (await read(from + half, count - half))
      }
      found.push({ key: await keyAt(from), error })
      return 1
    }
  }

  async function keyAt(from: number): Promise<Row | undefined> {
    const key = collection.key.map(({ name }) => name)
    const choices = partly.length === 0 ? [key] : [[...new Set([...key, ...partly])], key]
    for (const select of choices) {
      try {
        const [row] = await part(from, 1, select)
        return row
      } catch (error) {
        if (!isStorageError(error) || error.kind !== 'unfit') throw error
      }
    }
    return undefined
  }

  const { limit, offset } = query
  while (found.length < limit) {
    const wanted = Math.min(rowsAtOnce, limit - found.length)
    if ((await read(offset + found.length, wanted)) < wanted) break
  }
  return found
}

/**
 * Returns a row by its key, or undefined. A row with a value that does not fit its field is removed: for tables whose
 * rows can be made again.
 */
export async function fittingOne(table: Table, key: Row): Promise<Row | undefined> {
  try {
    return await table.one(key)
  } catch (error) {
    if (!isStorageError(error) || error.kind !== 'unfit') throw error
    await table.remove(key)
    return undefined
  }
}
