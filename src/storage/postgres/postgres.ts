import type { ApplicationDefinitions } from '../../definition/application.ts'
import type { StorageAdapter } from '../adapter.ts'
import { readTables } from '../../schema/postgres/catalogue.ts'
import { connections } from './connection.ts'
import { postgresDialect } from './dialect.ts'
import { completePostgres, type PostgresOptions } from './options.ts'
import { isPool, type PostgresPool } from './pool.ts'
import { postgresReplication } from './replication.ts'
import { changeSchema, encodingMistakes } from '../../schema/postgres/schema-database.ts'
import { bind, type Connection } from '../pool/connection.ts'
import { sql } from '../sql/fragments.ts'
import type { Database } from '../pool/database.ts'
import { schemaText } from '../pool/opening.ts'
import { limitConnects } from '../pool/options.ts'
import { serverWatch } from '../pool/server-watch.ts'
import { sharedDatabase } from '../pool/shared-database.ts'

/**
 * Keeps collections in a PostgreSQL database, through a `Pool` of `pg`. The pool must be for this storage alone,
 * because its connections get the settings that the storage needs. `close` does not end it.
 *
 * Throws a TypeError for a pool or an option that is not valid.
 *
 * ```ts
 * const pool = new Pool({
 *   connectionString: 'postgres://localhost/northwind',
 *   connectionTimeoutMillis: 5_000,
 * })
 * const storage = postgresStorage(pool, { ensureSchema: true })
 * ```
 */
export function postgresStorage(pool: PostgresPool, options: PostgresOptions = {}): StorageAdapter {
  const complete = completePostgres(options)
  if (!isPool(pool)) {
    throw new TypeError('postgresStorage: the first argument must be a Pool of the package pg')
  }
  if (complete.reads === pool) {
    throw new TypeError('postgresStorage.reads: must not be the pool of the primary')
  }
  const watch = serverWatch()
  const own = connections(pool, complete, watch)
  const database: Database = {
    name: 'postgres',
    warnings: limitConnects(
      { storage: 'postgres', option: 'connectionTimeoutMillis' },
      [pool.options, complete.reads?.options],
      complete.acquireTimeout,
    ),
    dialect: postgresDialect,
    ensureSchema: complete.ensureSchema,
    acquireTimeout: complete.acquireTimeout,
    mistakes: encodingMistakes,
    readTables,
    changeSchema: (connection, work) => changeSchema(connection, complete.lockTimeout, work),
    opened: ({ server }) => watch.opened(server),
    ...own,
  }
  return sharedDatabase(database, {
    maxStaleness: complete.maxStaleness,
    watch,
    poll: () => own.use(currentSnapshot),
    replica: complete.reads && {
      server: postgresReplication,
      connections: connections(complete.reads, complete),
      maxWait: complete.replicaWait,
    },
  })
}

/**
 * Returns the CREATE statements of every stored collection, for applications that create their tables
 * themselves instead of setting `ensureSchema`.
 */
export function postgresSchema(applications: ApplicationDefinitions): string {
  return schemaText(postgresDialect, applications)
}

// After a failover that has lost commits, the new primary may give their transaction ids to others.
async function currentSnapshot(connection: Connection): Promise<string> {
  const [[text] = []] = await connection.rows(
    bind(sql`select concat(pg_postmaster_start_time(), ' ', pg_current_snapshot()) as snapshot`),
  )
  return String(text)
}
