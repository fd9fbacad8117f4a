import * as z from 'zod'
import { completeOptions } from '../../checks/options.ts'
import { isPool, type PostgresPool } from './pool.ts'

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
  /**
   * Another `Pool` of `pg`, to a streaming replica of the same database. Items that requests read outside of
   * transactions are read there, if it has the writes of this process, and on the primary otherwise. Writes of other
   * processes appear when the replica has them. `close` does not end the pool. Default: the primary is read.
   */
  readonly reads?: PostgresPool
  /**
   * Milliseconds that a read waits until the replica has the writes of this process, before it is a read on the
   * primary. Only with `reads`. Default 100.
   */
  readonly replicaWait?: number
}

const milliseconds = 'must be a whole number of milliseconds from 1 to 600000'
const timeOrNone = 'must be a whole number of milliseconds from 0 to 600000'
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
    .int({ error: timeOrNone })
    .min(0, timeOrNone)
    .max(600_000, timeOrNone)
    .default(1_000),
  reads: z.custom<PostgresPool>(isPool, 'must be a Pool of the package pg').optional(),
  replicaWait: z
    .int({ error: timeOrNone })
    .min(0, timeOrNone)
    .max(600_000, timeOrNone)
    .default(100),
})

/** The options with all their defaults. */
export type CompletePostgres = z.infer<typeof shape>

/** Checks the options of a storage. Throws a TypeError that lists every mistake. */
export function completePostgres(options: unknown): CompletePostgres {
  return completeOptions('postgresStorage', shape, options)
}
