import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { PublishedCollection } from '../../src/storage/index.ts'
import type { Storage } from './storages.ts'

/** How tests reach the server: the usual variables, with defaults. */
export const address = {
  host: process.env['PGHOST'] ?? '127.0.0.1',
  port: Number(process.env['PGPORT'] ?? 5432),
  user: process.env['PGUSER'] ?? 'postgres',
  database: process.env['PGDATABASE'] ?? 'test',
  connectionTimeoutMillis: 2_000,
}

/** Why tests of PostgreSQL are skipped; undefined if a server responds. Rejects if servers are required. */
export async function missingServer(): Promise<string | undefined> {
  const pool = new Pool({ ...address, max: 1 })
  try {
    await pool.query('select 1')
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

function schemaName(): string {
  return `rowgate_${randomUUID().replaceAll('-', '')}`
}

/** A schema of its own. */
export interface TestSchema {
  readonly name: string
  /** Where the server is. */
  readonly address: typeof address
  /** A pool whose connections find the tables of the schema. */
  readonly pool: Pool
  /** Opens another pool. It is ended by `drop`. */
  open(max?: number): Pool
  /** Runs statements. */
  run(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Removes every row. */
  clear(): Promise<void>
  /** Removes the schema and ends its pools. */
  drop(): Promise<void>
}

/** Creates a schema. */
export async function testSchema(): Promise<TestSchema> {
  const name = schemaName()
  const pools: Pool[] = []
  const open = (max = 12): Pool => {
    const application_name = `${name}_${pools.length}`
    const options = `-c search_path=${name}`
    const pool = new Pool({ ...address, application_name, max, options })
    pools.push(pool)
    return pool
  }
  const admin = open(2)
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

const pools = new Set<Pool>()

/** Returns how many connections of the storages of {@link postgres} keep the process running: those in use. */
export function postgresSockets(): number {
  return [...pools].reduce((sum, { totalCount, idleCount }) => sum + totalCount - idleCount, 0)
}

/** PostgreSQL behind a service: each storage has a schema of its own. */
export const postgres: Storage = {
  name: 'postgres',
  isRemote: true,
  open: () => {
    const name = schemaName()
    const pool = schemaPool(name, 3)
    pools.add(pool)
    // A thousand clients at the same time wait for three connections.
    const storage = postgresStorage(pool, { ensureSchema: true, acquireTimeout: 60_000 })
    return {
      storage: {
        ...storage,
        open: async (collections: readonly PublishedCollection[]) => {
          await pool.query(`create schema ${name}`)
          await storage.open(collections)
        },
      },
      remove: async () => {
        await pool.query(`set client_min_messages = warning; drop schema if exists ${name} cascade`)
        await pool.end()
        pools.delete(pool)
      },
    }
  },
}
