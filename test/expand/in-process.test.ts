import { expect, test } from 'vitest'
import { createClient, type PortableCollection } from '../../src/entries/client.ts'
import {
  createService,
  defineCollection,
  integer,
  json,
  memoryStorage,
  openAccess,
  principal,
  system,
  text,
} from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { describeForCallers } from '../kit/stage.ts'
import { serveDuringTest } from '../kit/server.ts'
import { application, auditor, clerk, guest, stranger } from './sales.ts'

const customers = defineCollection({
  key: 'id',
  fields: { id: integer(), name: text(), more: json(), note: text({ includeByDefault: false }) },
  expand: { orders: { from: 'orders', sort: '-orderId', limit: 2 } },
})
const orders = defineCollection({
  key: 'orderId',
  fields: {
    orderId: integer(),
    customerId: integer({ references: 'customers' }),
    title: text({ itemOnly: true }),
  },
  cursor: true,
  expand: { customer: 'customerId' },
})

async function open() {
  const service = createService({
    applications: { app: { collections: { customers, orders } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const own = service.as(system)
  await own.collection('app', 'customers').insertMany([
    { id: 1, name: '"Ann"', more: { a: [1, 'ä'] }, note: 'n' },
    { id: 2, name: null },
  ])
  await own.collection('app', 'orders').insertMany([
    { orderId: 1, customerId: 1, title: 'x' },
    { orderId: 2, customerId: 1 },
    { orderId: 3, customerId: 1 },
    { orderId: 4, customerId: null },
  ])
  const requests: string[] = []
  const handler = toNodeHandler(service)
  const url = await serveDuringTest((request, response) => {
    requests.push(decodeURIComponent(request.url ?? ''))
    handler(request, response)
  })
  return {
    inside: service.as(principal('maria')),
    outside: createClient<typeof service>({ url, pageSize: 2 }),
    service,
    requests,
  }
}

test('related items are the same in process and over the network', async () => {
  const { inside, outside, requests } = await open()
  const ann = { id: 1, name: '"Ann"', more: { a: [1, 'ä'] } }
  const all = await inside
    .collection('app', 'orders')
    .filter({}, { expand: ['customer'], limit: 100 })
  expect(all.items.map(({ orderId, customer }) => [orderId, customer])).toEqual([
    [1, ann],
    [2, ann],
    [3, ann],
    [4, null],
  ])
  const remote = outside.collection('app', 'orders')
  const { items } = await remote.filter({}, { expand: ['customer'] })
  expect(items.map((item) => ({ ...item, title: expect.anything() as string }))).toEqual(
    all.items.map((item) => ({ ...item, title: expect.anything() as string })),
  )
  expect(requests).toHaveLength(2)
  const read = []
  for await (const item of remote.items({}, { expand: ['customer'], fields: ['orderId'] }))
    read.push(item)
  expect(read).toEqual(all.items.map(({ orderId, customer }) => ({ orderId, customer })))

  const lists = { items: [3, 2].map((orderId) => ({ orderId, customerId: 1 })), more: true }
  async function readOrders(one: PortableCollection<typeof customers>): Promise<void> {
    expect(await one.get(1, { expand: ['orders'] })).toEqual({ ...ann, note: 'n', orders: lists })
    expect(await one.get(9, { expand: ['orders'] })).toBeUndefined()
    const found = await one.filter({ id: 2 }, { expand: ['orders'], limit: 1 })
    expect(found.items[0]?.orders).toEqual({ items: [], more: false })
    expect(Object.keys((await one.get(1, { expand: [] })) ?? {})).not.toContain('orders')
  }
  await readOrders(inside.collection('app', 'customers'))
  await readOrders(outside.collection('app', 'customers'))
})

test('related items are read in transactions and by handlers', async () => {
  const { service } = await open()
  await service.as(system).transaction(async ({ collection }) => {
    await collection(customers).update(1, { name: 'Amy' })
    const order = await collection(orders).get(1, { expand: ['customer'], lock: true })
    expect(order).toMatchObject({ customer: { name: 'Amy' } })
    const page = await collection('app', 'orders').filter({}, { expand: ['customer'], limit: 1 })
    expect(page.items[0]?.customer?.name).toBe('Amy')
  })
})

test.each<[object, string | RegExp]>([
  [{ expand: ['nope'], limit: 1 }, 'expand: orders has no relation nope.'],
  [{ expand: ['__proto__'], limit: 1 }, 'expand: orders has no relation __proto__.'],
  [{ expand: ['customer', 'customer'], limit: 1 }, /each of them once/],
  [{ expand: 'customer', limit: 1 }, /must be a list/],
  [{ expand: [1], limit: 1 }, /no relation 1/],
  [{ expand: ['customer'] }, /more than 2000 related items. Set limit/],
  [{ expand: ['customer'], limit: 2001 }, /more than 2000/],
])('filter with %o throws a TypeError', async (options, message) => {
  const { inside } = await open()
  const call = inside.collection('app', 'orders').filter({}, options)
  await expect(call).rejects.toThrow(message)
  await expect(call).rejects.toThrow(TypeError)
})

describeForCallers('expand in process', (on) => {
  on('has the values of HTTP, with the rights of the caller', async (given) => {
    const stage = given(application)
    const ordersOf = (who: typeof guest) => {
      const user = principal(String(who['x-user']), {
        roles: who['x-roles']?.split(',') ?? [],
        attributes: 'x-region' in who ? { region: who['x-region'] } : {},
      })
      return stage.service.as(user).collection('app', 'orders')
    }
    await stage.plant('customers', [
      { id: 1, name: 'Ann', city: 'Oslo', credit: 5 },
      { id: 2, name: 'Bob', city: 'Rome' },
    ])
    await stage.plant('orders', [
      { orderId: 1, customerId: 1, payerId: 2, data: { a: [1, '"'] } },
      { orderId: 2, customerId: 2, payerId: null },
    ])
    await stage.plant('lines', [{ orderId: 1, lineNo: 1, product: 'p' }])
    for (const who of [auditor, clerk]) {
      const { text: body } = await stage.ask(
        who,
        'GET',
        '/orders?$expand=customer,payer,lines&$fields=*',
      )
      const { items } = await ordersOf(who).filter(
        {},
        { expand: ['lines', 'payer', 'customer'], limit: 10 },
      )
      expect(items).toEqual((JSON.parse(body) as { items: unknown }).items)
    }
    const read = async (who: typeof guest, relation: string): Promise<unknown> =>
      ordersOf(who).get(1, { expand: [relation] })
    await expect(read(guest, 'lines')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await read(stranger, 'customer')).toMatchObject({ customerId: 1, customer: null })
    await expect(read(guest, 'nope')).rejects.toThrow(TypeError)
  })
})
