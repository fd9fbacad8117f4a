import fc from 'fast-check'
import { expect, test } from 'vitest'
import { flatten } from '../../src/consume/tables/flatten.ts'
import { readTables } from '../../src/consume/tables/read-tables.ts'
import { keysOf } from '../../src/consume/json-path.ts'
import { allTables } from '../../src/consume/tables/table.ts'
import { unflatten } from '../../src/consume/tables/unflatten.ts'
import type { Json } from '../../src/protocol/json.ts'
import { anyJson } from './any-json.ts'

const response = {
  carrier: 'DHL',
  parcels: [
    { tracking: 'T1', events: [{ code: 'A' }, { code: 'B' }] },
    { tracking: 'T2' },
    { tracking: 'T3', events: [{ code: 'C' }] },
  ],
}

test('rows are joined with the rows above and below them', () => {
  const { root, rows, below, above, parent, top } = readTables<typeof response>(flatten(response))
  const codes = (row: Parameters<typeof below>[0]) =>
    below(row, 'parcels/events').map(({ values }) => values.code)
  expect(root.map(codes)).toEqual([['A', 'B', 'C']])
  expect(rows('parcels').map(codes)).toEqual([['A', 'B'], [], ['C']])
  const last = rows('parcels/events').at(-1)
  expect(last && above(last).map(({ table, row }) => [table, row.values])).toEqual([
    [null, { carrier: 'DHL' }],
    ['parcels', { tracking: 'T3' }],
  ])
  expect(last && parent(last)?.values).toEqual({ tracking: 'T3' })
  expect(last && top(last)).toBe(root[0])
  expect(root.map((row) => [parent(row), top(row)])).toEqual([[undefined, root[0]]])
})

test('a table that the response does not have has no rows', () => {
  const reader = readTables<typeof response>(flatten({}))
  expect(reader.rows('parcels')).toEqual([])
  expect(reader.root.map((row) => reader.below(row, 'parcels/events'))).toEqual([[]])
})

test('a row of other tables is a TypeError', () => {
  const reader = readTables(flatten({}))
  const stranger = { id: 7, parent_id: 6, index: 0, values: {} }
  expect(() => reader.pointer(stranger)).toThrow(TypeError)
})

test('the pointer of a row leads to the value of the row, for 1000 values', () => {
  const value = anyJson(['a', 'b', '/', '~1', '', 'value'])
  const property = fc.property(value, fc.subarray(['a', 'b', 'a/b', 'value']), (given, entries) => {
    const tables = flatten(given, { entries })
    const { pointer } = readTables(tables)
    for (const table of allTables(tables)) {
      for (const row of table.rows) {
        const found = valueAt(given, keysOf(pointer(row)).slice(1))
        const alone = unflattenRow(tables, row.id)
        expect(alone).toEqual(found)
      }
    }
  })
  fc.assert(property, { numRuns: 1000 })
})

function valueAt(value: Json, keys: readonly string[]): unknown {
  let found: unknown = value
  for (const key of keys) found = (found as Readonly<Record<string, unknown>>)[key]
  return found
}

/** Rebuilds the value of one row, as the root of the rows below it. */
function unflattenRow(tables: ReturnType<typeof flatten>, id: number): Json {
  const reader = readTables(tables)
  const home = allTables(tables).find(({ rows }) => rows.some((row) => row.id === id))
  const prefix = home?.path === null ? '' : `${home?.path ?? ''}/`
  const below = [...tables.tables].filter(([path]) => path.startsWith(prefix))
  const own = home?.rows.find((row) => row.id === id)
  const isBelow = (row: (typeof tables.root.rows)[number]) =>
    reader.above(row).some((one) => one.row.id === id)
  return unflatten({
    isList: false,
    root: { path: null, columns: new Set(), rows: own === undefined ? [] : [own] },
    tables: new Map(
      below.map(([path, { columns, rows }]) => {
        const inner = path.slice(prefix.length)
        return [inner, { path: inner, columns, rows: rows.filter(isBelow) }] as const
      }),
    ),
  })
}
