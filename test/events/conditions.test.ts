import { expect, test } from 'vitest'
import { boolean, decimal, integer, json, principal, text } from '../../src/entries/index.ts'
import {
  conditionsOf,
  givenValues,
  keyOf,
  pageOf,
  requireSaveOptions,
} from '../../src/events/reads/conditions.ts'
import { viewOf, wholeView } from '../../src/request/view.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const fields = {
  id: integer(),
  price: decimal({ precision: 6, scale: 2 }),
  open: boolean(),
  note: text({ itemOnly: true }),
  data: json(),
}
const things = publishCollection('app', 'things', { key: 'id', fields, defaultSort: ['-price'] })
const pairs = publishCollection('app', 'pairs', { key: ['price', 'id'], fields })
const loose = publishCollection('app', 'loose', { fields })
const view = wholeView(things)

/** Values that are not objects with members. */
const noObjects = [
  [null, 'null'],
  [undefined, 'undefined'],
  ['x', 'a string'],
  [1, 'a number'],
  [[], 'a list'],
  [['x'], 'a list'],
] as const

test('conditions compare stored values, and null finds missing ones', () => {
  expect(conditionsOf(things, { price: '1.5', open: null }, 'filter')).toEqual([
    { field: 'price', is: 'equal', value: '1.50' },
    { field: 'open', is: 'equal', value: null },
  ])
  expect(conditionsOf(things, {}, 'filter')).toEqual([])
})

test.each([
  [{ opn: true }, 'The collection things has no field opn; did you mean open?'],
  [{ data: 1 }, 'The field data cannot be filtered.'],
  [{ open: undefined }, 'The value of open must be true or false.'],
  [{ open: 'true' }, 'The value of open must be true or false.'],
])('the conditions %j are a TypeError', (conditions, message) => {
  expect(() => conditionsOf(things, conditions, 'filter')).toThrow(new TypeError(message))
})

test.each(noObjects)('conditions that are %j are a TypeError', (given, found) => {
  expect(() => conditionsOf(things, given as never, 'filter')).toThrow(
    new TypeError(`The conditions must be an object: filter received ${found}.`),
  )
})

test('a key is a value, or a list of the values of its parts', () => {
  expect(keyOf(things, 1)).toEqual([1])
  expect(keyOf(things, [1])).toEqual([1])
  expect(keyOf(pairs, ['1.5', 2])).toEqual(['1.50', 2])
})

test.each([
  [pairs, ['1.50'], 'A key of pairs has 2 parts.'],
  [pairs, '1.50', 'A key of pairs has 2 parts.'],
  [things, [1, 2], 'A key of things has 1 parts.'],
  [things, [], 'A key of things has 1 parts.'],
  [things, '1', 'The value of id must be an integer within ±(2^53 − 1).'],
  [things, null, 'The value of id must be an integer within ±(2^53 − 1).'],
  [loose, [], 'A key of loose has 0 parts.'],
  [loose, 1, 'A key of loose has 0 parts.'],
])('a wrong key is a TypeError (%#)', (collection, key, message) => {
  expect(() => keyOf(collection, key)).toThrow(new TypeError(message))
})

test('a page has all items and fields, in the order of the collection', () => {
  expect(pageOf(view, {}, {})).toEqual({
    type: 'Filter',
    collection: things,
    view,
    result: 'page',
    query: {
      conditions: [],
      search: null,
      sort: [
        { field: 'price', descending: true },
        { field: 'id', descending: false },
      ],
      limit: Number.MAX_SAFE_INTEGER,
      offset: 0,
      select: ['id', 'price', 'open', 'note', 'data'],
      count: false,
    },
  })
})

test('a page has the options of its caller', () => {
  const options = { limit: 0, offset: 7, sort: ['-open', 'id'], q: 'Ab', count: true }
  expect(pageOf(view, { open: true }, options).query).toMatchObject({
    conditions: [{ field: 'open', is: 'equal', value: true }],
    search: { fields: ['id', 'price'], text: 'ab' },
    sort: [
      { field: 'open', descending: true },
      { field: 'id', descending: false },
    ],
    limit: 0,
    offset: 7,
    count: true,
  })
  expect(pageOf(view, {}, { sort: [], q: '' }).query).toEqual(pageOf(view, {}, {}).query)
})

test('a page has the fields and rows that its caller may read', () => {
  const rights = publishCollection('app', 'rights', {
    key: 'id',
    fields: { ...fields, note: text({ readableBy: ['Chief'] }) },
    rows: () => ({ open: true }),
  })
  const { query } = pageOf(viewOf(rights, principal('maria')), {}, {})
  expect(query.conditions).toEqual([{ field: 'open', is: 'equal', value: true }])
  expect(query.select).toEqual(['id', 'price', 'open', 'data'])
  expect(() => pageOf(viewOf(rights, principal('maria')), { note: 'x' }, {})).toThrow(
    'The collection rights has no field note',
  )
})

test.each([
  [{ limit: -1 }, 'limit and offset must be integers.'],
  [{ limit: 1.5 }, 'limit and offset must be integers.'],
  [{ offset: -1 }, 'limit and offset must be integers.'],
  [{ offset: '1' }, 'limit and offset must be integers.'],
  [{ sort: 'id' }, 'sort must be a list of field names.'],
  [{ q: 1 }, 'q must be a string.'],
  [{ q: 'k'.repeat(201) }, 'q must have at most 200 characters and no U+0000.'],
  [{ count: 'yes' }, 'count must be true or false.'],
  [
    { sort: ['id', '-id'] },
    'sort must list distinct field names, each with an optional leading -.',
  ],
  [{ sort: ['idd'] }, 'The collection things has no field idd; did you mean id?'],
  [{ sort: ['data'] }, 'The field data cannot be sorted.'],
])('the options %j are a TypeError', (options, message) => {
  expect(() => pageOf(view, {}, options as never)).toThrow(new TypeError(message))
})

test.each(['limits', 'conditions'])('the unknown option %s is a TypeError', (name) => {
  expect(() => pageOf(view, {}, { [name]: 1 })).toThrow(`filter: ${name} is not an option`)
})

test.each(noObjects)('options that are %j are a TypeError', (given, found) => {
  expect(() => pageOf(view, {}, given as never)).toThrow(
    new TypeError(`The options of filter must be an object: filter received ${found}.`),
  )
  expect(() => {
    requireSaveOptions('Insert', given as never)
  }).toThrow(new TypeError(`The options of Insert must be an object: Insert received ${found}.`))
})

test('the values of a save are an object of known fields', () => {
  expect(givenValues(things, { id: 'any', open: undefined }, 'insert')).toEqual({ id: 'any' })
  expect(() => givenValues(things, { opn: 1 }, 'insert')).toThrow(
    'The collection things has no field opn',
  )
  for (const [given, found] of noObjects) {
    expect(() => givenValues(things, given, 'insert')).toThrow(
      new TypeError(`The values must be an object: insert received ${found}.`),
    )
  }
})

test('application code may change its object while a save waits', () => {
  const values = { id: 1 }
  const given = givenValues(things, values, 'insert')
  values.id = 2
  expect(given).toEqual({ id: 1 })
})

test.each([[[]], [['w']], [new Set(['w'])], ['all'], [undefined]])(
  'the confirmed warnings of a save may be %j',
  (ignoreWarnings) => {
    expect(() => {
      requireSaveOptions('Insert', { ignoreWarnings } as never)
    }).not.toThrow()
  },
)

test.each(['w', 1, true, {}])('the confirmed warnings of a save must not be %j', (given) => {
  expect(() => {
    requireSaveOptions('Update', { ignoreWarnings: given } as never)
  }).toThrow(new TypeError("Update: ignoreWarnings must be a list of ids, or 'all'"))
})

test('an unknown option of a save is a TypeError', () => {
  expect(() => {
    requireSaveOptions('Delete', { ignoreWarning: [] } as never)
  }).toThrow('Delete: ignoreWarning is not an option')
})
