import { describe, expect, onTestFinished, test } from 'vitest'
import { createOutbox } from '../../../src/consume/index.ts'
import { outboxCollections, type OutboxStorage } from '../../../src/consume/outbox/collections.ts'
import { arrangeLane } from '../../../src/consume/outbox/lanes.ts'
import { createService, defineCollection, openAccess, principal, text } from '../../../src/index.ts'
import { readFitting } from '../../../src/storage/fitting-rows.ts'
import { table } from '../../../src/storage/table.ts'
import { openStorage, storages, type Storage } from '../../kit/storages.ts'

const { deliveries, lanes } = outboxCollections
const notes = defineCollection({ key: 'id', fields: { id: text() } })
const options = { now: '2026-05-01T10:00:00Z', lease: 60_000 }
const writing = { mode: 'write', brief: true } as const

/** Opens an outbox without workers, and the storage that it uses. */
async function openLanes(on: Storage) {
  const storage = openStorage(on)
  const outbox = createOutbox({ endpoints: { mail: { deliver: () => undefined } }, workers: 0 })
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage,
    security: openAccess(),
    outbox,
  })
  onTestFinished(() => service.close())
  await service.ready()
  const user = service.as(principal('maria'))
  return {
    storage,
    enqueue: (lane: string) =>
      user.transaction((within) => outbox.enqueue(within, 'mail', {}, { lane })),
    remove: (id: string) =>
      storage.transaction(writing, async (within) => table(within, deliveries).remove({ id })),
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
})
