import { createConnection, type Connection } from 'mysql2'
import { createPool, type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import {
  mysqlStorage,
  type MysqlClient,
  type MysqlPool,
  type MysqlServer,
} from '../../src/entries/mysql.ts'
import type { PublishedCollection } from '../../src/entries/storage.ts'
import { isLeftOver, sharedConnections, testName } from './shared-connections.ts'
import type { Storage } from './storages.ts'

/** How tests reach the server. */
export const address = {
  host: process.env['MYSQL_HOST'] ?? '127.0.0.1',
  port: Number(process.env['MYSQL_PORT'] ?? 3306),
  user: process.env['MYSQL_USER'] ?? 'root',
  password: process.env['MYSQL_PASSWORD'] ?? '',
  connectTimeout: 10_000,
}

let kind: MysqlServer = 'MariaDB'

/**
 * Returns what is expected of the server that responds: MariaDB, or MySQL if `MYSQL_PORT` leads to one. Only after
 * {@link missingServer}.
 */
export function perServer<Value>(expected: Readonly<Record<MysqlServer, Value>>): Value {
  return expected[kind]
}

/** Returns the collation that orders by code point. */
export function exactCollation(): string {
  return perServer({ MariaDB: 'utf8mb4_nopad_bin', MySQL: 'utf8mb4_0900_bin' })
}

/** Returns a table in SQL with the numbers from 1 to n in the column `seq`. MySQL has none of its own. */
export function numbersTable(n = 5_000): string {
  const digit =
    '(values row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7), row(8), row(9))'
  const names = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, String(n).length)
  const digits = names.map((name) => `${digit} as ${name} (d)`).join(' join ')
  const sum = names.map((name, index) => `${10 ** index} * ${name}.d`).join(' + ')
  return perServer({
    MariaDB: `seq_1_to_${n}`,
    MySQL: `(select 1 + ${sum} as seq from ${digits} having seq <= ${n}) as numbers`,
  })
}

/**
 * Why tests of MariaDB are skipped; undefined if a server responds. Rejects if servers are required. Drops what test
 * runs that were killed have left behind.
 */
export async function missingServer(): Promise<string | undefined> {
  const pool = createPool({ ...address, connectionLimit: 1 })
  try {
    const [rows] = await pool.query<RowDataPacket[]>('show databases')
    const names = rows.map((row) => String(row['Database']))
    const [[found]] = await pool.query<RowDataPacket[]>('select version() as version')
    kind = String(found?.['version']).includes('MariaDB') ? 'MariaDB' : 'MySQL'
    for (const name of names.filter(isLeftOver)) {
      await pool.query(`drop database if exists ${name}`)
    }
    return undefined
  } catch (error) {
    if (process.env['REQUIRE_SERVERS'] === '1') throw error
    const reason = `no MariaDB or MySQL server responds at ${address.host}:${address.port}: ${String(error)}`
    console.warn(`Tests of MariaDB are skipped: ${reason}`)
    return reason
  } finally {
    await pool.end()
  }
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
  const name = testName()
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

interface SharedClient extends MysqlClient {
  readonly connection: Connection
}

const shared = sharedConnections<SharedClient>(
  {
    open: async (name) => {
      const connection = createConnection({ ...address, ...(name !== '' && { database: name }) })
      await new Promise<void>((resolve, reject) => {
        connection.connect((error) => (error ? reject(error) : resolve()))
      })
      const client: SharedClient = {
        connection,
        query: (query, done) => connection.query(query, done),
        on: (event, listener) => connection.on(event, listener),
        removeListener: (event, listener) => connection.removeListener(event, listener),
        release: () => shared.release(client, false),
        destroy: () => shared.release(client, true),
      }
      return client
    },
    end: ({ connection }) => connection.destroy(),
  },
  8,
)

/** Returns how many connections the storages of {@link mariadb} have. */
export const mariadbSockets = shared.count

/** MariaDB behind a service: each storage has a database of its own. */
export const mariadb: Storage = {
  name: 'mariadb',
  isRemote: true,
  open: () => {
    const name = testName()
    const pool: MysqlPool = {
      getConnection(done) {
        shared.take(name).then(
          (client) => done(null, client),
          (error: unknown) => done(error as Error, undefined as never),
        )
      },
    }
    // A thousand clients at the same time wait for a few connections.
    const storage = mysqlStorage(pool, { ensureSchema: true, acquireTimeout: 60_000 })
    return {
      storage: {
        ...storage,
        open: async (collections: readonly PublishedCollection[]) => {
          await onServer(`create database ${name}`)
          await storage.open(collections)
        },
      },
      remove: async () => {
        await shared.end(name)
        await onServer(`drop database if exists ${name}`)
        await shared.end('')
      },
    }
  },
}

async function onServer(statement: string): Promise<void> {
  const client = await shared.take('')
  await new Promise<void>((resolve, reject) => {
    client.connection.query(statement, (error) => (error ? reject(error) : resolve()))
  }).finally(client.release)
}
