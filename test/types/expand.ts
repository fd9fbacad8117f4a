// Checked by the compiler only: related items are typed by the relations that a definition names.
import {
  computed,
  createService,
  decimal,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  system,
  text,
  withBehaviour,
  type CollectionBehaviour,
  type CollectionDefinition,
} from 'rowgate'
import { createClient, type PortableCollection } from 'rowgate/client'

const customers = defineCollection(
  {
    key: 'id',
    fields: {
      id: integer(),
      name: text({ required: true }),
      rank: text({ enumeration: ['new', 'gold'] }),
      note: text({ includeByDefault: false }),
      photo: text({ itemOnly: true }),
    },
    expand: { orders: { from: 'orders', reference: 'customerId', limit: 5 } },
  },
  {
    computed: {
      label: computed(text({ includeByDefault: true }), ['name'], ({ name }) => name),
      long: computed(text(), ['name'], ({ name }) => name),
    },
  },
)
const orders = withBehaviour(
  defineCollection({
    key: 'orderId',
    fields: {
      orderId: integer(),
      customerId: integer({ references: 'customers' }),
      shop: text(),
      total: decimal({ precision: 9, scale: 2 }),
    },
    references: [{ fields: ['shop', 'orderId'], collection: 'shops' }],
    expand: { customer: 'customerId', shopOf: ['shop', 'orderId'] },
  }),
  { validations: [] },
)
// In a file of its own.
export const code: CollectionBehaviour<typeof customers> = {
  userDefinedEvents: { first: ({ own }) => own.get(1) },
}
export const coded = withBehaviour(
  defineCollection({ key: 'id', fields: customers.fields, expand: { orders: { from: 'orders' } } }),
  { userDefinedEvents: code.userDefinedEvents ?? {} },
)
const plain = defineCollection({ key: 'id', fields: { id: integer() } })
const service = createService({
  applications: { app: { collections: { customers, orders, plain } } },
  storage: memoryStorage(),
  security: openAccess(),
})
const client = createClient<typeof service>({ url: 'https://example.com' })

export async function process(): Promise<void> {
  const own = service.as(system).collection('app', 'orders')
  const { items } = await own.filter({}, { expand: ['customer'], limit: 5 })
  const [first] = items
  const rank: 'new' | 'gold' | null | undefined = first?.customer?.rank
  const label: string | null | undefined = first?.customer?.label
  console.log(rank, label, first?.customer?.name.trim(), first?.total)
  // @ts-expect-error the customer may be missing
  console.log(first?.customer.name)
  // @ts-expect-error pages leave it out by default
  console.log(first?.customer?.note)
  // @ts-expect-error pages leave it out
  console.log(first?.customer?.photo)
  // @ts-expect-error a computed field that is not included by default
  console.log(first?.customer?.long)
  // @ts-expect-error a related item has no relations
  console.log(first?.customer?.orders)
  // @ts-expect-error the relation is not expanded
  console.log(first?.shopOf)
  // @ts-expect-error no such relation
  await own.filter({}, { expand: ['customers'] })
  // @ts-expect-error a field is not a relation
  await own.get(1, { expand: ['customerId'] })
  // The type of a definition does not know where references of several fields lead.
  const other = await own.get(1, { expand: ['shopOf', 'customer'] })
  console.log(other?.shopOf?.['name'], other?.customer?.id)
  const page = await own.filter()
  // @ts-expect-error nothing is expanded
  console.log(page.items[0]?.customer)
  const none = service.as(system).collection('app', 'plain')
  // @ts-expect-error the collection has no relations
  await none.filter({}, { expand: ['x'] })
  await service.as(system).transaction(async ({ collection }) => {
    const one = await collection('app', 'customers').get(1, { expand: ['orders'] })
    one?.orders.items[0]?.total?.trim()
    // The items of a collection that is named by its definition are records.
    const record = await collection(customers).get(1, { expand: ['orders'] })
    console.log(record?.name.trim(), record?.orders.items[0]?.['total'], record?.orders.more)
    // @ts-expect-error no such relation
    await collection(customers).get(1, { expand: ['order'] })
  })
}

export async function remote(): Promise<void> {
  const own = client.collection('app', 'customers')
  const { items } = await own.filter({}, { expand: ['orders'], fields: ['id'] })
  for (const { id, orders: list } of items) {
    const more: boolean = list.more
    console.log(id.toFixed(), list.items[0]?.total?.trim(), more)
  }
  // @ts-expect-error the field is not selected
  console.log(items[0]?.name)
  // @ts-expect-error no such relation
  await own.filter({}, { expand: ['order'] })
  for await (const { customer } of client
    .collection('app', 'orders')
    .items({}, { expand: ['customer'] }))
    customer?.name.trim()
  for await (const page of own.pages({}, { expand: ['orders'] }))
    page.items[0]?.orders.more.valueOf()
  const tagged = await own.getTagged(1, { expand: ['orders'] })
  console.log(tagged?.item.orders.more, (await own.get(1, { expand: ['orders'] }))?.long)
  // @ts-expect-error nothing is expanded
  console.log((await own.get(1))?.orders)
}

export async function portable(
  given: PortableCollection<typeof orders, { customers: typeof customers }>,
): Promise<string | undefined> {
  const { items } = await given.filter({}, { expand: ['customer'], limit: 1 })
  return items[0]?.customer?.name
}
void portable(service.as(system).collection('app', 'orders'))
void portable(client.collection('app', 'orders'))

export async function loose(): Promise<void> {
  const untyped = createClient({ url: 'https://example.com' }).collection('a', 'b')
  const { items } = await untyped.filter({}, { expand: ['x'] })
  console.log(items[0]?.['x'])
  const definition: CollectionDefinition = customers
  console.log(definition)
}

const fields = { id: integer(), otherId: integer({ references: 'plain' }) }
// @ts-expect-error no such field
defineCollection({ key: 'id', fields, expand: { other: 'othreId' } })
// @ts-expect-error no such member
defineCollection({ key: 'id', fields, expand: { other: { form: 'plain' } } })
