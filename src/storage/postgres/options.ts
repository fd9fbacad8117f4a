import * as z from 'zod'
import { completeOptions } from '../../checks/options.ts'

/** Options of `postgresStorage`. */
export interface PostgresOptions {
  /**
   * `true`: creates missing tables at start. `columns`: also adds missing columns to existing tables. Both create
   * missing indexes. Nothing else is changed. Default false.
   */
  readonly ensureSchema?: boolean | 'columns'
  /** Milliseconds that a call waits for a connection of the pool before the response is 503. Default 5000. */
  readonly acquireTimeout?: number
  /** Milliseconds that a statement may take before the response is 503. Default 30000. */
  readonly statementTimeout?: number
  /** Milliseconds that a statement waits for the lock of another transaction before the response is 503. Default 5000. */
  readonly lockTimeout?: number
  /**
   * Milliseconds that application code may keep a transaction open between two statements. Then the server
   * closes the connection, the transaction is undone and the response is 503. Default 15000.
   */
  readonly idleTimeout?: number
  /**
   * Milliseconds for which a change of users and keys by another process may be unknown to the callers that this
   * process remembers. 0: users and keys are read for each request. Changes by this process are always known.
   * Default 1000.
   */
  readonly maxStaleness?: number
}

const milliseconds = 'must be a whole number of milliseconds from 1 to 600000'
const staleness = 'must be a whole number of milliseconds from 0 to 600000'
const time = z.int({ error: milliseconds }).min(1, milliseconds).max(600_000, milliseconds)

const shape = z.strictObject({
  ensureSchema: z
    .union([z.boolean(), z.literal('columns')], { error: "must be true, false or 'columns'" })
    .default(false),
  acquireTimeout: time.default(5_000),
  statementTimeout: time.default(30_000),
  lockTimeout: time.default(5_000),
  idleTimeout: time.default(15_000),
  maxStaleness: z
    .int({ error: staleness })
    .min(0, staleness)
    .max(600_000, staleness)
    .default(1_000),
})

/** The options with all their defaults. */
export type CompletePostgres = z.infer<typeof shape>

/** Checks the options of a storage. Throws a TypeError that lists every mistake. */
export function completePostgres(options: unknown): CompletePostgres {
  return completeOptions('postgresStorage', shape, options)
}
