import * as z from 'zod/mini'
import { milliseconds, wholeNumber } from '../../../checks/option-shapes.ts'
import { completeOptions } from '../../../checks/options.ts'
import { waitLimits } from '../../write-lock/wait-limits.ts'
import type { SqliteDriver, SqliteValue } from './connection.ts'

/** Options of `sqliteStorage`. */
export interface SqliteOptions {
  /**
   * `true`: creates missing tables at start. `columns`: also adds missing columns to existing tables.
   * Nothing else is changed. Default false.
   */
  readonly ensureSchema?: boolean | 'columns'
  /**
   * `FULL`: a confirmed change survives a power failure. `NORMAL`: a power failure may lose the last
   * changes, but does not corrupt the file. Default FULL. A handle keeps its own setting by default.
   */
  readonly synchronous?: 'FULL' | 'NORMAL'
  /**
   * Milliseconds that a call waits for the lock of another connection or process before the response
   * is 503. The event loop is not blocked. Default 250.
   */
  readonly busyTimeout?: number
  /**
   * Milliseconds that a write waits for other writes of this process before the response is 503. Writes
   * of users and keys go first and wait longer. Default 2000.
   */
  readonly queueTimeout?: number
  /**
   * Milliseconds that application code may keep the write lock after the first write of its transaction,
   * for instance in an `after` handler. Then the transaction is undone and the response is 503. Before its
   * first write, a transaction gives the lock back while application code waits. Default 15000.
   */
  readonly lockTimeout?: number
  /**
   * Milliseconds for which a commit of another process may be unknown to what this process remembers, such
   * as the callers of API keys, and to requests that read in the same turn of the event loop. 0: each request
   * reads what it uses. Commits of this storage are always known. Default 1.
   */
  readonly maxStaleness?: number
  /**
   * Rows from which a table is large. Of a large table, reads that may visit every row, such as a search,
   * run in a thread, so that they delay no other request. `false`: no thread is started. 0: every read runs in
   * the thread, except of an item by its key. Applies to files. Default 5000.
   */
  readonly scanRows?: number | false
  /** How many reads may wait for the thread. For a further one, the response is 503. Default 100. */
  readonly scanQueue?: number
  /**
   * Milliseconds that a read may take in the thread, with its wait, before it is interrupted and the
   * response is 503. Default 30000.
   */
  readonly scanTimeout?: number
  /** The driver that opens a file. Default: `node:sqlite` if Node has it, otherwise better-sqlite3. */
  readonly driver?: SqliteDriver
  /**
   * SQL functions by name, with any number of arguments, for triggers, constraints, defaults, indexes and views that
   * call functions of the program that made the file. Equal arguments must have equal results.
   */
  readonly functions?: Readonly<Record<string, SqliteFunction>>
  /**
   * The paths of extensions of SQLite to load, for collations and virtual tables, which the drivers can't register. A
   * handle must allow extensions.
   */
  readonly extensions?: readonly string[]
  /**
   * `false`: SQLite does not enforce foreign keys, as in most programs that make files. The service checks the
   * references of definitions by itself. Default true.
   */
  readonly foreignKeys?: boolean
}

/** The implementation of a SQL function. */
export type SqliteFunction = (...values: SqliteValue[]) => SqliteValue

const rows = 'must be false, or a whole number of rows from 0'
const reads = 'must be a whole number of reads from 0 to 10000'

const functionName = 'must have 1 to 255 characters, and not begin with rowgate_'

const shape = z.strictObject({
  ensureSchema: z._default(
    z.union([z.boolean(), z.literal('columns')], { error: "must be true, false or 'columns'" }),
    false,
  ),
  synchronous: z.optional(z.enum(['FULL', 'NORMAL'], { error: "must be 'FULL' or 'NORMAL'" })),
  busyTimeout: z._default(milliseconds(0, 60_000), 250),
  queueTimeout: z._default(milliseconds(0, 60_000), waitLimits.queue),
  lockTimeout: z._default(milliseconds(0, 60_000), waitLimits.lock),
  maxStaleness: z._default(milliseconds(0, 60_000), 1),
  scanRows: z._default(
    z.union([wholeNumber(0, undefined, rows), z.literal(false)], { error: rows }),
    5_000,
  ),
  scanQueue: z._default(wholeNumber(0, 10_000, reads), 100),
  scanTimeout: z._default(milliseconds(1, 600_000), 30_000),
  driver: z.optional(
    z.enum(['better-sqlite3', 'node:sqlite'], {
      error: "must be 'better-sqlite3' or 'node:sqlite'",
    }),
  ),
  functions: z._default(
    z.record(
      z.string().check(z.regex(/^(?!rowgate_).{1,255}$/i, functionName)),
      z.custom<SqliteFunction>((value) => typeof value === 'function', 'must be a function'),
    ),
    {},
  ),
  extensions: z._default(z.array(z.string({ error: 'must be a path' }).check(z.minLength(1))), []),
  foreignKeys: z._default(z.boolean({ error: 'must be true or false' }), true),
})

/** The options with all their defaults. */
export type CompleteSqlite = z.infer<typeof shape>

/** Checks the options of a storage. Throws a TypeError that lists every mistake. */
export function completeSqlite(options: unknown): CompleteSqlite {
  return completeOptions('sqliteStorage', shape, options)
}
