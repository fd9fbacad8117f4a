/** What SQLite keeps in a column. */
export type SqliteValue = string | number | bigint | null

/** What a statement gives: a blob as bytes. */
export type SqliteResult = SqliteValue | Uint8Array

/** A row as an array, in the order of the selected expressions. */
export type SqliteRow = readonly SqliteResult[]

/** A prepared statement: call it with the values to bind. */
export type Prepared<Result> = (parameters: readonly SqliteValue[]) => Result

/** The name of a driver. */
export type SqliteDriver = 'better-sqlite3' | 'node:sqlite'

/** One connection, whichever driver made it. What it throws is told apart in `failure.ts`. */
export interface Connection {
  readonly driver: SqliteDriver
  /** Prepares a statement that gives rows. */
  rows(sql: string): Prepared<readonly SqliteRow[]>
  /** Prepares a statement that gives one text or null a row. */
  texts(sql: string): Prepared<readonly (string | null)[]>
  /** Prepares a statement that binds nothing and gives one value. */
  value(sql: string): () => SqliteValue
  /** Prepares a statement that gives nothing and binds nothing. */
  command(sql: string): () => void
  /** Runs any number of statements once. */
  execute(sql: string): void
  /** Registers a deterministic SQL function of one argument. */
  define(name: string, work: (value: SqliteValue) => SqliteValue): void
  inTransaction(): boolean
  close(): void
}

/** Runs one statement once and gives its rows. */
export function rowsOf(
  connection: Connection,
  sql: string,
  parameters: readonly SqliteValue[] = [],
): readonly SqliteRow[] {
  return connection.rows(sql)(parameters)
}
