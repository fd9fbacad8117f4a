import { expect, test } from 'vitest'
import {
  createService,
  memoryStorage,
  mount,
  openAccess,
  readApplications,
} from '../../src/entries/index.ts'
import { definitionJsonSchema } from '../../src/definition/check.ts'

const integer = { type: 'integer' }
const text = { type: 'text' }
const orders = {
  key: 'id',
  fields: { id: integer, customer: text, price: { type: 'decimal', precision: 9, scale: 2 } },
}
const lines = {
  key: ['order', 'product'],
  fields: { order: integer, product: text, price: { type: 'decimal', precision: 9, scale: 3 } },
}
const prices = { key: 'price', fields: { price: { type: 'decimal', precision: 9, scale: 2 } } }
const days = { key: 'at', fields: { at: { type: 'instant', storedAs: 'unixSeconds' } } }
const visits = { key: 'id', fields: { id: integer, at: { type: 'instant' } } }
const keyless = { fields: { id: integer } }

const through = (given: object) => ({ ...lines, rows: { through: given } })

function messageOf(collections: object): string {
  try {
    readApplications({ app: { collections } })
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  [{ field: 'order', collection: 'orders' }, ''],
  [{ fields: ['order'], collection: 'orders' }, ''],
  [[{ field: 'order', collection: 'orders' }], ''],
  [
    { collection: 'orders' },
    'rows.through.field: name either field, or fields for a composite key',
  ],
  [
    { field: 'order', fields: ['order'], collection: 'orders' },
    'rows.through.field: name either field, or fields',
  ],
  [
    { field: 'product', collection: 'orders' },
    'rows.through.field: product must be a field of type integer, as id of orders is',
  ],
  [
    { field: 'price', collection: 'prices' },
    'rows.through.field: price must be a field of type decimal with scale 2',
  ],
  [
    { field: 'ordr', collection: 'orders' },
    'rows.through.field: ordr is not a field; did you mean order?',
  ],
  [{ field: 'order', collection: 'keyless' }, 'rows.through.field: keyless has no key'],
  [
    { fields: ['order', 'product'], collection: 'orders' },
    'rows.through.fields: orders has the key id',
  ],
  [
    { field: 'order', collection: 'nope' },
    'rows.through.collection: must be a collection of the same application',
  ],
  [
    [
      { field: 'order', collection: 'orders' },
      { field: 'order', collection: 'nope' },
    ],
    'rows.through.1.collection: must be',
  ],
])('a rule through %j is checked at start', (given, message) => {
  const found = messageOf({ orders, keyless, prices, lines: through(given) })
  if (message === '') expect(found).toBe('')
  else expect(found).toContain(`applications.app.collections.lines.${message}`)
})

test('a field must store its values in the form of the key', () => {
  const rows = { through: { field: 'at', collection: 'days' } }
  expect(messageOf({ days, visits: { ...visits, rows } })).toContain(
    'at must be a field of type instant stored as unixSeconds, as at of days is',
  )
})

test('rules that go through each other are a mistake of each', () => {
  const to = (collection: string) => ({
    ...visits,
    rows: { where: { or: [{ through: { field: 'id', collection } }] } },
  })
  const message = messageOf({ a: to('b'), b: to('c'), c: to('a'), d: to('a') })
  expect(message.split('\n').slice(1)).toEqual([
    expect.stringContaining('a.rows.through: goes through b, c back to itself'),
    expect.stringContaining('b.rows.through: goes through c, a back to itself'),
    expect.stringContaining('c.rows.through: goes through a, b back to itself'),
  ])
  expect(messageOf({ a: to('a') })).toContain('a.rows.through: goes through itself: leave out')
})

test('a served collection has no rows in the database', () => {
  const served = { ...orders, serve: { filter: () => [] } }
  const create = (collections: object) => () =>
    createService({
      applications: { app: { collections } } as never,
      storage: memoryStorage(),
      security: openAccess(),
    })
  expect(
    create({ orders: served, lines: through({ field: 'order', collection: 'orders' }) }),
  ).toThrow('lines.rows.through.collection: orders is served by functions')
  const rows = { through: { field: 'id', collection: 'visits' } }
  expect(create({ orders: { ...served, rows }, visits })).toThrow(
    'orders.rows.through.collection: a served collection is not in the database',
  )
})

test('both collections must be in one storage', async () => {
  const collections = { orders, lines: through({ field: 'order', collection: 'orders' }) }
  const service = createService({
    applications: { app: { collections } } as never,
    storage: mount({ '*': memoryStorage(), 'app/orders': memoryStorage() }),
    security: openAccess(),
    report: false,
  })
  await expect(service.ready()).rejects.toThrow(
    'The row rule of app/lines goes through orders, which is in another storage. Mount both in one.',
  )
  await service.close()
})

test('the JSON Schema of definitions has the rules', () => {
  const rule = JSON.stringify(definitionJsonSchema())
  for (const word of ['"through"', '"where"', '"equal"', '"exceptRoles"'])
    expect(rule).toContain(word)
})
