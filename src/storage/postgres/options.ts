import * as z from 'zod'
import { completeOptions } from '../../checks/options.ts'
import { milliseconds, poolStorageOptions, type PoolStorageOptions } from '../sql/pool-options.ts'
import { isPool, type PostgresPool } from './pool.ts'

/** Options of `postgresStorage`. */
export interface PostgresOptions extends PoolStorageOptions {
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

const shape = z.strictObject({
  ...poolStorageOptions,
  maxStaleness: milliseconds(0).default(1_000),
  reads: z.custom<PostgresPool>(isPool, 'must be a Pool of the package pg').optional(),
  replicaWait: milliseconds(0).default(100),
})

/** The options with all their defaults. */
export type CompletePostgres = z.infer<typeof shape>

/** Checks the options of a storage. Throws a TypeError that lists every mistake. */
export function completePostgres(options: unknown): CompletePostgres {
  return completeOptions('postgresStorage', shape, options)
}
