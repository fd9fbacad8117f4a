import { Pool } from 'pg'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { testStorageAdapter } from '../../src/conformance/index.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
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
      const { rows } = await direct.query<{ text: string }>(
        `select format('delete from %I', tablename) as text from pg_tables where schemaname = 'public'`,
      )
      await direct.query(rows.map(({ text }) => text).join('; '))
      return open()
    },
    reopen: open,
    another: open,
  })
})
