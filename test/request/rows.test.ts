import { expect, test, vi } from 'vitest'
import {
  boolean,
  decimal,
  integer,
  json,
  principal,
  system,
  text,
  uuid,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { isAmong, rowsOf, rowValues } from '../../src/request/rows.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const fields = {
  id: integer(),
  owner: text(),
  price: decimal({ precision: 6, scale: 2 }),
  open: boolean(),
  code: uuid(),
  data: json(),
}
const maria = principal('maria', {
  roles: ['Clerk', 'Guest'],
  attributes: { region: 'north', price: '1.5', none: null },
})

function withRule(rows: unknown) {
  return publishCollection('app', 'notes', {
    key: 'id',
    fields,
    rows: rows as NonNullable<CollectionDefinition['rows']>,
  })
}

function conditionsOf(rows: unknown, caller = maria) {
  return rowsOf(withRule(rows), caller)
}

/** The error for a caller whose rule allows no rows. */
function noRows(problem: string, user: string | null = 'maria') {
  return expect.objectContaining({
    code: 'FORBIDDEN',
    cause: { user, reason: `the row rule of app/notes ${problem}` },
  }) as Error
}

test('a collection without a rule has no conditions', () => {
  expect(rowsOf(publishCollection('app', 'notes', { fields }), maria)).toEqual([])
})

test('a rule as data compares with values, attributes and the user', () => {
  const equal = {
    owner: { principal: 'user' },
    price: { attribute: 'price' },
    open: true,
    code: '0A000000-0000-4000-8000-00000000000B',
  }
  expect(conditionsOf({ equal })).toEqual([
    { field: 'owner', is: 'equal', value: 'maria' },
    { field: 'price', is: 'equal', value: '1.50' },
    { field: 'open', is: 'equal', value: true },
    { field: 'code', is: 'equal', value: '0a000000-0000-4000-8000-00000000000b' },
  ])
  expect(conditionsOf({ equal: { owner: null } })).toEqual([
    { field: 'owner', is: 'equal', value: null },
  ])
})

test('a rule as data does not apply to the roles that it excepts', () => {
  const equal = { open: true }
  expect(conditionsOf({ equal, exceptRoles: ['Chief', 'Guest'] })).toEqual([])
  expect(conditionsOf({ equal, exceptRoles: ['Chief'] })).toHaveLength(1)
  expect(conditionsOf({ equal, exceptRoles: [] })).toHaveLength(1)
})

test.each(['tenant', 'none', 'toString'])(
  'a caller without the attribute %s has no rows',
  (attribute) => {
    expect(() => conditionsOf({ equal: { owner: { attribute } } })).toThrow(
      noRows(`needs the attribute ${attribute}, which the caller lacks`),
    )
  },
)

test('a caller without a name has no rows of its own', () => {
  expect(() => conditionsOf({ equal: { owner: { principal: 'user' } } }, system)).toThrow(
    noRows('needs a user, which the caller lacks', null),
  )
})

test('a function receives the caller, and allows all rows, some or none', () => {
  const rule = ({ user, roles }: typeof maria) =>
    roles.includes('Clerk') ? { owner: user, price: '2' } : true
  expect(conditionsOf(rule)).toEqual([
    { field: 'owner', is: 'equal', value: 'maria' },
    { field: 'price', is: 'equal', value: '2.00' },
  ])
  expect(conditionsOf(rule, principal('otto'))).toEqual([])
  expect(() => conditionsOf(() => false)).toThrow(noRows('returned false'))
  expect(() => conditionsOf(() => ({ owner: undefined }))).toThrow(
    noRows('returned no value for owner'),
  )
})

test.each([
  ['undefined', undefined, 'undefined.'],
  ['null', null, 'null.'],
  ['a string', 'open', 'a string.'],
  ['an empty object', {}, 'an empty object.'],
  ['an empty list', [], 'a list.'],
  ['a Map', new Map([['owner', 'maria']]), 'an instance of Map.'],
  ['a promise', Promise.resolve(true), 'a Promise; is an await missing?'],
  [
    'what can be awaited',
    { owner: 'maria', then: () => undefined },
    'a Promise; is an await missing?',
  ],
])('a function that returns %s is a TypeError', (_, answer, found) => {
  expect(() => conditionsOf(() => answer)).toThrow(
    new TypeError(
      `The row rule of app/notes must return conditions, true or false: it returned ${found}`,
    ),
  )
})

test('a rejection of an asynchronous rule is handled', () => {
  const answer = Promise.reject(new Error('No.'))
  const handled = vi.spyOn(answer, 'catch')
  expect(() => conditionsOf(() => answer)).toThrow('must return conditions')
  expect(handled).toHaveBeenCalledOnce()
})

test.each(['nope', 'data'])('a rule that names %s is a TypeError', (name) => {
  expect(() => conditionsOf(() => ({ [name]: 'x' }))).toThrow(
    new TypeError(
      `The row rule of app/notes names ${name}, which is not a field that can be filtered.`,
    ),
  )
})

test('a rule that returns a value of a wrong type is a TypeError', () => {
  expect(() => conditionsOf(() => ({ open: 'yes' }))).toThrow(
    new TypeError('The value of open must be true or false.'),
  )
})

const notes = withRule({ equal: { price: '2', open: true, owner: null } })
const rows = rowsOf(notes, maria)

test('an item is among the rows if its stored values meet all conditions', () => {
  expect(isAmong(notes, rows, { price: '2.0', open: true, owner: null })).toBe(true)
  expect(isAmong(notes, rows, { price: '2.00', open: true })).toBe(true)
  expect(isAmong(notes, rows, { price: '2.01', open: true })).toBe(false)
  expect(isAmong(notes, rows, { price: '2.00', open: false })).toBe(false)
  expect(isAmong(notes, [], {})).toBe(true)
})

test('rows have the same values as items', () => {
  expect(rowValues(rows)).toEqual({ price: '2.00', open: true, owner: null })
  expect(rowValues([])).toEqual({})
})
