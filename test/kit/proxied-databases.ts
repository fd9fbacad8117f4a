import { Pool } from 'pg'
import { onTestFinished } from 'vitest'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import type { PoolStorageOptions } from '../../src/storage/pool/options.ts'
import { missingServer as missingMariaDb, testDatabase } from './mysql.ts'
import { missingServer as missingPostgres, testSchema } from './postgres.ts'
import { startProxy, type Proxy } from './proxy.ts'

/** A database of its own behind a proxy, which can be silent. Both are removed after the test. */
export interface ProxiedDatabase {
  readonly network: Proxy
  /** The address of the database behind the proxy, and the options of a command that opens it. */
  readonly line: readonly [url: string, ...options: string[]]
  /** Opens a storage behind the proxy, whose pool connects within a second. */
  through(options?: PoolStorageOptions): StorageAdapter
  /** Opens a storage that reaches the database directly. */
  direct(options?: PoolStorageOptions): StorageAdapter
  /** Locks a table directly, until the returned function is called. */
  lock(table: string): Promise<() => Promise<void>>
  /** Runs a statement directly. */
  run(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

const connections = 3

/** The database servers, with why their tests are skipped. */
export const proxiedDatabases = [
  {
    name: 'PostgreSQL',
    missing: await missingPostgres(),
    async open(): Promise<ProxiedDatabase> {
      const { name, address, open, run, drop } = await testSchema()
      const network = await startProxy(address)
      const { host, port } = network
      const pools: Pool[] = []
      onTestFinished(async () => {
        await network.stop()
        for (const pool of pools) await pool.end()
        await drop()
      })
      return {
        network,
        run,
        async lock(table) {
          const client = await open(1).connect()
          await client.query(`begin; lock table ${table}`)
          return async () => {
            await client.query('rollback')
            client.release()
          }
        },
        line: [`postgres://${address.user}@${host}:${port}/${address.database}`, '--schema', name],
        through(options) {
          const own = { ...address, host, port, connectionTimeoutMillis: 1_000 }
          const pool = new Pool({ ...own, max: connections, options: `-c search_path=${name}` })
          pools.push(pool)
          return postgresStorage(pool, options)
        },
        direct: (options) => postgresStorage(open(connections), options),
      }
    },
  },
  {
    name: 'MariaDB',
    missing: await missingMariaDb(),
    async open(): Promise<ProxiedDatabase> {
      const { name, address, open, run, drop } = await testDatabase()
      const network = await startProxy(address)
      const { host, port } = network
      onTestFinished(async () => {
        await network.stop()
        await drop()
      })
      const user = `${address.user}:${encodeURIComponent(address.password)}`
      const connectionLimit = connections
      return {
        network,
        run,
        async lock(table) {
          const client = await open({ connectionLimit: 1 }).getConnection()
          await client.query(`lock tables ${table} write`)
          return async () => {
            await client.query('unlock tables')
            client.release()
          }
        },
        line: [`mysql://${user}@${host}:${port}/${name}`],
        through: (options) =>
          mysqlStorage(open({ host, port, connectionLimit, connectTimeout: 1_000 }), options),
        direct: (options) => mysqlStorage(open({ connectionLimit }), options),
      }
    },
  },
] as const
