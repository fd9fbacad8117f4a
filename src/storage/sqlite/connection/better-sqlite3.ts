import { loadInto, type Connection, type SqliteRow, type SqliteValue } from './connection.ts'

/** The members of a statement of better-sqlite3 that are used. */
export interface BetterSqlite3Statement {
  all(...parameters: unknown[]): unknown[]
  get(...parameters: unknown[]): unknown
  run(...parameters: unknown[]): unknown
  raw(toggle?: boolean): unknown
  pluck(toggle?: boolean): unknown
  safeIntegers(toggle?: boolean): unknown
}

/** The members of a `Database` of better-sqlite3 that are used. */
export interface BetterSqlite3Handle {
  readonly inTransaction: boolean
  readonly readonly?: boolean
  prepare(sql: string): BetterSqlite3Statement
  exec(sql: string): unknown
  pragma(source: string): unknown
  function(
    name: string,
    options: { readonly deterministic: boolean; readonly varargs?: boolean },
    work: (...values: unknown[]) => unknown,
  ): unknown
  loadExtension?(path: string): unknown
  close(): unknown
}

/** Creates a connection over better-sqlite3. */
export function betterSqlite3Connection(database: BetterSqlite3Handle): Connection {
  return {
    driver: 'better-sqlite3',
    returnsWholeStrings: true,
    compilesChecks: database.readonly === false,
    rows(sql) {
      const statement = reading(database, sql)
      statement.raw(true)
      return (parameters) => statement.all(...parameters) as SqliteRow[]
    },
    strings(sql) {
      const statement = reading(database, sql)
      statement.pluck(true)
      return (parameters) => statement.all(...parameters) as (string | null)[]
    },
    changes(sql) {
      const statement = database.prepare(sql)
      return (parameters) => (statement.run(...parameters) as { readonly changes: number }).changes
    },
    value(sql) {
      const statement = reading(database, sql)
      statement.pluck(true)
      return () => statement.get() as SqliteValue
    },
    command(sql) {
      const statement = database.prepare(sql)
      return () => void statement.run()
    },
    execute: (sql) => void database.exec(sql),
    define(name, work) {
      database.function(name, { deterministic: true }, (value) => work(value as SqliteValue))
    },
    register(name, work) {
      const options = { deterministic: true, varargs: true }
      database.function(name, options, work as (...values: unknown[]) => unknown)
    },
    loadExtension: (path) => loadInto(database, path),
    inTransaction: () => database.inTransaction,
    close: () => void database.close(),
  }
}

// The application may have switched its handle to BigInts. Here 64-bit integers are read as text.
function reading(database: BetterSqlite3Handle, sql: string): BetterSqlite3Statement {
  const statement = database.prepare(sql)
  statement.safeIntegers(false)
  return statement
}
