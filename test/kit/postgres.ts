import { Client, Pool, type ClientConfig } from 'pg'
import { postgresStorage, type PostgresPool } from '../../src/entries/postgres.ts'
import type { PublishedCollection } from '../../src/entries/storage.ts'
import { isLeftOver, sharedConnections, testName } from './shared-connections.ts'
import type { Storage } from './storages.ts'

/** How tests reach the server: the usual variables, with defaults. */
export const address = {
  host: process.env['PGHOST'] ?? '127.0.0.1',
  port: Number(process.env['PGPORT'] ?? 5432),
  user: process.env['PGUSER'] ?? 'postgres',
  database: process.env['PGDATABASE'] ?? 'test',
  connectionTimeoutMillis: 10_000,
  // With `PIPELINE=on` every test of PostgreSQL has connections that pipeline.
  pipeline: process.env['PIPELINE'] === 'on',
}

/**
 * Why tests of PostgreSQL are skipped; undefined if a server responds. Rejects if servers are required. Drops what test
 * runs that were killed have left behind, and creates the extension of search indexes.
 */
export async function missingServer(): Promise<string | undefined> {
  const pool = new Pool({ ...address, max: 1 })
  try {
    const { rows } = await pool.query<{ name: string }>('select nspname as name from pg_namespace')
    for (const { name } of rows.filter((row) => isLeftOver(row.name))) {
      await pool.query(`set client_min_messages = warning; drop schema if exists ${name} cascade`)
    }
    // Otherwise the schema of a test would get it, and lose it with its end, while others use it. Another process may be first.
    await pool
      .query('create extension if not exists pg_trgm with schema public')
      .catch(() => undefined)
    return undefined
  } catch (error) {
    if (process.env['REQUIRE_SERVERS'] === '1') throw error
    const reason = `no PostgreSQL server responds at ${address.host}:${address.port}: ${String(error)}`
    console.warn(`Tests of PostgreSQL are skipped: ${reason}`)
    return reason
  } finally {
    await pool.end()
  }
}

/** Opens a pool whose connections find the tables of a schema. Idle ones do not keep a process alive. */
export function schemaPool(name: string, max = 3): Pool {
  // The time also limits how long a call waits for a connection in use.
  const settings = { ...address, connectionTimeoutMillis: 60_000, allowExitOnIdle: true }
  return new Pool({ ...settings, max, options: `-c search_path=${name}` })
}

/** A schema of its own. */
export interface TestSchema {
  readonly name: string
  /** Where the server is. */
  readonly address: typeof address
  /** A pool whose connections find the tables of the schema. */
  readonly pool: Pool
  /** Opens another pool. It is ended by `drop`. */
  open(max?: number, more?: Pick<ClientConfig, 'pipeline'>): Pool
  /** Runs statements. */
  run(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Removes every row. */
  clear(): Promise<void>
  /** Removes the schema and ends its pools. */
  drop(): Promise<void>
}

/** Creates a schema. */
export async function testSchema(): Promise<TestSchema> {
  const name = testName()
  const pools: Pool[] = []
  const open: TestSchema['open'] = (max = 12, more = {}) => {
    const application_name = `${name}_${pools.length}`
    const options = `-c search_path=${name}`
    const pool = new Pool({ ...address, ...more, application_name, max, options })
    pools.push(pool)
    return pool
  }
  const admin = open(2)
  // Tests may end its idle connections too.
  admin.on('error', () => undefined)
  await admin.query(`create schema ${name}`)
  return {
    name,
    address,
    pool: open(),
    open,
    run: async (text) => (await admin.query<Record<string, unknown>>(text)).rows,
    clear: async () => {
      const { rows } = await admin.query<{ table: string }>(
        `select format('%I.%I', schemaname, tablename) as table from pg_tables where schemaname = '${name}'`,
      )
      await admin.query(rows.map(({ table }) => `delete from ${table}`).join('; '))
    },
    drop: async () => {
      await admin.query(`set client_min_messages = warning; drop schema ${name} cascade`)
      for (const pool of pools) await pool.end()
    },
  }
}

type SharedClient = Client & { readonly release: (isBroken?: boolean) => void }

const shared = sharedConnections<SharedClient>(
  {
    open: async (name) => {
      const client: SharedClient = Object.assign(
        new Client({
          ...address,
          options: `-c search_path=${name} -c client_min_messages=warning -c synchronous_commit=off`,
        }),
        { release: (isBroken = false) => shared.release(client, isBroken) },
      )
      await client.connect()
      return client
    },
    end: (client) => client.end(),
  },
  8,
)

/** Returns how many connections the storages of {@link postgres} have. */
export const postgresSockets = shared.count

/** PostgreSQL behind a service: each storage has a schema of its own. */
export const postgres: Storage = {
  name: 'postgres',
  isRemote: true,
  open: () => {
    const name = testName()
    const pool: PostgresPool = {
      connect: (callback) => {
        shared.take(name).then(
          (client) => callback(undefined, client),
          (error: unknown) => callback(error as Error, undefined),
        )
      },
      on: ignore,
      removeListener: ignore,
    }
    // A thousand clients at the same time wait for a few connections.
    const storage = postgresStorage(pool, { ensureSchema: true, acquireTimeout: 60_000 })
    return {
      storage: {
        ...storage,
        open: async (collections: readonly PublishedCollection[]) => {
          await run(name, `create schema ${name}`)
          await storage.open(collections)
        },
      },
      remove: async () => {
        await run(name, `drop schema if exists ${name} cascade`)
        await shared.end(name)
      },
    }
  },
}

async function run(name: string, text: string): Promise<void> {
  const client = await shared.take(name)
  await client.query(text).finally(() => client.release())
}

function ignore(): void {
  // Its connections handle their errors.
}
