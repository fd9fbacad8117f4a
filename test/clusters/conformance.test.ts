import { Pool } from 'pg'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { testStorageAdapter } from '../../src/entries/conformance.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { missingPackages } from './kit/packages.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('postgresql', 'pgbouncer')

describe.skipIf(missing !== undefined).each([
  // In session mode each client keeps a connection of the server.
  { mode: 'session', size: 12 },
  { mode: 'transaction', size: 3 },
])('PostgreSQL through PgBouncer in $mode mode', ({ mode, size }) => {
  const { postgres, pgBouncer } = servers()
  let direct: Pool
  let pooled: Pool
  beforeAll(async () => {
    const server = await postgres({ timezone: 'Europe/Berlin', datestyle: 'German' })
    const pooler = await pgBouncer(server, { pool_mode: mode, default_pool_size: size })
    const [at, through] = [server, pooler].map(({ host, port }) => ({
      ...{ host, port, user: 'postgres', database: 'postgres', allowExitOnIdle: true },
    }))
    direct = new Pool({ ...at, max: 1 })
    pooled = new Pool({ ...through, max: 12 })
    // The server ends before the last connection has noticed.
    for (const pool of [direct, pooled]) pool.on('error', () => undefined)
  })
  afterAll(async () => {
    await pooled.end()
    await direct.end()
  })

  const open = () => postgresStorage(pooled, { ensureSchema: true })
  testStorageAdapter({
    test,
    create: async () => {
      await deleteRows(direct)
      return open()
    },
    reopen: open,
    another: open,
  })
})

describe.skipIf(missingPackages('postgresql') !== undefined)('PostgreSQL with a replica', () => {
  const { postgres, replica } = servers()
  const request = { signal: () => undefined }
  let primary: Pool
  let reads: Pool
  beforeAll(async () => {
    const server = await postgres()
    const copy = await replica(server)
    const [to, from] = [server, copy].map(({ host, port }) => {
      const pool = new Pool({ host, port, user: 'postgres', database: 'postgres', max: 12 })
      pool.on('error', () => undefined)
      return pool
    })
    ;[primary, reads] = [to as Pool, from as Pool]
  })
  afterAll(async () => {
    await primary.end()
    await reads.end()
  })

  /** Reads as for requests, so that the replica answers. The replica may be late. */
  const open = (): StorageAdapter => {
    const storage = postgresStorage(primary, { reads, ensureSchema: true, replicaWait: 5_000 })
    return {
      ...storage,
      filter: (collection, query) => storage.filter(collection, query, request),
      filterText: (collection, query) => storage.filterText?.(collection, query, request),
      filterTexts: (collection, queries) => storage.filterTexts?.(collection, queries, request),
    }
  }
  testStorageAdapter({
    test,
    create: async () => {
      await deleteRows(primary)
      return open()
    },
    reopen: open,
  })
})

async function deleteRows(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ text: string }>(
    `select format('delete from %I', tablename) as text from pg_tables where schemaname = 'public'`,
  )
  await pool.query(rows.map(({ text }) => text).join('; '))
}
