import { expect, test } from 'vitest'
import {
  identifier,
  join,
  literal,
  raw,
  sql,
  withText,
  type Slot,
} from '../../../src/storage/sql/fragments.ts'

const slot = (value: string): Slot => ({ read: () => value })

test('a fragment keeps the order of its text and parameters at every depth', () => {
  const [one, two, three] = [slot('1'), slot('2'), slot('3')]
  const inner = sql`a = ${two} or b = ${three}`
  const { texts, slots } = sql`${one} where (${inner})`
  expect(texts.join('?')).toBe('? where (a = ? or b = ?)')
  expect(slots).toEqual([one, two, three])
})

test('a fragment without values is its text', () => {
  expect(sql`select 1`).toEqual({ texts: ['select 1'], slots: [] })
})

test('a list is joined with commas or another separator', () => {
  const list = [sql`a`, sql`b = ${slot('1')}`, raw('c')]
  expect(join(list).texts).toEqual(['a, b = ', ', c'])
  expect(join(list, raw(' and ')).texts).toEqual(['a and b = ', ' and c'])
  expect(join([]).texts).toEqual([''])
})

test('quotes in names and literals are doubled', () => {
  expect(identifier('t', 'a"b').texts).toEqual(['"t"."a""b"'])
  expect(literal("it's").texts).toEqual(["'it''s'"])
})

test('a text stands for each use of a parameter', () => {
  const [limit, other] = [slot('10'), slot('x')]
  const given = sql`a = ${other} limit ${limit} or ${limit}`
  expect(withText(given, limit, '10')).toEqual({
    texts: ['a = ', ' limit 10 or 10'],
    slots: [other],
  })
  expect(given.slots).toEqual([other, limit, limit])
})
