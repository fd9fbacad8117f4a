import { isThenable } from '../../maybe-promise.ts'

/** A field of a row that `mysql2` has received. */
export interface MysqlField {
  /** Returns its text. */
  string(): string | null
}

/** A statement, as `mysql2` takes it. */
export interface MysqlQuery {
  sql: string
  rowsAsArray: true
  typeCast: (field: MysqlField) => string | null
}

/** A connection of a pool, in use. */
export interface MysqlClient {
  query(query: MysqlQuery, done: (error: unknown, result?: unknown) => void): unknown
  /** Gives the connection back. */
  release(): void
  /** Closes the connection. */
  destroy(): void
  /** Its socket. A close that waits for the server would have no end where the network is cut. */
  readonly stream?: { destroy?(): unknown }
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** The members of a pool of `mysql2` that the storage uses. */
export interface MysqlClientPool {
  /** Its options. Without them, it is not known whether the time to connect is limited. */
  readonly config?: {
    readonly connectionLimit?: number
    readonly resetOnRelease?: unknown
    readonly connectionConfig?: {
      connectTimeout?: number | undefined
      readonly nestTables?: unknown
    }
  }
  /** The open connections that are not in use. */
  readonly _freeConnections?: { readonly length: number }
  getConnection(done: (error: Error | null, client: MysqlClient) => void): unknown
}

/** A pool of `mysql2`, or of `mysql2/promise`. */
export type MysqlPool = MysqlClientPool | { readonly pool: MysqlClientPool }

/** Returns the members of a pool that are used. */
export function clientPoolOf(pool: MysqlPool): MysqlClientPool {
  return 'pool' in pool ? pool.pool : pool
}

/** Returns whether a value has the members of a pool. */
export function isPool(value: unknown): value is MysqlPool {
  const { pool = value } = (value ?? {}) as { readonly pool?: unknown }
  const { getConnection } = (pool ?? {}) as Partial<MysqlClientPool>
  return typeof getConnection === 'function'
}

/** Takes a connection out of a pool. Calls `received` at the moment at which the pool hands it out. */
export function takeClient<Received>(
  pool: MysqlClientPool,
  received: (client: MysqlClient) => Received,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const returned = pool.getConnection((error, client) => {
      if (error) reject(error)
      else resolve(received(client))
    })
    if (!isThenable(returned)) return
    // Such a pool does not call back.
    returned.then(release, () => undefined)
    reject(new TypeError(`the pool returns promises of connections. ${otherPool}`))
  })
}

const otherPool = 'Use a pool of the package mysql2, without options that change the form of rows.'

function release(client: unknown): void {
  const { release: giveBack } = Object(client) as { readonly release?: unknown }
  if (typeof giveBack === 'function') Reflect.apply(giveBack, client, [])
}

/** Returns the first row of a result. Throws a TypeError if its rows are not lists of strings. */
export function firstRow(result: unknown): readonly [string, ...string[]] {
  const [row] = Array.isArray(result) ? (result as readonly unknown[]) : []
  if (Array.isArray(row) && typeof row[0] === 'string') return row as [string, ...string[]]
  throw new TypeError(
    `mysqlStorage: the pool returns rows that are not lists of strings. ${otherPool}`,
  )
}
