import type { StorageAdapter } from '../adapter.ts'
import { markSelfChecking } from '../layers/self-checking.ts'
import { isOwn } from './commits.ts'
import type { Connections } from './connection.ts'
import type { Database } from './database.ts'
import { ReplicaReads, type Replication } from './replica.ts'
import type { ServerWatch } from './server-watch.ts'
import { sqlStorage } from './storage.ts'
import { VersionClock } from './version-clock.ts'

/** What other servers and processes have to do with a database. */
export interface Sharing<Identity> {
  /** Milliseconds for which a change of users and keys by another process may be unknown. 0: never. */
  readonly maxStaleness: number
  /** Reads a string that is different after each commit of any process. */
  readonly poll: () => Promise<string>
  readonly watch: ServerWatch
  /** A replica for reads. */
  readonly replica: ReplicaOptions<Identity> | undefined
}

/** A replica, and how long a read waits for it in milliseconds. */
export interface ReplicaOptions<Identity> {
  readonly server: Replication<Identity>
  readonly connections: Connections
  readonly maxWait: number
}

/** Creates the storage of a database that other processes use too, and that may have a replica. */
export function sharedDatabase<Identity>(
  database: Database,
  { maxStaleness, poll, watch, replica }: Sharing<Identity>,
): StorageAdapter {
  const storage = replica === undefined ? sqlStorage(database) : withReplica(database, replica)
  if (maxStaleness === 0) return storage
  const clock = new VersionClock(poll, maxStaleness)
  // Another server may lack what this one had, such as a key.
  watch.onChange(() => clock.forget())
  return markSelfChecking({
    ...storage,
    version: clock.version,
    transaction: clock.counting(storage.transaction),
    close: () => {
      clock.stop()
      return storage.close()
    },
  })
}

function withReplica<Identity>(
  database: Database,
  { server, connections, maxWait }: ReplicaOptions<Identity>,
): StorageAdapter {
  const replica = new ReplicaReads(server, database, connections, maxWait)
  const storage = sqlStorage({
    ...database,
    // The rights of a caller must not be older than the primary.
    reading: (collection) => (isOwn(collection) ? database : replica),
  })
  return markSelfChecking({
    ...storage,
    connections: () => [
      ...(storage.connections?.() ?? []),
      { name: `${database.name}.reads`, ...connections.load() },
    ],
    async open(collections, readOnly) {
      await storage.open(collections, readOnly)
      await replica.open()
    },
    transaction: replica.counting(storage.transaction),
    async close() {
      await Promise.all([replica.close(), storage.close()])
    },
  })
}
