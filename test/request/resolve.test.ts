import { expect, test } from 'vitest'
import { boolean, date, dateTime, instant, integer, json, text } from '../../src/entries/index.ts'
import { publishCollection } from '../../src/entries/storage.ts'
import {
  clientMistakes,
  keyConditions,
  requireFilterable,
  resolveConditions,
  resolveKey,
  resolveLimit,
  resolveSelection,
  resolveSort,
  sortOrder,
} from '../../src/request/resolve.ts'

const names = Array.from({ length: 11 }, (_, index) => `f${index}`)
const wide = publishCollection('app', 'wide', {
  key: 'id',
  fields: {
    id: integer(),
    ...Object.fromEntries(names.map((name) => [name, integer()] as const)),
  },
})
const keys = names.map((field) => ({ field, descending: false }))

const visits = publishCollection('app', 'visits', {
  key: ['city', 'day'],
  defaultSort: ['-day'],
  pageSize: { default: 5, maximum: 20 },
  fields: {
    city: text(),
    day: date(),
    open: boolean(),
    note: text({ includeByDefault: false }),
    data: json(),
  },
})
const loose = publishCollection('app', 'loose', { fields: { a: integer(), b: json(), c: text() } })
const rules = { limitExcess: 'clamp' } as const

test('a fraction of zero is not canonical in keys and conditions', () => {
  for (const [field, at] of [
    [dateTime(), '2024-01-05T10:00:00'],
    [instant(), '2024-01-05T10:00:00Z'],
  ] as const) {
    const times = publishCollection('app', 'times', { key: 'at', fields: { at: field } })
    const zero = at.replace(/Z?$/, '.000$&')
    expect(resolveKey(times, at)).toEqual([at])
    expect(() => resolveKey(times, zero)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
    const equal = (text: string) =>
      resolveConditions(times, { conditions: new Map([['at', text]]) })
    expect(equal(at)).toEqual([{ field: 'at', is: 'equal', value: at }])
    expect(() => equal(zero)).toThrow('at must be a valid date and time')
  }
})

test('a sort order may name 10 fields, and not 11', () => {
  const sorted = resolveSort(wide, keys.slice(0, 10))
  expect(sorted.map(({ field }) => field)).toEqual([...names.slice(0, 10), 'id'])
  expect(() => resolveSort(wide, keys)).toThrow('The parameter $sort may name at most 10 fields.')
})

test('a sort order ends with the parts of the key that it does not name', () => {
  const day = { field: 'day', descending: true }
  const city = { field: 'city', descending: false }
  expect(resolveSort(visits, undefined)).toEqual([day, city])
  expect(resolveSort(visits, [day, { field: 'city', descending: true }])).toEqual([
    day,
    { field: 'city', descending: true },
  ])
  expect(resolveSort(visits, [{ field: 'open', descending: false }])).toEqual([
    { field: 'open', descending: false },
    city,
    { field: 'day', descending: false },
  ])
})

test('a sort order without a key ends with every field that can be sorted', () => {
  expect(resolveSort(loose, undefined).map(({ field }) => field)).toEqual(['a', 'c'])
})

test('a sort order names known fields that can be sorted', () => {
  const sort = (field: string) => () => resolveSort(visits, [{ field, descending: false }])
  expect(sort('nope')).toThrow('Unknown field in $sort: nope.')
  expect(sort('data')).toThrow('The field data cannot be sorted.')
  expect(sort('nope')).toThrow(expect.objectContaining({ code: 'MALFORMED_QUERY' }))
  const mistakes = {
    unknownField: (_: unknown, name: string, parameter: string) =>
      new TypeError(`${parameter} ${name}`),
    invalid: (message: string) => new RangeError(message),
  }
  expect(() => sortOrder(visits, [{ field: 'nope', descending: false }], mistakes)).toThrow(
    new TypeError('$sort nope'),
  )
})

test('a key has one valid value for each of its fields', () => {
  expect(resolveKey(visits, 'Bonn,2024-02-29')).toEqual(['Bonn', '2024-02-29'])
  expect(resolveKey(wide, '-7')).toEqual([-7])
  for (const raw of ['Bonn', 'Bonn,2024-02-30', ',2024-02-29', 'Bonn,2024-02-29,x', '%zz,1']) {
    expect(() => resolveKey(visits, raw), raw).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    )
  }
  for (const raw of ['1', '', ',']) {
    expect(() => resolveKey(loose, raw), raw).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    )
  }
})

test('the conditions of a key compare each of its fields', () => {
  expect(keyConditions(visits, ['Bonn', '2024-02-29'])).toEqual([
    { field: 'city', is: 'equal', value: 'Bonn' },
    { field: 'day', is: 'equal', value: '2024-02-29' },
  ])
})

test('conditions compare stored values, and an empty string finds missing values', () => {
  const given = new Map([
    ['city', ''],
    ['open', 'true'],
    ['day', '2024-02-29'],
  ])
  expect(resolveConditions(visits, { conditions: given })).toEqual([
    { field: 'city', is: 'empty' },
    { field: 'open', is: 'equal', value: true },
    { field: 'day', is: 'equal', value: '2024-02-29' },
  ])
  expect(resolveConditions(visits, { conditions: new Map() })).toEqual([])
})

test.each([
  ['citty', 'Bonn', 'Unknown query parameter: citty.'],
  ['data', '1', 'The field data cannot be filtered.'],
  ['data', '', 'The field data cannot be filtered.'],
  ['open', 'yes', 'The parameter open must be true or false, in canonical form.'],
  ['day', '2024-2-1', 'The parameter day must be a valid date (YYYY-MM-DD), in canonical form.'],
])('the condition %s=%s is rejected', (name, value, message) => {
  expect(() => resolveConditions(visits, { conditions: new Map([[name, value]]) })).toThrow(
    expect.objectContaining({ code: 'MALFORMED_QUERY', message }),
  )
})

test('a field that can be filtered is accepted as a condition', () => {
  const [city, , , , data] = visits.fields
  expect(() => requireFilterable(city as never, clientMistakes)).not.toThrow()
  expect(() => requireFilterable(data as never, clientMistakes)).toThrow('cannot be filtered')
})

test('a page size is the default, the given one, or the maximum', () => {
  expect(resolveLimit(visits, undefined, rules)).toBe(5)
  expect(resolveLimit(visits, 0, rules)).toBe(0)
  expect(resolveLimit(visits, 19, rules)).toBe(19)
  expect(resolveLimit(visits, 21, rules)).toBe(20)
  const strict = { limitExcess: 'reject' } as const
  expect(resolveLimit(visits, undefined, strict)).toBe(5)
  expect(resolveLimit(visits, 20, strict)).toBe(20)
  expect(() => resolveLimit(visits, 21, strict)).toThrow('The parameter $limit must be at most 20.')
})

test('a selection is in definition order', () => {
  const all = ['city', 'day', 'open', 'note', 'data']
  expect(resolveSelection(visits, undefined)).toEqual(['city', 'day', 'open', 'data'])
  expect(resolveSelection(visits, '*')).toEqual(all)
  expect(resolveSelection(visits, ['note', 'city'])).toEqual(['city', 'note'])
  expect(() => resolveSelection(visits, ['city', 'citty'])).toThrow(
    'Unknown field in $fields: citty.',
  )
})
