/** A statement with parameters, as `pg` takes it. */
export interface PostgresQuery {
  text: string
  values: unknown[]
  /** Of a statement that the connection prepares once. */
  name?: string
  rowMode: 'array'
  types: { getTypeParser: () => (value: string) => unknown }
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
  /** The process of the server, as it was told to the client. Without it, statements are not prepared. */
  readonly processID?: number | null
  query(query: PostgresQuery | string, callback: PostgresCallback): void
  /** Gives the connection back. True: closes it. */
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** The members of a `Pool` of `pg` that the storage uses. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}
