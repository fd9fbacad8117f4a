import * as z from 'zod'
import { completeOptions } from '../../checks/options.ts'
import { waitLimits } from '../wait-limits.ts'
import type { SqliteDriver } from './connection.ts'

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
   * as the callers of API keys. 0: each request reads what it uses. Commits of this process are always
   * known. Default 1.
   */
  readonly maxStaleness?: number
  /** The driver that opens a file. Default: `node:sqlite` if Node has it, otherwise better-sqlite3. */
  readonly driver?: SqliteDriver
}

const milliseconds = 'must be a whole number of milliseconds from 0 to 60000'

const shape = z.strictObject({
  ensureSchema: z
    .union([z.boolean(), z.literal('columns')], { error: "must be true, false or 'columns'" })
    .default(false),
  synchronous: z.enum(['FULL', 'NORMAL'], { error: "must be 'FULL' or 'NORMAL'" }).optional(),
  busyTimeout: z
    .int({ error: milliseconds })
    .min(0, milliseconds)
    .max(60_000, milliseconds)
    .default(250),
  queueTimeout: z
    .int({ error: milliseconds })
    .min(0, milliseconds)
    .max(60_000, milliseconds)
    .default(waitLimits.queue),
  lockTimeout: z
    .int({ error: milliseconds })
    .min(0, milliseconds)
    .max(60_000, milliseconds)
    .default(waitLimits.lock),
  maxStaleness: z
    .int({ error: milliseconds })
    .min(0, milliseconds)
    .max(60_000, milliseconds)
    .default(1),
  driver: z
    .enum(['better-sqlite3', 'node:sqlite'], { error: "must be 'better-sqlite3' or 'node:sqlite'" })
    .optional(),
})

/** The options with all their defaults. */
export type CompleteSqlite = z.infer<typeof shape>

/** Checks the options of a storage. Throws a TypeError that lists every mistake. */
export function completeSqlite(options: unknown): CompleteSqlite {
  return completeOptions('sqliteStorage', shape, options)
}
