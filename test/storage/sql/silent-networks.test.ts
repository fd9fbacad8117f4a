import { Pool } from 'pg'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import {
  createService,
  defineCollection,
  integer,
  mount,
  openAccess,
  type Observation,
} from '../../../src/entries/index.ts'
import type { PublishedCollection, StorageAdapter } from '../../../src/entries/storage.ts'
import { ClientConnections, type PoolClient } from '../../../src/storage/pool/clients.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { clientPoolOf } from '../../../src/storage/mysql/pool.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import * as mysql from '../../kit/mysql.ts'
import * as postgres from '../../kit/postgres.ts'
import { startProxy, type Proxy } from '../../kit/proxy.ts'

const notes = defineCollection({ key: 'id', fields: { id: integer() } })
const published = publishApplications({ app: { collections: { notes } } })
const collection = published[0] as PublishedCollection
const acquireTimeout = 300

interface Opened {
  readonly storage: StorageAdapter
  /** Returns how many calls wait in the pool for a connection. */
  readonly waiting: () => number
}

const servers = [
  {
    name: 'PostgreSQL',
    option: 'connectionTimeoutMillis',
    missing: await postgres.missingServer(),
    async create() {
      const { name, address, open, drop } = await postgres.testSchema()
      const pools: Pool[] = []
      return {
        address,
        open: (): StorageAdapter => postgresStorage(open(1), { ensureSchema: true }),
        /** Opens a storage whose pool does not limit the time to connect. */
        through({ host, port }: Proxy): Opened {
          const { connectionTimeoutMillis: _, ...own } = address
          const pool = new Pool({ ...own, host, port, max: 2, options: `-c search_path=${name}` })
          pools.push(pool)
          const storage = postgresStorage(pool, { acquireTimeout, statementTimeout: 300 })
          return { storage, waiting: () => pool.waitingCount }
        },
        async drop() {
          for (const pool of pools) await pool.end()
          await drop()
        },
      }
    },
  },
  {
    name: 'MariaDB',
    option: 'connectTimeout',
    missing: await mysql.missingServer(),
    async create() {
      const { address, open, drop } = await mysql.testDatabase()
      return {
        address,
        drop,
        open: (): StorageAdapter =>
          mysqlStorage(open({ connectionLimit: 1 }), { ensureSchema: true }),
        through({ host, port }: Proxy): Opened {
          const pool = open({ host, port, connectionLimit: 2, connectTimeout: 0 })
          const { _connectionQueue: queue } = clientPoolOf(pool) as unknown as {
            readonly _connectionQueue: { readonly length: number }
          }
          const storage = mysqlStorage(pool, { acquireTimeout, statementTimeout: 300 })
          return { storage, waiting: () => queue.length }
        },
      }
    },
  },
] as const

describe.each(servers)('a pool to $name without a connect time-out', (server) => {
  let database: Awaited<ReturnType<(typeof servers)[number]['create']>>
  let proxy: Proxy
  beforeEach(async (context) => {
    if (server.missing !== undefined) context.skip(server.missing)
    database = await server.create()
    proxy = await startProxy(database.address)
    onTestFinished(async () => {
      await proxy.stop()
      await database.drop()
    })
    const first = database.open()
    await first.open(published)
    await first.close()
  })

  const read = async (storage: StorageAdapter) =>
    (await storage.filter(collection, queryOf(collection, {}))).rows

  test('is reported when the service is created, and the storage sets the time-out', () => {
    const reports: Observation[] = []
    const { storage } = database.through(proxy)
    for (const each of [storage, mount({ '*': storage })]) {
      createService({
        applications: { app: { collections: { notes } } },
        storage: each,
        security: openAccess(),
        report: (one) => reports.push(one),
      })
    }
    const report = {
      type: 'pool-without-connect-timeout',
      storage: server.option === 'connectTimeout' ? 'mysql' : 'postgres',
      option: server.option,
      milliseconds: acquireTimeout + 100,
    }
    expect(reports).toEqual([report, report])
  })

  test('is used again soon after a time in which connections were accepted and not answered', async () => {
    const { storage, waiting } = database.through(proxy)
    await storage.open(published)
    await Promise.all([read(storage), read(storage)])
    proxy.silence()
    for (let round = 0; round < 3; round++) {
      const reads = Array.from({ length: 40 }, () => read(storage))
      for (const result of await Promise.allSettled(reads))
        expect(result).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } })
    }
    expect(waiting()).toBeLessThan(20)
    proxy.admit()
    const since = performance.now()
    await expect.poll(() => read(storage).catch(() => 'unavailable')).toEqual([])
    expect(performance.now() - since).toBeLessThan(3_000)
    expect(await Promise.all([read(storage), read(storage)])).toEqual([[], []])
    await storage.close()
  })
})

test('calls of a long outage leave a bounded number of requests in the pool', async () => {
  const requests: ((client: PoolClient) => void)[] = []
  const { use } = new ClientConnections(() => new Promise((resolve) => requests.push(resolve)), {
    acquireTimeout: 5,
    maxConnections: 3,
  })
  const call = () => use(() => Promise.resolve('done'))
  for (let time = 0; time < 30; time++) {
    await expect(call()).rejects.toMatchObject({ kind: 'unavailable' })
  }
  expect(requests.length).toBeLessThanOrEqual(7)
  const client: PoolClient = {
    connection: () => ({ use: () => undefined }) as never,
    isBroken: () => false,
    release: () => undefined,
  }
  const later = call()
  requests.shift()?.(client)
  expect(await later).toBe('done')
  for (const resolve of requests.splice(0)) resolve(client)
  const last = call()
  requests.shift()?.(client)
  expect(await last).toBe('done')
})
