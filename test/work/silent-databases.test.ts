import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { openOrders, storeShipment } from '../consume/outbox/orders-service.ts'
import { openDeployment } from '../deployment/deployment-service.ts'
import { packageBuilder } from '../kit/builders.ts'
import { proxiedDatabases, type ProxiedDatabase } from '../kit/proxied-databases.ts'

const limits = { acquireTimeout: 300, statementTimeout: 300, ensureSchema: true }
// A claim whose response was lost ends after its lease.
const lease = 1_000
const callTimeout = 900
// The time that calls in progress have, and the statements of their end.
const maxStop = 5_000 + 5_000

describe.each(proxiedDatabases)('when $name accepts connections and does not answer', (server) => {
  let database: ProxiedDatabase
  let storage: StorageAdapter
  beforeEach(async (context) => {
    if (server.missing !== undefined) context.skip(server.missing)
    database = await server.open()
    storage = database.through(limits)
  })

  /** Calls `begin`, and is silent for a while: from before it on, or from a statement on. */
  async function silent(from: RegExp | 'the start', begin: () => void): Promise<void> {
    const { network } = database
    const isSilent = from === 'the start' ? undefined : network.silenceAt(from)
    if (isSilent === undefined) network.silence()
    begin()
    await isSilent
    await pause(1_000)
    network.admit()
  }

  function openOutbox() {
    const on = { name: server.name, open: () => ({ storage, remove: () => undefined }) }
    return openOrders({ on, lease, callTimeout, workers: 0, onSuccess: storeShipment })
  }

  test.each([
    'the start',
    /update.*rowgate_deliveries/i,
    /insert into.*shipments/i,
    /\bcommit\b/i,
  ] as const)('the outbox sends each delivery, with silence from %s on', async (from) => {
    const { order, outbox, calls, shipments } = await openOutbox()
    for (const id of ['A', 'B', 'C']) await order(id)
    await order('D', 'lane')
    await silent(from, () => void outbox.work())
    const states = async () => (await outbox.list()).map(({ state }) => state)
    await expect.poll(states).toEqual(Array(4).fill('delivered'))
    // A repetition has the same key.
    expect(new Set(calls.map(({ key, order: id }) => `${id} ${key}`)).size).toBe(4)
    expect((await shipments()).sort()).toEqual(['A T-A', 'B T-B', 'C T-C', 'D T-D'])
  })

  test.each([
    'the start',
    /update.*rowgate_releases/i,
    /insert into.*rowgate_packages/i,
    /\bcommit\b/i,
  ] as const)('the queue builds each release, with silence from %s on', async (from) => {
    const builder = packageBuilder()
    const { ask, deployment } = await openDeployment({ storage, builder, lease, workers: 0 })
    const queued = [await ask.queue(), await ask.queue(), await ask.queue()]
    await silent(from, () => void deployment.work())
    for (const { releaseId } of queued) await ask.once(releaseId, 'built')
    const built = new Set(builder.jobs.map(({ releaseId }) => releaseId))
    expect(built).toEqual(new Set(queued.map(({ releaseId }) => releaseId)))
  })

  test('workers stop meanwhile, and the service closes', async () => {
    const { outbox, order, service } = await openOutbox()
    await order('A')
    const isSilent = database.network.silenceAt(/update.*rowgate_deliveries/i)
    const worker = outbox.work()
    await isSilent
    const began = performance.now()
    await worker.stop()
    await service.close()
    expect(performance.now() - began).toBeLessThan(maxStop)
  })

  test('workers of the queue stop meanwhile, and the service closes', async () => {
    const { ask, deployment, service } = await openDeployment({ storage, lease, workers: 0 })
    await ask.queue()
    const isSilent = database.network.silenceAt(/update.*rowgate_releases/i)
    const worker = deployment.work()
    await isSilent
    const began = performance.now()
    await worker.stop()
    await service.close()
    expect(performance.now() - began).toBeLessThan(maxStop)
  })
})
