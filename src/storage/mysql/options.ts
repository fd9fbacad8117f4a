import * as z from 'zod'
import { completeOptions } from '../../checks/options.ts'
import { poolStorageOptions, type PoolStorageOptions } from '../sql/pool-options.ts'

/** Options of `mysqlStorage`. */
export interface MysqlOptions extends PoolStorageOptions {
  /**
   * For Galera: the value of `wsrep_sync_wait`, from 0 to 15. 1: a read waits until this node has what the others
   * had committed. Default: the setting of the server.
   */
  readonly wsrepSyncWait?: number
}

const mask = 'must be a whole number from 0 to 15'

const shape = z.strictObject({
  ...poolStorageOptions,
  wsrepSyncWait: z.int({ error: mask }).min(0, mask).max(15, mask).optional(),
})

/** The options with all their defaults. */
export type CompleteMysql = z.infer<typeof shape>

/** Checks the options of a storage. Throws a TypeError that lists every mistake. */
export function completeMysql(options: unknown): CompleteMysql {
  return completeOptions('mysqlStorage', shape, options)
}
