import type { PublishedCollection } from '../definition/published.ts'
import { isStorageError, type Row, type StorageError, type StorageReader } from './adapter.ts'
import { tableReader, type Table, type TablePage } from './table.ts'

/** A row that another program has written so that it does not fit its fields. */
export interface UnfitRow {
  /** The values of its key; undefined if these do not fit either. */
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

const rowsAtOnce = 500

/**
 * Reads rows of a table that the library keeps. A row with a value that does not fit its field is left out, so
 * that it does not hide the others: if a read fails, its rows are read in halves.
 */
export async function readFitting(
  reader: StorageReader,
  collection: PublishedCollection,
  where: Row,
  { limit = Infinity, offset = 0, ...page }: TablePage = {},
): Promise<FittingRows> {
  const table = tableReader(reader, collection)
  const rows: Row[] = []
  const unfit: UnfitRow[] = []

  /** Reads a part, and returns the number of rows that it has. */
  async function read(from: number, count: number): Promise<number> {
    try {
      const found = await table.all(where, { ...page, limit: count, offset: from })
      rows.push(...found)
      return found.length
    } catch (error) {
      if (!isStorageError(error) || error.kind !== 'unfit') throw error
      if (count > 1) {
        const half = Math.floor(count / 2)
        const first = await read(from, half)
        return first < half ? first : first + (await read(from + half, count - half))
      }
      unfit.push({ key: await keyAt(from), error })
      return 1
    }
  }

  async function keyAt(from: number): Promise<Row | undefined> {
    const select = collection.key.map(({ name }) => name)
    try {
      const [key] = await table.all(where, { ...page, limit: 1, offset: from, select })
      return key
    } catch (error) {
      if (isStorageError(error) && error.kind === 'unfit') return undefined
      throw error
    }
  }

  for (let done = 0; done < limit;) {
    const wanted = Math.min(rowsAtOnce, limit - done)
    const found = await read(offset + done, wanted)
    done += found
    if (found < wanted) return { rows, unfit, isFull: false }
  }
  return { rows, unfit, isFull: true }
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
