// Checked by the compiler only: in-process calls are typed by the definition.
import {
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  principal,
  text,
} from 'rowgate'
import { lines } from './definition.ts'

const notes = defineCollection({ fields: { note: text({ required: true }) } })

const service = createService({
  applications: { sales: { collections: { lines, notes } } },
  storage: memoryStorage(),
  security: openAccess(),
})

export async function calls(): Promise<void> {
  const sales = service.as(principal('maria'))
  const access = sales.collection('sales', 'lines')
  const page = await access.filter({ state: 'open' }, { sort: ['-price', 'product'], count: true })
  const state: 'open' | 'done' | null | undefined = page.items[0]?.state
  const saved = await access.insert({ orderId: 1, product: 'x', price: '1' })
  if (!saved.rejected) saved.item.price.toUpperCase()
  const approved = await access.invoke('approve', { by: 'me' })
  if (!approved.rejected) approved.result?.product.toUpperCase()
  expectTyped(state)

  const several = await access.insertMany([{ orderId: 1, product: 'x', price: '1' }])
  if (!several.rejected) several.items[0]?.price.toUpperCase()
  for (const { index, key, field } of several.validations) {
    const named: readonly [number, string] | null = key
    const name: 'orderId' | 'product' | 'state' | 'price' | 'extra' | undefined = field
    console.log(index.toFixed(), named, name)
  }
  await access.updateMany({ state: 'open' }, { price: '2' }, { ignoreWarnings: 'all' })
  await access.deleteMany({ product: 'x' })
  // @ts-expect-error a required field is missing
  await access.insertMany([{ orderId: 1, product: 'x' }])
  // @ts-expect-error no such field in a condition
  await access.updateMany({ nope: 1 }, {})
  // @ts-expect-error no such field in an update
  await access.updateMany({}, { nope: 1 })
  // @ts-expect-error the conditions are missing
  await access.deleteMany()
  // @ts-expect-error no such collection
  sales.collection('sales', 'nope')
  // @ts-expect-error no such application
  sales.collection('nope', 'lines')
  // @ts-expect-error no such field in a condition
  await access.filter({ nope: 1 })
  // @ts-expect-error no such field in a sort
  await access.filter({}, { sort: ['nope'] })
  // @ts-expect-error no such field in an update
  await access.update([1, 'x'], { nope: 1 })
  // @ts-expect-error a value of the wrong type
  await access.update([1, 'x'], { price: 1 })
  // @ts-expect-error no such event
  await access.invoke('nope', {})
  // @ts-expect-error a wrong input
  await access.invoke('approve', { by: 1 })
  // @ts-expect-error this collection has no user-defined events
  await sales.collection('sales', 'notes').invoke('approve', {})
  // @ts-expect-error the result may be a rejection
  saved.item.price.toUpperCase()
}

export async function transactions(): Promise<number> {
  return service.as(principal('maria')).transaction(async ({ collection }) => {
    const saved = await collection(lines).insert({ orderId: 1, product: 'x', price: '1' })
    if (!saved.rejected) saved.item.price.toUpperCase()
    await collection('sales', 'lines').update([1, 'x'], { price: '2' })
    // @ts-expect-error no such collection
    collection('sales', 'nope')
    // @ts-expect-error no such application
    collection(lines, 'nope')
    // @ts-expect-error no such field
    await collection(lines).update([1, 'x'], { nope: 1 })
    return 1
  })
}

function expectTyped(_state: 'open' | 'done' | null | undefined): void {
  // The parameter's type is the check.
}
