import type { PublishedCollection } from '../../../definition/published.ts'
import { boundedMap, type KeptSize } from '../../../keep-latest.ts'
import { folded } from '../../../schema/model.ts'
import { indexesOf, type SqliteIndex } from '../../../schema/sqlite/read.ts'
import type { Condition, StorageQuery } from '../../adapter.ts'
import { fieldOf } from '../../sql/conditions.ts'
import { fieldsOf } from '../../sql/value-plans.ts'
import type { Connection } from '../connection/connection.ts'
import type { StatementText } from '../statements/statements.ts'
import { rangedRead, type FoundRead, type PageRead } from './page-read.ts'
import { planSteps } from './read-place.ts'
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
    const fields = conditions.some(isRange) ? fieldsOf(conditions) : undefined
    // With a condition on rows of another collection, SQLite may begin with that one.
    if (fields === undefined) return undefined
    for (const index of this.#indexesOf(collection)) {
      const served = servedBy(index, collection, { conditions, fields })
      if (served.length === 0) continue
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
    const steps = this.#stepsOf(probeText())
    // Another program may have dropped the index, or locked the file.
    if (steps === undefined) return false
    const isUsable = steps.some((step) => /^SEARCH t USING .*[<>]\?/.test(step))
    this.#usable.set(probe, isUsable, 100 + 2 * probe.length)
    return isUsable
  }

  #stepsOf(probe: StatementText): readonly string[] | undefined {
    try {
      return planSteps(this.#connection, probe)
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

const lower: ReadonlySet<Condition['is']> = new Set(['gt', 'gte', 'startsWith'])
const upper: ReadonlySet<Condition['is']> = new Set(['lt', 'lte', 'startsWith'])

function isRange({ is }: Condition): boolean {
  return lower.has(is) || upper.has(is)
}

/** Returns whether conditions are one range: of two upper ends, SQLite may begin with the one that finds more. */
function areOneRange(conditions: readonly Condition[]): boolean {
  const atMostOne = (ends: typeof lower): boolean =>
    conditions.filter(({ is }) => ends.has(is)).length <= 1
  return conditions.every(isRange) && atMostOne(lower) && atMostOne(upper)
}

interface GivenConditions {
  readonly conditions: readonly Condition[]
  /** The fields of all of them, also of those within others. */
  readonly fields: readonly string[]
}

/**
 * Returns the conditions that an index serves: the equal values of its first columns, and the range of the next one. Empty
 * without a range, and if another condition on these columns could find more rows.
 */
function servedBy(
  { columns }: SqliteIndex,
  collection: PublishedCollection,
  { conditions, fields }: GivenConditions,
): readonly Condition[] {
  const served: Condition[] = []
  for (const { name } of columns) {
    const isOwn = (field: string): boolean =>
      name !== null && folded(fieldOf(collection, field).column) === folded(name)
    const own = conditions.filter((one) => 'field' in one && isOwn(one.field))
    const [first, ...others] = own
    if (first === undefined || fields.filter(isOwn).length > own.length) return []
    if (areOneRange(own)) return [...served, ...own]
    if (first.is !== 'equal' || others.length > 0) return []
    served.push(first)
  }
  return []
}
