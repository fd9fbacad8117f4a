import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createService, defineCollection, integer, openAccess, text } from '../../src/index.ts'
import { apiKeys } from '../../src/security/index.ts'
import { postgresStorage, type PostgresOptions } from '../../src/storage/postgres.ts'
import { startProxy } from '../kit/proxy.ts'
import { send } from '../kit/service.ts'
import { missingPackages } from './kit/packages.ts'
import type { ServerProgram } from './kit/server-program.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('postgresql', 'pgbouncer')
const notes = defineCollection({ key: 'id', fields: { id: integer(), title: text() } })
const slow = defineCollection({
  key: 'id',
  publishes: ['Filter'],
  fields: { id: integer(), title: text() },
})

type Address = Pick<ServerProgram, 'host' | 'port'>

describe.skipIf(missing !== undefined)('a replica of PostgreSQL for reads', () => {
  const { postgres, replica, pgBouncer } = servers()
  const pools: Pool[] = []
  let primary: ServerProgram
  let copy: ServerProgram
  let onPrimary: Pool
  let onCopy: Pool

  function poolOf({ host, port }: Address, settings: object = {}): Pool {
    const at = { host, port, user: 'postgres', database: 'postgres' }
    const pool = new Pool({ ...at, max: 5, ...settings })
    // A server may end before the last connection has noticed.
    pool.on('error', () => undefined)
    pools.push(pool)
    return pool
  }

  beforeAll(async () => {
    primary = await postgres()
    copy = await replica(primary, { max_standby_streaming_delay: 0 })
    onPrimary = poolOf(primary, { max: 1 })
    onCopy = poolOf(copy, { max: 1 })
    await onPrimary.query(`create table notes (id bigint primary key, title text);
      create view slow as select id, title || substr(pg_sleep(1)::text, 1, 0) as title from notes`)
  })
  beforeEach(async () => {
    await onPrimary.query(`delete from notes; insert into notes values (1, 'first')`)
    await caughtUp()
  })
  afterAll(async () => {
    for (const pool of pools) await pool.end()
  })

  async function caughtUp(on = onCopy): Promise<void> {
    const position = 'select pg_current_wal_flush_lsn()::text as position'
    const [at] = (await onPrimary.query<{ position: string }>(position)).rows
    const reached = `select pg_last_wal_replay_lsn() >= '${at?.position}' as reached`
    const isReached = async () => (await on.query<{ reached: boolean }>(reached)).rows
    await expect.poll(isReached).toEqual([{ reached: true }])
  }

  /** Stops the replica from replaying what it receives, until the end of the test. */
  async function pauseReplay(): Promise<void> {
    await onCopy.query('select pg_wal_replay_pause()')
    onTestFinished(() => resumeReplay())
    await expect.poll(() => replayState()).toBe('paused')
  }

  async function replayState(on = onCopy): Promise<unknown> {
    const text = 'select pg_get_wal_replay_pause_state() as state'
    return (await on.query<{ state: string }>(text)).rows[0]?.state
  }

  async function resumeReplay(on = onCopy): Promise<void> {
    await on.query('select pg_wal_replay_resume()')
  }

  interface Subject {
    readonly to?: Address
    readonly reads?: Address | undefined
    readonly options?: PostgresOptions
  }

  /** Starts a service, and counts the connections that it takes to the replica. */
  async function start({ to = primary, reads = copy, options = {} }: Subject = {}) {
    const used = { replica: 0 }
    const pool = poolOf(reads)
    pool.on('acquire', () => used.replica++)
    const storage = postgresStorage(poolOf(to), { reads: pool, replicaWait: 2_000, ...options })
    const service = createService({
      applications: { app: { collections: { notes, slow } } },
      storage,
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    await service.ready()
    const titleOf = async (collection: string): Promise<unknown> => {
      const { status, body } = await send(service, { method: 'GET', path: `/${collection}` })
      expect(status).toBe(200)
      return body.items?.[0]?.['title']
    }
    const change = async (title: string): Promise<void> => {
      const body = { title }
      const { status } = await send(service, { method: 'POST', path: '/notes/1', body })
      expect(status).toBe(200)
    }
    return { service, used, title: () => titleOf('notes'), titleOf, change }
  }

  /** Changes the row as another process does. */
  async function changeElsewhere(title: string): Promise<void> {
    await onPrimary.query('update notes set title = $1', [title])
  }

  /** Returns whether a read does not show a write of another process that the replica does not have. */
  async function isStale(title: () => Promise<unknown>, on = onCopy): Promise<boolean> {
    await on.query('select pg_wal_replay_pause()')
    await expect.poll(() => replayState(on)).toBe('paused')
    await changeElsewhere('newer')
    const shown = await title()
    await resumeReplay(on)
    await changeElsewhere('older')
    await caughtUp(on)
    return shown !== 'newer'
  }

  test('shows every write of the process at once', async () => {
    const { used, title, change } = await start()
    for (let pair = 1; pair <= 400; pair++) {
      await change(`title ${pair}`)
      expect(await title()).toBe(`title ${pair}`)
    }
    console.log(`reads after own writes: ${used.replica} of 400 took a connection to the replica`)
    expect(used.replica).toBeGreaterThan(0)
  })

  test('shows the writes of several clients at once', async () => {
    const { service } = await start()
    const clients = Array.from({ length: 8 }, async (_, client) => {
      for (let pair = 1; pair <= 40; pair++) {
        const body = { id: client * 1_000 + pair + 1, title: 'new' }
        const saved = await send(service, { method: 'POST', path: '/notes', body })
        const path = `/notes/${body.id}`
        const read = await send(service, { method: 'GET', path })
        expect([saved.status, read.status]).toEqual([200, 200])
      }
    })
    await Promise.all(clients)
  })

  test('answers reads, with the state that it has', async () => {
    const { title } = await start()
    expect(await title()).toBe('first')
    await pauseReplay()
    await changeElsewhere('second')
    expect(await title()).toBe('first')
    await resumeReplay()
    await expect.poll(title).toBe('second')
  })

  test('is replaced by the primary while it does not have the writes of the process', async () => {
    const { title, change } = await start({ options: { replicaWait: 50 } })
    expect(await title()).toBe('first')
    await pauseReplay()
    for (let pair = 1; pair <= 20; pair++) {
      await change(`title ${pair}`)
      expect(await title()).toBe(`title ${pair}`)
    }
    await resumeReplay()
    await expect.poll(() => isStale(title), { timeout: 20_000, interval: 300 }).toBe(true)
  })

  test('is replaced by the primary while it can not be reached, and is used again', async () => {
    const proxy = await startProxy(copy)
    onTestFinished(() => proxy.stop())
    const { title, change } = await start({ reads: proxy })
    expect(await title()).toBe('first')
    proxy.refuse()
    for (let pair = 1; pair <= 20; pair++) {
      await change(`title ${pair}`)
      expect(await title()).toBe(`title ${pair}`)
    }
    proxy.admit()
    await expect.poll(() => isStale(title), { timeout: 20_000, interval: 300 }).toBe(true)
  })

  test('leaves a read to the primary that it ends in favour of replaying', async () => {
    const { titleOf } = await start()
    await onPrimary.query(`insert into notes select n, 'more' from generate_series(2, 3) as n`)
    await caughtUp()
    const conflicts = async (): Promise<number> => {
      const text = `select sum(confl_snapshot) as count from pg_stat_database_conflicts`
      return Number((await onCopy.query<{ count: string }>(text)).rows[0]?.count)
    }
    const before = await conflicts()
    const reading = titleOf('slow')
    await pause(300)
    await onPrimary.query('delete from notes where id > 1')
    await onPrimary.query('vacuum notes')
    expect(await reading).toBe('first')
    // A connection reports what it has counted when it is used again.
    const counted = async () => {
      await titleOf('notes')
      return conflicts()
    }
    await expect.poll(counted, { timeout: 20_000, interval: 300 }).toBeGreaterThan(before)
  })

  test('does not delay a revoked key', async () => {
    const options = { maxStaleness: 100, ensureSchema: true }
    const open = async (reads?: Pool) => {
      const storage = postgresStorage(poolOf(primary), { ...options, ...(reads && { reads }) })
      const service = createService({
        applications: { app: { collections: { notes } } },
        storage,
        security: apiKeys({ name: 'keys', properties: { AllowInsecureHttp: true } }),
      })
      onTestFinished(() => service.close())
      await service.ready()
      return service
    }
    const [one, other] = [await open(), await open(poolOf(copy))]
    await one.users.add({ user: 'maria' })
    const { key, keyId } = await one.keys.create({ user: 'maria' })
    const headers = { 'x-api-key': key }
    const status = async () => {
      return (await send(other, { method: 'GET', path: '/notes', headers })).status
    }
    expect(await status()).toBe(200)
    await pauseReplay()
    await one.keys.revoke(keyId)
    await pause(100)
    expect(await status()).toBe(401)
  })

  test('works with PgBouncer before both servers', async () => {
    const [to, reads] = [await pgBouncer(primary), await pgBouncer(copy)]
    const { title, change } = await start({ to, reads })
    for (let pair = 1; pair <= 100; pair++) {
      await change(`title ${pair}`)
      expect(await title()).toBe(`title ${pair}`)
    }
    await expect.poll(() => isStale(title), { timeout: 20_000, interval: 300 }).toBe(true)
  })

  test('must be a replica of the primary, with the same tables', async () => {
    const another = await postgres()
    const found = (reads: Pool) => postgresStorage(poolOf(primary), { reads }).open([])
    await expect(found(poolOf(primary))).rejects.toThrow('the server is not a replica')
    await expect(found(poolOf(await replica(another)))).rejects.toThrow('of another one')
    const elsewhere = poolOf(copy, { options: '-c search_path=pg_catalog' })
    await expect(found(elsewhere)).rejects.toThrow('its schemas must be {public}, not {pg_catalog}')
    const unknown = poolOf(copy, { database: 'absent' })
    await expect(found(unknown)).rejects.toThrow('database "absent" does not exist')
  })

  test('may be absent at the start, and may end', async () => {
    const own = await replica(primary)
    const proxy = await startProxy(own)
    onTestFinished(() => proxy.stop())
    proxy.refuse()
    const { title, change } = await start({ reads: proxy })
    expect(await title()).toBe('first')
    proxy.admit()
    await expect
      .poll(() => isStale(title, poolOf(own, { max: 1 })), { timeout: 20_000, interval: 300 })
      .toBe(true)
    own.signal('SIGKILL')
    for (let pair = 1; pair <= 20; pair++) {
      await change(`title ${pair}`)
      expect(await title()).toBe(`title ${pair}`)
    }
  })
})
