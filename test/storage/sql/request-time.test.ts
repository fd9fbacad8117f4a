import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Pool } from 'pg'
import { createTestClient } from '../../../src/entries/testing.ts'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { createService, defineCollection, integer, openAccess } from '../../../src/entries/index.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import type { PublishedCollection, StorageAdapter } from '../../../src/entries/storage.ts'
import * as mysql from '../../kit/mysql.ts'
import * as postgres from '../../kit/postgres.ts'
import { startProxy, type Proxy } from '../../kit/proxy.ts'

const notes = defineCollection({ key: 'id', fields: { id: integer(), size: integer() } })
const slow = defineCollection({ key: 'id', fields: { id: integer() }, publishes: ['Filter'] })
const collections = { notes, slow }
const published = publishApplications({ app: { collections } })
const [, slowly] = published as readonly [PublishedCollection, PublishedCollection]
// Only the time of a request can end what takes long.
const limits = { acquireTimeout: 60_000, statementTimeout: 60_000, lockTimeout: 60_000 }

const servers = [
  {
    name: 'PostgreSQL',
    missing: await postgres.missingServer(),
    async create() {
      const { name, address, open, drop } = await postgres.testSchema()
      const pools: Pool[] = []
      const pool = open(2)
      const run = async (text: string) => (await pool.query<Record<string, unknown>>(text)).rows
      return {
        address,
        run,
        view: `create view slow as select 1::bigint as id from (select pg_sleep(0.7)) as pause`,
        /** Locks the row of a note until the result is called. */
        async lock() {
          const client = await pool.connect()
          await client.query('begin; select * from notes for update')
          return async () => {
            await client.query('rollback')
            client.release()
          }
        },
        active: () =>
          run(`select query from pg_stat_activity where state = 'active' and wait_event_type = 'Lock'
            and query like '%update%' and pid <> pg_backend_pid()
            and pid in (select pid from pg_locks where relation = 'notes'::regclass)`),
        open: (): StorageAdapter => postgresStorage(open(1), { ensureSchema: true }),
        through({ host, port }: Proxy, max: number): StorageAdapter {
          const own = new Pool({ ...address, host, port, max, options: `-c search_path=${name}` })
          pools.push(own)
          return postgresStorage(own, limits)
        },
        async drop() {
          for (const own of pools) await own.end()
          await drop()
        },
      }
    },
  },
  {
    name: 'MariaDB',
    missing: await mysql.missingServer(),
    async create() {
      const { address, open, drop } = await mysql.testDatabase()
      const pool = open({ connectionLimit: 2 })
      const run = async (text: string) => (await pool.query(text))[0] as unknown[]
      return {
        address,
        drop,
        run,
        view: `create view slow as select 1 as id from (select sleep(0.7)) as pause`,
        async lock() {
          const client = await pool.getConnection()
          await client.query('begin')
          await client.query('select * from notes for update')
          return async () => {
            await client.query('rollback')
            client.release()
          }
        },
        active: () =>
          run(`select info from information_schema.processlist
            where db = database() and info like 'update%'`),
        open: (): StorageAdapter =>
          mysqlStorage(open({ connectionLimit: 1 }), { ensureSchema: true }),
        through: ({ host, port }: Proxy, max: number): StorageAdapter =>
          mysqlStorage(open({ host, port, connectionLimit: max, connectTimeout: 5_000 }), limits),
      }
    },
  },
] as const

const soon = (milliseconds: number) => ({
  signal: () => undefined,
  deadline: performance.now() + milliseconds,
})
const unavailable = { name: 'StorageError', kind: 'unavailable' }

describe.each(servers)('on $name', (server) => {
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
    await database.run(database.view)
    const first = database.open()
    await first.open(published)
    await first.close()
    await database.run('insert into notes values (1, 1)')
  })

  async function opened(max = 1): Promise<StorageAdapter> {
    const storage = database.through(proxy, max)
    await storage.open(published)
    return storage
  }
  const read = async (storage: StorageAdapter, context = soon(60_000)) =>
    (await storage.filter(slowly, queryOf(slowly, {}), context)).rows

  test('a statement ends with its request, and later ones have their own time', async () => {
    const storage = await opened()
    for (let round = 0; round < 2; round++) {
      await expect(read(storage, soon(200))).rejects.toMatchObject(unavailable)
      expect(await read(storage)).toEqual([{ id: 1 }])
      const within = (milliseconds: number) =>
        storage.transaction(
          { mode: 'read', brief: true, deadline: soon(milliseconds).deadline },
          async (on) => (await on.filter(slowly, queryOf(slowly, {}))).rows,
        )
      await expect(within(200)).rejects.toMatchObject(unavailable)
      expect(await within(60_000)).toEqual([{ id: 1 }])
    }
    expect(await read(storage, { signal: () => undefined, deadline: Infinity })).toEqual([
      { id: 1 },
    ])
    await storage.close()
  })

  test('nothing is sent after the end of a request', async () => {
    const storage = await opened()
    await expect(read(storage, soon(-1))).rejects.toMatchObject(unavailable)
    await storage.close()
  })

  test('a call waits for a connection no longer than its request', async () => {
    const storage = await opened()
    const first = read(storage)
    const late = await read(storage, soon(100)).catch((error: unknown) => error)
    expect(late).toMatchObject(unavailable)
    expect(String((late as Error).cause)).toMatch(
      /no connection of the pool became free within \d+ ms$/,
    )
    expect(await Promise.all([first, read(storage)])).toEqual([[{ id: 1 }], [{ id: 1 }]])
    await storage.close()
  })

  test('a statement without a response ends with its request', async () => {
    const storage = await opened(2)
    await Promise.all([read(storage), read(storage)])
    proxy.silence()
    const late = [read(storage, soon(100)), read(storage, soon(100))]
    for (const result of await Promise.allSettled(late))
      expect(result).toMatchObject({ status: 'rejected', reason: unavailable })
    await storage.close()
  })

  test('a save that waits for a lock is a 503 at the end of its request, and its statement ends', async () => {
    const service = createService({
      applications: { app: { collections } },
      storage: database.through(proxy, 2),
      security: openAccess(),
      requestTimeout: 1_000,
      report: false,
    })
    onTestFinished(() => service.close())
    await service.ready()
    const client = createTestClient(service)
    const unlock = await database.lock()
    const { status, headers } = await client.post('/app/notes/1', { size: 2 })
    expect([status, headers.get('Retry-After')]).toEqual([503, '1'])
    await expect.poll(database.active, { timeout: 5_000 }).toEqual([])
    await unlock()
    expect((await client.get('/app/notes/1')).body.item).toEqual({ id: 1, size: 1 })
    expect((await client.post('/app/notes/1', { size: 3 })).status).toBe(200)
  })
})
