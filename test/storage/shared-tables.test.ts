import { expect, test } from 'vitest'
import {
  createService,
  date,
  decimal,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
  type ApplicationDefinitions,
} from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'

const sharesTable = true
const whole = defineCollection(
  {
    key: 'id',
    fields: { id: integer(), name: text(), born: date() },
    table: 'people',
    sharesTable,
  },
  {
    events: {
      Insert: {
        after: async ({ item, find, fail }) => {
          const found = await find('names', { number: item.id })
          if (found.length !== 1) fail('The other collection does not have the new row.')
        },
      },
    },
  },
)
const names = defineCollection({
  key: 'number',
  fields: { number: integer({ column: 'ID' }), called: text({ column: 'Name' }) },
  table: 'People',
  sharesTable,
})
const journal = defineCollection({ fields: { name: text() }, table: 'people', sharesTable })

const storages: readonly (readonly [string, () => StorageAdapter])[] = [
  ['memory', memoryStorage],
  ['sqlite', () => sqliteStorage(':memory:', { ensureSchema: true })],
]

async function open(storage: StorageAdapter) {
  const service = createService({
    applications: {
      one: { collections: { whole, names, journal } },
      other: { collections: { names } },
    },
    storage,
    security: openAccess(),
  })
  await service.ready()
  const caller = service.as(principal('maria'))
  return {
    service,
    whole: caller.collection('one', 'whole'),
    names: caller.collection('one', 'names'),
    others: caller.collection('other', 'names'),
    journal: caller.collection('one', 'journal'),
  }
}

test.each(storages)(
  'collections with one table have the same rows in %s',
  async (_name, create) => {
    const { service, whole, names, others, journal } = await open(create())
    await whole.insert({ id: 2, name: 'Inés', born: '2001-02-03' })
    await others.insert({ number: 1, called: 'Yoshi' })
    expect((await names.filter({})).items).toEqual([
      { number: 1, called: 'Yoshi' },
      { number: 2, called: 'Inés' },
    ])
    expect((await whole.filter({ name: 'Yoshi' })).items).toEqual([
      { id: 1, name: 'Yoshi', born: null },
    ])
    expect((await journal.filter({})).items).toEqual([{ name: 'Inés' }, { name: 'Yoshi' }])
    expect((await names.filter({}, { sort: ['-called'], q: 'i', limit: 1 })).items).toEqual([
      { number: 1, called: 'Yoshi' },
    ])
    await names.update(2, { called: 'Ines' })
    expect(await whole.get(2)).toEqual({ id: 2, name: 'Ines', born: '2001-02-03' })
    await others.delete(1)
    expect(await whole.get(1)).toBeUndefined()
    await service.close()
  },
)

test.each(storages)(
  'a key that another collection has is a duplicate in %s',
  async (_name, create) => {
    const { service, whole, names } = await open(create())
    await whole.insert({ id: 1 })
    expect(await names.insert({ number: 1 })).toMatchObject({
      rejected: true,
      validations: [{ field: 'number' }],
    })
    await service.close()
  },
)

test.each(storages)(
  'a transaction sees its own changes in all of them in %s',
  async (_name, create) => {
    const { service, whole } = await open(create())
    expect(await whole.insert({ id: 1 })).toMatchObject({ rejected: false })
    await service.close()
  },
)

test.each(storages)(
  "collections whose keys differ can't share a table in %s",
  async (_n, create) => {
    const things = defineCollection({ key: 'id', fields: { id: integer(), name: text() } })
    const named = defineCollection({ key: 'name', fields: { name: text() }, table: 'things' })
    await expect(opening(create, { app: { collections: { things, named } } })).rejects.toThrow(
      TypeError,
    )
  },
)

test.each(storages)("columns of two types can't be shared in %s", async (_name, create) => {
  const things = defineCollection({ key: 'id', fields: { id: integer(), name: text() } })
  const counted = defineCollection({
    key: 'id',
    fields: { id: integer(), name: integer() },
    table: 'things',
  })
  await expect(opening(create, { app: { collections: { things, counted } } })).rejects.toThrow(
    TypeError,
  )
})

async function opening(
  create: () => StorageAdapter,
  applications: ApplicationDefinitions,
): Promise<void> {
  await createService({ applications, storage: create(), security: openAccess() }).ready()
}

test.each(storages)(
  'on %s a value that fits only the field of another collection is not sent, and can be corrected',
  async (_, storage) => {
    const prices = (precision: number) =>
      defineCollection({
        key: 'id',
        fields: { id: integer(), price: decimal({ precision, scale: 2 }), name: text() },
        table: 'prices',
        sharesTable,
      })
    const reports: unknown[] = []
    const service = createService({
      applications: { shop: { collections: { large: prices(8), small: prices(4) } } },
      storage: storage(),
      security: openAccess(),
      report: (report) => reports.push(report),
    })
    const client = createTestClient(service)
    await client.post('/shop/large', { id: 1, price: '1234.50' })
    expect((await client.get('/shop/small/1')).status).toBe(500)
    expect((await client.get('/shop/small?$fields=price')).status).toBe(500)
    const error = { message: expect.stringContaining('shop/small, item 1: ') as string }
    expect(reports).toMatchObject([{ type: 'stored-value-unfit', error }, { error }])
    const changed = await client.post('/shop/small/1', { name: 'a' })
    expect(changed).toMatchObject({
      status: 200,
      body: { item: { price: null }, validations: [{ severity: 'information', field: 'price' }] },
    })
    expect((await client.get('/shop/large/1')).body.item).toMatchObject({ price: '1234.50' })
    await client.post('/shop/small/1', { price: '1.50' })
    expect((await client.get('/shop/small/1')).body.item).toMatchObject({ price: '1.50' })
    await service.close()
  },
)
