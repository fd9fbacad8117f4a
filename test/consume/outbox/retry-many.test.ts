import { describe, expect, onTestFinished, test } from 'vitest'
import { createOutbox } from '../../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  principal,
  text,
} from '../../../src/entries/index.ts'
import { outboxCollections } from '../../../src/consume/outbox/collections.ts'
import type { StorageAdapter, StorageReader } from '../../../src/entries/storage.ts'
import { table } from '../../../src/storage/table.ts'
import { openStorage, storages, type Storage } from '../../kit/storages.ts'

const { deliveries } = outboxCollections
const writing = { mode: 'write', brief: true } as const
const notes = defineCollection({ key: 'id', fields: { id: text() } })

/** An outbox with the functions `mail` and `fax`, which fail while `isDown`. */
async function open(on: Storage, options: { readonly onDead?: 'hold' } = {}) {
  const state = { isDown: true, now: new Date('2026-05-01T10:00:00Z') }
  const sent: string[] = []
  const deliver = (input: { readonly id: string }): void => {
    if (state.isDown) throw new Error('is down')
    sent.push(input.id)
  }
  const outbox = createOutbox({
    endpoints: { mail: { deliver }, fax: { deliver } },
    ...options,
    attempts: 1,
    pollInterval: 20,
    workers: 0,
  })
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: openStorage(on),
    security: openAccess(),
    outbox,
    now: () => state.now,
    report: () => undefined,
  })
  onTestFinished(() => service.close())
  const user = service.as(principal('maria'))
  const enqueue = (name: 'mail' | 'fax', id: string, lane?: string) =>
    user.transaction((within) => outbox.enqueue(within, name, { id }, { lane }))
  const states = async () => (await outbox.list({ limit: 1_000 })).map((one) => one.state)
  /** Works until all deliveries have one of some states. */
  const workUntil = async (...ended: readonly string[]) => {
    const worker = outbox.work({ concurrency: 3 })
    const open = async () => (await states()).filter((one) => !ended.includes(one))
    await expect.poll(open, { interval: 10 }).toEqual([])
    await worker.stop()
  }
  return { state, sent, outbox, user, enqueue, states, workUntil }
}

describe.each(storages)('on $name', (on) => {
  test('retry makes the dead deliveries of an endpoint due, those since a time', async () => {
    const { state, sent, outbox, enqueue, states, workUntil } = await open(on)
    await enqueue('mail', 'early')
    await workUntil('dead')
    state.now = new Date('2026-05-02T10:00:00Z')
    for (const id of ['a', 'b', 'c']) await enqueue('mail', id)
    await enqueue('fax', 'fax')
    await workUntil('dead')
    state.isDown = false
    const since = '2026-05-02'
    expect(await outbox.retry({ state: 'dead', endpoint: 'mail', since })).toBe(3)
    expect(await states()).toEqual(['dead', 'waiting', 'waiting', 'waiting', 'dead'])
    await workUntil('delivered', 'dead')
    expect(sent.toSorted()).toEqual(['a', 'b', 'c'])
    const late = new Date('2026-05-02T10:00:00.001Z')
    expect(await outbox.retry({ state: 'dead', since: late })).toBe(0)
    expect(await outbox.retry({ state: 'dead', since: '2026-05-02T10:00:00Z' })).toBe(1)
    expect(await outbox.retry({ state: 'dead' })).toBe(1)
    await workUntil('delivered')
    expect(await outbox.retry({ state: 'dead' })).toBe(0)
  })

  test('retry makes waiting deliveries due that wait for their next attempt', async () => {
    const { state, sent, outbox, enqueue, workUntil } = await open(on)
    await enqueue('mail', 'a')
    await workUntil('dead')
    state.isDown = false
    const [delivery] = await outbox.list()
    await outbox.retry(delivery?.id ?? '')
    state.now = new Date('2026-04-01T10:00:00Z')
    expect(await outbox.retry({ state: 'waiting' })).toBe(1)
    await workUntil('delivered')
    expect(sent).toEqual(['a'])
  })

  test.each([undefined, 'hold'] as const)(
    'retried deliveries of a lane keep their order, with onDead %s',
    async (onDead) => {
      const { state, sent, outbox, enqueue, workUntil } = await open(on, onDead && { onDead })
      for (const id of ['a', 'b', 'c', 'd']) await enqueue('mail', id, 'lane')
      await workUntil('dead', ...(onDead === undefined ? [] : ['behind']))
      state.isDown = false
      expect(await outbox.retry({ state: 'dead' })).toBe(onDead === undefined ? 4 : 1)
      await workUntil('delivered')
      expect(sent).toEqual(['a', 'b', 'c', 'd'])
    },
  )

  test('retry handles more deliveries than one transaction changes', async () => {
    const { state, sent, outbox, enqueue, workUntil } = await open(on)
    for (let at = 0; at < 250; at++) await enqueue('mail', `${at}`)
    const worker = outbox.work({ concurrency: 8 })
    const dead = async () => (await outbox.list({ state: 'dead', limit: 1_000 })).length
    await expect.poll(dead, { interval: 20 }).toBe(250)
    await worker.stop()
    state.isDown = false
    expect(await outbox.retry({ state: 'dead' })).toBe(250)
    await workUntil('delivered')
    expect(sent).toHaveLength(250)
  }, 60_000)
})

test.each(storages)(
  'retry misses none while others change, on $name',
  async (on) => {
    const storage = openStorage(on)
    let first: string | undefined
    /** Once a whole page was read, removes its first row, unless that waits for the reader. */
    const removeFirst = async (page: readonly unknown[]): Promise<void> => {
      const id = first
      if (id === undefined || page.length < 500) return
      first = undefined
      const removed = storage.transaction(writing, async (on) =>
        table(on, deliveries).remove({ id }),
      )
      await Promise.race([removed, new Promise((resolve) => setTimeout(resolve, 100))])
    }
    const watched =
      (reader: StorageReader): StorageReader['filter'] =>
      async (...query) => {
        const page = await reader.filter(...query)
        await removeFirst(page.rows)
        return page
      }
    const changing: StorageAdapter = {
      ...storage,
      filter: watched(storage),
      transaction: (begun, work) =>
        storage.transaction(begun, (within) => {
          if (begun.mode === 'write') return work(within)
          return work({ ...within, filter: watched(within) })
        }),
    }
    const { state, outbox, user } = await open({
      name: on.name,
      open: () => ({ storage: changing, remove: () => undefined }),
    })
    state.now = new Date('2026-05-01T10:00:00.001Z')
    const ids = await user.transaction(async (within) => {
      const stored: string[] = []
      for (let at = 0; at < 510; at++) stored.push(await outbox.enqueue(within, 'mail', { id: '' }))
      return stored
    })
    await storage.transaction(writing, async (on) => {
      for (const id of ids) await table(on, deliveries).change({ id }, { state: 'dead' })
    })
    first = ids[0]
    expect(await outbox.retry({ state: 'dead' })).toBe(509)
    expect(await outbox.list({ state: 'dead' })).toEqual([])
  },
  60_000,
)

test.each([
  [{}, 'retry.state'],
  [{ state: 'delivered' }, 'retry.state'],
  [{ state: 'dead', endpoint: 7 }, 'retry.endpoint'],
  [{ state: 'dead', since: 'yesterday' }, 'retry.since'],
  [{ state: 'dead', since: new Date(Number.NaN) }, 'retry.since'],
  [{ state: 'dead', untill: '2026-01-01' }, 'untill'],
])('the filter %j of retry is a mistake', async (filter, message) => {
  const { outbox } = await open({
    name: 'memory',
    open: () => ({ storage: memoryStorage(), remove: () => undefined }),
  })
  await expect(outbox.retry(filter as never)).rejects.toThrow(message)
})
