import * as z from 'zod/mini'
import { milliseconds } from '../../checks/option-shapes.ts'
import type { StorageWarning } from '../../observation/reports.ts'

/** Options of a storage that reaches its database through a pool of connections. */
export interface PoolStorageOptions {
  /**
   * `true`: creates missing tables at start. `columns`: also adds missing columns to existing tables. Both create
   * missing indexes. Nothing else is changed. Default false.
   */
  readonly ensureSchema?: boolean | 'columns'
  /** Milliseconds that a call waits for a connection of the pool before the response is 503. Default 5000. */
  readonly acquireTimeout?: number
  /**
   * Milliseconds that a statement may take before the response is 503. If the server does not respond shortly after
   * that, the connection is closed. Default 30000.
   */
  readonly statementTimeout?: number
  /**
   * Milliseconds that a statement waits for the lock of another transaction before the response is 503. MariaDB and
   * MySQL count whole seconds: there the time is rounded up. Default 5000.
   */
  readonly lockTimeout?: number
  /**
   * Milliseconds that application code may keep a transaction open between two statements; for MariaDB and MySQL it is
   * rounded up to whole seconds. Then the server closes the connection, the transaction is undone and the response is
   * 503. Default 15000.
   */
  readonly idleTimeout?: number
  /**
   * Milliseconds for which a change of users and keys by another process may be unknown to the callers that this
   * process remembers. 0: users and keys are read for each request. Changes by this process are always known.
   * Default 1000.
   */
  readonly maxStaleness?: number
  /**
   * Milliseconds that a read waits until the replica has the writes of this process, before it is a read on the
   * primary. Only with `reads`. Default 100.
   */
  readonly replicaWait?: number
}

const tenMinutes = 600_000

/** The shapes of {@link PoolStorageOptions}, with their defaults. */
export const poolStorageOptions = {
  ensureSchema: z._default(
    z.union([z.boolean(), z.literal('columns')], { error: "must be true, false or 'columns'" }),
    false,
  ),
  acquireTimeout: z._default(milliseconds(1, tenMinutes), 5_000),
  statementTimeout: z._default(milliseconds(1, tenMinutes), 30_000),
  lockTimeout: z._default(milliseconds(1, tenMinutes), 5_000),
  idleTimeout: z._default(milliseconds(1, tenMinutes), 15_000),
  maxStaleness: z._default(milliseconds(0, tenMinutes), 1_000),
  replicaWait: z._default(milliseconds(0, tenMinutes), 100),
} as const

// The calls that wait for a connection are given up before the pool gives up to open it.
const graceMilliseconds = 100

type ConnectOption = StorageWarning['option']

/**
 * Limits the time to connect of pools that do not limit it, a little above `acquireTimeout` milliseconds. Returns a
 * warning for each. `options` are the options of each pool, undefined if unknown.
 */
export function limitConnects<Option extends ConnectOption>(
  { storage, option }: { readonly storage: string; readonly option: Option },
  options: readonly (Partial<Record<Option, number | undefined>> | undefined)[],
  acquireTimeout: number,
): readonly StorageWarning[] {
  const limit = acquireTimeout + graceMilliseconds
  const unlimited = options.filter((own) => own !== undefined && !(Number(own[option]) > 0))
  return unlimited.map((own) => {
    Object.assign(own as object, { [option]: limit })
    return { type: 'pool-without-connect-timeout', storage, option, milliseconds: limit }
  })
}
