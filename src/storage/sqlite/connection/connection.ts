/** A value of a column. A blob is an array of bytes. */
export type SqliteValue = string | number | bigint | null | Uint8Array

/** A row as an array, in the order of the selected expressions. */
export type SqliteRow = readonly SqliteValue[]

/** A prepared statement. Its argument is the list of values to bind. */
export type Prepared<Result> = (parameters: readonly SqliteValue[]) => Result

/** The name of a driver. */
export type SqliteDriver = 'better-sqlite3' | 'node:sqlite'

/** A connection of either driver. `failure.ts` classifies the errors that it throws. */
export interface Connection {
  readonly driver: SqliteDriver
  /** Whether it returns a string with U+0000 complete. Otherwise the string ends there. */
  readonly returnsWholeStrings: boolean
  /** Whether statements that write are compiled with the CHECK constraints: not if it only reads, or may only read. */
  readonly compilesChecks: boolean
  /** Prepares a statement that returns rows. */
  rows(sql: string): Prepared<readonly SqliteRow[]>
  /** Prepares a statement that returns one string or null for each row. */
  strings(sql: string): Prepared<readonly (string | null)[]>
  /** Prepares a statement that writes. It returns the number of rows that it wrote itself, without triggers. */
  changes(sql: string): Prepared<number>
  /** Prepares a statement that binds nothing and returns one value. */
  value(sql: string): () => SqliteValue
  /** Prepares a statement that binds nothing and returns nothing. */
  command(sql: string): () => void
  /** Runs one or more statements once. */
  execute(sql: string): void
  /** Registers a deterministic SQL function of one argument. */
  define(name: string, work: (value: SqliteValue) => SqliteValue): void
  /** Registers a deterministic SQL function of any number of arguments, for the schema of the file too. */
  register(name: string, work: (...values: SqliteValue[]) => SqliteValue): void
  /** Loads an extension. Throws if that fails. */
  loadExtension(path: string): void
  inTransaction(): boolean
  close(): void
}

/** Loads an extension into the database of a driver. Throws a TypeError if the driver loads none. */
export function loadInto(database: { loadExtension?(path: string): unknown }, path: string): void {
  if (database.loadExtension === undefined)
    throw new TypeError('sqliteStorage: this version of the driver loads no extensions')
  database.loadExtension(path)
}

/** Runs one statement once and returns its rows. */
export function rowsOf(
  connection: Connection,
  sql: string,
  parameters: readonly SqliteValue[] = [],
): readonly SqliteRow[] {
  return connection.rows(sql)(parameters)
}

/** A savepoint of a transaction, which one piece of work at a time uses. */
export interface Savepoint {
  set(): void
  /** Undoes what was written since it was set. It stays set. */
  undo(): void
  release(): void
}

/** Prepares the commands of a savepoint. */
export function savepoint(connection: Connection, name: string): Savepoint {
  return {
    set: connection.command(`SAVEPOINT ${name}`),
    undo: connection.command(`ROLLBACK TO ${name}`),
    release: connection.command(`RELEASE ${name}`),
  }
}
