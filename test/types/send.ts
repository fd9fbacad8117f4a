// Checked by the compiler only: handlers of responses are typed by the endpoint, the rows and the service.
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
} from 'rowgate'
import { connection, endpoint, nest, rule, send, sendTogether, typed } from 'rowgate/consume'

const orders = defineCollection({
  key: 'orderId',
  fields: { orderId: text(), lines: integer({ required: true }) },
})
const parcels = defineCollection({ key: 'tracking', fields: { tracking: text() } })
const service = createService({
  applications: { shop: { collections: { orders, parcels } } },
  storage: memoryStorage(),
  security: openAccess(),
})
const user = service.as(principal('maria'))

interface Shipped {
  readonly id: string
  readonly parcels: readonly { readonly tracking: string }[]
}
const create = endpoint(connection({ baseUrl: 'https://shipping.example' }), {
  name: 'create',
  method: 'POST',
  path: '/shipments',
  body: typed<{ readonly reference: string }>(),
  response: typed<Shipped>(),
})
const stored = rule(create, {
  from: 'parcels',
  into: parcels,
  caller: orders,
  set: { tracking: 'tracking' },
})

export async function calls(): Promise<void> {
  const { items } = await user.collection('shop', 'orders').filter()
  await send(user, create, {
    rows: items,
    input: ({ orderId }) => ({ body: { reference: orderId } }),
    call: ({ orderId }) => ({ idempotencyKey: orderId }),
    rules: [stored],
    onSuccess: async ({ caller, tables, response, collection }) => {
      const id: string | null = caller('orderId')
      const lines: number | null = caller('lines')
      const word: string | null = caller('anything', 'uuid')
      const tracking: string | undefined = tables.rows('parcels')[0]?.values.tracking
      await collection('shop', 'parcels').insert({ tracking: `${id}${lines}${word}${tracking}` })
      await collection(parcels).delete(response.body.id)
      // @ts-expect-error the field is a text
      const wrong: number | null = caller('orderId')
      // @ts-expect-error an unknown table
      tables.rows('parcel')
      // @ts-expect-error an unknown column
      tables.rows('parcels')[0]?.values.traking.trim()
      // @ts-expect-error an unknown collection
      collection('shop', 'nope')
      return wrong as never
    },
    onFailure: async ({ caller, response, collection }) => {
      await collection(orders).update(caller('orderId') ?? '', { lines: response?.status ?? 0 })
    },
  })
  await sendTogether(user, create, {
    rows: items,
    input: (rows) => ({ body: { reference: rows[0]?.orderId ?? '' } }),
    match: { table: 'parcels', by: { column: 'tracking', field: 'orderId' } },
    rules: [stored],
    onSuccess: ({ caller }) => void caller('lines'),
  })
  await sendTogether(user, create, {
    rows: items,
    input: () => ({ body: { reference: '' } }),
    onSuccess: ({ callers }) => void callers[0]?.('lines'),
  })
  await sendTogether(user, create, {
    rows: items,
    input: () => ({ body: { reference: '' } }),
    // @ts-expect-error without match there is no single caller
    onSuccess: ({ caller }) => void caller('lines'),
  })
  // @ts-expect-error an input of the wrong type
  await send(user, create, { rows: items, input: ({ lines }) => ({ body: { reference: lines } }) })
  await send(user, create, {
    rows: [{ a: 1 }],
    input: () => ({ body: { reference: '' } }),
    // @ts-expect-error the rule reads fields that these rows do not have
    rules: [stored],
  })
  nest({ rows: items, set: { 'a/b': 'orderId', lines: ({ lines }) => lines } })
  // @ts-expect-error an unknown field
  nest({ rows: items, set: { a: 'orderid' } })
  nest({
    rows: items,
    set: {},
    nest: {
      // @ts-expect-error the row above has no such field
      tags: { rows: [{ id: 'x', tag: 'y' }], on: { id: 'orderid' }, set: { value: 'tag' } },
    },
  })
}
