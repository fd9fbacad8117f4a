import type { PublishedCollection } from '../../../definition/published.ts'
import { rowsOf, type Connection } from './connection.ts'
import { quoted } from '../../sql/fragments.ts'
import { folded } from '../../../schema/model.ts'
import type { FoundTables } from '../../../schema/database.ts'
import type { WrittenTables } from '../writing/written-tables.ts'

/** Knows when the tables of a database have changed. */
export interface VersionClock {
  /**
   * Returns a number that is larger after each change of a row of these collections. Undefined: unknown, for
   * instance because the file is locked, or because a view depends on the time.
   */
  version(collections: readonly PublishedCollection[]): number | undefined
  /** Called when collections were opened, with the tables of the database. */
  opened(tables: FoundTables, collections: readonly PublishedCollection[]): void
  /** Called after each commit of the connection, before its result is known to anyone. */
  committed(): void
}

/** Options of {@link versionClock}. */
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
 * Creates the clock of the connection that is used for all writes of this storage. It counts their commits
 * by table. A commit of any other connection, in this process or in another one, counts for all tables.
 */
export function versionClock(
  connection: Connection,
  { written, isFrozen, othersCommitted, maxStaleness }: ClockOptions,
): VersionClock {
  // It changes only with the commits of other connections.
  const dataVersion = connection.value('PRAGMA data_version')
  const schemaVersion = connection.value('PRAGMA schema_version')
  // The last change of each table.
  const changed = new Map<string, number>()
  let dependences: ReadonlyMap<PublishedCollection, Dependence> = new Map()
  let changes = 0
  // The last change that may concern any table, and the last one of this connection.
  let anyTable = 0
  let own = 0
  let others: unknown
  let schema: unknown
  let isFresh = false
  let askedAt = 0
  let expires = false

  function ask(): void {
    const current = dataVersion()
    askedAt = performance.now()
    isFresh = maxStaleness > 0
    if (isFresh && !expires) {
      expires = true
      // Within one turn of the event loop, requests that arrived together share the answer.
      setImmediate(() => {
        isFresh = false
        expires = false
      })
    }
    if (current === others) return
    othersCommitted()
    changes += 1
    anyTable = changes
    const found = schemaVersion()
    if (found !== schema && dependences.size > 0) {
      describe(Array.from(dependences.keys()), readKinds(connection))
    }
    schema = found
    others = current
  }

  function describe(collections: readonly PublishedCollection[], kindOf: KindOf): void {
    const described = collections.map(
      (each) => [each, dependenceOf(connection, each, kindOf)] as const,
    )
    dependences = new Map([...dependences, ...described])
  }

  return {
    version(collections) {
      try {
        if (!isFresh || performance.now() - askedAt > maxStaleness) {
          if (isFrozen()) return undefined
          ask()
        }
      } catch {
        isFresh = false
        return undefined
      }
      let latest = anyTable
      for (const collection of collections) {
        const on = dependences.get(collection) ?? 'any'
        if (on === 'unknown') return undefined
        const last = on === 'any' ? own : (changed.get(on.table) ?? 0)
        if (last > latest) latest = last
      }
      return latest
    },
    opened(tables, collections) {
      describe(collections, (table) => tables.find(table)?.kind)
    },
    committed() {
      isFresh = false
      changes += 1
      own = changes
      const tables = written.take()
      if (tables === 'any') anyTable = changes
      else for (const table of tables) changed.set(table, changes)
    },
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
