import * as z from 'zod/mini'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { poolStorageOptions, type PoolStorageOptions } from '../pool/options.ts'
import { isPool, type MysqlPool } from './pool.ts'

/** Options of `mysqlStorage`. */
export interface MysqlOptions extends PoolStorageOptions {
  /**
   * For Galera: the value of `wsrep_sync_wait`, from 0 to 15. 1: a read waits until this node has what the others
   * had committed. Default: the setting of the server.
   */
  readonly wsrepSyncWait?: number
  /**
   * Another pool, to a replica of the same database. Items that requests read outside of transactions are read there, if it has the writes of this process, and on the primary otherwise. Writes of other processes
   * appear when the replica has them. `close` does not end the pool. Default: the primary is read.
   */
  readonly reads?: MysqlPool
}

const mask = 'must be an integer from 0 to 15'

const shape = z.strictObject({
  ...poolStorageOptions,
  wsrepSyncWait: z.optional(wholeNumber(0, 15, mask)),
  reads: z.optional(z.custom<MysqlPool>(isPool, 'must be a pool of the package mysql2')),
})

/** The options with all their defaults. */
export type CompleteMysql = z.infer<typeof shape>

/** Checks the options of a storage. Throws a TypeError that lists every mistake. */
export function completeMysql(options: unknown): CompleteMysql {
  return completeOptions('mysqlStorage', shape, options)
}
