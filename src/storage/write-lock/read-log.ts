import type { PublishedCollection } from '../../definition/published.ts'
import type { Row, StoragePage, StorageQuery } from '../adapter.ts'

/** The pages that a transaction has read so far. */
export interface ReadLog {
  /** Adds a page and returns it. */
  add(collection: PublishedCollection, query: StorageQuery, page: StoragePage): StoragePage
  /** Returns whether every query still returns the same page. */
  isCurrent(read: Read): boolean
}

type Read = (collection: PublishedCollection, query: StorageQuery) => StoragePage

/**
 * Creates an empty log. A transaction that gave its lock back may continue if its reads are still current:
 * it is then equivalent to a transaction that begins now.
 */
export function readLog(): ReadLog {
  const entries: {
    readonly collection: PublishedCollection
    readonly query: StorageQuery
    readonly page: StoragePage
  }[] = []
  return {
    add(collection, query, page) {
      entries.push({ collection, query, page })
      return page
    },
    isCurrent: (read) =>
      entries.every(({ collection, query, page }) => isSame(page, read(collection, query))),
  }
}

function isSame(before: StoragePage, now: StoragePage): boolean {
  return (
    before.count === now.count &&
    before.rows.length === now.rows.length &&
    before.rows.every((row, index) => isSameRow(row, now.rows[index]))
  )
}

function isSameRow(before: Row, now: Row | undefined): boolean {
  if (now === undefined) return false
  return before === now || Object.keys(before).every((name) => Object.is(before[name], now[name]))
}
