import type { PublishedCollection } from '../../../definition/published.ts'
import { boundedMap, type KeptSize } from '../../../keep-latest.ts'
import { folded } from '../../../schema/model.ts'
import { indexesOf, type SqliteIndex } from '../../../schema/sqlite/read.ts'
import type { Condition, StorageQuery } from '../../adapter.ts'
import { fieldOf } from '../../sql/conditions.ts'
import { rowsOf, type Connection } from '../connection/connection.ts'
import { rangedRead, type FoundRead, type PageRead } from './page-read.ts'
import type { ReadSession } from './read-session.ts'

// Clients choose conditions, so the number of probes is otherwise unbounded.
const bounds = { maxEntries: () => 1_024, maxBytes: () => 1024 * 1024 }

/**
 * The indexes that find the rows of ranges, such as `created.gte=2026-11-01`. SQLite does not know how many rows a range has,
 * and reads the table in the order of the page until the page is full: for a range of few rows, that is the whole table. So
 * the index counts them first. Indexes are read when they are first needed.
 */
export class RangeIndexes {
  readonly #connection: Connection
  readonly #session: ReadSession
  readonly #indexes = new Map<PublishedCollection, readonly SqliteIndex[]>()
  readonly #usable = boundedMap<boolean>(bounds)

  constructor(connection: Connection, session: ReadSession) {
    this.#connection = connection
    this.#session = session
  }

  /** Called when collections were opened: their tables may have got indexes. */
  opened(): void {
    this.#indexes.clear()
  }

  /** Returns the same read by an index that finds few rows in a range of its conditions. Undefined: none does. */
  fewIn(
    collection: PublishedCollection,
    { conditions }: StorageQuery,
    read: PageRead,
  ): FoundRead | undefined {
    if (!conditions.some(isRange)) return undefined
    for (const index of this.#indexesOf(collection)) {
      const served = servedBy(index, collection, conditions)
      if (!served.some(isRange)) continue
      const found = rangedRead(collection, read, { index: index.name, served })
      if (this.#isUsable(found) && this.#findsFew(collection, found)) return found
    }
    return undefined
  }

  /** Returns what is remembered of probes. */
  size(): KeptSize {
    return this.#usable.size()
  }

  #indexesOf(collection: PublishedCollection): readonly SqliteIndex[] {
    const known = this.#indexes.get(collection)
    if (known !== undefined) return known
    const { table } = collection
    const indexes = indexesOf(this.#connection, [table]).get(table) ?? []
    const whole = indexes.filter(({ partial }) => !partial)
    this.#indexes.set(collection, whole)
    return whole
  }

  /** Returns whether an index finds rows by the range: one of another collation, or of another form, does not. */
  #isUsable({ probe, probeText }: FoundRead): boolean {
    const known = this.#usable.get(probe)
    if (known !== undefined) return known
    const steps = this.#planOf(probeText())
    // Another program may have dropped the index, or locked the file.
    if (steps === undefined) return false
    const isUsable = steps.some((step) => /^SEARCH t USING .*[<>]\?/.test(step))
    this.#usable.set(probe, isUsable, 100 + 2 * probe.length)
    return isUsable
  }

  #planOf({ sql, slots }: ReturnType<FoundRead['probeText']>): readonly string[] | undefined {
    const unbound = slots.map(() => null)
    try {
      const rows = rowsOf(this.#connection, `explain query plan ${sql}`, unbound)
      return rows.map(([, , , step]) => String(step))
    } catch (error) {
      // It has no plan with this index.
      return String(error).includes('no query solution') ? [] : undefined
    }
  }

  #findsFew(collection: PublishedCollection, found: FoundRead): boolean {
    try {
      return this.#session.findsFew(found)
    } catch {
      // Another program has dropped the index.
      this.#indexes.delete(collection)
      return false
    }
  }
}

const ranges: ReadonlySet<Condition['is']> = new Set(['lt', 'lte', 'gt', 'gte', 'startsWith'])

function isRange({ is }: Condition): boolean {
  return ranges.has(is)
}

/** Returns whether a condition is a value or a range of a column. */
function isOn(
  condition: Condition,
  collection: PublishedCollection,
  column: string | null,
): boolean {
  if (column === null || !('field' in condition)) return false
  if (condition.is !== 'equal' && !isRange(condition)) return false
  return folded(fieldOf(collection, condition.field).column) === folded(column)
}

/** Returns the conditions that an index serves: the equal values of its first columns, and ranges of the next one. */
function servedBy(
  { columns }: SqliteIndex,
  collection: PublishedCollection,
  conditions: readonly Condition[],
): readonly Condition[] {
  const served: Condition[] = []
  for (const { name } of columns) {
    const own = conditions.filter((one) => isOn(one, collection, name))
    const equal = own.filter(({ is }) => is === 'equal')
    if (equal.length === 0) return [...served, ...own]
    served.push(...equal)
  }
  return served
}
