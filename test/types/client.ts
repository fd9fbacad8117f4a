// Checked by the compiler only: the client is typed by a service, or by its applications.
import {
  boolean,
  computed,
  createService,
  defineCollection,
  integer,
  json,
  memoryStorage,
  openAccess,
  principal,
  text,
  withBehaviour,
} from 'rowgate'
import { attempt, createClient, saved, type PortableCollection } from 'rowgate/client'
import { lines } from './definition.ts'

const notes = defineCollection({
  key: 'id',
  fields: { id: integer(), note: text({ required: true }), more: json() },
})
const goods = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    name: text(),
    size: integer(),
    sold: boolean(),
    state: text({ enumeration: ['open', 'done'] }),
  },
  operators: { size: ['gte', 'lt', 'in'], name: ['startsWith', 'isNull'], state: ['in', 'ne'] },
})
const moved = defineCollection({
  key: 'id',
  fields: { id: integer(), goodId: integer({ references: 'goods' }) },
  relations: { good: 'goodId' },
  operators: { id: ['gte'], 'good.name': ['eq', 'in'], 'good.size': ['gte'] },
})
const every = withBehaviour(
  defineCollection({
    key: 'id',
    fields: { id: integer(), name: text(), sold: boolean(), more: json() },
    operators: true,
  }),
  { validations: [] },
)
const indexed = defineCollection({ key: 'id', fields: { id: integer() }, operators: 'indexed' })
const applications = { sales: { collections: { lines, notes, goods, moved, every, indexed } } }
const service = createService({
  applications,
  storage: memoryStorage(),
  security: openAccess(),
})

const url = 'https://example.com'

export async function reads(): Promise<void> {
  const client = createClient<typeof service>({ url, key: async () => 'k' })
  const sales = client.collection('sales', 'lines')
  const page = await sales.filter({ state: 'open' }, { sort: ['-price', 'product'], count: true })
  const state: 'open' | 'done' | null | undefined = page.items[0]?.state
  const chosen = await sales.filter({}, { fields: ['price', 'state'], q: 'x' })
  const price: string | undefined = chosen.items[0]?.price
  // @ts-expect-error the field is not selected
  console.log(chosen.items[0]?.product)
  for await (const { orderId } of sales.items({ orderId: 1 }, { fields: ['orderId'] }))
    orderId.toFixed()
  for await (const { items, next } of sales.pages()) console.log(items[0]?.product, next)
  const item = await sales.get([1, 'x'])
  item?.price.toUpperCase()
  console.log(state, price, (await sales.count({ state: null })).toFixed(), await sales.exists())

  // @ts-expect-error no such collection
  client.collection('sales', 'nope')
  // @ts-expect-error no such application
  client.collection('nope', 'lines')
  // @ts-expect-error no such field in a condition
  await sales.filter({ nope: 1 })
  // @ts-expect-error a value of the wrong type
  await sales.filter({ orderId: 'x' })
  // @ts-expect-error the definition switches no operators on
  await sales.filter({ orderId: { gt: 1 } })
  // @ts-expect-error json fields can't be compared
  await client.collection('sales', 'notes').filter({ more: 1 })
  // @ts-expect-error no such field in a sort
  await sales.filter({}, { sort: ['nope'] })
  // @ts-expect-error no such field to select
  await sales.filter({}, { fields: ['nope'] })
  // @ts-expect-error a part of the key is missing
  await sales.get([1])
  // @ts-expect-error the parts of the key are in another order
  await sales.get(['x', 1])
  // @ts-expect-error the key has one field
  await client.collection('sales', 'notes').get([1])
  // @ts-expect-error the item may be missing
  console.log(item.price)
}

export async function operators(): Promise<void> {
  const { collection } = createClient<typeof service>({ url })
  const sold = collection('sales', 'goods')
  await sold.filter({ size: { gte: 1, lt: 10 }, name: { startsWith: 'a' }, state: { ne: 'open' } })
  await sold.count({ size: { in: [1, null] }, name: { isNull: true } })
  await sold.exists({ size: 1, state: { in: [] } })
  // @ts-expect-error the operator is off
  await sold.filter({ size: { gt: 1 } })
  // @ts-expect-error no operator of the field is on
  await sold.filter({ sold: { ne: true } })
  // @ts-expect-error equality has no operator
  await sold.filter({ size: { eq: 1 } })
  // @ts-expect-error a value of the wrong type
  await sold.filter({ size: { gte: '1' } })
  // @ts-expect-error a field without value is not compared
  await sold.filter({ size: { gte: null } })
  // @ts-expect-error not one of the values
  await sold.filter({ state: { in: ['closed'] } })
  // @ts-expect-error groups are in process only
  await sold.filter({ or: [{ size: 1 }, { size: 2 }] })
  // @ts-expect-error groups are in process only
  await sold.filter({ not: { size: 1 } })
  const all = collection('sales', 'every')
  await all.filter({ name: { contains: 'a', gt: 'b' }, sold: { in: [true] }, id: { lte: 5 } })
  // @ts-expect-error a boolean has no order
  await all.filter({ sold: { gte: true } })
  // @ts-expect-error a number has no parts
  await all.filter({ id: { contains: 1 } })
  // @ts-expect-error json fields can't be compared
  await all.filter({ more: { isNull: true } })
  await collection('sales', 'indexed').filter({ id: { gte: 1, in: [1, 2] } })
  // @ts-expect-error an index does not find what differs
  await collection('sales', 'indexed').filter({ id: { ne: 1 } })
  const related = collection('sales', 'moved')
  await related.filter({ 'good.name': 'x', 'good.size': { gte: 5 }, id: { gte: 1 } })
  await related.filter({ 'good.name': { in: ['x', null] } })
  // @ts-expect-error the operator is off
  await related.filter({ 'good.size': 5 })
  // @ts-expect-error the operator is off
  await related.filter({ 'good.name': { ne: 'x' } })
  // @ts-expect-error no operator of the field is on
  await related.filter({ 'good.state': 'open' })
  const { items } = await collection('sales', 'goods').filter({}, { fields: ['size'] })
  const size: number | null | undefined = items[0]?.size
  console.log(size)

  const fields = { id: integer(), name: text() }
  // @ts-expect-error no such field
  defineCollection({ key: 'id', fields, operators: { nam: ['in'] } })
  // @ts-expect-error no such field, beside another one
  defineCollection({ key: 'id', fields, operators: { name: ['in'], nam: ['in'] } })
  // @ts-expect-error no such operator
  defineCollection({ key: 'id', fields, operators: { name: ['like'] } })
  // @ts-expect-error no such word
  defineCollection({ key: 'id', fields, operators: 'all' })
}

export async function writes(): Promise<void> {
  const client = createClient<typeof applications>({ url, bearer: 'token' })
  const sales = client.collection('sales', 'lines')
  const result = await sales.insert({ orderId: 1, product: 'x', price: '1' })
  if (!result.rejected) result.item.price.toUpperCase()
  const field: 'orderId' | 'product' | 'state' | 'price' | 'extra' | undefined =
    result.validations[0]?.field
  const confirmed = await sales.confirm(result)
  console.log(field, saved(confirmed).price.toUpperCase())
  const tried = await attempt(sales.update([1, 'x'], { price: '2' }, { ignoreWarnings: 'all' }))
  if (tried.ok) saved(tried.value).price.toUpperCase()
  else console.log(tried.error.message)
  // @ts-expect-error the call may have failed
  console.log(tried.value)
  // @ts-expect-error a required field is missing
  await sales.insert({ orderId: 1, product: 'x' })
  // @ts-expect-error no such field in an update
  await sales.update([1, 'x'], { nope: 1 })
  // @ts-expect-error a value of the wrong type
  await sales.update([1, 'x'], { price: 1 })
  // @ts-expect-error the result may be a rejection
  result.item.price.toUpperCase()
  // @ts-expect-error user-defined events can't be invoked over HTTP
  sales.invoke('approve', { by: 'me' })
}

async function newest(portable: PortableCollection<typeof lines>): Promise<string | undefined> {
  const { items } = await portable.filter({ state: 'open' }, { sort: ['-orderId'], limit: 1 })
  return items[0]?.product
}

export async function both(): Promise<void> {
  await newest(service.as(principal('maria')).collection('sales', 'lines'))
  await newest(createClient<typeof service>({ url }).collection('sales', 'lines'))
}

export async function untyped(): Promise<void> {
  const any = createClient({ url, basic: { user: 'maria', password: 'secret' } })
  const { items } = await any.collection('sales', 'lines').filter({ state: 'open' })
  await any
    .collection('sales', 'lines')
    .filter({ price: { gte: 1, in: ['a'] }, b: { contains: 'x' } })
  const value: unknown = items[0]?.['state']
  console.log(value, await any.collection('sales', 'lines').get([1, 'x']))
  const ended = await any.releases.buildAndWait(
    { solutionId: 'shop' },
    { onProgress: ({ release }) => console.log(release.status) },
  )
  const status: 'queued' | 'building' | 'built' | 'failed' = ended.status
  console.log(status)
}

const scans = defineCollection({
  key: 'id',
  fields: { id: integer(), text: text({ itemOnly: true }) },
})

export async function singleItems(): Promise<void> {
  const client = createClient<{ sales: { collections: { scans: typeof scans } } }>({ url })
  const collection = client.collection('sales', 'scans')
  const { items } = await collection.filter()
  console.log(items[0]?.id, (await collection.get(1))?.text)
  // @ts-expect-error pages do not contain the field
  console.log(items[0]?.text)
  // @ts-expect-error pages do not contain the field
  await collection.filter({}, { fields: ['text'] })
  // @ts-expect-error the field can't be filtered by
  await collection.filter({ text: 'x' })
  // @ts-expect-error the field can't be filtered by
  await collection.count({ text: 'x' })
  const portable: PortableCollection<typeof scans> = collection
  // @ts-expect-error the field can't be filtered by
  await portable.exists({ text: 'x' })
}

const people = withBehaviour(
  defineCollection(
    { key: 'id', fields: { id: integer(), first: text({ required: true }), last: text() } },
    {
      computed: {
        name: computed(text(), ['first', 'last'], ({ first, last }) => `${first} ${last ?? ''}`),
        rank: computed(text({ required: true, enumeration: ['new', 'old'] }), ['id'], ({ id }) =>
          id > 9 ? 'old' : 'new',
        ),
        biography: computed(text({ itemOnly: true }), ['first'], ({ first }) => first),
      },
    },
  ),
  { computed: { isFirst: computed(boolean({ required: true }), ['id'], ({ id }) => id === 1) } },
)
const staff = createService({
  applications: { staff: { collections: { people } } },
  storage: memoryStorage(),
  security: openAccess(),
})

export async function computedFields(): Promise<void> {
  const collection = createClient<typeof staff>({ url }).collection('staff', 'people')
  const { items } = await collection.filter({ first: 'Ada' }, { sort: ['-id'] })
  const name: string | null | undefined = items[0]?.name
  const rank: 'new' | 'old' | undefined = items[0]?.rank
  const isFirst: boolean | undefined = items[0]?.isFirst
  const chosen = await collection.filter({}, { fields: ['id', 'rank'] })
  console.log(name, rank, isFirst, chosen.items[0]?.rank)
  // @ts-expect-error the field is not selected
  console.log(chosen.items[0]?.name)
  // @ts-expect-error pages do not contain the field
  console.log(items[0]?.biography)
  const biography: string | null | undefined = (await collection.get(1))?.biography
  const result = await collection.insert({ id: 1, first: 'Ada' })
  console.log(biography, saved(result).rank, saved(await collection.confirm(result)).isFirst)
  // @ts-expect-error the field may be null
  items[0]?.name.toUpperCase()
  // @ts-expect-error computed fields can't be filtered by
  await collection.filter({ name: 'Ada' })
  // @ts-expect-error computed fields can't be sorted by
  await collection.filter({}, { sort: ['name'] })
  // @ts-expect-error computed fields can't be written
  await collection.insert({ id: 1, first: 'Ada', name: 'Ada' })
  // @ts-expect-error no such computed field
  console.log(items[0]?.nope)
  const portable: PortableCollection<typeof people> = collection
  const inProcess: PortableCollection<typeof people> = staff
    .as(principal('maria'))
    .collection('staff', 'people')
  // @ts-expect-error items in process do not have computed fields
  console.log((await portable.filter()).items[0]?.name, inProcess)
}
