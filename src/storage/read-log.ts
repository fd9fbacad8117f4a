import type { PublishedCollection } from '../definition/published.ts'
import type { Row, StoragePage, StorageQuery } from './adapter.ts'

/** What a transaction has read so far. */
export interface ReadLog {
  /** Adds a page that was read, and returns it. */
  add(collection: PublishedCollection, query: StorageQuery, page: StoragePage): StoragePage
  /** Whether every query returns the same page again. */
  isCurrent(read: Read): boolean
}

type Read = (collection: PublishedCollection, query: StorageQuery) => StoragePage

/**
 * Starts a log. A transaction that gave back its lock may go on if what it has read is still so: it is
 * then the same as one that began now.
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
