import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { startProxy } from '../kit/proxy.ts'
import { describeFailover, startLetters, type FailoverServers } from './kit/failover-cases.ts'
import { missingPackages } from './kit/packages.ts'
import { describeReplica, type Address, type ReplicatedServers } from './kit/replica-cases.ts'
import type { ServerProgram } from './kit/server-program.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('postgresql', 'pgbouncer')

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

  async function replayState(): Promise<unknown> {
    const text = 'select pg_get_wal_replay_pause_state() as state'
    return (await onCopy.query<{ state: string }>(text)).rows[0]?.state
  }

  const replicated = (): ReplicatedServers => ({
    replica: copy,
    storage(reads, options, used) {
      const pool = reads && poolOf(reads)
      if (used !== undefined) pool?.on('acquire', used)
      return postgresStorage(poolOf(primary), { ...options, ...(pool && { reads: pool }) })
    },
    run: (statement) => onPrimary.query(statement),
    caughtUp,
    async pauseReplay() {
      await onCopy.query('select pg_wal_replay_pause()')
      await expect.poll(replayState).toBe('paused')
    },
    resumeReplay: () => onCopy.query('select pg_wal_replay_resume()'),
  })

  const { start, isUsed } = describeReplica(replicated)

  test('leaves a read to the primary that it ends in favour of replaying', async () => {
    const { title } = await start(undefined, ['notes', 'slow'])
    const conflicts = async (): Promise<number> => {
      const text = `select sum(confl_snapshot) as count from pg_stat_database_conflicts`
      return Number((await onCopy.query<{ count: string }>(text)).rows[0]?.count)
    }
    const isReading = async (): Promise<boolean> => {
      const text = `select from pg_stat_activity where state = 'active' and query like '%slow%' and pid <> pg_backend_pid()`
      return (await onCopy.query(text)).rows.length > 0
    }
    const before = await conflicts()
    const afterConflict = async (): Promise<number> => {
      await onPrimary.query(`insert into notes select n, 'more' from generate_series(2, 3) as n`)
      await caughtUp()
      const state = { hasEnded: false }
      const reading = title('slow').finally(() => (state.hasEnded = true))
      // On a busy machine, the replica may be too late for the read, which is then one of the primary.
      while (!state.hasEnded && !(await isReading())) await pause(20)
      await onPrimary.query('delete from notes where id > 1')
      await onPrimary.query('vacuum notes')
      expect(await reading).toBe('first')
      // A connection reports what it has counted when it is used again.
      await title('notes')
      return conflicts()
    }
    let count = before
    for (let attempt = 0; count === before && attempt < 20; attempt++) count = await afterConflict()
    expect(count).toBeGreaterThan(before)
  })

  test('works with PgBouncer before both servers', async () => {
    const [to, reads] = [await pgBouncer(primary), await pgBouncer(copy)]
    const storage = postgresStorage(poolOf(to), { reads: poolOf(reads), replicaWait: 2_000 })
    const { title, change } = await start(storage)
    for (let pair = 1; pair <= 100; pair++) {
      await change(`title ${pair}`)
      expect(await title()).toBe(`title ${pair}`)
    }
    await isUsed(title)
  })

  const failover = (): FailoverServers => ({
    ...replicated(),
    primary,
    storage: (at, options) => postgresStorage(poolOf(at), options),
  })
  describeFailover(failover)

  describe('behind PgBouncer', () => {
    describeFailover(() => ({
      ...failover(),
      front: (address) => pgBouncer(address, { server_login_retry: 0 }),
    }))
  })

  test('is read and written once it is promoted, and its former primary is not, which still runs', async () => {
    const former = await postgres()
    const promoted = await replica(former)
    const address = await startProxy(former)
    onTestFinished(() => address.stop())
    const service = await startLetters(postgresStorage(poolOf(address), { ensureSchema: true }))
    await service.service.users.ensure({ user: 'maria' })
    const { key } = await service.service.keys.create({ user: 'maria' })
    expect(await service.save(key, 1)).toBe(200)
    const onPromoted = poolOf(promoted, { max: 1 })
    const replayed = () => onPromoted.query('select id from letters').catch(String)
    await expect.poll(replayed).toMatchObject({ rowCount: 1 })
    await onPromoted.query('select pg_promote()')
    for (let round = 0; round < 2; round++) {
      address.lead(promoted)
      address.reset()
      await expect.poll(() => service.save(key, 2 + round)).toBe(200)
      address.lead(former)
      address.reset()
      for (let time = 0; time < 20; time++) {
        expect(await service.read(key, 2 + round)).toBe(503)
        expect(await service.save(key, 9)).toBe(503)
      }
    }
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

  test('may end', async () => {
    const own = await replica(primary)
    const { title, change } = await start(replicated().storage(own, { replicaWait: 2_000 }))
    expect(await title()).toBe('first')
    own.signal('SIGKILL')
    for (let pair = 1; pair <= 20; pair++) {
      await change(`title ${pair}`)
      expect(await title()).toBe(`title ${pair}`)
    }
  })
})
