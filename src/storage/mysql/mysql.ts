import type { ApplicationDefinitions } from '../../definition/application.ts'
import type { StorageAdapter } from '../adapter.ts'
import { readTables } from '../../schema/mysql/catalogue.ts'
import { checkedShare, mysqlConnections } from './connection.ts'
import { mysqlDialect, type MysqlServer } from './dialect.ts'
import { completeMysql, type MysqlOptions } from './options.ts'
import { clientPoolOf, isPool, type MysqlPool } from './pool.ts'
import { mysqlReplication } from './replication.ts'
import { changeSchema, databaseMistakes } from '../../schema/mysql/schema-database.ts'
import type { Database } from '../pool/database.ts'
import { schemaText } from '../pool/opening.ts'
import { limitConnects } from '../pool/options.ts'
import { serverWatch } from '../pool/server-watch.ts'
import { sharedDatabase } from '../pool/shared-database.ts'

/**
 * Keeps collections in a MariaDB or MySQL database, through a pool of `mysql2` or `mysql2/promise`. The pool must be
 * for this storage alone, because its connections get the settings that the storage needs. `close` does not end it.
 *
 * Throws a TypeError for a pool or an option that is not valid.
 *
 * ```ts
 * const pool = createPool({ uri: 'mysql://localhost/northwind', connectTimeout: 5_000 })
 * const storage = mysqlStorage(pool, { ensureSchema: true })
 * ```
 */
export function mysqlStorage(pool: MysqlPool, options: MysqlOptions = {}): StorageAdapter {
  const complete = completeMysql(options)
  const { reads } = complete
  if (!isPool(pool)) {
    throw new TypeError('mysqlStorage: the first argument must be a pool of the package mysql2')
  }
  if (reads === pool) {
    throw new TypeError('mysqlStorage.reads: must not be the pool of the primary')
  }
  const pools = reads === undefined ? [pool] : [pool, reads]
  for (const used of pools) requireSettings(used)
  const watch = serverWatch()
  const { server, ...own } = mysqlConnections(pool, complete, watch)
  const database: Database = {
    name: 'mysql',
    warnings: limitConnects(
      { storage: 'mysql', option: 'connectTimeout' },
      pools.map((each) => clientPoolOf(each).config?.connectionConfig),
      complete.acquireTimeout,
    ),
    dialect: mysqlDialect('MariaDB'),
    ensureSchema: complete.ensureSchema,
    acquireTimeout: complete.acquireTimeout,
    mistakes: databaseMistakes,
    readTables: (connection, collections) => readTables(connection, collections, server()),
    changeSchema: (connection, work) =>
      changeSchema(connection, Math.ceil(complete.statementTimeout / 1_000), work),
    opened: (connection) => watch.opened(connection.server),
    ...own,
  }
  let polls = 0
  return sharedDatabase(database, {
    // A connection counts as one to a server that accepts writes for the rest of the time.
    maxStaleness: complete.maxStaleness * (1 - checkedShare),
    watch,
    // The server has no value that changes with each commit and with no other event, so each poll counts as a change.
    poll: () => Promise.resolve(String(polls++)),
    replica: reads && {
      server: mysqlReplication(server),
      connections: mysqlConnections(reads, complete),
      maxWait: complete.replicaWait,
    },
  })
}

/**
 * Returns the CREATE statements of every stored collection, for applications that create their tables
 * themselves instead of setting `ensureSchema`. MySQL has other collations than MariaDB.
 */
export function mysqlSchema(
  applications: ApplicationDefinitions,
  server: MysqlServer = 'MariaDB',
): string {
  return schemaText(mysqlDialect(server), applications)
}

function requireSettings(pool: MysqlPool): void {
  const { config } = clientPoolOf(pool)
  if (config?.resetOnRelease === true) {
    throw new TypeError(
      'mysqlStorage: the option resetOnRelease of the pool undoes the settings of its connections. Remove it.',
    )
  }
  // An empty string nests, too.
  const { nestTables = false } = config?.connectionConfig ?? {}
  if (nestTables !== false) {
    throw new TypeError(
      'mysqlStorage: with the option nestTables of the pool, rows have another form. Remove it.',
    )
  }
}
