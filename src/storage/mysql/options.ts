import * as z from 'zod'
import { completeOptions } from '../../checks/options.ts'

/** Options of `mysqlStorage`. */
export interface MysqlOptions {
  /**
   * `true`: creates missing tables at start. `columns`: also adds missing columns to existing tables. Both create
   * missing indexes. Nothing else is changed. Default false.
   */
  readonly ensureSchema?: boolean | 'columns'
  /** Milliseconds that a call waits for a connection of the pool before the response is 503. Default 5000. */
  readonly acquireTimeout?: number
  /**
   * Milliseconds that a statement may take before the response is 503. If the server does not respond two seconds
   * after that, the connection is closed. Default 30000.
   */
  readonly statementTimeout?: number
  /**
   * Milliseconds that a statement waits for the lock of another transaction before the response is 503. The server
   * counts whole seconds: the time is rounded up. Default 5000.
   */
  readonly lockTimeout?: number
  /**
   * Milliseconds that application code may keep a transaction open between two statements, rounded up to whole
   * seconds. Then the server closes the connection, the transaction is undone and the response is 503. Default 15000.
   */
  readonly idleTimeout?: number
  /**
   * For Galera: the value of `wsrep_sync_wait`, from 0 to 15. 1: a read waits until this node has what the others
   * had committed. Default: the setting of the server.
   */
  readonly wsrepSyncWait?: number
}

const milliseconds = 'must be a whole number of milliseconds from 1 to 600000'
const time = z.int({ error: milliseconds }).min(1, milliseconds).max(600_000, milliseconds)
const mask = 'must be a whole number from 0 to 15'

const shape = z.strictObject({
  ensureSchema: z
    .union([z.boolean(), z.literal('columns')], { error: "must be true, false or 'columns'" })
    .default(false),
  acquireTimeout: time.default(5_000),
  statementTimeout: time.default(30_000),
  lockTimeout: time.default(5_000),
  idleTimeout: time.default(15_000),
  wsrepSyncWait: z.int({ error: mask }).min(0, mask).max(15, mask).optional(),
})

/** The options with all their defaults. */
export type CompleteMysql = z.infer<typeof shape>

/** Checks the options of a storage. Throws a TypeError that lists every mistake. */
export function completeMysql(options: unknown): CompleteMysql {
  return completeOptions('mysqlStorage', shape, options)
}
