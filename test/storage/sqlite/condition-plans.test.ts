import { afterAll, beforeAll, expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { defineCollection } from '../../../src/definition/collection.ts'
import { decimal, double, integer, text } from '../../../src/definition/field.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import type { StoredValue } from '../../../src/definition/field-type.ts'
import { positionFields, rangesAfter } from '../../../src/request/keyset.ts'
import { equal, type Condition, type SortField } from '../../../src/request/query.ts'
import { conditionsShape } from '../../../src/storage/sql/shape.ts'
import { listSlots } from '../../../src/storage/sqlite/statements/conditions.ts'
import type { SqliteDriver, SqliteHandle } from '../../../src/entries/sqlite.ts'
import {
  deleteStatement,
  pageStatement,
  type StatementText,
} from '../../../src/storage/sqlite/statements/statements.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'

const orders = publishCollection(
  'app',
  'orders',
  defineCollection({ key: 'id', fields: { id: integer(), owner: text(), city: text() } }),
)
const lines = publishCollection(
  'app',
  'lines',
  defineCollection({
    key: ['orderId', 'product'],
    fields: {
      orderId: integer(),
      product: text(),
      price: decimal({ precision: 9, scale: 2 }),
      weight: double(),
    },
  }),
)

let handle: SqliteHandle

beforeAll(() => {
  handle = openHandle(drivers[0] as SqliteDriver, ':memory:')
  handle.exec(`
    CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, owner TEXT, city TEXT);
    CREATE INDEX orders_owner ON orders (owner);
    CREATE TABLE lines (orderId INTEGER NOT NULL, product TEXT NOT NULL, price TEXT, weight REAL,
      PRIMARY KEY (orderId, product));`)
})

afterAll(() => {
  handle.close()
})

function planOf({ sql, slots }: StatementText): string {
  const values = slots.map(() => null)
  const steps = rowsIn(handle, `EXPLAIN QUERY PLAN ${sql}`, ...values)
  return steps.map((step) => (step as { detail: string }).detail).join('; ')
}

function pagePlan(collection: typeof orders, ...conditions: readonly Condition[]): string {
  const { select } = queryOf(collection)
  const shape = { conditions, sort: [], select, search: null, deep: false }
  return planOf(
    pageStatement(collection, shape, {
      output: 'rows',
      checksAll: true,
      guaranteed: new Map<never, never>(),
    }),
  )
}

const through = (...conditions: readonly Condition[]): Condition => ({
  is: 'through',
  collection: orders,
  fields: ['orderId'],
  conditions,
})

test('comparisons, lists and beginnings of strings use the index of their column', () => {
  const owner = { field: 'owner' } as const
  expect(pagePlan(orders, { ...owner, is: 'gt', value: 'a' })).toContain('orders_owner (owner>?)')
  const range = [
    { ...owner, is: 'gte', value: 'a' },
    { ...owner, is: 'lt', value: 'b' },
  ] as const
  expect(pagePlan(orders, ...range)).toContain('orders_owner (owner>? AND owner<?)')
  expect(pagePlan(orders, { ...owner, is: 'in', values: ['a'] })).toContain(
    'orders_owner (owner=?)',
  )
  const start: Condition = { ...owner, is: 'startsWith', text: 'a' }
  expect(pagePlan(orders, start)).toContain('orders_owner (owner>? AND owner<?)')
})

test('the items after a cursor are a range of an index', () => {
  const plan = (sort: readonly SortField[], ...values: readonly StoredValue[]) =>
    rangesAfter(positionFields(orders, sort), values).map((conditions) => {
      const { select } = queryOf(orders)
      const shape = { conditions, sort, select, search: null, deep: false }
      const reading = {
        output: 'rows',
        checksAll: true,
        guaranteed: new Map<never, never>(),
      } as const
      return planOf(pageStatement(orders, shape, reading))
    })
  const id = { field: 'id', descending: false }
  const owner = { field: 'owner', descending: false }
  expect(plan([id], 7)).toEqual(['SEARCH t USING INTEGER PRIMARY KEY (rowid>?)'])
  expect(plan([{ ...id, descending: true }], 7)).toEqual([
    'SEARCH t USING INTEGER PRIMARY KEY (rowid<?)',
  ])
  expect(plan([owner, id], 'a', 7)).toEqual(['SEARCH t USING INDEX orders_owner (owner>?)'])
  const after = 'USE TEMP B-TREE FOR LAST TERM OF ORDER BY'
  const [withValue, without] = plan([{ ...owner, descending: true }, id], 'a', 7)
  expect(withValue).toBe(`SEARCH t USING INDEX orders_owner (owner<?); ${after}`)
  expect(without).toContain('SEARCH t USING INDEX orders_owner (owner=?)')
  expect(plan([owner, id], null, 7)[0]).toContain(
    'SEARCH t USING INDEX orders_owner (owner=? AND rowid>?)',
  )
})

test('a condition through another table starts with the smaller side', () => {
  const byOwner = pagePlan(lines, through(equal('owner', 'a')))
  expect(byOwner).toMatch(/^SEARCH p1 USING (COVERING )?INDEX orders_owner .*SEARCH t USING INDEX/)
  const byCity = pagePlan(lines, through(equal('city', 'a')))
  expect(byCity).toMatch(/SCAN t .*SEARCH p1 USING INTEGER PRIMARY KEY|SCAN p1; SEARCH t/)
})

test('a write through another table reads one row of each', () => {
  const key = [equal('orderId', 1), equal('product', 'rum')]
  const plan = planOf(
    deleteStatement(lines, { conditions: [...key, through(equal('owner', 'a'))] }),
  )
  expect(plan).toMatch(
    /^SEARCH t USING INDEX sqlite_autoindex_lines_1 \(orderId=\? AND product=\?\)/,
  )
  expect(plan).toContain('SEARCH p1 USING INTEGER PRIMARY KEY (rowid=?)')
})

test('values and the lengths of lists do not make further statements', () => {
  const shape = (...conditions: readonly Condition[]) =>
    conditionsShape(lines, conditions, listSlots)
  const list = (...values: readonly string[]): Condition => ({ field: 'product', is: 'in', values })
  expect(shape(list('a'))).toBe(shape(list('b', 'c', 'd')))
  const range = (value: string): Condition => ({ field: 'price', is: 'lt', value })
  expect(shape(range('1.00'))).toBe(shape(range('-22.00')))
  expect(shape(through(equal('owner', 'a')))).toBe(shape(through(equal('owner', 'b'))))
  // SQLite may read the text of a number with a fraction inexactly, so these are parameters.
  const lengths = Array.from({ length: 10_000 }, (_, length) =>
    shape({ field: 'weight', is: 'in', values: Array.from({ length }, () => 0.5) }),
  )
  expect(new Set(lengths).size).toBe(16)
})

test('different conditions have different statements', () => {
  const [a, b] = [equal('orderId', 1), equal('product', 'a')]
  const not = (condition: Condition): Condition => ({ is: 'not', condition })
  const different: readonly (readonly Condition[])[] = [
    [],
    [a],
    [b],
    [a, b],
    [b, a],
    [equal('orderId', null)],
    [{ field: 'orderId', is: 'empty' }],
    [{ field: 'orderId', is: 'lt', value: 1 }],
    [{ field: 'orderId', is: 'lte', value: 1 }],
    [{ field: 'product', is: 'contains', text: 'a' }],
    [{ field: 'product', is: 'startsWith', text: 'a' }],
    [{ field: 'product', is: 'in', values: [] }],
    [{ is: 'and', conditions: [a, b] }],
    [{ is: 'or', conditions: [a, b] }],
    [{ is: 'or', conditions: [a] }, b],
    [{ is: 'or', conditions: [{ is: 'or', conditions: [a] }, b] }],
    [{ is: 'or', conditions: [{ is: 'or', conditions: [a, b] }] }],
    [not(a)],
    [not(not(a))],
    [not(a), b],
    [not({ is: 'and', conditions: [a, b] })],
    [through()],
    [through(equal('id', 1))],
    [through(), equal('orderId', 1)],
    [through(equal('owner', 'a'))],
    [through(equal('owner', null))],
    [{ is: 'through', collection: orders, fields: ['product'], conditions: [] }],
    [{ is: 'through', collection: lines, fields: ['orderId', 'product'], conditions: [] }],
  ]
  const shapes = different.map((conditions) => conditionsShape(lines, conditions, listSlots))
  expect(new Set(shapes).size).toBe(different.length)
})
