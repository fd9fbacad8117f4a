import { expect, test } from 'vitest'
import { silentStorage, type SilentStorage } from '../../kit/silent-storage.ts'
import { memory, storages, type Storage } from '../../kit/storages.ts'
import { openOrders } from './orders-service.ts'

/** Returns a kind of storage that a test can make silent. */
function silenced(inner: Storage): { readonly on: Storage; readonly state: () => SilentStorage } {
  let silent: SilentStorage | undefined
  return {
    on: {
      ...inner,
      open: () => {
        const { storage, remove } = inner.open()
        silent = silentStorage(storage)
        return { storage: silent.storage, remove }
      },
    },
    state: () => silent as SilentStorage,
  }
}

const unavailable = { name: 'StorageError', kind: 'unavailable' }

test.each(storages)(
  'on $name, an order whose commit outlives its request is sent once',
  async (inner) => {
    const { on, state } = silenced(inner)
    const { insert, once, calls } = await openOrders({ on, requestTimeout: 1_000 })
    state().silence('commits')
    await expect(insert({ orderId: 'A' })).rejects.toMatchObject(unavailable)
    state().resume()
    await once('delivered')
    expect(calls.map(({ order }) => order)).toEqual(['A'])
  },
)

test('an order that storage has not received within its request is not sent, and later ones are', async () => {
  const { on, state } = silenced(memory)
  const { insert, once, calls, outbox } = await openOrders({ on, requestTimeout: 1_000 })
  state().silence()
  await expect(insert({ orderId: 'A' })).rejects.toMatchObject(unavailable)
  state().resume()
  expect((await insert({ orderId: 'B' })).rejected).toBe(false)
  await once('delivered')
  expect(calls.map(({ order }) => order)).toEqual(['B'])
  expect(await outbox.list()).toHaveLength(1)
})
