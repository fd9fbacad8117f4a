import type { PublishedCollection } from '../../definition/published.ts'
import type { StorageWarning } from '../../observation/reports.ts'
import type { Dialect, Tables } from '../sql/dialect.ts'
import type { Connection, Connections } from './connection.ts'
import type { ReadRoute } from './joined-reads.ts'

/** A database that is reached through a pool of connections. */
export interface Database extends Connections {
  /** The name of the storage, for messages. */
  readonly name: string
  readonly dialect: Dialect
  readonly warnings: readonly StorageWarning[]
  /** Missing tables are created; `columns`: missing columns too. */
  readonly ensureSchema: boolean | 'columns'
  /** Milliseconds that a call waits for a connection. */
  readonly acquireTimeout: number
  /**
   * Returns how a read of a request gets its connection, which may lead to a replica. The read is outside of
   * transactions. Default: as every other call.
   */
  reading?(collection: PublishedCollection): ReadRoute
  /** Called when the storage was opened with a connection. */
  opened(connection: Connection): void
  /** Returns what is wrong with the database itself. */
  mistakes(connection: Connection): Promise<readonly string[]>
  readTables(connection: Connection, collections: readonly PublishedCollection[]): Promise<Tables>
  /** Runs work that changes the schema, while no other process does. */
  changeSchema(connection: Connection, work: () => Promise<void>): Promise<void>
}
