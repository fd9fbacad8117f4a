import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { measurements, writing } from '../storage/postgres/measurements.ts'
import { missingPackages } from './kit/packages.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('postgresql', 'pgbouncer')

describe.skipIf(missing !== undefined)('PostgreSQL behind PgBouncer in transaction mode', () => {
  const { postgres, pgBouncer } = servers()
  const pools: Pool[] = []
  let pooled: Pool
  let direct: Pool

  function open(port: number): Pool {
    const pool = new Pool({
      host: '127.0.0.1',
      port,
      user: 'postgres',
      database: 'postgres',
      max: 5,
    })
    // The server ends before the last connection has noticed.
    pool.on('error', () => undefined)
    pools.push(pool)
    return pool
  }

  beforeAll(async () => {
    const server = await postgres()
    direct = open(server.port)
    // What a server may be set to, and what exact values must not depend on.
    await direct.query(`alter role postgres set timezone = 'Asia/Tokyo';
      alter role postgres set datestyle = 'German'; alter role postgres set extra_float_digits = 0`)
    pooled = open((await pgBouncer(server)).port)
  })
  afterAll(async () => {
    for (const pool of pools) await pool.end()
  })

  test('has exact values, and leaves no setting and no statement to other clients', async () => {
    const storage = postgresStorage(pooled, { ensureSchema: true, lockTimeout: 4_321 })
    await storage.open([measurements])
    const row = { id: 1, amount: 0.1 + 0.2, moment: '2024-02-29T12:30:00.500Z', note: 'one' }
    await storage.transaction(writing, (on) => on.insert(measurements, row))
    const reads = Array.from({ length: 30 }, async () =>
      storage.filter(measurements, {
        conditions: [],
        search: null,
        sort: [],
        limit: 1,
        offset: 0,
        select: measurements.allNames,
        count: false,
      }),
    )
    for (const page of await Promise.all(reads)) expect(page.rows).toEqual([row])
    for (let client = 0; client < 10; client++) {
      const { rows } = await pooled.query<Record<string, string>>(
        `select current_setting('lock_timeout') as lock, current_setting('extra_float_digits') as digits,
          (select count(*) from pg_prepared_statements where name <> '') as statements`,
      )
      expect(rows).toEqual([{ lock: '0', digits: '0', statements: '0' }])
    }
    await storage.close()
  })
})
