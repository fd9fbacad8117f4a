import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
} from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { listen } from '../kit/listen.ts'

const log = defineCollection(
  { key: 'id', fields: { id: integer({ generated: 'database' }), line: text() } },
  {
    events: {
      Insert: {
        after: ({ item, reject }) => {
          if (item.line === 'too late') reject('It was written, and is undone.')
        },
      },
    },
  },
)

const orders = defineCollection(
  { key: 'id', fields: { id: integer(), title: text() } },
  {
    events: {
      Insert: {
        after: async ({ item, collection }) => {
          await collection('log').insert({ line: item.title })
        },
      },
    },
    userDefinedEvents: {
      tidy: async ({ own, reject }, input: { readonly title: string }) => {
        const { items } = await own.filter({ title: input.title })
        if (items.length === 0) reject('There is nothing to do.')
        for (const { id } of items) await own.delete(id)
        return items.length
      },
    },
  },
)

function openShop() {
  return createService({
    applications: { sales: { collections: { orders, log } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
}

const maria = principal('maria')

test('an event that a handler invokes is nested, with the same user', async () => {
  const service = openShop()
  await service.ready()
  const { heard, ended } = listen('event')
  await service.as(maria).collection('sales', 'orders').insert({ id: 1, title: 'one' })
  const common = {
    ...{ application: 'sales', event: 'Insert', user: 'maria' },
    ...{ cached: false, outcome: 'item' },
  }
  expect(ended('event')).toEqual([
    { ...common, collection: 'log', nested: true },
    { ...common, collection: 'orders', nested: false },
  ])
  expect(heard.filter(({ phase }) => phase === 'start').map(({ looks }) => looks)).toMatchObject([
    { collection: 'orders' },
    { collection: 'log' },
  ])
  await service.close()
})

test('an event that the New of a served collection invokes is nested', async () => {
  const served = defineCollection(
    { key: 'id', fields: { id: integer(), title: text() } },
    {
      serve: { filter: () => [], insert: ({ item }) => item },
      events: {
        New: {
          after: async ({ collection }) => {
            await collection(log).count()
          },
        },
      },
    },
  )
  const service = createService({
    applications: { sales: { collections: { log, served } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  await service.ready()
  const { ended } = listen('event')
  await service.as(maria).collection('sales', 'served').new()
  expect(ended('event')).toMatchObject([{ collection: 'log', event: 'Filter', nested: true }])
  await service.close()
})

test('each relation of $expand is a nested event, however many lists it has', async () => {
  const fields = { id: integer(), parentId: integer({ references: 'customers' }) }
  const customers = defineCollection({
    key: 'id',
    fields,
    expand: { orders: { from: 'bills' }, parent: 'parentId' },
  })
  const bills = defineCollection({ key: 'id', fields })
  const service = createService({
    applications: { sales: { collections: { customers, bills } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const client = createTestClient(service)
  for (const id of [1, 2, 3]) await client.post('/sales/customers', { id, parentId: 1 })
  const { ended } = listen('event')
  await client.get('/sales/customers', { query: { $expand: 'orders,parent' } })
  const common = {
    ...{ application: 'sales', event: 'Filter', user: null },
    ...{ cached: false, outcome: 'page' },
  }
  const events = ended('event') as readonly { readonly collection: string }[]
  expect(events.slice(0, 2).toSorted((a, b) => a.collection.localeCompare(b.collection))).toEqual([
    { ...common, collection: 'bills', nested: true },
    { ...common, collection: 'customers', nested: true },
  ])
  expect(events.slice(2)).toEqual([{ ...common, collection: 'customers', nested: false }])
  await service.close()
})

test('a rejected nested event is not traced as an error of any stage', async () => {
  const service = openShop()
  await service.ready()
  const { lines, ended } = listen('event', 'storage')
  const title = 'too late'
  const result = await service.as(maria).collection('sales', 'orders').insert({ id: 1, title })
  expect(result.rejected).toBe(true)
  expect(ended('event').map(({ outcome }) => outcome)).toEqual(['rejected', 'rejected'])
  expect(ended('storage').at(-1)).toMatchObject({ operation: 'transaction', undone: true })
  expect(lines().filter((line) => line.endsWith('error'))).toEqual([])
  await service.close()
})

test('a user-defined event is traced by its name, and the events in it are nested', async () => {
  const service = openShop()
  await service.ready()
  const access = service.as(maria).collection('sales', 'orders')
  await access.insert({ id: 1, title: 'one' })
  const { ended } = listen('event')
  expect(await access.invoke('tidy', { title: 'one' })).toMatchObject({ result: 1 })
  expect(await access.invoke('tidy', { title: 'one' })).toMatchObject({ rejected: true })
  expect(ended('event').map(({ event, nested, outcome }) => [event, nested, outcome])).toEqual([
    ['Filter', true, 'page'],
    ['Delete', true, 'item'],
    ['tidy', false, 'done'],
    ['Filter', true, 'page'],
    ['tidy', false, 'rejected'],
  ])
  await service.close()
})

test('in-process calls are traced as events without a request and without an authentication', async () => {
  const service = openShop()
  await service.ready()
  const { heard, ended } = listen()
  const access = service.as(maria).collection('sales', 'log')
  await access.filter({})
  await access.get(7)
  expect(new Set(heard.map(({ stage }) => stage))).toEqual(new Set(['event', 'storage']))
  expect(ended('event').map(({ event, outcome }) => [event, outcome])).toEqual([
    ['Filter', 'page'],
    ['Filter', null],
  ])
  await service.close()
})

test('a request to a closed service is traced with 503', async () => {
  const service = openShop()
  await service.close()
  const { heard, ended } = listen()
  expect((await createTestClient(service).get('/sales/orders')).status).toBe(503)
  expect(new Set(heard.map(({ stage }) => stage))).toEqual(new Set(['request']))
  expect(ended('request')).toMatchObject([
    { status: 503, code: 'UNAVAILABLE', application: null, path: '/rest/v1/sales/orders' },
  ])
})

test('no trace is created for a request without subscribers', async () => {
  const service = openShop()
  await service.ready()
  const read: string[] = []
  const ask = () =>
    service.handle({
      method: 'GET',
      target: '/rest/v1/sales/orders',
      header: (name) => {
        read.push(name)
        return undefined
      },
      secure: false,
      peer: undefined,
      body: () => Promise.resolve(new Uint8Array()),
      signal: undefined,
    })
  await ask()
  expect(read).not.toContain('traceparent')
  listen('request')
  await ask()
  expect(read).toContain('traceparent')
  await service.close()
})
