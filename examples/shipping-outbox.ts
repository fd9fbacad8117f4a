// Orders are sent to a shipping service that is down at first. An outbox stores each call in the
// transaction of its order, and repeats it until the service responds.
import {
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  principal,
  text,
} from 'rowgate'
import { connection, createOutbox, deliverTo, endpoint, rule, sample } from 'rowgate/consume'

let isUp = false
const shipping = connection({
  baseUrl: 'https://shipping.example.com',
  attempts: 1,
  fetch: async () =>
    isUp ? Response.json({ tracking: 'T-7' }) : Response.json({}, { status: 503 }),
})
const createShipment = endpoint(shipping, {
  name: 'create-shipment',
  method: 'POST',
  path: '/shipments',
  body: sample({ reference: 'A7' }),
  response: sample({ tracking: 'T-1' }),
})

const shipments = defineCollection({
  key: 'orderId',
  fields: { orderId: text(), tracking: text({ required: true }) },
})
const outbox = createOutbox({
  endpoints: {
    'create-shipment': deliverTo(createShipment, {
      rules: [
        rule(createShipment, {
          into: shipments,
          upsertBy: ['orderId'],
          set: { orderId: { caller: 'orderId' }, tracking: 'tracking' },
        }),
      ],
    }),
  },
  pollInterval: 20,
  backOff: { first: 50, max: 1_000 },
})
const orders = defineCollection(
  { key: 'orderId', fields: { orderId: text() } },
  {
    events: {
      Insert: {
        after: async (event) => {
          const { orderId } = event.item
          const input = { body: { reference: orderId } }
          const options = { lane: `orders/${orderId}`, row: { orderId } }
          await outbox.enqueue(event, 'create-shipment', input, options)
        },
      },
    },
  },
)
const service = createService({
  applications: { sales: { collections: { orders, shipments } } },
  storage: memoryStorage(),
  security: openAccess(),
  outbox,
  report: ({ type }) => {
    console.log(type)
    isUp = true
  },
})

const sales = service.as(principal('maria'))
await sales.collection('sales', 'orders').insert({ orderId: 'A7' })
while ((await outbox.list({ state: 'delivered' })).length === 0)
  await new Promise((resolve) => setTimeout(resolve, 20))
console.log((await sales.collection('sales', 'shipments').filter()).items)
await service.close()
