import { expect, test } from 'vitest'
import { createService, memoryStorage, openAccess } from '../../src/entries/index.ts'
import type { CollectionDefinition } from '../../src/entries/index.ts'

const customers = { key: 'id', fields: { id: { type: 'integer' } } } as const
const orders = {
  key: 'id',
  fields: {
    id: { type: 'integer' },
    customerId: { type: 'integer', references: 'customers' },
    payerId: { type: 'integer', references: 'customers' },
    secret: { type: 'text', readableBy: ['Auditor'] },
    body: { type: 'text', itemOnly: true },
  },
} as const satisfies CollectionDefinition
const lines = {
  key: 'id',
  fields: { id: { type: 'integer' }, orderId: { type: 'integer', references: 'orders' } },
} as const

function mistakesOf(expand: object, changed: object = {}): readonly string[] {
  const collections = { customers, orders: { ...orders, expand }, lines, ...changed }
  try {
    createService({
      applications: { app: { collections } } as never,
      storage: memoryStorage(),
      security: openAccess(),
    })
    return []
  } catch (error) {
    const start = '  - applications.app.collections.orders.'
    return String(error)
      .split('\n')
      .slice(1)
      .map((line) => line.replace(start, ''))
  }
}

test.each<[object, readonly string[]]>([
  [{ customer: 'customerId', payer: ['payerId'], lines: { from: 'lines' } }, []],
  [{ lines: { from: 'lines', reference: 'orderId', sort: ['-id'], limit: 100 } }, []],
  [{ id: 'customerId' }, ['expand.id: id is a field already: use another name']],
  [
    { customer: 'customer' },
    ['expand.customer: is not a reference; the references are customerId, payerId'],
  ],
  [
    { lines: { from: 'line' } },
    ['expand.lines.from: line is not a collection of the application; did you mean lines?'],
  ],
  [
    { owners: { from: 'customers' } },
    ['expand.owners: customers has no reference to orders: add one, or leave it out'],
  ],
  [
    { lines: { from: 'lines', reference: 'id' } },
    [
      'expand.lines: needs reference: the fields of one of the references of lines to orders, which are orderId',
    ],
  ],
  [
    { lines: { from: 'lines', sort: 'no' } },
    ['expand.lines.sort: no is not a field; the fields are id, orderId'],
  ],
  [{ lines: { from: 'lines', limit: 101 } }, ['expand.lines.limit: must be at most 100']],
  [
    { lines: { form: 'lines' } },
    [
      'expand.lines: must be a string, or must be a list, or is missing: must be a string, and is not an option; did you mean from?',
    ],
  ],
])('expand %j', (expand, expected) => {
  expect(mistakesOf(expand)).toEqual(expected)
})

test('the order of related items reveals no field that some callers cannot read', () => {
  const sorted = (sort: string) => ({ orders: { from: 'orders', reference: 'customerId', sort } })
  for (const name of ['secret', 'body']) {
    const changed = { customers: { ...customers, expand: sorted(name) }, orders }
    expect(mistakesOf({}, changed)).toEqual([
      `  - applications.app.collections.customers.expand.orders.sort: ${name} cannot be used here because of its type, itemOnly or readableBy`,
    ])
  }
})

test('several references need a name, and the other collection publishes Filter', () => {
  const several = { customers: { ...customers, expand: { orders: { from: 'orders' } } } }
  expect(mistakesOf({}, several)).toEqual([
    '  - applications.app.collections.customers.expand.orders: needs reference: the fields of one of the references of orders to customers, which are customerId, payerId',
  ])
  const unpublished = { customers: { ...customers, publishes: ['Insert'] } }
  expect(mistakesOf({ customer: 'customerId' }, unpublished)).toEqual([
    'expand.customer: customers does not publish Filter: publish it, or leave this out',
  ])
})

test('lists have the filters that the other collection requires', () => {
  const fields = { ...lines.fields, shop: { type: 'integer' } }
  const requiring = (...requiredFilters: readonly string[]) => ({
    lines: { ...lines, fields, requiredFilters },
  })
  const expand = { lines: { from: 'lines' } }
  expect(mistakesOf(expand, requiring('orderId'))).toEqual([])
  expect(mistakesOf(expand, requiring('orderId', 'shop'))).toEqual([
    'expand.lines: lines requires filters by shop, which a list of related items does not have: leave it out',
  ])
})

test('__proto__ is not a relation', () => {
  expect(mistakesOf({ ['__proto__']: 'customerId' })).toEqual([
    'expand.__proto__: __proto__ is not a name: choose another',
  ])
})

test('pages have the fields of the reference', () => {
  const advice = 'needs the values of customerId in pages: leave itemOnly out there'
  const fields = { ...orders.fields, customerId: { ...orders.fields.customerId, itemOnly: true } }
  const operators = { 'customer.id': ['eq'] }
  const own = { orders: { ...orders, fields, operators, expand: { customer: 'customerId' } } }
  expect(mistakesOf({}, own).toSorted()).toEqual([
    `expand.customer: ${advice}`,
    `operators.customer.id: ${advice}`,
  ])
  const expand = { orders: { from: 'orders', reference: 'customerId' } }
  const reversed = { customers: { ...customers, expand }, orders: { ...orders, fields } }
  expect(mistakesOf({}, reversed)).toEqual([
    `  - applications.app.collections.customers.expand.orders: ${advice}`,
  ])
})
