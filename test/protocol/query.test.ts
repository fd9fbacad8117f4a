import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isServiceError } from '../../src/entries/index.ts'
import { repeatedName } from '../../src/protocol/names.ts'
import {
  decodeQuery,
  encodeQuery,
  firstParameter,
  parameters,
  unknownField,
  type DecodedQuery,
} from '../../src/protocol/query.ts'

const name = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 8 })
  .filter((one) => !/[,$]|^[-*\s]|\s$/.test(one))
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 5 })
const query: fc.Arbitrary<DecodedQuery> = fc.record({
  collection: fc.record(
    {
      limit: fc.maxSafeNat(),
      offset: fc.maxSafeNat(),
      sort: names.chain((all) =>
        fc.tuple(
          ...all.map((field) => fc.record({ field: fc.constant(field), descending: fc.boolean() })),
        ),
      ),
      fields: fc.oneof(fc.constant('*' as const), names),
      q: fc.string({ unit: 'binary', maxLength: 100 }).filter((one) => !one.includes('\0')),
      count: fc.boolean(),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  conditions: fc
    .uniqueArray(fc.tuple(name, fc.string({ unit: 'binary' })), { selector: ([one]) => one })
    .map((all) => new Map(all)),
})

test('decoding an encoded query is the identity', () => {
  fc.assert(
    fc.property(query, (one) => {
      expect(decodeQuery(encodeQuery(one))).toEqual(one)
    }),
    { numRuns: 1000 },
  )
})

test('decoding any query throws nothing but MALFORMED_QUERY', () => {
  const part = fc.constantFrom(
    '$limit',
    '$q',
    '$sort',
    '$fields',
    '&',
    '=',
    '%',
    ',',
    '-',
    '*',
    '%00',
    '+',
    'a',
    '1',
    'é',
    '%24',
    '?',
  )
  const raw = fc.array(part, { maxLength: 30 }).map((all) => all.join(''))
  fc.assert(
    fc.property(fc.oneof(raw, fc.string({ unit: 'binary' })), (one) => {
      try {
        decodeQuery(one)
      } catch (error) {
        expect(isServiceError(error) && error.code).toBe('MALFORMED_QUERY')
      }
    }),
    { numRuns: 3000 },
  )
})

test.each([
  [
    'limit',
    ['0', '5', '100', '9007199254740991'],
    ['', '-1', '+1', '01', '1.0', '1e3', ' 1', '１', '9007199254740992'],
  ],
  ['offset', ['0', '7'], ['', '-0', '1_0']],
  ['sort', ['a', '-a', 'a,-b'], ['', ',', 'a,', '-', '--a', 'a,a', 'a,-a', ' a', 'a ', '*']],
  ['fields', ['*', 'a', 'a,b'], ['', '*,a', 'a,*', 'a,a', 'a,', '-a']],
  ['q', ['', ' ', 'x'.repeat(200), '😀'.repeat(200)], ['x'.repeat(201), '😀'.repeat(201), 'a\0']],
  ['count', ['true', 'false'], ['', '1', 'TRUE', ' true']],
] as const)('the parameter %s', (parameter, accepted, rejected) => {
  const { decode } = parameters[parameter]
  for (const one of accepted) expect(decode(one), one).toBeDefined()
  for (const one of rejected) expect(decode(one), one).toBeUndefined()
})

test('only lists may be repeated', () => {
  expect(decodeQuery('$sort=a&$sort=-b&$fields=a&%24fields=b').collection).toEqual({
    sort: [
      { field: 'a', descending: false },
      { field: 'b', descending: true },
    ],
    fields: ['a', 'b'],
  })
  for (const raw of ['a=1&a=1', '$q=a&$q=a', '$limit=1&%24limit=1', 'a=1&%61=2']) {
    expect(() => decodeQuery(raw)).toThrow('Repeated query parameter: ')
  }
})

test('a parameter without a name is rejected as such', () => {
  for (const raw of ['=1', '=', 'a=1&=2', '=&a=1']) {
    expect(() => decodeQuery(raw)).toThrow('The query has a parameter without a name.')
  }
  expect(decodeQuery('&a=1&').conditions).toEqual(new Map([['a', '1']]))
})

test.each([
  ['$limit=x', 'The parameter $limit must be an integer in plain digits.'],
  ['$sort=a,a', 'The parameter $sort must list distinct field names, each with an optional'],
  ['$Limit=1', 'Unknown query parameter: $Limit.'],
  ['a=%zz', 'The query is not valid percent-encoded UTF-8.'],
  ['%zz=a', 'The query is not valid percent-encoded UTF-8.'],
])('the query %s is rejected: %s', (raw, message) => {
  expect(() => decodeQuery(raw)).toThrow(message)
})

test('a condition without an equals sign has an empty value, and later ones belong to the value', () => {
  const conditions = new Map([
    ['a', ''],
    ['b', ''],
    ['c', '1=2'],
  ])
  expect(decodeQuery('a&b=&c=1=2')).toEqual({ collection: {}, conditions })
  expect(decodeQuery('')).toEqual({ collection: {}, conditions: new Map() })
})

test('the message for an unknown field has the parameter and the name', () => {
  expect(unknownField('$sort', 'nope').message).toBe('Unknown field in $sort: nope.')
})

test.each([
  ['', undefined],
  ['$limit=1', '$limit'],
  ['$count=true&$limit=1', '$count'],
  ['$limit=1&b=1&a=1', 'b'],
])('the first parameter of %s is %s', (raw, first) => {
  expect(firstParameter(decodeQuery(raw))).toBe(first)
})

test.each([
  ['x'.repeat(64), 'x'.repeat(64)],
  ['x'.repeat(65), 'x'.repeat(64)],
  ['😀'.repeat(65), '😀'.repeat(64)],
  ['apiKey=s3cret', 'apiKey'],
  ['a\n=s3cret\n=s3cret', 'a\n'],
  ['=s3cret', ''],
  ['\ud800', '\ufffd'],
])('a message repeats the name %j as %j', (name, repeated) => {
  expect(repeatedName(name)).toBe(repeated)
})

test('100 parameters are accepted, and 101 are not', () => {
  const raw = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`).join('&')
  expect(decodeQuery(raw(100)).conditions.size).toBe(100)
  expect(() => decodeQuery(raw(101))).toThrow('100')
})
