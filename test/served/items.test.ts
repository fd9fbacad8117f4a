import { expect, test } from 'vitest'
import { boolean, date, integer, text } from '../../src/entries/index.ts'
import {
  fieldsOf,
  isItemQuery,
  returnedError,
  returnedPage,
  returnedRow,
} from '../../src/events/reads/served-items.ts'
import { shownConditions } from '../../src/request/show-conditions.ts'
import type { Condition, StorageQuery } from '../../src/request/query.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const fields = { id: integer(), title: text(), day: date(), open: boolean() }
const things = publishCollection('app', 'things', { key: 'id', fields })
const lines = publishCollection('app', 'lines', { fields })
const single = publishCollection('app', 'single', { fields, singleton: true })

const item = { id: 1, title: 'a', day: null, open: true }
const byId: StorageQuery['sort'] = [{ field: 'id', descending: false }]
const page: StorageQuery = {
  conditions: [],
  search: null,
  sort: byId,
  limit: 2,
  offset: 0,
  select: ['id', 'title'],
  count: false,
}

function invalid(what: string, callee = 'filter') {
  return new TypeError(`The function ${callee} of app/things returned ${what}.`)
}

test('an error names the function and its collection', () => {
  expect(returnedError(things, 'get', 'nothing')).toEqual(invalid('nothing', 'get'))
})

test('a returned item becomes a row of its fields', () => {
  expect(returnedRow(things, 'get', { ...item, extra: 1 })).toEqual(item)
  expect(returnedRow(things, 'get', { id: 1 }, ['id'])).toEqual({ id: 1 })
  const read: string[] = []
  const watched = new Proxy(item, {
    get: (target, name: keyof typeof item) => {
      read.push(name)
      return target[name]
    },
  })
  expect(returnedRow(things, 'get', watched, ['title', 'id'])).toEqual({ title: 'a', id: 1 })
  expect(read).toEqual(['title', 'id'])
})

test.each([[null], [undefined], [1], ['x'], [[]], [[item]]])('%j is not an item', (given) => {
  expect(() => returnedRow(things, 'get', given)).toThrow(
    invalid('an item that is not an object', 'get'),
  )
})

test.each([
  [{ title: undefined }, 'an item without title; it must be null if there is no value'],
  [{ id: null }, 'an item whose id is not valid; it must be an integer within ±(2^53 − 1)'],
  [{ open: 'x' }, 'an item whose open is not valid; it must be true or false'],
])('an item with %j is not valid', (change, what) => {
  expect(() => returnedRow(things, 'update', { ...item, ...change })).toThrow(
    invalid(what, 'update'),
  )
})

const rows = [3, 1, 2].map((id) => ({ id, title: id === 2 ? 'b' : 'a' }))

test('a list is filtered, sorted, counted and cut', () => {
  const isA: Condition = { field: 'title', is: 'equal', value: 'a' }
  expect(returnedPage(things, { ...page, conditions: [isA], limit: 1, count: true }, rows)).toEqual(
    {
      rows: [{ id: 1, title: 'a' }],
      count: 2,
    },
  )
  expect(returnedPage(things, page, [])).toEqual({ rows: [], count: null })
})

test('a list that is read by key has the item at most once', () => {
  const one = {
    ...page,
    sort: [],
    limit: 1,
    conditions: [{ field: 'id', is: 'equal', value: 1 }],
  } as const
  expect(returnedPage(things, one, rows)).toEqual({ rows: [{ id: 1, title: 'a' }], count: null })
  expect(returnedPage(things, one, rows.slice(0, 1)).rows).toEqual([])
  expect(() => returnedPage(things, one, [...rows, ...rows])).toThrow(
    invalid('two items with the same key'),
  )
})

test('a page is returned as it is', () => {
  expect(returnedPage(things, page, { page: rows.slice(0, 2) })).toEqual({
    rows: rows.slice(0, 2),
    count: null,
  })
  const counted = { ...page, count: true }
  expect(returnedPage(things, counted, { page: rows.slice(0, 2), count: 9 }).count).toBe(9)
  expect(returnedPage(things, counted, { page: [], count: 0 })).toEqual({ rows: [], count: 0 })
  expect(returnedPage(things, page, { page: [], count: 4 }).count).toBeNull()
})

test.each([
  [null, 'neither a list of items nor { page }'],
  [{ page: {} }, 'neither a list of items nor { page }'],
  [{ page: rows }, '3 items for a limit of 2'],
  [
    { page: [{ ...item, title: 'c' }], count: 1 },
    'a page with an item that does not match the conditions or the search',
  ],
  [{ page: [item] }, 'a page without its count'],
  [{ page: [item], count: -1 }, 'a page without its count'],
  [{ page: [item], count: 0.5 }, 'a page without its count'],
])('%j is not a page', (returned, what) => {
  const query = { ...page, count: true, search: { fields: ['title'], text: 'a' } }
  expect(() => returnedPage(things, query, returned)).toThrow(invalid(what))
})

test('a query without an order reads an item by its key', () => {
  const unsorted = { ...page, sort: [] }
  expect([things, lines, single].map((one) => isItemQuery(one, unsorted))).toEqual([
    true,
    false,
    true,
  ])
  expect([things, lines].map((one) => isItemQuery(one, page))).toEqual([false, false])
})

test('an item has the fields that are selected, compared, searched and sorted, and its key', () => {
  expect(fieldsOf(things, { ...page, select: ['title'], sort: [] })).toEqual(['id', 'title'])
  expect(fieldsOf(lines, { ...page, select: ['title'], sort: [] })).toEqual(['title'])
  expect(fieldsOf(lines, { ...page, select: [] })).toEqual(['id'])
  expect(fieldsOf(lines, { ...page, sort: [], select: ['open', 'day'] })).toEqual(['day', 'open'])
  const query = {
    ...page,
    select: [],
    sort: [],
    conditions: [{ field: 'open', is: 'empty' }],
    search: { fields: ['title', 'day'], text: 'x' },
  } as const
  expect(fieldsOf(lines, query)).toEqual(['title', 'day', 'open'])
})

const equal = (value: string | null): Condition => ({ field: 'title', is: 'equal', value })
const empty: Condition = { field: 'title', is: 'empty' }

test.each([
  [[], {}],
  [[equal('a')], { title: 'a' }],
  [[empty], { title: null }],
  [[equal('a'), equal('a')], { title: 'a' }],
  [[equal('a'), equal('b')], undefined],
  [[equal('a'), equal(null)], undefined],
  [[empty, empty], { title: null }],
  [[empty, equal('')], { title: '' }],
  [[equal(''), empty], { title: '' }],
  [[empty, equal(null)], { title: null }],
  [[equal(null), empty], { title: null }],
  [[empty, equal('a')], undefined],
  [[equal('a'), empty], undefined],
  [[equal('a'), { field: 'id', is: 'equal', value: 1 }], { title: 'a', id: 1 }],
] as const)(
  'the conditions of a field are one value, or contradict each other (%#)',
  (...given) => {
    const [conditions, values] = given
    expect(shownConditions(things, conditions)?.conditions).toEqual(values)
  },
)
