import { rowsOf, type Connection, type Prepared, type SqliteValue } from './connection.ts'
import { folded, searchPrefix } from '../sql/tables.ts'

/** The tables that statements have written, including those of triggers and cascades. */
export interface WrittenTables {
  /** Returns a statement that notes, with each run, which tables it writes. */
  noting<Result>(sql: string, run: Prepared<Result>): Prepared<Result>
  /** Returns the tables, in lower case, that were written since the last call. */
  take(): ReadonlySet<string> | 'any'
  /** Called when the schema has changed. */
  forget(): void
}

/** Returns what finds the tables that the statements of a connection write, by the programs that SQLite compiles. */
export function writtenTables(connection: Connection): WrittenTables {
  const known = new Map<string, ReadonlySet<string> | 'any'>()
  let roots: ReadonlyMap<number, string> | undefined
  let hasOthers: boolean | undefined
  let written = new Set<string>()
  let any = false

  function tablesOf(sql: string, parameters: readonly SqliteValue[]): ReadonlySet<string> | 'any' {
    roots ??= rootPages(connection)
    const tables = new Set<string>()
    for (const row of rowsOf(connection, `EXPLAIN ${sql}`, parameters)) {
      const [, opcode, first, second, third] = row
      // A virtual table runs statements of its own. A search index has no rows that a collection reads.
      if (opcode === 'VUpdate' && (hasOthers ??= hasOtherVirtualTables(connection))) return 'any'
      // A trigger that deletes all rows of a table clears it without opening it.
      if (opcode !== 'OpenWrite' && opcode !== 'Clear') continue
      const [root, database] = opcode === 'Clear' ? [first, second] : [second, third]
      const name = Number(database) === 0 ? roots.get(Number(root)) : undefined
      if (name === undefined) return 'any'
      tables.add(name)
    }
    return tables
  }

  function note(sql: string, parameters: readonly SqliteValue[]): void {
    let tables = known.get(sql)
    if (tables === undefined) {
      tables = tablesOf(sql, parameters)
      known.set(sql, tables)
    }
    if (tables === 'any') any = true
    else for (const table of tables) written.add(table)
  }

  return {
    noting: (sql, run) => (parameters) => {
      note(sql, parameters)
      return run(parameters)
    },
    take() {
      const taken = any ? 'any' : written
      written = new Set()
      any = false
      return taken
    },
    forget: () => {
      known.clear()
      roots = undefined
      hasOthers = undefined
    },
  }
}

/** Returns whether the database has virtual tables that are not those of search indexes. */
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
