import type { PublishedCollection } from '../../../definition/published.ts'
import { boundedMap, type KeptSize } from '../../../keep-latest.ts'
import { runtime } from '../../../runtime.ts'
import type { StorageQuery } from '../../adapter.ts'
import { rowsOf, type Connection } from '../connection/connection.ts'
import type { PageRead } from './page-read.ts'
import { interruption } from './scan-thread.ts'
import { quoted, type Sql } from '../../sql/fragments.ts'
import type { StatementText } from '../statements/statements.ts'
import type { FoundTables } from '../../../schema/database.ts'

/**
 * Where a read runs:
 * - `here`: on the event loop;
 * - `timed`: on the event loop, and `took` is called;
 * - `thread`: in the thread for scans, because it may take so long that it would delay other requests.
 */
export type ReadPlace = 'here' | 'timed' | 'thread'

/**
 * What limits the rows that a read visits:
 * - `page`: its offset and limit, in the order of an index;
 * - `matches`: the rows that an index finds for its conditions, and the rows that it counts;
 * - `table`: all rows of the table.
 */
type Extent = 'page' | 'matches' | 'table'

// Clients choose conditions and sort orders, so the number of statements is otherwise unbounded.
export const maxStatements = 1_024
const maxShapeBytes = 2 * 1024 * 1024
const bounds = { maxEntries: () => maxStatements, maxBytes: () => maxShapeBytes }
// A read that takes longer is slow.
const slowMilliseconds = 5
// Reads with the same conditions move to the thread when slow ones in a row took longer than this together.
// One alone may be slow because the process had to wait, or because the file was not in memory.
const maxSlowMilliseconds = 50
// After this time, such a read is tried on the event loop again.
const slowFor = 600_000
// How long a table counts as small before its rows are counted again. Counting takes about 0.1 ms.
const recountMilliseconds = 1_000
// Rows before a page, in the order of an index, that take tens of milliseconds. A condition would double that.
const longOffset = 1_000_000
const rowids = ['_rowid_', 'rowid', 'oid']

/**
 * Decides where reads run, and remembers how long they took. Rows are counted when a read of the whole table arrives,
 * so that a start with many tables counts none, and a table that grows is noticed within a second.
 */
export class ReadPlaces {
  readonly #connection: Connection
  readonly #minRows: number
  // The row number of each table; undefined for a table without. Views are not in it.
  readonly #tables = new Map<PublishedCollection, string | undefined>()
  readonly #large = new Set<PublishedCollection>()
  readonly #counted = new Map<PublishedCollection, number>()
  readonly #extents = boundedMap<Extent>(bounds)
  readonly #slow = boundedMap<{ readonly total: number; readonly at: number }>(bounds)

  /** @param minRows the rows from which a table is large. 0: every read runs in the thread, except by a key */
  constructor(connection: Connection, minRows: number) {
    this.#connection = connection
    this.#minRows = minRows
  }

  /** Called when collections were opened, with the tables of the database. */
  opened(found: FoundTables, collections: readonly PublishedCollection[]): void {
    for (const collection of collections) {
      const table = found.find(collection.table)
      if (table?.kind !== 'table') continue
      const rowid = rowids.find((name) => table.find(name) === undefined)
      this.#tables.set(collection, table.withoutRowId ? undefined : rowid)
    }
  }

  /** An item by its key, and a page in the order of an index, are always read `here`. */
  placeOf(collection: PublishedCollection, query: StorageQuery, read: PageRead): ReadPlace {
    if (isOneItem(collection, query)) return 'here'
    if (this.#minRows === 0) return 'thread'
    const extent = this.#extentOf(collection, query, read)
    const reachesFar = query.offset + query.limit > this.#minRows
    if ((extent === 'table' || reachesFar) && this.#isLarge(collection)) return 'thread'
    if (extent === 'page' && !query.count) return 'here'
    return this.isSlow(read) ? 'thread' : 'timed'
  }

  /** Returns whether a search index may count the rows that it finds on the event loop. */
  mayProbe(read: PageRead): boolean {
    return this.#minRows > 0 && !this.isSlow(read)
  }

  /** Called with the milliseconds that a timed read took. */
  took({ matching }: PageRead, milliseconds: number): void {
    const before = this.#slow.get(matching)
    if (milliseconds > slowMilliseconds) {
      const taken = { total: milliseconds + (before?.total ?? 0), at: runtime.performanceNow() }
      this.#slow.set(matching, taken, bytesOf(matching))
    } else if (before !== undefined) this.#slow.delete(matching)
  }

  /** Returns a condition with which a statement of a read can be interrupted. Undefined if it does not need one. */
  interruptionOf(
    collection: PublishedCollection,
    { page, count, inputs }: PageRead,
    statement: 'page' | 'count',
  ): Sql | undefined {
    const isPage = this.#extents.get(page ?? count ?? '') === 'page'
    const isShort = statement === 'count' || inputs.offset < longOffset
    return isPage && isShort ? undefined : interruption(this.#tables.get(collection))
  }

  /** Returns what is remembered of shapes of reads. */
  sizes(): readonly KeptSize[] {
    return [this.#extents.size(), this.#slow.size()]
  }

  #extentOf(collection: PublishedCollection, query: StorageQuery, read: PageRead): Extent {
    const key = read.page ?? read.count
    if (key === undefined) return 'page'
    const known = this.#extents.get(key)
    if (known !== undefined) return known
    // What a view reads can't be seen in the plan of a statement. Only the time that it takes shows it.
    const kind = read.page === undefined ? 'count' : 'page'
    const extent = this.#tables.has(collection)
      ? extentOfPlan(planSteps(this.#connection, read.text(kind, { deep: false })), query)
      : 'matches'
    this.#extents.set(key, extent, bytesOf(key))
    return extent
  }

  #isLarge(collection: PublishedCollection): boolean {
    if (this.#large.has(collection)) return true
    const now = runtime.performanceNow()
    if (
      !this.#tables.has(collection) ||
      now - (this.#counted.get(collection) ?? -Infinity) < recountMilliseconds
    )
      return false
    this.#counted.set(collection, now)
    const text = `select 1 from ${quoted(collection.table)} limit 1 offset ${this.#minRows - 1}`
    if (rowsOf(this.#connection, text).length === 0) return false
    this.#large.add(collection)
    return true
  }

  /** Returns whether reads with these conditions have been slow in a row. */
  isSlow({ matching }: PageRead): boolean {
    const before = this.#slow.get(matching)
    if (before === undefined || before.total <= maxSlowMilliseconds) return false
    return runtime.performanceNow() - before.at < slowFor
  }
}

/** Returns the steps of SQLite's plan for a statement, without values. */
export function planSteps(
  connection: Connection,
  { sql, slots }: StatementText,
): readonly string[] {
  const unbound = slots.map(() => null)
  const rows = rowsOf(connection, `explain query plan ${sql}`, unbound)
  return rows.map(([, , , step]) => String(step))
}

function bytesOf(shape: string): number {
  return 100 + 2 * shape.length
}

function isOneItem({ key }: PublishedCollection, { conditions, limit }: StorageQuery): boolean {
  return (
    limit === 1 &&
    key.length > 0 &&
    key.every(({ name }) => conditions.some((one) => one.is === 'equal' && one.field === name))
  )
}

/** Returns the extent of a statement, by the steps of SQLite's query plan. */
function extentOfPlan(
  steps: readonly string[],
  { conditions, search }: Pick<StorageQuery, 'conditions' | 'search'>,
): Extent {
  const isPlain = conditions.every(({ is }) => is === 'equal' || is === 'empty')
  const bound = steps.flatMap((text) => text.match(/=\?/g) ?? []).length
  const filters = search !== null || !isPlain || bound < conditions.length
  const collects = steps.some((text) => /TEMP B-TREE|MULTI-INDEX OR/.test(text))
  if (!filters && !collects) return 'page'
  // The values of a list are read with a scan, too, and so is what a search index finds.
  const scans = steps.some((text) =>
    /^SCAN (?!json_each\b|.* VIRTUAL TABLE INDEX \d+:M)/.test(text),
  )
  return scans ? 'table' : 'matches'
}
