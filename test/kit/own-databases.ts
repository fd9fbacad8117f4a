import type { PoolStorageOptions } from '../../src/storage/pool/options.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { missingServer as missingMariaDb, testDatabase } from './mysql.ts'
import { missingServer as missingPostgres, testSchema } from './postgres.ts'

/** A database of its own, to which storages with pools of two connections lead. */
export interface OwnDatabase {
  open(options: PoolStorageOptions): StorageAdapter
  /** Locks every row of a table in another connection, until the returned function is called. */
  lock(table: string): Promise<() => Promise<void>>
  drop(): Promise<void>
}

/** The database servers, with why their tests are skipped. */
export const ownDatabases = [
  {
    name: 'PostgreSQL',
    missing: await missingPostgres(),
    create: async (): Promise<OwnDatabase> => {
      const schema = await testSchema()
      return {
        ...schema,
        open: (options) => postgresStorage(schema.open(2), options),
        async lock(table) {
          const client = await schema.pool.connect()
          await client.query(`begin; select * from ${table} for update`)
          return async () => {
            await client.query('rollback')
            client.release()
          }
        },
      }
    },
  },
  {
    name: 'MariaDB',
    missing: await missingMariaDb(),
    create: async (): Promise<OwnDatabase> => {
      const database = await testDatabase()
      return {
        ...database,
        open: (options) => mysqlStorage(database.open({ connectionLimit: 2 }), options),
        async lock(table) {
          const client = await database.pool.getConnection()
          await client.query('begin')
          await client.query(`select * from ${table} for update`)
          return async () => {
            await client.query('rollback')
            client.release()
          }
        },
      }
    },
  },
]
