import { expect, test } from 'vitest'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import { boolean, decimal, integer, text } from '../../src/definition/field.ts'
import { compareDefinitions } from '../../src/schema/describe/compare-definitions.ts'

type Collections = Readonly<Record<string, CollectionDefinition>>

const database: Collections = {
  orders: {
    key: 'id',
    table: 'Orders',
    fields: {
      id: integer({ generated: 'database', column: 'ID' }),
      customerId: integer({ references: 'customers', required: true, column: 'CustomerID' }),
      total: decimal({ precision: 10, scale: 2, storedAs: 'real' }),
      status: text({ enumeration: ['open', 'closed'], default: 'database' }),
    },
    index: [['-total', 'status']],
  },
  customers: { key: 'id', fields: { id: integer(), name: text({ maxLength: 40, unique: true }) } },
}

function differences(changed: (copy: typeof database) => Collections): readonly string[] {
  const existing = { shop: { collections: changed(database) } }
  const lower = (name: string): string => name.toLowerCase()
  return compareDefinitions(existing, database, lower).map(
    ({ kind, place, text: what }) => `${kind} ${place}: ${what}`,
  )
}

const withOrders = (fields: CollectionDefinition['fields'], options: object = {}): Collections => ({
  ...database,
  orders: { ...(database['orders'] as CollectionDefinition), fields, ...options },
})
const orderFields = database['orders']?.fields ?? {}

test('a definition has no differences from itself', () => {
  expect(differences((same) => same)).toEqual([])
})

test('other names, code, and options that a database does not have are no differences', () => {
  const renamed: Collections = {
    sales: {
      key: 'number',
      table: 'orders',
      fields: {
        number: integer({ generated: 'database', column: 'id', description: 'The number.' }),
        buyer: integer({ references: 'people', required: true, column: 'CustomerId' }),
        total: decimal({ precision: 10, scale: 2, storedAs: 'real', minimum: '0' }),
        state: text({
          enumeration: ['open', 'closed'],
          default: 'database',
          column: 'STATUS',
          search: false,
        }),
      },
      index: [['-total', 'state']],
      pageSize: { default: 20 },
      roles: ['Sales'],
      rows: () => true,
      validations: [{ name: 'any', severity: 'warning', check: () => undefined }],
    },
    people: { ...(database['customers'] as CollectionDefinition), table: 'customers' },
  }
  expect(differences(() => renamed)).toEqual([])
})

test('tables and columns that only one of them has are listed', () => {
  const { total: _total, ...others } = orderFields
  const { customers: _customers, ...orders } = withOrders(
    { ...others, note: text() },
    { index: [] },
  )
  const existing: Collections = {
    ...orders,
    log: { fields: { line: text() } },
    report: { fields: { line: text() }, serve: { filter: () => [] } },
  }
  expect(differences(() => existing)).toEqual([
    'changed Orders: index is none in the definition, -total, status in the database',
    'new Orders.total: new column, decimal',
    'missing Orders.note: is not in the database, or left out',
    'new customers: new table',
    'missing log: is not in the database, or left out',
  ])
})

test('columns that are left to the database are listed if only one of them has them', () => {
  const { total: _total, ...others } = orderFields
  const unmanaged = { columns: ['Total', 'raw'], foreignKeys: [['a', 'b']] }
  const existing = withOrders(others, { index: [], unmanaged })
  expect(differences(() => existing)).toEqual([
    'changed Orders: index is none in the definition, -total, status in the database',
    'changed Orders: unmanaged foreign keys is a, b in the definition, none in the database',
    'missing Orders.raw: is not in the database: remove it from unmanaged.columns',
  ])
  const database = { shop: { collections: withOrders(orderFields) } }
  const lower = (name: string): string => name.toLowerCase()
  const found = compareDefinitions(database, withOrders(others, { unmanaged }), lower)
  expect(found.map(({ kind, place, text: what }) => `${kind} ${place}: ${what}`)).toContain(
    'new Orders.raw: new column, which is left out: add it to unmanaged.columns',
  )
})

test.each([
  [{ total: integer() }, 'type is integer in the definition, decimal in the database'],
  [
    { total: decimal({ precision: 10, scale: 4, storedAs: 'real' }) },
    'scale is 4 in the definition, 2 in the database',
  ],
  [
    { total: decimal({ precision: 10, scale: 2 }) },
    'storedAs is none in the definition, real in the database',
  ],
  [
    { customerId: integer({ references: 'customers', column: 'CustomerID' }) },
    'required is false in the definition, true in the database',
  ],
  [
    {
      customerId: integer({
        ...{ references: 'customers', onDelete: 'cascade', column: 'CustomerID' },
        required: true,
      }),
    },
    'references is customers, cascade in the definition, customers, restrict in the database',
  ],
  [
    { status: text({ enumeration: ['open'], default: 'open' }) },
    'enumeration is open in the definition, open; closed in the database',
  ],
  [
    { id: integer({ column: 'ID' }) },
    'generated is none in the definition, database in the database',
  ],
])('the change %j is listed: %s', (change, difference) => {
  const found = differences(() => withOrders({ ...orderFields, ...change }))
  expect(found.some((line) => line.endsWith(`: ${difference}`))).toBe(true)
})

test('another key is a difference', () => {
  const fields = { ...orderFields, paid: boolean() }
  expect(differences(() => withOrders(fields, { key: ['id', 'status'] }))).toEqual([
    'changed Orders: key is ID, status in the definition, ID in the database',
    'missing Orders.paid: is not in the database, or left out',
  ])
})
