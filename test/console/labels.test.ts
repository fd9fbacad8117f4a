import { expect, test } from 'vitest'
import type { Field } from '../../src/console/app/collections.ts'
import { readable, withLabels } from '../../src/console/app/labels.ts'

test.each([
  ['unitPrice', 'Unit price'],
  ['customerId', 'Customer ID'],
  ['ID', 'ID'],
  ['order_no', 'Order no'],
  ['taxURL', 'Tax URL'],
  ['URLOfShop', 'URL of shop'],
  ['line2Text', 'Line2 text'],
  ['größeInCm', 'Größe in cm'],
  ['orderIDs', 'Order IDs'],
  ['orderIds', 'Order IDs'],
  ['URLs', 'URLs'],
  ['URLsOfShop', 'URLs of shop'],
  ['isAUser', 'Is a user'],
  ['title', 'Title'],
  ['__', '__'],
])('%s is read as %s', (name, label) => {
  expect(readable(name)).toBe(label)
})

const field = (name: string, { title, to }: { title?: string; to?: string } = {}) =>
  [
    name,
    {
      name,
      title,
      facts: { type: 'text', ...(to && { references: { collection: to, fields: [name] } }) },
    } as unknown as Field,
  ] as const
const labels = (...fields: ReturnType<typeof field>[]) =>
  [...withLabels({ listed: new Map(fields) }).listed.values()].map(({ label }) => label)

test('a reference is called like the item that it refers to', () => {
  expect(labels(field('orderId'), field('customerId', { to: 'customers' }))).toEqual([
    ...['Order ID', 'Customer'],
  ])
})

test('no two fields have the same label, and labels of the definition stay', () => {
  const reference = field('customerId', { to: 'customers' })
  expect(labels(field('customer'), reference)).toEqual(['Customer', 'Customer ID'])
  expect(labels(field('name', { title: 'Customer' }), reference)).toEqual([
    ...['Customer', 'Customer ID'],
  ])
  expect(labels(field('orderNo'), field('order_no'))).toEqual(['orderNo', 'order_no'])
  expect(labels(field('a', { title: 'X' }), field('b', { title: 'X' }))).toEqual(['X', 'X'])
})

test('a field has the same label in all places', () => {
  const reference = field('customerId', { to: 'customers' })
  const { listed, updatable } = withLabels({
    listed: new Map([field('customer'), reference]),
    updatable: new Map([reference]),
  })
  expect([listed, updatable].map((fields) => fields.get('customerId')?.label)).toEqual([
    ...['Customer ID', 'Customer ID'],
  ])
})
