// Checked by the compiler only: code that looks up collections that refer to each other.
import {
  createService,
  defineCollection,
  error,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
  withBehaviour,
  type CollectionBehaviour,
  type CollectionDefinition,
} from 'rowgate'

const customers = defineCollection({
  key: 'customerId',
  fields: { customerId: text(), rank: text({ enumeration: ['new', 'gold'] }), referredBy: text() },
})
const orders = defineCollection(
  {
    key: ['customerId', 'number'],
    fields: { customerId: text(), number: integer(), total: integer({ required: true }) },
  },
  { userDefinedEvents: { cancel: ({ own }) => own.get(['x', 1]) } },
)

// In a file of its own.
export const orderCode: CollectionBehaviour<typeof orders> = {
  events: { Delete: { before: ({ stored }) => void stored.total.toFixed() } },
}

const collections = {
  customers: withBehaviour(customers, {
    validations: [
      error('referrer', {
        field: 'referredBy',
        check: async ({ referredBy }, { find }) => {
          const [referrer] = await find(customers, { customerId: referredBy ?? '' })
          const rank: 'new' | 'gold' | null | undefined = referrer?.rank
          // @ts-expect-error no such field
          await find(customers, { nope: 1 })
          // @ts-expect-error not one of the enumeration
          await find(customers, { rank: 'silver' })
          return rank ?? undefined
        },
      }),
      // @ts-expect-error a rule about a field that does not exist
      error('nothing', { field: 'nope', check: () => null }),
    ],
    events: {
      Insert: {
        prepare: ({ values }) => ({ known: values.rank }),
        before: ({ prepared, item }) => {
          item.rank = prepared.known ?? 'new'
        },
      },
      Delete: {
        before: async ({ stored, collection, find }) => {
          const open = await find(orders, { customerId: stored.customerId })
          for (const { customerId, number, total } of open) {
            total.toFixed()
            await collection(orders).delete([customerId, number])
            // @ts-expect-error a key with a part missing
            await collection(orders).delete([customerId])
          }
        },
      },
    },
    userDefinedEvents: {
      promote: async ({ own }, by: number) => (await own.get('x'))?.rank ?? by,
    },
  }),
  orders: withBehaviour(orders, {
    rows: { equal: { customerId: { principal: 'user' } } },
    events: {
      Insert: {
        after: async ({ item, collection }) => {
          const customer = await collection(customers).get(item.customerId)
          await collection(customers).update(item.customerId, { rank: customer?.rank ?? 'new' })
        },
      },
    },
  }),
}

withBehaviour(customers, {
  // @ts-expect-error no such event
  events: { Remove: {} },
})
withBehaviour(customers, {
  // @ts-expect-error no such member
  validation: [],
})
// @ts-expect-error the code is missing
withBehaviour(customers)

const service = createService({
  applications: { sales: { collections } },
  storage: memoryStorage(),
  security: openAccess(),
})

export async function calls(): Promise<void> {
  const user = service.as(principal('maria'))
  const promoted = await user.collection('sales', 'customers').invoke('promote', 1)
  if (!promoted.rejected) promoted.result.toString()
  await user.collection('sales', 'orders').invoke('cancel')
  // @ts-expect-error a wrong input
  await user.collection('sales', 'customers').invoke('promote', 'x')
  await user.transaction(async ({ collection }) => {
    await collection(customers).update('x', { rank: 'gold' })
    await collection(collections.customers).update('x', { rank: 'gold' })
  })
}

export const loose: CollectionDefinition = collections.orders
