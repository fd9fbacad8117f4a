import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { principal, type InProcess } from 'rowgate'
import { readCsv } from '../../examples/northwind/csv.ts'
import { people } from '../../examples/northwind/people.ts'
import { seedNorthwind } from '../../examples/northwind/seed.ts'
import {
  createNorthwind,
  createReleases,
  type applications,
  type Northwind,
} from '../../examples/northwind/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'northwind-'))
let service: Northwind
let trader: InProcess<typeof applications>
let salesman: InProcess<typeof applications>

beforeAll(async () => {
  const file = join(folder, 'northwind.db')
  await seedNorthwind(file)
  service = createNorthwind(file, createReleases(1))
  await service.ready()
  const { KEY: olivia, SAMUELS_KEY: samuel } = people
  trader = service.as(principal(olivia.user, olivia))
  salesman = service.as(principal(samuel.user, samuel))
})

afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

function messagesOf(saved: object | undefined): readonly unknown[] {
  const { validations = [] } = (saved ?? {}) as { validations?: readonly { message: unknown }[] }
  return validations.map(({ message }) => message)
}

async function stockOf(productId: number): Promise<number | undefined> {
  return (await trader.collection('sales', 'products').get(productId))?.unitsInStock
}

test('the sample data is complete', async () => {
  const counts: Record<string, number | null> = {}
  const names = ['customers', 'products', 'categories', 'suppliers', 'employees'] as const
  for (const name of [...names, 'shippers', 'orders', 'order-details'] as const) {
    const { count } = await trader.collection('sales', name).filter({}, { limit: 1, count: true })
    counts[name] = count
  }
  expect(counts).toEqual({
    customers: 91,
    products: 77,
    categories: 8,
    suppliers: 29,
    employees: 9,
    shippers: 4,
    orders: 180,
    'order-details': 441,
  })
})

describe('a customer', () => {
  test('with orders cannot be deleted', async () => {
    await expect(trader.collection('sales', 'customers').delete('ALFKI')).rejects.toMatchObject({
      code: 'ITEM_IN_USE',
      message: 'Other items still refer to this one: orders.',
    })
  })

  test('with the name of another one needs confirmation', async () => {
    const customers = trader.collection('sales', 'customers')
    const values = { customerId: 'TWICE', companyName: 'Kommen & Søn' }
    const held = await customers.insert(values)
    expect(messagesOf(held)).toEqual(['AKVAV has this company name already.'])
    expect((await customers.insert(values, { ignoreWarnings: 'all' })).rejected).toBe(false)
    expect((await customers.delete('TWICE'))?.rejected).toBe(false)
  })
})

describe('an order', () => {
  test('gets its number and day, and a customer who exists', async () => {
    const orders = trader.collection('sales', 'orders')
    const rejected = await orders.insert({ customerId: 'NOONE' })
    expect(messagesOf(rejected)).toEqual(['customerId must be the key of an item of customers.'])
    const saved = await orders.insert({ customerId: 'ALFKI' })
    if (saved.rejected) throw new Error(saved.message)
    expect(saved.item).toMatchObject({ orderId: 10428, freight: '0.0000' })
    expect(saved.item.orderDate).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect((await orders.delete(saved.item.orderId))?.rejected).toBe(false)
  })

  test('cannot be required or shipped before its date', async () => {
    const changed = await trader
      .collection('sales', 'orders')
      .change({ requiredDate: '2020-01-01', shippedDate: '2020-01-01' }, 10427)
    expect(messagesOf(changed)).toEqual([
      'The goods cannot be required before they are ordered.',
      'The goods cannot be shipped before they are ordered.',
    ])
  })

  test('is shipped once, and cannot be deleted then', async () => {
    const orders = trader.collection('sales', 'orders')
    const early = { orderId: 10410, shipperId: 4, shippedDate: '2020-01-01' }
    expect(messagesOf(await orders.invoke('ship', early))).toHaveLength(1)
    const shipped = await orders.invoke('ship', { ...early, shippedDate: '2026-06-01' })
    expect(shipped).toMatchObject({ rejected: false, result: { shippedDate: '2026-06-01' } })
    expect(messagesOf(await orders.invoke('ship', early))).toEqual([
      'The order was already shipped on 2026-06-01.',
    ])
    expect((await orders.delete(10410))?.rejected).toBe(true)
  })

  test('that is deleted returns its goods to the stock', async () => {
    expect(await stockOf(34)).toBe(83)
    await trader.collection('sales', 'orders').delete(10427)
    expect(await stockOf(34)).toBe(159)
    const { items } = await trader.collection('sales', 'order-details').filter({ orderId: 10427 })
    expect(items).toEqual([])
  })
})

describe('an order detail', () => {
  test('has the price of its product, and its insert, update and delete change the stock', async () => {
    const details = trader.collection('sales', 'order-details')
    const saved = await details.insert({ orderId: 10425, productId: 1, quantity: 10 })
    expect(saved).toMatchObject({ rejected: false, item: { unitPrice: '16.5000' } })
    expect(await stockOf(1)).toBe(54)
    const changed = await details.update([10425, 1], { quantity: 50, discount: '0.2' })
    expect(messagesOf(changed)).toEqual([
      'A discount above 15 % needs the approval of the sales manager.',
      'The stock of Fellside Breakfast Tea is now 14 units, below the reorder level of 20.',
    ])
    const priced = await details.update([10425, 1], { unitPrice: '15' })
    expect(priced).toMatchObject({ item: { unitPrice: '15.0000' } })
    const repriced = await details.update([10425, 1], { unitPrice: null })
    expect(repriced).toMatchObject({ item: { unitPrice: '16.5000' } })
    await details.delete([10425, 1])
    expect(await stockOf(1)).toBe(64)
  })

  test('of a discontinued product is rejected, and the stock does not change', async () => {
    const values = { orderId: 10425, productId: 53, quantity: 1 }
    const rejected = await trader.collection('sales', 'order-details').insert(values)
    expect(messagesOf(rejected)).toEqual(['Clam Strips, Breaded is discontinued.'])
    expect(await stockOf(53)).toBe(4)
  })
})

describe('a salesman', () => {
  const foreign = 'ALFKI'

  test('reads only the customers of his country', async () => {
    const customers = salesman.collection('sales', 'customers')
    const { items, count } = await customers.filter({}, { count: true })
    expect(new Set(items.map(({ country }) => country))).toEqual(new Set(['Germany']))
    expect([items.length, count]).toEqual([7, 7])
    expect(await customers.get(foreign)).toBeUndefined()
    expect(await customers.update(foreign, { phone: null })).toBeUndefined()
  })

  test('can move no customer out of his country, and add none of another', async () => {
    const customers = salesman.collection('sales', 'customers')
    const values = { customerId: 'NEUER', companyName: 'Neuer Laden' }
    await expect(customers.insert({ ...values, country: 'France' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(customers.update('BERGR', { country: 'France' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(await customers.insert(values)).toMatchObject({ item: { country: 'Germany' } })
    expect((await customers.delete('NEUER'))?.rejected).toBe(false)
  })

  test('cannot insert an order for a customer whom he cannot read', async () => {
    const orders = salesman.collection('sales', 'orders')
    expect(messagesOf(await orders.insert({ customerId: foreign }))).toEqual([
      'customerId must be the key of an item of customers.',
    ])
  })

  test('cannot change products, but his sales reduce the stock', async () => {
    const products = salesman.collection('sales', 'products')
    await expect(products.update(1, { unitsInStock: 0 })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    const details = salesman.collection('sales', 'order-details')
    const before = (await stockOf(1)) ?? 0
    await details.insert({ orderId: 10425, productId: 1, quantity: 10 })
    expect(await stockOf(1)).toBe(before - 10)
    await details.delete([10425, 1])
    expect(await stockOf(1)).toBe(before)
  })

  test('cannot read private fields of colleagues', async () => {
    const visible = ['employeeId', 'lastName', 'firstName', 'title', 'reportsTo']
    const colleague = await salesman.collection('sales', 'employees').get(1)
    expect(Object.keys(colleague ?? {})).toEqual(visible)
    const employee = await trader.collection('sales', 'employees').get(1)
    expect(employee).toMatchObject({ birthDate: '1969-03-14', country: 'Netherlands' })
  })
})

test('the CSV parser keeps quotes and line breaks, and distinguishes an empty string from null', () => {
  const [row] = readCsv('a,b,c,d\n"x ""y"", z","1\n2","",\n')
  expect([...(row ?? [])]).toEqual([
    ['a', 'x "y", z'],
    ['b', '1\n2'],
    ['c', ''],
    ['d', null],
  ])
  expect(() => [...readCsv('a,b\n1\n')]).toThrow('Row 2 has 1 cells.')
})
