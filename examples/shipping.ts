// Orders are posted to a shipping API, and the parcels of its responses are stored as shipments.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createService, defineCollection, memoryStorage, openAccess, principal } from 'rowgate'
import { integer, text } from 'rowgate'
import { connection, endpoint, rule, sample, send, typed } from 'rowgate/consume'

// The other side: an API that makes two parcels of every order, and does not deliver to Atlantis.
async function ship(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const { reference, city } = JSON.parse(body) as { reference: string; city: string }
  const parcels = [1, 2].map((no) => ({
    tracking: `${reference}-${no}`,
    grams: 250 * no,
    events: [{ code: 'created' }],
  }))
  response.writeHead(city === 'Atlantis' ? 422 : 201, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ id: `S-${reference}`, carrier: { name: 'dhl' }, parcels }))
}
const shippingApi = createServer((request, response) => void ship(request, response))
await new Promise<void>((resolve) => shippingApi.listen(0, '127.0.0.1', resolve))
const { port } = shippingApi.address() as AddressInfo

const orders = defineCollection({
  key: 'orderId',
  fields: { orderId: text(), city: text({ required: true }), state: text({ default: 'new' }) },
})
const shipments = defineCollection({
  key: 'tracking',
  fields: {
    tracking: text(),
    orderId: text({ required: true }),
    carrier: text(),
    kilograms: text(),
    position: integer(),
  },
})
const service = createService({
  applications: { shop: { collections: { orders, shipments } } },
  storage: memoryStorage(),
  security: openAccess(),
})

const createShipment = endpoint(
  // Only this example's own server needs HTTP and a private address.
  connection({ baseUrl: `http://127.0.0.1:${port}`, allowHttp: true, allowPrivateAddresses: true }),
  {
    name: 'create-shipment',
    method: 'POST',
    path: '/shipments',
    body: typed<{ readonly reference: string; readonly city: string }>(),
    // One response from the documentation of the API gives the tables and columns their types.
    response: sample({
      id: 'S-1',
      carrier: { name: 'dhl' },
      parcels: [{ tracking: 'T1', grams: 250, events: [{ code: 'created' }] }],
    }),
  },
)

const parcels = rule(createShipment, {
  from: 'parcels',
  into: shipments,
  upsertBy: ['tracking'],
  caller: orders,
  set: {
    tracking: 'tracking',
    orderId: { caller: 'orderId' },
    carrier: { root: 'carrier/name' },
    kilograms: ({ row }) => (row.grams / 1000).toFixed(2),
    position: ({ index }) => index + 1,
  },
})

const user = service.as(principal('dispatcher'))
const access = user.collection('shop', 'orders')
await access.insert({ orderId: 'o1', city: 'Oslo' })
await access.insert({ orderId: 'o2', city: 'Atlantis' })
const { items } = await access.filter({ state: 'new' })

const sent = await send(user, createShipment, {
  rows: items,
  input: ({ orderId, city }) => ({ body: { reference: orderId, city } }),
  call: ({ orderId }) => ({ idempotencyKey: orderId }),
  rules: [parcels],
  // In the transaction of the rules: the shipments and the state are stored together, or not at all.
  onSuccess: async ({ caller, tables, collection }) => {
    const count = tables.rows('parcels').length
    await collection(orders).update(caller('orderId') ?? '', { state: `${count} parcels` })
  },
  onFailure: async ({ caller, error, collection }) => {
    console.log(error instanceof Error ? error.message : error)
    await collection(orders).update(caller('orderId') ?? '', { state: 'failed' })
  },
})
console.log(sent.map(({ status }) => status).join(', '))
console.log((await access.filter()).items)
console.log((await user.collection('shop', 'shipments').filter()).items)
await service.close()
shippingApi.close()
