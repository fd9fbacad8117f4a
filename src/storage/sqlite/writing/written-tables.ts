import { boundedMap, type KeptSize } from '../../../keep-latest.ts'
import {
  rowsOf,
  type Connection,
  type SqliteRow,
  type SqliteValue,
} from '../connection/connection.ts'
import { folded, searchPrefix } from '../../../schema/model.ts'

/** What a statement does, by the program that SQLite compiles. */
interface Program {
  /** The tables that it writes, in lower case. */
  readonly tables: ReadonlySet<string> | 'any'
  /** Whether it changes nothing if it fails. */
  readonly undoesItself: boolean
}

// How a constraint fails that was declared ON CONFLICT FAIL: it keeps what the statement has changed so far.
const keepingChanges = 3
// Marks the counter of foreign keys that are checked at the commit.
const deferred = 1
// Clients choose which fields they write, so there can be any number of statements.
const maxPrograms = 4_096
const maxBytes = 4 * 1024 * 1024

/**
 * The tables that the statements of a connection write, including the writes of triggers and cascades. They are found in
 * the programs that SQLite compiles.
 */
export class WrittenTables {
  readonly #connection: Connection
  readonly #known = boundedMap<Program>({ maxEntries: () => maxPrograms, maxBytes: () => maxBytes })
  readonly #schemaVersions: (() => SqliteValue)[]
  #schema = ''
  #roots: ReadonlyMap<number, string> | undefined
  #hasOthers: boolean | undefined
  #written = new Set<string>()
  #any = false

  constructor(connection: Connection) {
    this.#connection = connection
    this.#schemaVersions = ['main', 'temp'].map((schema) =>
      this.#connection.value(`PRAGMA ${schema}.schema_version`),
    )
  }

  /** Notes which tables a statement writes, before it runs. Returns whether it changes nothing if it fails. */
  note(sql: string, parameters: readonly SqliteValue[]): boolean {
    let program = this.#known.get(sql)
    if (program === undefined) {
      program = this.#programOf(sql, parameters)
      this.#known.set(sql, program, 500 + 2 * sql.length)
    }
    const { tables, undoesItself } = program
    if (tables === 'any') this.#any = true
    else for (const table of tables) this.#written.add(table)
    return undoesItself
  }

  /** Returns the tables, in lower case, that were written since the last call. */
  take(): ReadonlySet<string> | 'any' {
    const taken = this.#any ? 'any' : this.#written
    this.#written = new Set()
    this.#any = false
    return taken
  }

  /**
   * Called when a transaction has begun, in which the schema does not change. Forgets what statements do if the schema
   * has changed since the last call.
   */
  refresh(): void {
    let current = ''
    try {
      current = this.#schemaVersions.map((read) => read()).join(' ')
    } catch {
      // Unknown, so as if it had changed.
    }
    if (current === this.#schema && current !== '') return
    this.#schema = current
    // A new trigger may make a known statement write another table.
    this.#known.clear()
    this.#roots = undefined
    this.#hasOthers = undefined
  }

  /** Returns what is remembered of statements. */
  size(): KeptSize {
    return this.#known.size()
  }

  #programOf(sql: string, parameters: readonly SqliteValue[]): Program {
    // Reading makes SQLite load a changed schema, which EXPLAIN does not look for.
    this.#roots ??= rootPages(this.#connection)
    const steps = rowsOf(this.#connection, `EXPLAIN ${sql}`, parameters)
    // A trigger may fail in a way that keeps its changes, a virtual table runs statements of its own, and a deferred
    // foreign key fails at the commit.
    const undoesItself = !steps.some(
      ([, opcode, first, second]) =>
        opcode === 'Program' ||
        opcode === 'VUpdate' ||
        (opcode === 'FkCounter' && Number(first) === deferred) ||
        ((opcode === 'Halt' || opcode === 'HaltIfNull') && Number(second) === keepingChanges),
    )
    return { tables: this.#tablesOf(steps, this.#roots), undoesItself }
  }

  #tablesOf(
    steps: readonly SqliteRow[],
    names: ReadonlyMap<number, string>,
  ): ReadonlySet<string> | 'any' {
    const tables = new Set<string>()
    for (const [, opcode, first, second, third] of steps) {
      // A search index has no rows that a collection reads.
      if (opcode === 'VUpdate' && (this.#hasOthers ??= hasOtherVirtualTables(this.#connection)))
        return 'any'
      // A trigger that deletes all rows of a table clears it without opening it.
      if (opcode !== 'OpenWrite' && opcode !== 'Clear') continue
      const [root, database] = opcode === 'Clear' ? [first, second] : [second, third]
      const name = Number(database) === 0 ? names.get(Number(root)) : undefined
      if (name === undefined) return 'any'
      tables.add(name)
    }
    return tables
  }
}

/** Returns whether the database has virtual tables that are not part of a search index. */
function hasOtherVirtualTables(connection: Connection): boolean {
  const rows = rowsOf(
    connection,
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage = 0
     UNION ALL SELECT name FROM sqlite_temp_schema WHERE type = 'table' AND rootpage = 0`,
  )
  return rows.some(([name]) => !folded(String(name)).startsWith(searchPrefix))
}

/** Returns the table of each root page. Indexes have root pages of their own. */
function rootPages(connection: Connection): ReadonlyMap<number, string> {
  const pages = rowsOf(
    connection,
    'SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0',
  )
  return new Map(pages.map(([root, name]) => [Number(root), folded(String(name))]))
}
