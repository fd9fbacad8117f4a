import type { PublishedCollection } from '../../../definition/published.ts'
import { runtime } from '../../../runtime.ts'
import { rowsOf, type Connection, type SqliteValue } from './connection.ts'
import { quoted } from '../../sql/fragments.ts'
import { folded } from '../../../schema/model.ts'
import type { FoundTables } from '../../../schema/database.ts'
import type { WrittenTables } from '../writing/written-tables.ts'

/** Options of {@link TableClock}. */
export interface ClockOptions {
  /** The tables that the connection writes. */
  readonly written: WrittenTables
  /** Whether a transaction is open on the connection that does not see the commits of others. */
  readonly isFrozen: () => boolean
  /** Called when a commit of another connection is noticed. */
  readonly othersCommitted: () => void
  /** Milliseconds for which the commits of other connections may be unknown. 0: none. */
  readonly maxStaleness: number
}

/**
 * Reports when the tables of a database have changed. It counts the commits of the connection that is used for all writes
 * of this storage, by table. A commit of any other connection, in this process or in another one, counts for all tables.
 */
export class TableClock {
  readonly #connection: Connection
  readonly #options: ClockOptions
  // It changes only with the commits of other connections.
  readonly #dataVersion: () => SqliteValue
  readonly #schemaVersion: () => SqliteValue
  // The last change of each table.
  readonly #changed = new Map<string, number>()
  #dependences: ReadonlyMap<PublishedCollection, Dependence> = new Map()
  #changes = 0
  // The last change that may concern any table, and the last one of this connection.
  #anyTable = 0
  #own = 0
  #others: unknown
  #schema: unknown
  #isFresh = false
  #askedAt = 0
  #expires = false

  constructor(connection: Connection, options: ClockOptions) {
    this.#connection = connection
    this.#options = options
    this.#dataVersion = connection.value('PRAGMA data_version')
    this.#schemaVersion = connection.value('PRAGMA schema_version')
  }

  /**
   * Returns a number that is larger after each change of a row of these collections. Undefined: unknown, for
   * instance because the file is locked, or because a view depends on the time.
   */
  version(collections: readonly PublishedCollection[]): number | undefined {
    try {
      if (!this.#isFresh || runtime.performanceNow() - this.#askedAt > this.#options.maxStaleness) {
        if (this.#options.isFrozen()) return undefined
        this.#ask()
      }
    } catch {
      this.#isFresh = false
      return undefined
    }
    let latest = this.#anyTable
    for (const collection of collections) {
      const on = this.#dependences.get(collection) ?? 'any'
      if (on === 'unknown') return undefined
      const last = on === 'any' ? this.#own : (this.#changed.get(on.table) ?? 0)
      if (last > latest) latest = last
    }
    return latest
  }

  /** Called when collections were opened, with the tables of the database. */
  opened(tables: FoundTables, collections: readonly PublishedCollection[]): void {
    this.#describe(collections, (table) => tables.find(table)?.kind)
  }

  /** Called after each commit of the connection, before its result is returned. */
  committed(): void {
    this.#isFresh = false
    this.#changes += 1
    this.#own = this.#changes
    const tables = this.#options.written.take()
    if (tables === 'any') this.#anyTable = this.#changes
    else for (const table of tables) this.#changed.set(table, this.#changes)
  }

  #ask(): void {
    const current = this.#dataVersion()
    this.#askedAt = runtime.performanceNow()
    this.#isFresh = this.#options.maxStaleness > 0
    if (this.#isFresh && !this.#expires) {
      this.#expires = true
      // Within one turn of the event loop, requests that arrived together share the answer.
      runtime.setImmediate(() => {
        this.#isFresh = false
        this.#expires = false
      })
    }
    if (current === this.#others) return
    this.#options.othersCommitted()
    this.#changes += 1
    this.#anyTable = this.#changes
    const found = this.#schemaVersion()
    if (found !== this.#schema && this.#dependences.size > 0) {
      this.#describe(Array.from(this.#dependences.keys()), readKinds(this.#connection))
    }
    this.#schema = found
    this.#others = current
  }

  #describe(collections: readonly PublishedCollection[], kindOf: KindOf): void {
    const described = collections.map(
      (each) => [each, dependenceOf(this.#connection, each, kindOf)] as const,
    )
    this.#dependences = new Map([...this.#dependences, ...described])
  }
}

/**
 * What the rows of a collection depend on: the table with this name in lower case, `any` table, or also on
 * something that is not stored, such as the time (`unknown`).
 */
type Dependence = { readonly table: string } | 'any' | 'unknown'

/** Returns the kind of a table, such as `view`; undefined if it does not exist. */
type KindOf = (table: string) => string | undefined

/** Reads the kinds of all tables. */
function readKinds(connection: Connection): KindOf {
  const rows = rowsOf(connection, `SELECT name, type FROM pragma_table_list WHERE schema = 'main'`)
  const kinds = new Map(rows.map(([name, kind]) => [folded(String(name)), String(kind)]))
  return (table) => kinds.get(folded(table))
}

/** Returns what the rows of a collection depend on. */
function dependenceOf(
  connection: Connection,
  { table }: PublishedCollection,
  kindOf: KindOf,
): Dependence {
  const kind = kindOf(table)
  if (kind === 'table') return { table: folded(table) }
  return kind === 'view' && !isRepeatable(connection, table) ? 'unknown' : 'any'
}

// Functions of date and time may be called with 'now'.
const unrepeatable =
  /^(?:date|time|datetime|julianday|strftime|unixepoch|timediff|current_\w+|random|randomblob|changes|total_changes|last_insert_rowid)\(/

/** Returns whether a view has the same rows until a table changes, by the program that SQLite compiles. */
function isRepeatable(connection: Connection, view: string): boolean {
  try {
    const program = rowsOf(connection, `EXPLAIN SELECT * FROM ${quoted(view)}`)
    return program.every(([, opcode, , , , operand]) => {
      // A virtual table may read anything.
      return opcode !== 'VOpen' && !unrepeatable.test(String(operand))
    })
  } catch {
    return false
  }
}
