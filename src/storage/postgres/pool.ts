/** A statement with parameters, as `pg` takes it. */
export interface PostgresQuery {
  text: string
  values: unknown[]
  rowMode: 'array'
  types: { getTypeParser: () => (value: string) => unknown }
}

/** The result of a statement. */
export interface PostgresResult {
  readonly command: string
  readonly rows: readonly unknown[]
}

/** A connection of a pool, in use. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<PostgresResult>
  query(text: string): Promise<unknown>
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
