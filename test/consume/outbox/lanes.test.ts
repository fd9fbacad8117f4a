import { describe, expect, onTestFinished, test } from 'vitest'
import { createOutbox } from '../../../src/entries/consume.ts'
import { outboxCollections, type OutboxStorage } from '../../../src/consume/outbox/collections.ts'
import { arrangeLane, oldLanes } from '../../../src/consume/outbox/lanes.ts'
import {
  createService,
  defineCollection,
  openAccess,
  principal,
  text,
} from '../../../src/entries/index.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { readFitting } from '../../../src/storage/fitting-rows.ts'
import { table } from '../../../src/storage/table.ts'
import { openOrders, ship } from './orders-service.ts'
import { memory, openStorage, type Storage, storages } from '../../kit/storages.ts'

const { deliveries, lanes } = outboxCollections
const notes = defineCollection({ key: 'id', fields: { id: text() } })
const options = { now: '2026-05-01T10:00:00Z', lease: 60_000 }
const writing = { mode: 'write', brief: true } as const

/** Opens an outbox without workers, and the storage that it uses through `wrapped`. */
async function openLanes(
  on: Storage,
  wrapped = (storage: StorageAdapter) => storage,
  time = '2026-05-01T10:10:00.001Z',
) {
  const storage = openStorage(on)
  const outbox = createOutbox({
    endpoints: { mail: { deliver: () => undefined } },
    workers: 0,
    callTimeout: 90,
    lease: 100,
    pollInterval: 20,
  })
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: wrapped(storage),
    security: openAccess(),
    outbox,
    now: () => new Date(time),
    report: () => undefined,
  })
  onTestFinished(() => service.close())
  await service.ready()
  const user = service.as(principal('maria'))
  return {
    storage,
    outbox,
    enqueue: (lane: string) =>
      user.transaction((within) => outbox.enqueue(within, 'mail', {}, { lane })),
    remove: (id: string) =>
      storage.transaction(writing, async (within) => table(within, deliveries).remove({ id })),
    end: (id: string) =>
      storage.transaction(writing, async (within) => {
        const ended = { state: 'delivered', ended: options.now }
        return table(within, deliveries).change({ id }, ended)
      }),
    lanes: async () => (await readFitting(storage, lanes, {}, {})).rows,
  }
}

/** Returns a storage whose next transaction that writes begins when it is released. */
function stalled(storage: OutboxStorage) {
  let release: () => void = () => undefined
  let reached: () => void = () => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const isReached = new Promise<void>((resolve) => (reached = resolve))
  const late: OutboxStorage = {
    filter: storage.filter.bind(storage),
    transaction: async (begun, work) => {
      if (begun.mode === 'write') {
        reached()
        await released
      }
      return storage.transaction(begun, work)
    },
  }
  return { late, isReached, release }
}

describe.each(storages)('on $name', (on) => {
  test('a worker that is late does not remove the row that names another delivery', async () => {
    const { storage, enqueue, remove, lanes: stored } = await openLanes(on)
    const first = await enqueue('lane')
    await arrangeLane(storage, 'lane', options)
    await remove(first)
    const { late, isReached, release } = stalled(storage)
    const removing = arrangeLane(late, 'lane', options)
    await isReached
    await arrangeLane(storage, 'lane', options)
    const second = await enqueue('lane')
    await arrangeLane(storage, 'lane', options)
    release()
    expect(await removing).toEqual({ current: second, hasMoved: false })
    expect(await stored()).toMatchObject([{ lane: 'lane', delivery: second }])
  })

  test('a worker that is late does not name another delivery than the one in progress', async () => {
    const { storage, enqueue, remove, lanes: stored } = await openLanes(on)
    const first = await enqueue('lane')
    await arrangeLane(storage, 'lane', options)
    await remove(first)
    const second = await enqueue('lane')
    const { late, isReached, release } = stalled(storage)
    const naming = arrangeLane(late, 'lane', options)
    await isReached
    await remove(second)
    await arrangeLane(storage, 'lane', options)
    const third = await enqueue('lane')
    await arrangeLane(storage, 'lane', options)
    release()
    expect(await naming).toEqual({ current: third, hasMoved: false })
    expect(await stored()).toMatchObject([{ lane: 'lane', delivery: third }])
  })

  test('all lanes that were not written for a lease are found, even if a clock is ahead', async () => {
    const { storage, enqueue } = await openLanes(on)
    const names = (first: string) => Array.from({ length: 110 }, (_, at) => `${first} ${at}`)
    const at = (now: string) => ({ ...options, now })
    const arrange = async (lane: string, now: string) => {
      await enqueue(lane)
      await arrangeLane(storage, lane, at(now))
    }
    for (const lane of names('old')) await arrange(lane, '2026-05-01T10:00:00Z')
    for (const lane of names('new')) await arrange(lane, '2026-05-01T11:00:00Z')
    await arrange('ahead', '2026-05-01T12:00:00Z')
    const found = await oldLanes(storage, at('2026-05-01T11:00:30Z'))
    expect(found.toSorted()).toEqual([...names('old'), 'ahead'].toSorted())
  })
})

test('a lane that cannot be arranged does not keep others from going on', async () => {
  const { storage, outbox, enqueue, end } = await openLanes(memory, (inner) => ({
    ...inner,
    transaction: (begun, work) =>
      inner.transaction(begun, (within) => {
        const filter: typeof within.filter = (collection, query) => {
          const isBroken = collection === lanes && JSON.stringify(query.conditions).includes('bad')
          if (isBroken) throw new Error('broken')
          return within.filter(collection, query)
        }
        return work({ ...within, filter })
      }),
  }))
  for (const lane of ['bad', 'good']) {
    const first = await enqueue(lane)
    await enqueue(lane)
    await arrangeLane(storage, lane, options)
    await end(first)
  }
  const worker = outbox.work()
  const states = async () => (await outbox.list()).map(({ lane, state }) => `${lane} ${state}`)
  await expect
    .poll(states)
    .toEqual(['bad delivered', 'bad behind', 'good delivered', 'good delivered'])
  await worker.stop()
})

test.each(storages)(
  'a slow call of a lane does not keep others from being sent, on $name',
  async (on) => {
    let release: (() => void) | undefined
    const { clerk, order, outbox, calls, once } = await openOrders({
      on,
      workers: 2,
      receive: (call, response, request) => {
        if (call.order === 'slow') release = () => ship(call, response, request)
        else ship(call, response, request)
      },
    })
    await order('slow', 'lane')
    await expect.poll(() => calls.length).toBe(1)
    const lane = { lane: 'lane' }
    await clerk.transaction(async (within) => {
      for (let at = 0; at < 400; at++)
        await outbox.enqueue(within, 'create-shipment', { body: { order: `${at}` } }, lane)
    })
    await order('other')
    await expect.poll(() => calls.map((call) => call.order)).toEqual(['slow', 'other'])
    // They are not found again by each search.
    await expect.poll(() => outbox.list({ state: 'waiting' })).toEqual([])
    for (const { id } of await outbox.list({ state: 'behind', limit: 390 })) await outbox.drop(id)
    release?.()
    await once('delivered')
    const last = Array.from({ length: 10 }, (_, at) => `${390 + at}`)
    expect(calls.map((call) => call.order)).toEqual(['slow', 'other', ...last])
  },
)

test.each(storages)(
  'an adapter of an application receives times as fields have them: $name',
  async (on) => {
    // A copy is not taken for an adapter of the library, so that its rows are checked.
    const { enqueue, outbox } = await openLanes(
      on,
      (storage) => ({ ...storage }),
      '2026-05-01T10:10:00.000Z',
    )
    await enqueue('a')
    expect(await outbox.list()).toMatchObject([{ created: '2026-05-01T10:10:00Z', lane: 'a' }])
  },
)
