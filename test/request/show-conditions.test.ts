import { expect, test } from 'vitest'
import { decimal, integer, text } from '../../src/entries/index.ts'
import { fieldsIn, meetsAll } from '../../src/request/meets.ts'
import { equal, type Condition } from '../../src/request/query.ts'
import { shownConditions } from '../../src/request/show-conditions.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const notes = publishCollection('app', 'notes', {
  key: 'id',
  fields: {
    id: integer(),
    title: text(),
    price: decimal({ precision: 5, scale: 2 }),
    or: text(),
  },
})

const low: Condition = { field: 'price', is: 'lt', value: '2.00' }
const high: Condition = { field: 'price', is: 'gte', value: '1.00' }
const not = (condition: Condition): Condition => ({ is: 'not', condition })

test.each<readonly [readonly Condition[], object]>([
  [[low], { price: { lt: '2.00' } }],
  [[low, high], { price: { lt: '2.00' }, and: [{ price: { gte: '1.00' } }] }],
  [
    [low, high, not(equal('title', null))],
    { price: { lt: '2.00' }, and: [{ price: { gte: '1.00' } }], not: [{ title: null }] },
  ],
  [
    [low, low, low],
    { price: { lt: '2.00' }, and: [{ price: { lt: '2.00' } }, { price: { lt: '2.00' } }] },
  ],
  [[{ field: 'id', is: 'in', values: [1, 2] }], { id: { in: [1, 2] } }],
  [[{ field: 'title', is: 'contains', text: 'a' }], { title: { contains: 'a' } }],
  [[{ field: 'title', is: 'startsWith', text: 'a' }], { title: { startsWith: 'a' } }],
  [
    [{ is: 'or', conditions: [equal('id', 1), { field: 'title', is: 'empty' }] }],
    { or: [{ id: 1 }, { title: { in: ['', null] } }] },
  ],
  [
    [
      { is: 'and', conditions: [low] },
      { is: 'and', conditions: [high] },
    ],
    { and: [{ price: { lt: '2.00' } }, { price: { gte: '1.00' } }] },
  ],
])('conditions are shown as application code writes them (%#)', (given, expected) => {
  expect(shownConditions(notes, given)).toEqual({ conditions: {}, where: expected })
})

test('equalities are shown apart from other conditions', () => {
  expect(shownConditions(notes, [equal('title', 'a'), low])).toEqual({
    conditions: { title: 'a' },
    where: { price: { lt: '2.00' } },
  })
  const either: Condition = { is: 'or', conditions: [equal('id', 1)] }
  expect(shownConditions(notes, [equal('or', 'x'), either])).toEqual({
    conditions: { or: 'x' },
    where: { or: [{ id: 1 }] },
  })
})

test('a condition names the fields that it reads of its row', () => {
  const through: Condition = {
    is: 'through',
    collection: notes,
    fields: ['id'],
    conditions: [equal('title', 'a')],
  }
  expect(fieldsIn(through)).toEqual(['id'])
  expect(fieldsIn(not({ is: 'or', conditions: [low, equal('title', 'a')] }))).toEqual([
    'price',
    'title',
  ])
})

test('a condition through another collection cannot be evaluated without its rows', () => {
  const through: Condition = { is: 'through', collection: notes, fields: ['id'], conditions: [] }
  expect(meetsAll(notes, { id: null }, [through])).toBe(false)
  expect(() => meetsAll(notes, { id: 1 }, [through])).toThrow(TypeError)
})
