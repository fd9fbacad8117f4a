import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { flatten } from '../../src/consume/tables/flatten.ts'
import { TablesError } from '../../src/consume/tables/tables-error.ts'
import type { ResponseTable, ResponseTables } from '../../src/consume/tables/table.ts'
import { unflatten } from '../../src/consume/tables/unflatten.ts'
import type { Json } from '../../src/protocol/json.ts'
import { anyJson } from './any-json.ts'
import { caught } from '../kit/expectations.ts'

/** The rows of all tables, without what is the same in every one. */
function shown({ root, tables }: ResponseTables): Record<string, ResponseTable['rows']> {
  const rows = [...tables].map(([path, table]) => [path, table.rows] as const)
  return Object.fromEntries([['(root)', root.rows], ...rows])
}

test('unflatten returns what flatten was given, for 10000 values with hostile keys', () => {
  const property = fc.property(
    anyJson(),
    fc.subarray(['a', 'value', '/', 'a/b', '__proto__']),
    same,
  )
  fc.assert(property, { numRuns: 10_000 })
})

function same(value: Json, entries: readonly string[]): void {
  const before = JSON.stringify(value)
  const back = unflatten(flatten(value, { entries }))
  if (!isSame(back, value)) expect(back).toEqual(value)
  expect(JSON.stringify(value)).toBe(before)
}

// Faster than toEqual, and exact about own members, -0 and arrays.
function isSame(left: Json, right: Json): boolean {
  if (Object.is(left, right)) return true
  if (typeof left !== 'object' || typeof right !== 'object') return false
  if (left === null || right === null || Array.isArray(left) !== Array.isArray(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every(
      (name) => Object.hasOwn(right, name) && isSame(left[name as never], right[name as never]),
    )
  )
}

test('an object is one row, and its arrays are tables', () => {
  const tables = flatten({
    id: 'S1',
    carrier: { name: 'DHL', 'a/b~c': 1 },
    parcels: [{ tracking: 'T1', events: [{ code: 'A' }] }, { tracking: 'T2' }],
    tags: ['x', null],
  })
  expect(shown(tables)).toEqual({
    '(root)': [
      {
        id: 1,
        parent_id: null,
        index: 0,
        values: { id: 'S1', 'carrier/name': 'DHL', 'carrier/a~1b~0c': 1 },
      },
    ],
    parcels: [
      { id: 2, parent_id: 1, index: 0, values: { tracking: 'T1' } },
      { id: 4, parent_id: 1, index: 1, values: { tracking: 'T2' } },
    ],
    'parcels/events': [{ id: 3, parent_id: 2, index: 0, values: { code: 'A' } }],
    tags: [
      { id: 5, parent_id: 1, index: 0, values: { value: 'x' }, bare: true },
      { id: 6, parent_id: 1, index: 1, values: { value: null }, bare: true },
    ],
  })
  expect(tables.isList).toBe(false)
})

test('a table has the columns of all its elements', () => {
  const { root, isList } = flatten([{ a: 1 }, { b: null }, 5])
  expect([...root.columns]).toEqual(['a', 'b', 'value'])
  expect(isList).toBe(true)
})

test('ids are unique when rows of one table have parents in different tables', () => {
  const value = [{ a: { b: [1] } }, { a: [{ b: [1] }] }]
  const tables = flatten(value)
  expect(tables.tables.get('a/b')?.rows.map(({ parent_id }) => parent_id)).toEqual([1, 4])
  expect(unflatten(tables)).toEqual(value)
})

test('arrays in arrays are tables below the column value', () => {
  const tables = flatten([[1], [], [[2]]])
  expect([...tables.tables.keys()]).toEqual(['value', 'value/value'])
  expect(unflatten(tables)).toEqual([[1], [], [[2]]])
})

test('the entries of a dictionary are rows with their keys', () => {
  const value = { base: 'EUR', rates: { USD: 1.1, __proto: 1, GBP: { bid: 2 } } }
  const tables = flatten(value, { entries: ['rates'] })
  expect(tables.tables.get('rates')?.rows).toEqual([
    { id: 2, parent_id: 1, index: 0, key: 'USD', values: { value: 1.1 }, bare: true },
    { id: 3, parent_id: 1, index: 1, key: '__proto', values: { value: 1 }, bare: true },
    { id: 4, parent_id: 1, index: 2, key: 'GBP', values: { bid: 2 } },
  ])
  expect(unflatten(tables)).toEqual(value)
})

test('a member named __proto__ is a column and changes no prototype', () => {
  const value = JSON.parse('{"__proto__": {"x": 1}, "a": [{"__proto__": 2}]}') as Json
  const tables = flatten(value, { entries: ['__proto__'] })
  const back = unflatten(tables)
  expect(Object.keys(back as object)).toEqual(expect.arrayContaining(['__proto__', 'a']))
  expect(Object.getPrototypeOf(back)).toBe(Object.prototype)
  expect(tables.tables.get('a')?.rows[0]?.values).toHaveProperty('__proto__', 2)
})

describe('a limit throws a TablesError', () => {
  const nested = (levels: number): Json => (levels === 0 ? 1 : { a: nested(levels - 1) })
  const listed = (levels: number): Json => (levels === 0 ? 1 : [listed(levels - 1)])
  const wide = (columns: number, value: Json = 1): Json =>
    Object.fromEntries(Array.from({ length: columns }, (_, index) => [`c${index}`, value]))

  test.each<[string, Json, object, string]>([
    ['objects deeper than 64 levels', nested(65), {}, 'TOO_DEEP'],
    ['arrays deeper than 64 levels', listed(65), {}, 'TOO_DEEP'],
    ['an empty object below maxDepth', { a: {} }, { maxDepth: 1 }, 'TOO_DEEP'],
    ['an empty array below maxDepth', { a: [] }, { maxDepth: 1 }, 'TOO_DEEP'],
    ['a dictionary below maxDepth', { a: { b: 1 } }, { maxDepth: 1, entries: ['a'] }, 'TOO_DEEP'],
    ['more than 1000 columns', wide(1001), {}, 'TOO_MANY_COLUMNS'],
    ['more than 1000 empty columns', wide(1001, []), {}, 'TOO_MANY_COLUMNS'],
    ['more than 1000 tables', wide(1001, [1]), {}, 'TOO_MANY_COLUMNS'],
    ['more rows than maxRows', [1, 2, 3], { maxRows: 2 }, 'TOO_MANY_ROWS'],
    ['Infinity', { a: Infinity }, {}, 'NOT_JSON'],
    ['undefined in an array', [undefined] as never, {}, 'NOT_JSON'],
    ['a date', { a: new Date() } as never, {}, 'NOT_JSON'],
    ['a map in an array', [new Map()] as never, {}, 'NOT_JSON'],
    ['a function', [() => 1] as never, {}, 'NOT_JSON'],
  ])('for %s', (_what, value, options, code) => {
    const error = caught(() => flatten(value, options))
    expect(error).toBeInstanceOf(TablesError)
    expect(error).toHaveProperty('code', code)
  })

  test.each<[string, Json, object]>([
    ['objects', nested(64), {}],
    ['arrays', listed(64), {}],
    ['columns', wide(1000), {}],
    ['rows', [1, 2, 3], { maxRows: 3, firstId: 9 }],
  ])('only above it: %s', (_what, value, options) => {
    expect(unflatten(flatten(value, options))).toEqual(value)
  })

  test('whose message has nothing of the response', () => {
    const value = { 'the-secret-key': wide(1001) }
    expect(caught(() => flatten(value)).message).toBe(
      'A table of the response has more than 1000 columns.',
    )
  })
})

test('a member that is undefined is absent, as in JSON', () => {
  expect(unflatten(flatten({ a: undefined, b: 1 } as never))).toEqual({ b: 1 })
})

test('an unknown option is a TypeError that names the nearest one', () => {
  expect(() => flatten(1, { maxdepth: 3 } as object)).toThrow('maxDepth')
})

test.each<[string, unknown, string]>([
  [
    'a row without its parent',
    tablesOf({ rows: [{ id: 2, parent_id: 9, index: 0, values: {} }] }),
    'Row 2 of a has no parent',
  ],
  [
    'columns that contradict each other',
    tablesOf({ root: [{ id: 1, parent_id: null, index: 0, values: { b: 1, 'b/c': 2 } }] }),
    'b/c',
  ],
  ['several rows for one value', tablesOf({ root: [1, 2].map(rootRow) }), 'exactly one row'],
  ['no row for one value', tablesOf({ root: [] }), 'exactly one row'],
])('unflatten throws a TypeError for %s', (_what, tables, message) => {
  const error = caught(() => unflatten(tables as ResponseTables))
  expect(error).toBeInstanceOf(TypeError)
  expect(error.message).toContain(message)
})

function rootRow(id: number): object {
  return { id, parent_id: null, index: 0, values: {} }
}

function tablesOf({
  root = [rootRow(1)],
  rows = [],
}: {
  root?: object[]
  rows?: object[]
}): unknown {
  const table = (path: string | null, given: object[]) => ({
    path,
    columns: new Set(),
    rows: given,
  })
  return { isList: false, root: table(null, root), tables: new Map([['a', table('a', rows)]]) }
}
