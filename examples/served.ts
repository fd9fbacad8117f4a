// Collections served by functions: a report, a single item, and a gateway to another system.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createService, defineCollection, memoryStorage, openAccess } from 'rowgate'
import { StorageError } from 'rowgate/storage'
import { anonymous, integer, text } from 'rowgate'

const orders = defineCollection({
  key: 'id',
  fields: { id: integer(), product: text({ required: true }), cents: integer({ required: true }) },
})

// A report over another collection. It returns all its items; rowgate makes pages of them.
const revenue = defineCollection(
  { key: 'product', fields: { product: text(), orders: integer(), cents: integer() } },
  {
    serve: {
      filter: async ({ find }) => {
        const sold = await find(orders)
        return [...new Set(sold.map(({ product }) => product))].map((product) => {
          const own = sold.filter((order) => order.product === product)
          const cents = own.reduce((sum, order) => sum + order.cents, 0)
          return { product, orders: own.length, cents }
        })
      },
    },
  },
)

// A single item, at the path of the collection.
const health = defineCollection(
  { singleton: true, fields: { state: text({ required: true }), orders: integer() } },
  {
    serve: {
      get: async ({ collection }) => {
        const { count } = await collection(orders).filter({}, { limit: 0, count: true })
        return { state: 'running', orders: count }
      },
    },
  },
)

// The other system: it keeps parcels, and speaks JSON over HTTP.
const parcels = new Map<string, object>()
const carrier = createServer((request, response) => {
  const code = request.url?.slice(1) ?? ''
  const found = code === '' ? [...parcels.values()] : parcels.get(code)
  const isNew = request.method === 'PUT' && found === undefined
  let body = ''
  request.on('data', (chunk) => (body += String(chunk)))
  request.on('end', () => {
    if (isNew) parcels.set(code, JSON.parse(body) as object)
    response.writeHead(isNew ? 201 : request.method === 'PUT' ? 409 : found ? 200 : 404)
    response.end(JSON.stringify(parcels.get(code) ?? found ?? null))
  })
})
await new Promise<void>((resolve) => carrier.listen(0, '127.0.0.1', resolve))
const carrierUrl = `http://127.0.0.1:${(carrier.address() as AddressInfo).port}`

interface Parcel {
  readonly code: string
  readonly city: string
}

async function ask(path: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(`${carrierUrl}/${encodeURIComponent(path)}`, init)
  if (response.status === 404) return undefined
  if (response.status === 409) throw new StorageError('duplicate', { fields: ['code'] })
  if (!response.ok) throw new StorageError('unavailable', { retryAfter: 10 })
  return response.json()
}

const shipments = defineCollection(
  { key: 'code', fields: { code: text(), city: text({ required: true, maxLength: 30 }) } },
  {
    serve: {
      filter: async ({ signal }) => (await ask('', { signal })) as readonly Parcel[],
      get: async ({ key, signal }) => (await ask(key, { signal })) as Parcel | undefined,
      insert: async ({ item, signal }) =>
        (await ask(item.code, { method: 'PUT', body: JSON.stringify(item), signal })) as Parcel,
    },
  },
)

const service = createService({
  applications: { sales: { collections: { orders, revenue, health, shipments } } },
  storage: memoryStorage(),
  security: openAccess(),
})

const sales = service.as(anonymous)
for (const [id, product] of ['tea', 'coffee', 'tea'].entries()) {
  await sales.collection('sales', 'orders').insert({ id, product, cents: 300 + id })
}
const page = await sales.collection('sales', 'revenue').filter({}, { sort: ['-cents'], limit: 1 })
console.log(page.items)
console.log((await sales.collection('sales', 'revenue').get('coffee'))?.cents)
for (const city of ['Bergen', 'Oslo']) {
  const saved = await sales.collection('sales', 'shipments').insert({ code: 'P1', city })
  console.log(saved.rejected ? saved.validations[0]?.message : `sent to ${saved.item.city}`)
}
console.log((await sales.collection('sales', 'shipments').filter({ city: 'Bergen' })).items)
await service.close()
carrier.close()
