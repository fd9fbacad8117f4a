import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { startProxy } from '../kit/proxy.ts'
import { maxStaleness, startLoad, type Sighting } from './kit/failover-load.ts'
import { missingPackages } from './kit/packages.ts'
import { pastLease, startPatroni, type PatroniCluster } from './kit/patroni.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('postgresql', 'patroni', 'etcd-server', 'haproxy', 'pgbouncer')

describe.skipIf(missing !== undefined)('services on PostgreSQL under Patroni', () => {
  const { pgBouncer } = servers()
  const ends: (() => Promise<void>)[] = []
  let cluster: PatroniCluster
  let load: Awaited<ReturnType<typeof startLoad>>
  const rows: string[] = []

  async function open({ host, port }: PatroniCluster['address']) {
    const storages = [1, 2, 3].map(() => {
      const at = { host, port, user: 'postgres', database: 'postgres' }
      const pool = new Pool({ ...at, max: 8, connectionTimeoutMillis: 2_000 })
      // After its service has closed, nothing else listens.
      pool.on('error', () => undefined)
      ends.push(() => pool.end())
      return postgresStorage(pool, { ensureSchema: true, acquireTimeout: 2_000, maxStaleness })
    })
    return startLoad(storages)
  }

  beforeAll(async () => {
    cluster = await startPatroni()
    ends.push(() => cluster.stop())
    load = await open(cluster.address)
    ends.push(load.close)
  })
  beforeEach(async () => {
    await cluster.healthy()
  })
  afterAll(async () => {
    for (const end of ends.reverse()) await end()
    if (rows.length > 0) console.log(rows.join('\n'))
  }, 90_000)

  /** Adds a row to the table that is printed, and checks what holds for each fault. */
  function note(fault: string, seen: Sighting): void {
    const { firstSuccess, lastFailure = 'none', lost, wrong, revokedAccepted, revoked } = seen
    rows.push(
      `${fault}: last 503 after ${lastFailure} ms, first success after ${firstSuccess} ms, ${seen.unavailable} of ${seen.requests} requests 503, ${lost} of ${seen.acknowledged} acknowledged rows lost, ${revokedAccepted} accepted with ${revoked} revoked keys, ${wrong.length} wrong, longest request ${Math.round(seen.longest)} ms`,
    )
    expect(wrong.filter((one) => lost === 0 || !one.startsWith('GET of'))).toEqual([])
    // `requestTimeout`, and the time that a busy machine takes to send the response.
    expect(seen.longest).toBeLessThan(10_000)
  }

  function expectNothingLost({ lost, revokedAccepted }: Sighting): void {
    expect({ lost, revokedAccepted }).toEqual({ lost: 0, revokedAccepted: 0 })
  }

  test('lose nothing when the primary is killed', async () => {
    for (let round = 0; round < 2; round++) {
      await cluster.healthy()
      const seen = await load.during(async () => (await cluster.primary()).signal('SIGKILL'))
      note('primary killed', seen)
      expectNothingLost(seen)
    }
  })

  test('lose nothing at a switchover', async () => {
    for (let round = 0; round < 2; round++) {
      await cluster.healthy()
      const seen = await load.during(() => cluster.switchover())
      note('switchover', seen)
      expectNothingLost(seen)
    }
  })

  test('lose nothing when a standby is killed', async () => {
    const primary = await cluster.primary()
    const standby = cluster.nodes.find(({ name }) => name !== primary.name)
    const seen = await load.during(() => {
      standby?.signal('SIGKILL')
      return Promise.resolve()
    })
    note('standby killed', seen)
    expectNothingLost(seen)
  })

  test('lose nothing when the primary is cut off silently', async () => {
    const primary = await cluster.primary()
    const seen = await load.during(() => {
      primary.cut()
      return Promise.resolve()
    })
    primary.join()
    note('primary cut off', seen)
    expectNothingLost(seen)
  })

  test('lose nothing through PgBouncer when the primary is killed', async () => {
    const pooled = await open(await pgBouncer(cluster.address, { server_connect_timeout: 2 }))
    try {
      const seen = await pooled.during(async () => (await cluster.primary()).signal('SIGKILL'))
      note('primary killed, PgBouncer', seen)
      expectNothingLost(seen)
    } finally {
      await pooled.close()
    }
  })

  // A frozen primary that keeps its lease is rejected for a minute.
  test(
    'go on after a primary was frozen for longer than its lease',
    { timeout: 240_000 },
    async () => {
      const primary = await cluster.primary()
      const seen = await load.during(async () => {
        primary.signal('SIGSTOP', true)
        await pastLease()
        primary.signal('SIGCONT', true)
      }, 8_000)
      // Patroni 3.0.2 may let the awakened node keep its lease, so losses are counted only.
      note('primary frozen and awakened', seen)
    },
  )

  test('go on while etcd is frozen for a moment', async () => {
    const seen = await load.during(async () => {
      cluster.etcd.signal('SIGSTOP')
      await pause(3_000)
      cluster.etcd.signal('SIGCONT')
    })
    note('etcd frozen for 3 s', seen)
    expectNothingLost(seen)
  })

  test('go on when etcd is killed, and starts again after 3 seconds', async () => {
    const seen = await load.during(() => cluster.etcd.restart(3_000), 8_000)
    note('etcd killed for 3 s', seen)
    expectNothingLost(seen)
  })

  test('reject what they cannot know while the address leads to a standby for 3 seconds', async () => {
    const address = await startProxy(cluster.address)
    ends.push(() => address.stop())
    const led = await open(address)
    const primary = await cluster.primary()
    const standby = cluster.nodes.find(({ name }) => name !== primary.name)
    try {
      const seen = await led.during(async () => {
        address.lead(standby?.postgres ?? cluster.address)
        address.reset()
        await pause(3_000)
        // Connections to the standby stay open.
        address.lead(cluster.address)
      })
      note('wrong address for 3 s', seen)
      expectNothingLost(seen)
    } finally {
      await led.close()
    }
  })

  test('go on after connections were accepted and never answered for 3 seconds', async () => {
    const address = await startProxy(cluster.address)
    ends.push(() => address.stop())
    const cut = await open(address)
    try {
      const seen = await cut.during(async () => {
        address.silence()
        await pause(3_000)
        address.admit()
        // A request on a connection that stays silent ends later than the time that is waited for by default.
      }, 6_000)
      note('accepted, never answered, for 3 s', seen)
      expectNothingLost(seen)
    } finally {
      await cut.close()
    }
  })
})
