import { loadInto, type Connection, type SqliteRow, type SqliteValue } from './connection.ts'

/** The members of a statement of `node:sqlite` that are used. */
export interface NodeSqliteStatement {
  all(...parameters: SqliteValue[]): unknown[]
  run(...parameters: SqliteValue[]): unknown
  setReadBigInts(enabled: boolean): unknown
  /** Absent before Node 22.16. */
  setReturnArrays?(enabled: boolean): unknown
}

/** The members of a `DatabaseSync` of `node:sqlite` that are used. */
export interface NodeSqliteHandle {
  /** Absent before Node 22.16. */
  readonly isTransaction?: boolean
  prepare(sql: string): NodeSqliteStatement
  exec(sql: string): unknown
  function(
    name: string,
    options: { readonly deterministic?: boolean; readonly varargs?: boolean },
    work: (...values: SqliteValue[]) => SqliteValue,
  ): unknown
  loadExtension?(path: string): unknown
  close(): unknown
}

/** Creates a connection over `node:sqlite`. `mayWrite`: default false, as for a handle, which does not tell. */
export function nodeSqliteConnection(database: NodeSqliteHandle, mayWrite = false): Connection {
  const withNul = reading(database, `SELECT 'a' || char(0) || 'b'`).statement.all()[0]
  return {
    driver: 'node:sqlite',
    // Not before Node 24.
    returnsWholeStrings: firstOf(withNul)?.length === 3,
    compilesChecks: mayWrite,
    rows(sql) {
      const { statement, arrays } = reading(database, sql)
      if (arrays) return (parameters) => statement.all(...parameters) as SqliteRow[]
      return (parameters) => statement.all(...parameters).map(valuesOf)
    },
    strings(sql) {
      const { statement } = reading(database, sql)
      return (parameters) => statement.all(...parameters).map(firstOf)
    },
    changes(sql) {
      const statement = database.prepare(sql)
      return (parameters) => Number((statement.run(...parameters) as Written).changes)
    },
    value(sql) {
      const { statement } = reading(database, sql)
      return () => firstOf(statement.all()[0])
    },
    command(sql) {
      const statement = database.prepare(sql)
      return () => void statement.run()
    },
    execute: (sql) => void database.exec(sql),
    define(name, work) {
      database.function(name, { deterministic: true }, (value) => work(value))
    },
    register(name, work) {
      database.function(name, { deterministic: true, varargs: true }, work)
    },
    loadExtension: (path) => loadInto(database, path),
    inTransaction: () => isInTransaction(database),
    close: () => void database.close(),
  }
}

function reading(
  database: NodeSqliteHandle,
  sql: string,
): { statement: NodeSqliteStatement; arrays: boolean } {
  const statement = database.prepare(sql)
  statement.setReadBigInts(false)
  const arrays = statement.setReturnArrays !== undefined
  statement.setReturnArrays?.(true)
  return { statement, arrays }
}

interface Written {
  readonly changes: number | bigint
}

function valuesOf(row: unknown): SqliteRow {
  return Object.values(row as Record<string, SqliteValue>)
}

function firstOf(row: unknown): string | null {
  return (Array.isArray(row) ? row[0] : valuesOf(row)[0]) as string | null
}

function isInTransaction(database: NodeSqliteHandle): boolean {
  try {
    const { isTransaction } = database
    if (isTransaction !== undefined) return isTransaction
    database.exec('BEGIN')
  } catch (error) {
    // The application may have closed its handle.
    return !(error instanceof Error && error.message === 'database is not open')
  }
  database.exec('COMMIT')
  return false
}
