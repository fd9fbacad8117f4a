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
    readonly connectionConfig?: { connectTimeout?: number | undefined }
  }
  getConnection(done: (error: Error | null, client: MysqlClient) => void): void
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
