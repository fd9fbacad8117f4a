import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boolean, double, integer, text } from '../../src/entries/index.ts'
import { positionFields, rangesAfter } from '../../src/request/keyset.ts'
import { pageOfRows } from '../../src/request/page-of-rows.ts'
import type { Row, SortField } from '../../src/request/query.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const things = publishCollection('app', 'things', {
  key: ['part', 'id'],
  fields: { part: text(), id: integer(), name: text(), weight: double(), isNew: boolean() },
})

const row = fc.record({
  part: fc.constantFrom('a', 'b'),
  id: fc.integer({ min: 0, max: 9 }),
  name: fc.constantFrom(null, '', 'a', 'é', '\uFF5E', '😀'),
  weight: fc.constantFrom(null, 0, -1.5, 1e300),
  isNew: fc.constantFrom(null, true, false),
})
const rows = fc.uniqueArray(row, { selector: ({ part, id }) => `${part}${id}`, minLength: 1 })
const sort = fc
  .tuple(
    fc.shuffledSubarray(['part', 'id', 'name', 'weight', 'isNew']),
    fc.infiniteStream(fc.boolean()),
  )
  .map(([names, directions]): readonly SortField[] => [
    ...names.map((field) => ({ field, descending: directions.next().value as boolean })),
    ...['part', 'id']
      .filter((field) => !names.includes(field))
      .map((field) => ({ field, descending: false })),
  ])

function ordered(all: readonly Row[], order: readonly SortField[], conditions = [[]] as unknown) {
  const query = { search: null, sort: order, limit: 1_000, offset: 0, select: [], count: false }
  return (conditions as readonly never[]).map(
    (own) => pageOfRows(things, all, { ...query, conditions: own }).rows,
  )
}

test('the ranges after a row are the rows that follow it, in their order and each once', () => {
  fc.assert(
    fc.property(rows, sort, fc.nat(), (all, order, at) => {
      const [sorted = []] = ordered(all, order)
      const place = at % sorted.length
      const position = positionFields(things, order)
      const values = position.map(({ field }) => sorted[place]?.[field.name] ?? null)
      const after = ordered(all, order, rangesAfter(position, values))
      expect(after.flat()).toEqual(sorted.slice(place + 1))
    }),
    { numRuns: 1_000 },
  )
})

test('a position ends with the last field of the key', () => {
  const fields = (...names: readonly string[]) =>
    positionFields(
      things,
      names.map((field) => ({ field, descending: false })),
    ).map(({ field }) => field.name)
  expect(fields('part', 'id')).toEqual(['part', 'id'])
  expect(fields('id', 'name', 'part', 'weight')).toEqual(['id', 'name', 'part'])
})

test('the first condition of a range bounds the first field', () => {
  const order = [
    { field: 'name', descending: true },
    { field: 'part', descending: false },
    { field: 'id', descending: false },
  ]
  const ranges = rangesAfter(positionFields(things, order), ['x', 'a', 1])
  expect(ranges.map(([first]) => first)).toEqual([
    { field: 'name', is: 'lte', value: 'x' },
    { field: 'name', is: 'equal', value: null },
  ])
})
