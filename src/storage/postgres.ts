import type { ApplicationDefinitions } from '../definition/application.ts'
import type { StorageAdapter } from './adapter.ts'
import { readTables } from './postgres/catalogue.ts'
import { connections } from './postgres/connection.ts'
import { postgresDialect } from './postgres/dialect.ts'
import { completePostgres, type PostgresOptions } from './postgres/options.ts'
import { isPool, type PostgresPool } from './postgres/pool.ts'
import { postgresReplication } from './postgres/replication.ts'
import { bind, type Connection } from './sql/connection.ts'
import { sql } from './sql/fragments.ts'
import { sharedDatabase } from './sql/shared-database.ts'
import { schemaText, type Database } from './sql/storage.ts'

export type { PostgresOptions } from './postgres/options.ts'
export type {
  PostgresClient,
  PostgresPool,
  PostgresQuery,
  PostgresResult,
} from './postgres/pool.ts'

// Two processes that start at the same time must not create the same table.
const schemaLock = 7_294_104_816

/**
 * Keeps collections in a PostgreSQL database, through a `Pool` of `pg`. The pool must be for this storage alone,
 * because its connections get the settings that the storage needs. `close` does not end it.
 *
 * Throws a TypeError for a pool or an option that is not valid.
 *
 * ```ts
 * const pool = new Pool({ connectionString: 'postgres://localhost/northwind' })
 * const storage = postgresStorage(pool, { ensureSchema: true })
 * ```
 */
export function postgresStorage(pool: PostgresPool, options: PostgresOptions = {}): StorageAdapter {
  const complete = completePostgres(options)
  if (!isPool(pool)) {
    throw new TypeError('postgresStorage: the first argument must be a Pool of the package pg')
  }
  if (complete.reads === pool) {
    throw new TypeError('postgresStorage.reads: must be another pool than that of the primary')
  }
  const own = connections(pool, complete)
  const database: Database = {
    name: 'postgres',
    dialect: postgresDialect,
    ensureSchema: complete.ensureSchema,
    mistakes: encodingMistakes,
    readTables,
    changeSchema: (connection, work) => changeSchema(connection, complete.lockTimeout, work),
    ...own,
  }
  return sharedDatabase(database, {
    maxStaleness: complete.maxStaleness,
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

async function currentSnapshot(connection: Connection): Promise<string> {
  const [[text] = []] = await connection.rows(
    bind(sql`select pg_current_snapshot()::text as snapshot`),
  )
  return String(text)
}

async function encodingMistakes(connection: Connection): Promise<readonly string[]> {
  const [encoding] = (await connection.rows(bind(sql`show server_encoding`)))[0] ?? []
  if (encoding === 'UTF8') return []
  return [`The encoding of the database is ${String(encoding)}. Create it with ENCODING 'UTF8'.`]
}

async function changeSchema(
  connection: Connection,
  lockTimeout: number,
  work: () => Promise<void>,
): Promise<void> {
  // Another process may be creating the indexes of large tables, or this one will.
  await connection.command(
    'begin; set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0',
  )
  try {
    await connection.command(`select pg_advisory_xact_lock(${schemaLock})`)
    await connection.command(`set local lock_timeout = ${lockTimeout}`)
    await work()
    await connection.command('commit')
  } catch (error) {
    await connection.command('rollback').catch(() => connection.discard())
    throw error
  }
}
