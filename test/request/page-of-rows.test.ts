import { expect, test } from 'vitest'
import { integer, json, text } from '../../src/entries/index.ts'
import { meetsAll } from '../../src/request/meets.ts'
import { matchesQuery, pageOfRows } from '../../src/request/page-of-rows.ts'
import { equal, type StorageQuery } from '../../src/request/query.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const notes = publishCollection('app', 'notes', {
  key: 'id',
  fields: { id: integer(), title: text(), size: integer(), data: json() },
})
const all: StorageQuery = {
  conditions: [],
  search: null,
  sort: [],
  limit: 10,
  offset: 0,
  select: notes.allNames,
  count: false,
}
const rows = [
  { id: 1, title: 'b', size: 2 },
  { id: 2, title: 'a', size: null },
  { id: 3, title: 'b', size: 10 },
  { id: 4, title: 'a' },
  { id: 5, title: '', size: 2 },
]

function idsOf(query: Partial<StorageQuery>, given: Parameters<typeof pageOfRows>[1] = rows) {
  return pageOfRows(notes, given, { ...all, ...query }).rows.map((row) => row['id'])
}

function by(...keys: readonly string[]): Pick<StorageQuery, 'sort'> {
  const sort = keys.map((key) => ({
    field: key.replace('-', ''),
    descending: key.startsWith('-'),
  }))
  return { sort }
}

test.each([
  [[], [1, 2, 3, 4, 5]],
  [['-id'], [5, 4, 3, 2, 1]],
  [
    ['size', 'id'],
    [2, 4, 1, 5, 3],
  ],
  [
    ['-size', '-id'],
    [3, 5, 1, 4, 2],
  ],
  [
    ['title', '-size'],
    [5, 2, 4, 3, 1],
  ],
  [['size'], [2, 4, 1, 5, 3]],
])('rows are sorted by %j, without a value first when ascending', (keys, ids) => {
  expect(idsOf(by(...keys))).toEqual(ids)
})

test('missing strings are equal to each other, and come before all others', () => {
  const titles = ['b', null, '', undefined, 'a']
  const given = titles.map((title, id) => ({ id, ...(title !== undefined && { title }) }))
  expect(idsOf(by('title', 'id'), given)).toEqual([1, 3, 2, 4, 0])
  expect(idsOf(by('-title', 'id'), given)).toEqual([0, 4, 2, 1, 3])
})

test('rows cannot be sorted by a field without an order', () => {
  expect(() => idsOf(by('data'))).toThrow(
    new TypeError("The field data can't be used for sorting."),
  )
  expect(() => idsOf(by('nope'), rows.slice(0, 2))).toThrow('The field nope')
})

test('a page is the part of the sorted rows between its offset and its limit', () => {
  expect(idsOf({ ...by('-id'), limit: 2, offset: 1 })).toEqual([4, 3])
  expect(idsOf({ limit: 2, offset: 4 })).toEqual([5])
  expect(idsOf({ limit: 0 })).toEqual([])
  expect(idsOf({ offset: 5 })).toEqual([])
})

test('the count includes all rows that match, if it is requested', () => {
  const query = {
    ...all,
    conditions: [{ field: 'size', is: 'equal', value: 2 }],
    limit: 1,
  } as const
  expect(pageOfRows(notes, rows, query)).toEqual({ rows: [rows[0]], count: null })
  expect(pageOfRows(notes, rows, { ...query, count: true })).toEqual({ rows: [rows[0]], count: 2 })
})

test('a condition compares exactly, and empty is no value or the empty string', () => {
  const found = (field: string, value: number | string | null) =>
    idsOf({ conditions: [equal(field, value)] })
  expect(equal('size', 2)).toEqual({ field: 'size', is: 'equal', value: 2 })
  expect(found('size', 2)).toEqual([1, 5])
  expect(found('size', '2')).toEqual([])
  expect(found('size', null)).toEqual([2, 4])
  expect(found('title', '')).toEqual([5])
  expect(idsOf({ conditions: [{ field: 'size', is: 'empty' }] })).toEqual([2, 4])
  expect(idsOf({ conditions: [{ field: 'title', is: 'empty' }] })).toEqual([5])
})

test('a row meets a list of conditions if it meets each of them', () => {
  const conditions = [
    { field: 'title', is: 'equal', value: 'b' },
    { field: 'size', is: 'equal', value: 2 },
  ] as const
  expect(idsOf({ conditions })).toEqual([1])
  expect(meetsAll(notes, { title: 'b' }, conditions)).toBe(false)
  expect(meetsAll(notes, {}, [])).toBe(true)
})

test('a row matches a search if one of the fields contains the folded string', () => {
  const found = (text: string, ...fields: readonly string[]) =>
    matchesQuery(
      notes,
      { id: 15, title: 'Ärger', size: null },
      { conditions: [], search: { fields, text } },
    )
  expect(found('ärg', 'title')).toBe(true)
  expect(found('5', 'title', 'id')).toBe(true)
  expect(found('ärg', 'id')).toBe(false)
  expect(found('l', 'size', 'data')).toBe(false)
  expect(found('undefined', 'data')).toBe(false)
  expect(found('', 'size', 'data')).toBe(false)
})

test('a row matches a query only if it meets the conditions too', () => {
  const search = { fields: ['title'], text: 'b' }
  expect(idsOf({ search })).toEqual([1, 3])
  expect(idsOf({ search, conditions: [{ field: 'size', is: 'equal', value: 2 }] })).toEqual([1])
})
