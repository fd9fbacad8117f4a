import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  createService,
  date,
  defineCollection,
  error,
  instant,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
  uuid,
  warning,
  type Observation,
} from '../../src/entries/index.ts'

const countries = defineCollection({ key: 'code', fields: { code: text(), open: text() } })

const orders = defineCollection(
  {
    key: 'id',
    fields: {
      id: integer({ generated: 'database' }),
      token: uuid({ generated: 'uuid' }),
      day: date({ generated: 'now' }),
      at: instant({ generated: 'now' }),
      country: text({ required: true }),
      mail: text(),
      size: integer({ default: 1, enumeration: [1, 2, 3] }),
      by: text({ readOnly: true }),
    },
  },
  {
    validations: [
      error('country', {
        field: 'country',
        check: async ({ country }, { find }) => {
          const found = await find(countries, { code: country ?? '' })
          return found.length === 1 ? undefined : 'no such country'
        },
      }),
      error('mail', { field: 'mail', schema: z.email('must be an address') }),
      warning('whole', {
        schema: z.looseObject({ size: z.number().max(2, 'is large') }),
      }),
    ],
    events: {
      New: { after: ({ item }) => void (item.mail = 'new@example.org') },
      Insert: { before: ({ item, principal: caller }) => void (item.by = caller.user) },
    },
    userDefinedEvents: {
      double: async ({ own, reject }, id: number) => {
        const item = (await own.get(id)) ?? reject('no such order')
        const size = (item.size ?? 0) * 2
        if (size > 3) await own.update(id, { size: 3 })
        if (size > 3) reject('too large', 'size')
        await own.update(id, { size: size as 2 })
        return size
      },
    },
  },
)

function open() {
  const observed: Observation[] = []
  const service = createService({
    applications: { shop: { collections: { orders, countries } } },
    storage: memoryStorage(),
    security: openAccess(),
    now: () => new Date('2024-02-29T23:59:59.999Z'),
    report: (observation) => observed.push(observation),
  })
  const shop = service.as(principal('maria'))
  return {
    service,
    observed,
    orders: shop.collection('shop', 'orders'),
    countries: shop.collection('shop', 'countries'),
  }
}

test('New gives an item with defaults and generated values, and stores nothing', async () => {
  const { orders: own } = open()
  const item = await own.new()
  expect(item).toMatchObject({
    id: null,
    day: '2024-02-29',
    at: '2024-02-29T23:59:59.999Z',
    country: null,
    mail: 'new@example.org',
    size: 1,
  })
  expect(item.token).toMatch(/^[0-9a-f-]{36}$/)
  expect((await own.filter()).items).toEqual([])
})

test('Change runs defaults and validations, and stores nothing', async () => {
  const { orders: own, countries: lands } = open()
  await lands.insert({ code: 'de' })
  expect(await own.change({ country: 'xx' })).toMatchObject({
    rejected: true,
    validations: [{ severity: 'error', field: 'country', message: 'no such country' }],
  })
  expect(await own.change({ country: 'de' })).toMatchObject({
    rejected: false,
    item: { country: 'de', size: 1, day: '2024-02-29' },
  })
  expect((await own.filter()).items).toEqual([])
  const inserted = await own.insert({ country: 'de' })
  const id = inserted.rejected ? 0 : inserted.item.id
  expect(await own.change({ size: 2 }, id)).toMatchObject({ rejected: false, item: { size: 2 } })
  expect(await own.get(id)).toMatchObject({ size: 1, by: 'maria' })
})

test('an undefined field of an update is not changed, and null removes the value', async () => {
  const { orders: own, countries: lands } = open()
  await lands.insert({ code: 'de' })
  await own.insert({ country: 'de', mail: 'a@example.org', size: 1 })
  const changes = { mail: undefined, size: 2 } as object
  expect(await own.update(1, changes)).toMatchObject({ item: { mail: 'a@example.org', size: 2 } })
  expect(await own.update(1, { mail: null })).toMatchObject({ item: { mail: null, size: 2 } })
})

test('a rule looks up another collection in the same transaction', async () => {
  const { orders: own, countries: lands } = open()
  expect(await own.insert({ country: 'de' })).toMatchObject({ rejected: true })
  await lands.insert({ code: 'de' })
  expect(await own.insert({ country: 'de' })).toMatchObject({ rejected: false })
})

test('a Standard Schema validator checks one field, or the whole item', async () => {
  const { orders: own, countries: lands } = open()
  await lands.insert({ code: 'de' })
  expect(await own.insert({ country: 'de', mail: 'x' })).toMatchObject({
    rejected: true,
    validations: [{ message: 'must be an address', severity: 'error', field: 'mail' }],
  })
  const held = await own.insert({ country: 'de', size: 3, mail: 'a@example.org' })
  expect(held).toMatchObject({
    rejected: true,
    validations: [{ message: 'is large', severity: 'warning', field: 'size' }],
  })
  const ids = held.validations.map(({ validationId }) => validationId ?? '')
  const values = { country: 'de', size: 3, mail: 'a@example.org' } as const
  expect(await own.insert(values, { ignoreWarnings: ids })).toMatchObject({ rejected: false })
  expect(await own.insert(values, { ignoreWarnings: 'all' })).toMatchObject({ rejected: false })
  expect(await own.insert({ country: 'de' })).toMatchObject({ rejected: false })
})

test('the database generates numbers, and continues after a given number', async () => {
  const { orders: own, countries: lands } = open()
  await lands.insert({ code: 'de' })
  await own.insert({ country: 'de' })
  await own.insert({ country: 'de', id: 10 })
  await own.insert({ country: 'de' })
  expect((await own.filter()).items.map(({ id }) => id)).toEqual([1, 10, 11])
})

test('a user-defined event runs in its own transaction', async () => {
  const { orders: own, countries: lands } = open()
  await lands.insert({ code: 'de' })
  await own.insert({ country: 'de' })
  expect(await own.invoke('double', 1)).toEqual({ rejected: false, result: 2, validations: [] })
  expect(await own.invoke('double', 1)).toMatchObject({
    rejected: true,
    validations: [{ message: 'too large', field: 'size', severity: 'error' }],
  })
  expect(await own.get(1)).toMatchObject({ size: 2 })
  expect(await own.invoke('double', 99)).toMatchObject({ rejected: true })
  await expect(own.invoke('nope' as 'double', 1)).rejects.toThrow(TypeError)
  await expect(own.invoke('constructor' as 'double', 1)).rejects.toThrow(TypeError)
})

test('a missing item is undefined, and wrong keys, conditions and options are a TypeError', async () => {
  const { orders: own, service } = open()
  expect(await own.get(1)).toBeUndefined()
  expect(await own.update(1, { size: 2 })).toBeUndefined()
  expect(await own.delete(1)).toBeUndefined()
  const wrong: readonly (() => Promise<unknown>)[] = [
    () => own.get('1' as unknown as number),
    () => own.get([1, 2] as unknown as number),
    () => own.filter({ nope: 1 } as object),
    () => own.filter({ size: '1' as unknown as 1 }),
    () => own.filter({}, { limit: -1 }),
    () => own.filter({}, { offset: 0.5 }),
    () => own.filter({}, { sort: ['nope' as 'id'] }),
    () => own.filter({}, { sort: ['id', '-id'] }),
  ]
  for (const call of wrong) await expect(call()).rejects.toThrow(TypeError)
  const anybody = service.as(principal('x'))
  expect(() => anybody.collection('shop', 'nope' as 'orders')).toThrow(TypeError)
  expect(() => anybody.collection('nope' as 'shop', 'orders')).toThrow(TypeError)
})

test('a page in process is filtered, searched, sorted and counted', async () => {
  const { countries: lands } = open()
  for (const code of ['de', 'at', 'ch'])
    await lands.insert({ code, open: code === 'ch' ? null : 'Y' })
  expect(await lands.filter({ open: 'Y' }, { sort: ['-code'], count: true, limit: 1 })).toEqual({
    items: [{ code: 'de', open: 'Y' }],
    count: 2,
    validations: [],
  })
  expect((await lands.filter({ open: null })).items).toEqual([{ code: 'ch', open: null }])
  expect((await lands.filter({}, { q: 'Y', offset: 1 })).items).toEqual([{ code: 'de', open: 'Y' }])
})
