import * as z from 'zod/mini'
import { completeOptions } from '../../checks/options.ts'
import { poolStorageOptions, type PoolStorageOptions } from '../pool/options.ts'
import { isPool, type PostgresPool } from './pool.ts'

/** Options of `postgresStorage`. */
export interface PostgresOptions extends PoolStorageOptions {
  /**
   * Another `Pool` of `pg`, to a streaming replica of the same database. Items that requests read outside of
   * transactions are read there, if it has the writes of this process, and on the primary otherwise. Writes of other
   * processes appear when the replica has them. `close` does not end the pool. Default: the primary is read.
   */
  readonly reads?: PostgresPool
}

const shape = z.strictObject({
  ...poolStorageOptions,
  reads: z.optional(z.custom<PostgresPool>(isPool, 'must be a Pool of the package pg')),
})

/** The options with all their defaults. */
export type CompletePostgres = z.infer<typeof shape>

/** Checks the options of a storage. Throws a TypeError that lists every mistake. */
export function completePostgres(options: unknown): CompletePostgres {
  return completeOptions('postgresStorage', shape, options)
}
