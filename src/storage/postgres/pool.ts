/** A statement with parameters, as `pg` takes it. */
export interface PostgresQuery extends PostgresCommand {
  values: readonly unknown[]
  /** Of a statement that the connection prepares once. */
  name?: string
  rowMode: 'array'
  types: { getTypeParser: () => (value: string) => unknown }
}

/** Statements without parameters, as `pg` takes them. */
export interface PostgresCommand {
  text: string
}

/** The result of a statement. */
export interface PostgresResult {
  readonly command: string
  readonly rows: readonly unknown[]
  /** The number of rows that the statement has found or changed. */
  readonly rowCount: number | null
}

/** Receives the result of a statement, or of each of several. */
export type PostgresCallback = (
  error: Error | null | undefined,
  result: PostgresResult | PostgresResult[],
) => void

/** A connection of a pool, in use. */
export interface PostgresClient {
  /** The process of the server, as the client knows it. Without it, a pooler is assumed. */
  readonly processID?: number | null
  /** Whether it sends a statement before the one before has ended. */
  readonly pipeline?: boolean
  query(query: PostgresQuery | PostgresCommand, callback: PostgresCallback): void
  /** Gives the connection back. True: closes it. */
  release(destroy?: boolean): void
  /** Its socket. A close that waits for the server would have no end where the network is cut. */
  readonly connection?: { readonly stream?: { destroy?(): unknown } }
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** The members of a `Pool` of `pg` that the storage uses. */
export interface PostgresPool {
  /** Its options. Without them, it is not known whether the time to connect is limited. */
  readonly options?: { max?: number | undefined; connectionTimeoutMillis?: number | undefined }
  /** The number of open connections that are not in use. */
  readonly idleCount?: number
  /** Calls back with a connection at the moment at which it is taken out of the pool, or with an error. */
  connect(callback: (error: Error | undefined, client: PostgresClient | undefined) => void): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** Returns whether a value has the members of a pool. */
export function isPool(value: unknown): value is PostgresPool {
  const { connect, on } = (value ?? {}) as Partial<Record<string, unknown>>
  return typeof connect === 'function' && typeof on === 'function'
}
