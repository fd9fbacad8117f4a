import { randomUUID } from 'node:crypto'
import { createPool, type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import type { PublishedCollection } from '../../src/storage/index.ts'
import type { Storage } from './storages.ts'

/** How tests reach the server. */
const address = {
  host: process.env['MYSQL_HOST'] ?? '127.0.0.1',
  port: Number(process.env['MYSQL_PORT'] ?? 3306),
  user: process.env['MYSQL_USER'] ?? 'root',
  password: process.env['MYSQL_PASSWORD'] ?? '',
  connectTimeout: 2_000,
}

/** Why tests of MariaDB are skipped; undefined if a server responds. Rejects if servers are required. */
export async function missingServer(): Promise<string | undefined> {
  const pool = createPool({ ...address, connectionLimit: 1 })
  try {
    await pool.query('select 1')
    return undefined
  } catch (error) {
    if (process.env['REQUIRE_SERVERS'] === '1') throw error
    const reason = `no MariaDB server responds at ${address.host}:${address.port}: ${String(error)}`
    console.warn(`Tests of MariaDB are skipped: ${reason}`)
    return reason
  } finally {
    await pool.end()
  }
}

function databaseName(): string {
  return `rowgate_${randomUUID().replaceAll('-', '')}`
}

/** A database of its own. */
export interface TestDatabase {
  readonly name: string
  /** Where the server is. */
  readonly address: typeof address
  readonly pool: Pool
  /** Opens another pool. It is ended by `drop`. */
  open(options?: PoolOptions): Pool
  /** Runs one statement after another, and returns the rows of the last one. */
  run(...statements: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Removes every row. */
  clear(): Promise<void>
  /** Removes every table. */
  empty(): Promise<void>
  /** Removes the database and ends its pools. */
  drop(): Promise<void>
}

/** Creates a database. */
export async function testDatabase(): Promise<TestDatabase> {
  const name = databaseName()
  const pools: Pool[] = []
  const open = (options: PoolOptions = {}): Pool => {
    const pool = createPool({ ...address, database: name, connectionLimit: 12, ...options })
    pools.push(pool)
    return pool
  }
  const admin = createPool({ ...address, connectionLimit: 1, dateStrings: true })
  pools.push(admin)
  await admin.query(`create database ${name}`)
  await admin.query(`use ${name}`)
  const run: TestDatabase['run'] = async (...statements) => {
    let rows: readonly RowDataPacket[] = []
    for (const statement of statements) [rows] = await admin.query<RowDataPacket[]>(statement)
    return rows
  }
  const forAll = async (action: string): Promise<void> => {
    const tables = await run(
      `select table_name as own from information_schema.tables
       where table_schema = database() and table_type = 'BASE TABLE'`,
    )
    const statements = tables.map(({ own }) => `${action} \`${String(own)}\``)
    await run('set foreign_key_checks = 0', ...statements, 'set foreign_key_checks = 1')
  }
  return {
    name,
    address,
    pool: open(),
    open,
    run,
    clear: () => forAll('delete from'),
    empty: () => forAll('drop table'),
    drop: async () => {
      await run(`drop database ${name}`)
      for (const pool of pools) await pool.end()
    },
  }
}

/** MariaDB behind a service: each storage has a database of its own. */
export const mariadb: Storage = {
  name: 'mariadb',
  isRemote: true,
  open: () => {
    const name = databaseName()
    const admin = createPool({ ...address, connectionLimit: 1 })
    const pool = createPool({ ...address, database: name, connectionLimit: 3 })
    // A thousand clients at the same time wait for three connections.
    const storage = mysqlStorage(pool, { ensureSchema: true, acquireTimeout: 60_000 })
    return {
      storage: {
        ...storage,
        open: async (collections: readonly PublishedCollection[]) => {
          await admin.query(`create database ${name}`)
          await storage.open(collections)
        },
      },
      remove: async () => {
        await admin.query(`drop database if exists ${name}`)
        await pool.end()
        await admin.end()
      },
    }
  },
}
