import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  bigint,
  createService,
  decimal,
  decrement,
  defineCollection,
  increment,
  integer,
  memoryStorage,
  openAccess,
  principal,
  system,
  text,
  type Increment,
} from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { openStorage, storages } from '../kit/storages.ts'

const products = defineCollection({
  key: 'productId',
  fields: {
    productId: integer(),
    name: text(),
    stock: integer({ minimum: 0 }),
    sold: bigint(),
    price: decimal({ precision: 30, scale: 2 }),
    hits: integer({ readOnly: true, default: 0 }),
    secret: integer({ readableBy: ['Owner'], default: 5 }),
  },
})

function open(storage: StorageAdapter) {
  const service = createService({
    applications: { app: { collections: { products } } },
    storage,
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  return service
}

async function withProduct(storage: StorageAdapter = memoryStorage()) {
  const service = open(storage)
  const collection = service.as(principal('maria')).collection('app', 'products')
  await collection.insert({ productId: 1, stock: 5, sold: '9007199254740993', price: '0.10' })
  return { service, collection }
}

const everywhere = [...new Set([...storages, ...serverStorages])]

describe.each(everywhere)('on $name', (on) => {
  test('values of each exact type are incremented exactly', async () => {
    const { collection } = await withProduct(openStorage(on))
    const saved = await collection.update(1, {
      stock: decrement(2),
      sold: increment(9_007_199_254_740_993n),
      price: increment('12345678901234567890.05'),
    })
    expect(saved).toMatchObject({
      rejected: false,
      item: { stock: 3, sold: '18014398509481986', price: '12345678901234567890.15' },
    })
  })

  test('no increment of 20 writers is lost', async () => {
    const { collection } = await withProduct(openStorage(on))
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let count = 0; count < 5; count++) await collection.update(1, { stock: increment() })
      }),
    )
    expect(await collection.get(1)).toMatchObject({ stock: 105 })
  })

  test('a value beyond the bounds of its field is a rejected save', async () => {
    const { collection } = await withProduct(openStorage(on))
    const saved = await collection.update(1, { stock: decrement(6), name: 'tea' })
    expect(saved).toMatchObject({ rejected: true, validations: [{ field: 'stock' }] })
    expect(await collection.get(1)).toMatchObject({ stock: 5, name: null })
  })
})

describe.each(serverStorages)('on $name', (on) => {
  test('storage adds the amounts itself, and the item is read only if they do not fit', async () => {
    let reads = 0
    const storage = openStorage(on)
    const { service, collection } = await withProduct({
      ...storage,
      transaction: (options, work) =>
        storage.transaction(options, (inner) =>
          work({
            ...inner,
            filter: (...query) => {
              reads += 1
              return inner.filter(...query)
            },
          }),
        ),
    })
    const saved = await collection.update(1, {
      stock: decrement(5),
      sold: increment(),
      price: increment('0.05'),
      name: 'tea',
    })
    expect(saved).toMatchObject({
      item: { stock: 0, sold: '9007199254740994', price: '0.15', name: 'tea' },
    })
    await service.as(principal('maria')).transaction(async (within) => {
      await within.collection('app', 'products').update(1, { stock: increment() })
    })
    expect(reads).toBe(0)
    const tooMany = await collection.update(1, { stock: decrement(2) })
    expect(reads).toBe(1)
    expect(tooMany).toEqual(await collection.update(1, { stock: -1 }))
    reads = 1
    expect(await collection.update(2, { stock: increment() })).toBeUndefined()
    expect(reads).toBe(2)
    expect(await collection.get(1)).toMatchObject({ stock: 1 })
  })
})

test.each(serverStorages)('any amounts have the same outcome on $name as in memory', async (on) => {
  const { collection: expected } = await withProduct()
  const { collection } = await withProduct(openStorage(on))
  const whole = (bits: number) =>
    fc.oneof(
      fc.bigInt({ min: -(2n ** BigInt(bits)), max: 2n ** BigInt(bits) }),
      fc.bigInt({ min: -9n, max: 9n }),
    )
  const cents = (value: bigint) =>
    `${value / 100n}.${String(value < 0n ? -value : value)
      .padStart(2, '0')
      .slice(-2)}`
  const changes = fc.record(
    {
      stock: whole(53).map(increment),
      sold: whole(64).map(increment),
      price: whole(99).map((value) => increment(cents(value))),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(changes, { minLength: 1, maxLength: 4 }), async (list) => {
      for (const values of list)
        expect(await collection.update(1, values)).toEqual(await expected.update(1, values))
    }),
    { numRuns: 60 },
  )
})

test('a value beyond the type of its field is a rejected save', async () => {
  const { collection } = await withProduct()
  for (const values of [
    { stock: increment(Number.MAX_SAFE_INTEGER) },
    { sold: increment('9223372036854775807') },
    { price: increment('99999999999999999999999999999.00') },
  ]) {
    const saved = await collection.update(1, values)
    expect(saved).toMatchObject({ rejected: true, validations: [{ severity: 'error' }] })
  }
  expect(await collection.get(1)).toMatchObject({ stock: 5, price: '0.10' })
})

test('an item without a value is left as it is', async () => {
  const { collection } = await withProduct()
  await collection.update(1, { stock: null })
  const saved = await collection.update(1, { stock: increment() })
  expect(saved).toMatchObject({ rejected: true, validations: [{ field: 'stock' }] })
  expect(await collection.get(1)).toMatchObject({ stock: null })
})

test('an item that is missing is undefined', async () => {
  const { collection } = await withProduct()
  expect(await collection.update(2, { stock: increment() })).toBeUndefined()
})

test('the rights of the caller hold', async () => {
  const { service, collection } = await withProduct()
  expect(await collection.update(1, { hits: increment() })).toMatchObject({
    rejected: true,
    validations: [{ field: 'hits' }],
  })
  expect(await collection.update(1, { secret: increment() })).toMatchObject({ rejected: true })
  const all = service.as(system).collection('app', 'products')
  expect(await all.update(1, { hits: increment(), secret: increment() })).toMatchObject({
    item: { hits: 1, secret: 6 },
  })
})

test('updateMany increments each item', async () => {
  const { collection } = await withProduct()
  await collection.insert({ productId: 2, stock: 1 })
  await collection.updateMany({}, { stock: increment(10) })
  const { items } = await collection.filter()
  expect(items.map(({ stock }) => stock)).toEqual([15, 11])
})

test.each<[string, Record<string, Increment>, string]>([
  [
    'a string field',
    { name: increment() },
    'update: name has the type text, which has no increments',
  ],
  ['the key', { productId: increment() }, 'update: productId is part of the key'],
  ['too many places', { price: increment('0.001') }, 'the amount 0.001 has more decimal places'],
  ['a fraction of an integer', { stock: increment('0.5') }, 'more decimal places than stock'],
  ['an unknown field', { nothing: increment() }, 'nothing'],
])('%s is a mistake of the caller', async (_, values, message) => {
  const { collection } = await withProduct()
  await expect(collection.update(1, values)).rejects.toThrow(message)
})

test.each([Number.NaN, 0.5, 2 ** 53, '', '1e3', '+1', ' 1', null, {}])(
  '%j is not an amount',
  (amount) => {
    expect(() => increment(amount as never)).toThrow('increment: the amount must be')
  },
)
