import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { counting } from './counting.ts'
import { clients, savesEach, together } from './together.ts'
import { openStorage, storages, type Storage } from '../kit/storages.ts'

const everywhere = [...new Set([...storages, ...serverStorages])]

function open(on: Storage, collections: Record<string, CollectionDefinition>) {
  const service = createService({
    applications: { app: { collections } },
    storage: openStorage(on),
    report: () => undefined,
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  return createTestClient(service)
}

const products = defineCollection({
  key: 'productId',
  fields: { productId: integer(), stock: integer({ required: true, minimum: 0 }) },
})

const lines = defineCollection(
  {
    key: 'lineId',
    fields: { lineId: integer(), productId: integer(), quantity: integer({ required: true }) },
  },
  {
    events: {
      Insert: {
        repeatable: true,
        after: async ({ item, collection, reject }) => {
          const stock = collection(products)
          const product = await stock.get(item.productId ?? 0, { lock: true })
          if (product === undefined) return reject('There is no such product.', 'productId')
          const moved = await stock.update(product.productId, {
            stock: product.stock - item.quantity,
          })
          if (moved?.rejected) reject('There is not enough in stock.', 'quantity')
        },
      },
    },
  },
)

describe.each(everywhere)('on $name', (on) => {
  test.each(Object.entries(counting))(
    'every save of one item by 20 clients is kept, with %s',
    async (_, collection) => {
      const client = open(on, { counts: collection })
      await client.post('/app/counts', { name: 'calls', value: 0, by: '' })
      const statuses = await together(async (by, save) => {
        const { status } = await client.post('/app/counts/calls', { by: `${by} ${save}` })
        return status
      })
      expect(statuses).toEqual({ 200: clients * savesEach })
      const { body } = await client.get('/app/counts/calls')
      expect(body).toMatchObject({ item: { value: clients * savesEach } })
    },
  )

  test.each([1, 20, 200])(
    'every order of 20 clients takes from the stock of %i products',
    async (number) => {
      const client = open(on, { products, lines })
      for (let productId = 0; productId < number; productId++)
        await client.post('/app/products', { productId, stock: 1_000 })
      const statuses = await together(async (by, save) => {
        const lineId = by * savesEach + save
        const values = { lineId, productId: lineId % number, quantity: 2 }
        return (await client.post('/app/lines', values)).status
      })
      expect(statuses).toEqual({ 200: clients * savesEach })
      const { body } = await client.get('/app/products?$fields=stock&$limit=100')
      const first = (body.items ?? []).reduce((sum, { stock }) => sum + Number(stock), 0)
      const { body: more } = await client.get('/app/products?$fields=stock&$limit=100&$offset=100')
      const second = (more.items ?? []).reduce((sum, { stock }) => sum + Number(stock), 0)
      expect(first + second).toBe(number * 1_000 - clients * savesEach * 2)
    },
  )

  test('items that are locked in another order are repeated, because the work is repeatable', async () => {
    const storage = openStorage(on)
    const service = createService({
      applications: { app: { collections: { products } } },
      storage,
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    const user = service.as(principal('maria'))
    const all = user.collection('app', 'products')
    await all.insertMany([
      { productId: 1, stock: 100 },
      { productId: 2, stock: 100 },
    ])
    const move = (from: number, to: number) =>
      user.transaction(
        async ({ collection }) => {
          const stock = collection(products)
          const [source, target] = [
            await stock.get(from, { lock: true }),
            await stock.get(to, { lock: true }),
          ]
          await stock.update(from, { stock: (source?.stock ?? 0) - 1 })
          await stock.update(to, { stock: (target?.stock ?? 0) + 1 })
        },
        { repeatable: true },
      )
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? move(1, 2) : move(2, 1))),
    )
    const { items } = await all.filter()
    expect(items.map(({ stock }) => stock)).toEqual([100, 100])
  })
})

describe('lock', () => {
  const service = createService({
    applications: { app: { collections: { products } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const user = service.as(principal('maria'))

  test.each([
    ['get', () => user.collection('app', 'products').get(1, { lock: true })],
    ['filter', () => user.collection('app', 'products').filter({}, { lock: true })],
  ])('outside of a transaction is a mistake of %s', async (_, call) => {
    await expect(call()).rejects.toThrow('lock: items are locked in the handlers of Insert')
  })

  test('excludes count', async () => {
    const call = user.transaction(({ collection }) =>
      collection(products).filter({}, { lock: true, count: true }),
    )
    await expect(call).rejects.toThrow('lock and count exclude each other.')
  })

  test('must be a boolean', async () => {
    const call = user.transaction(({ collection }) =>
      collection(products).get(1, { lock: 'yes' as never }),
    )
    await expect(call).rejects.toThrow('lock must be true or false.')
  })
})
