import { expect, test } from 'vitest'
import { date, dateTime, instant, integer, text, time } from '../../src/entries/index.ts'
import {
  acceptedRow,
  completeRow,
  constraintFaults,
  fieldOf,
} from '../../src/request/item-values.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const at = (time: string) => () => new Date(time)
const noon = at('2024-02-29T12:00:00.000Z')

test('a generated time has the form of its field, in UTC', () => {
  const times = publishCollection('app', 'times', {
    fields: {
      day: date({ generated: 'now' }),
      hour: time({ generated: 'now' }),
      local: dateTime({ generated: 'now' }),
      exact: instant({ generated: 'now' }),
    },
  })
  expect(completeRow(times, {}, noon)).toEqual({
    day: '2024-02-29',
    hour: '12:00:00',
    local: '2024-02-29T12:00:00',
    exact: '2024-02-29T12:00:00Z',
  })
  expect(completeRow(times, {}, at('2024-02-29T23:59:59.120Z'))).toEqual({
    day: '2024-02-29',
    hour: '23:59:59',
    local: '2024-02-29T23:59:59.120',
    exact: '2024-02-29T23:59:59.120Z',
  })
  const given = { day: null, exact: '2020-01-01T00:00:00Z' }
  expect(completeRow(times, given, noon)).toEqual({
    ...given,
    hour: '12:00:00',
    local: '2024-02-29T12:00:00',
  })
})

test('the values of an item are checked in definition order, except null and absent ones', () => {
  const things = publishCollection('app', 'things', {
    fields: { b: text(), a: integer(), c: date(), d: date() },
  })
  const found = constraintFaults(things, { c: 'x', a: 'x', b: 1, d: null })
  expect(found.map(({ field }) => field)).toEqual(['b', 'a', 'c'])
  expect(constraintFaults(things, {})).toEqual([])
})

function withDefault(size: () => unknown) {
  return publishCollection('app', 'things', {
    fields: { size: integer({ maximum: 9, default: size as () => number }), note: text() },
  })
}

test('a default function is called for an absent value only', () => {
  let calls = 0
  const things = withDefault(() => ++calls)
  expect(completeRow(things, { note: 'a' }, noon)).toEqual({ size: 1, note: 'a' })
  expect(completeRow(things, { size: null }, noon)).toEqual({ size: null, note: null })
  expect(calls).toBe(1)
})

test.each([undefined, null])('a default function may return %s', (value) => {
  expect(
    completeRow(
      withDefault(() => value),
      {},
      noon,
    ),
  ).toEqual({ size: null, note: null })
})

test('a default function that returns an invalid value is a TypeError', () => {
  expect(() =>
    completeRow(
      withDefault(() => 'x'),
      {},
      noon,
    ),
  ).toThrow(new TypeError('The value of size must be an integer within ±(2^53 − 1).'))
  expect(() =>
    completeRow(
      withDefault(() => 10),
      {},
      noon,
    ),
  ).toThrow(
    new TypeError(
      'The default function of app/things.size returned a value that the field does not accept: size must be at most 9.',
    ),
  )
})

test('the constraints of given values are not checked again', () => {
  expect(
    completeRow(
      withDefault(() => 1),
      { size: 10 },
      noon,
    ),
  ).toEqual({ size: 10, note: null })
  const shorts = publishCollection('app', 'shorts', {
    fields: { size: integer({ default: () => 1 }), note: text({ maxLength: 2 }) },
  })
  expect(completeRow(shorts, { note: 'long' }, noon)).toEqual({ size: 1, note: 'long' })
})

test('a default that is a value is not checked again', () => {
  const late = publishCollection('app', 'late', {
    fields: { day: date({ maximum: '2020-01-01', default: '2021-01-01' }) },
  })
  expect(completeRow(late, {}, noon)).toEqual({ day: '2021-01-01' })
})

test('an accepted item has the members that it was given', () => {
  const things = withDefault(() => 1)
  expect(acceptedRow(things, { size: 0 })).toEqual({ size: 0 })
  expect(acceptedRow(things, { size: null, note: undefined as never })).toEqual({
    size: null,
    note: null,
  })
})

test('an unknown field is a TypeError with the nearest name', () => {
  const things = withDefault(() => 1)
  expect(fieldOf(things, 'note').name).toBe('note')
  expect(() => fieldOf(things, 'siz')).toThrow(
    new TypeError('The collection things has no field siz; did you mean size?'),
  )
  expect(() => fieldOf(publishCollection('app', 'none', { fields: {} }), 'siz')).toThrow(
    new TypeError('The collection none has no field siz; there are no fields'),
  )
})
