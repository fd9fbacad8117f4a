import { expect, test } from 'vitest'
import { createWork } from '../../../src/consume/openapi/document.ts'
import { linesSchema } from '../../../src/consume/openapi/operation-bodies.ts'
import { ResponseSchemas } from '../../../src/consume/openapi/response-schemas.ts'
import { jsonSchemas } from '../../../src/entries/consume.ts'

const named = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const text = { type: 'string' }
const closed = (name: string) => ({
  ...{
    type: 'object',
    properties: { [name]: text },
    required: [name],
    additionalProperties: false,
  },
})
const schemas = {
  Secret: { ...text, writeOnly: true },
  A: { type: 'object', properties: { kind: text }, required: ['a'] },
  B: { type: 'object', required: ['b'] },
  C: { allOf: [named('A'), { required: ['c'] }] },
  List: { type: 'array', items: named('A') },
  Account: { type: 'object', required: ['id', 'secret'] },
  Named: { type: 'object', properties: { name: text }, additionalProperties: false },
  Nothing: { nullable: true, type: 'object', required: ['n'] },
  Circle: closed('radius'),
  Square: closed('side'),
  Shape: { oneOf: [named('Circle'), named('Square')] },
  Tree: {
    allOf: [closed('leaf'), { properties: { size: { type: 'number' }, next: named('Tree') } }],
  },
}
const document = { components: { schemas } }
const aOrB = (mapping?: object) => ({
  oneOf: [named('A'), named('B')],
  discriminator: { propertyName: 'kind', ...(mapping && { mapping }) },
})
const ofA = { a: '#/components/schemas/A' }
const inAnyCase = { ...text, pattern: '(?i)x' }

/** A schema, the values that it accepts, and those that it rejects. */
const cases: readonly (readonly [string, object, readonly unknown[], readonly unknown[]])[] = [
  [
    'a multiple of a fraction',
    { multipleOf: 0.01 },
    [19.99, 0.29, 1.1, -4.35, 123456789.12, 0],
    [0.005, 19.995, 123456789.125],
  ],
  ['a multiple of an integer', { multipleOf: 3 }, [9, -3, 3e15], [10, 4.5]],
  ['no values', { enum: [] }, ['a'], []],
  [
    'invalid limits',
    { minLength: -1, maxItems: 1.5, multipleOf: 0, uniqueItems: 'yes', minimum: '5' },
    ['a', [1, 1], 2],
    [],
  ],
  [
    'no other properties beside a part with a schema for all others',
    { allOf: [closed('id'), { additionalProperties: text }] },
    [{ id: 'a' }],
    [{ id: 'a', x: 'b' }],
  ],
  [
    'members by pattern',
    { patternProperties: { '^x-': text }, additionalProperties: false },
    [{ 'x-a': 'b' }, {}],
    [{ 'x-a': 1 }, { y: 'b' }],
  ],
  [
    'members by a pattern of another language',
    { patternProperties: { '(?i)x': text }, additionalProperties: false },
    [{ X: 'b' }],
    [],
  ],
  ['a negation', { not: { ...text, pattern: '^x' } }, ['a', 1], ['xa']],
  ['a negation that is not checked', { not: inAnyCase }, ['a', 1], []],
  ['a negation with a format', { not: { ...text, format: 'uuid' } }, ['a'], []],
  [
    'a condition',
    { if: { required: ['a'] }, then: { required: ['b'] }, else: { required: ['c'] } },
    [{ a: 1, b: 1 }, { c: 1 }],
    [{ a: 1 }, {}],
  ],
  [
    'a condition that is not checked',
    { if: { properties: { a: inAnyCase } }, then: { required: ['b'] } },
    [{ a: 'y' }],
    [],
  ],
  ['a bounded number of others', { contains: inAnyCase, maxContains: 1 }, [['x', 'y']], [[1]]],
  [
    'members with the names of what objects inherit',
    { properties: { constructor: text, toString: text }, required: ['valueOf'] },
    [{ valueOf: 1 }],
    [{}, { valueOf: 1, constructor: 1 }],
  ],
  [
    'a member that refers to what is only written',
    { properties: { secret: named('Secret') }, required: ['secret', 'id'] },
    [{ id: 1 }],
    [{ secret: 'a' }],
  ],
  [
    'a part that requires what another part only writes',
    {
      allOf: [
        { required: ['id', 'secret'] },
        { properties: { id: text, secret: { ...text, writeOnly: true } } },
      ],
    },
    [{ id: 'a' }],
    [{ secret: 'a' }],
  ],
  [
    'a part by reference that requires what the schema only writes',
    { allOf: [named('Account')], properties: { secret: { allOf: [named('Secret')] } } },
    [{ id: 'a' }],
    [{ secret: 'a' }],
  ],
  [
    'an alternative and a condition that require what the schema only writes',
    {
      properties: { secret: named('Secret'), key: text },
      anyOf: [{ required: ['secret', 'key'] }, { required: ['id'] }],
      if: { required: ['key'] },
      then: { required: ['secret', 'key'] },
    },
    [{ key: 'a' }, { id: 'a' }],
    [{}],
  ],
  [
    'parts of which one allows no other properties',
    { allOf: [named('Named'), { properties: { age: { type: 'number' } }, required: ['age'] }] },
    [{ name: 'a', age: 1 }],
    [{ name: 'a' }, { name: 1, age: 1 }],
  ],
  ['an object that allows no other properties', named('Named'), [{ name: 'a' }], [{ age: 1 }]],
  [
    'alternatives that allow no other properties',
    { oneOf: [named('Named'), { properties: { age: text }, additionalProperties: false }] },
    [{ name: 'a' }, { age: 'a' }],
    [{ name: 'a', age: 'a' }],
  ],
  [
    'alternatives that allow no other properties beside a part',
    { allOf: [closed('id'), { oneOf: [named('Circle'), closed('side')] }] },
    [
      { id: 'a', radius: 'b' },
      { id: 'a', side: 'b' },
    ],
    [
      { id: 'a', radius: 'b', side: 'c' },
      { id: 'a', radius: 1 },
      { id: 'a', radius: 'b', x: 1 },
      { radius: 'b' },
      { id: 'a' },
    ],
  ],
  [
    'a part by reference whose alternatives allow no other properties',
    { allOf: [named('Shape'), { properties: { id: text }, required: ['id'] }] },
    [{ id: 'a', side: 'b' }],
    [{ id: 'a', radius: 'b', side: 'c' }, { side: 'b' }, { id: 'a', side: 'b', x: 1 }],
  ],
  [
    'the same reference as a part of objects with other properties, and alone',
    {
      type: 'array',
      prefixItems: [
        { allOf: [named('Shape'), closed('id')] },
        { allOf: [named('Shape'), closed('name')] },
        named('Shape'),
      ],
    },
    [[{ id: 'a', side: 'b' }, { name: 'a', side: 'b' }, { side: 'b' }]],
    [
      [{ name: 'a', side: 'b' }],
      [
        { id: 'a', side: 'b' },
        { id: 'a', side: 'b' },
      ],
      [
        { id: 'a', side: 'b' },
        { name: 'a', side: 'b' },
        { name: 'a', side: 'b' },
      ],
    ],
  ],
  [
    'alternatives of alternatives that allow no other properties',
    { properties: { id: text }, oneOf: [{ anyOf: [named('Shape'), closed('x')] }, closed('y')] },
    [{ id: 'a', side: 'b' }, { id: 'a', x: 'b' }, { y: 'b' }],
    [{ id: 'a' }, { x: 'a', y: 'b' }, { id: 'a', side: 'b', radius: 'c' }],
  ],
  [
    'two lists of alternatives that allow no other properties',
    { oneOf: [named('Circle'), named('Square')], anyOf: [closed('x'), closed('y')] },
    [
      { radius: 'a', x: 'b' },
      { side: 'a', y: 'b' },
    ],
    [{ radius: 'a' }, { x: 'b' }, { radius: 'a', x: 'b', y: 'c' }],
  ],
  [
    'a condition that allows no other properties',
    { properties: { kind: text, id: text }, if: { required: ['kind'] }, then: closed('size') },
    [{ kind: 'a', id: 'b', size: 'c' }, { id: 'a' }],
    [{ kind: 'a' }, { kind: 'a', size: 'b', x: 1 }],
  ],
  [
    'a part that allows no other properties and has none',
    { allOf: [{ properties: { id: text } }, { additionalProperties: false }] },
    [{ id: 'a' }, {}],
    [{ id: 1 }, { x: 1 }],
  ],
  [
    'members with any name beside others of another type',
    { properties: { id: { type: 'integer' } }, allOf: [{ additionalProperties: text }] },
    [{ id: 1, x: 'a' }],
    [{ id: 'a' }, { id: 1, x: 1 }],
  ],
  [
    'a part that allows no other properties beside members by pattern',
    { allOf: [closed('id'), { patternProperties: { '^x-': text } }] },
    [{ id: 'a', 'x-b': 'c' }],
    [
      { id: 'a', 'x-b': 1 },
      { id: 'a', b: 'c' },
    ],
  ],
  [
    'a part that allows no other properties beside members by a pattern of another language',
    { allOf: [closed('id'), { patternProperties: { '(?i)x': text } }] },
    [{ id: 'a', X: 'c' }],
    [{ X: 'c' }],
  ],
  [
    'a recursive schema of which a part allows no other properties',
    named('Tree'),
    [{ leaf: 'a', size: 1, next: { leaf: 'b', next: { leaf: 'c' } } }],
    [
      { leaf: 'a', next: { size: 1 } },
      { leaf: 'a', next: { leaf: 'b', x: 1 } },
    ],
  ],
  [
    'a negation of an object with parts that allow no other properties',
    { not: { allOf: [closed('id'), { properties: { x: text } }] } },
    [{ id: 'a', x: 'b' }, { id: 'a' }, 1],
    [],
  ],
  [
    'a negation of an object that allows no other properties',
    { not: closed('id') },
    [{ id: 'a', x: 'b' }, 1],
    [{ id: 'a' }],
  ],
  [
    'alternatives of which one may be null',
    { oneOf: [named('A'), named('Nothing')], discriminator: { propertyName: 'kind' } },
    [null, { kind: 'A', a: 1 }, { kind: 'Nothing', n: 1 }],
    [{ kind: 'A', n: 1 }, {}, 'a'],
  ],
  [
    'alternatives by a property, or null by the type',
    { type: ['object', 'null'], ...aOrB() },
    [null, { kind: 'A', a: 1 }],
    [{ kind: 'A' }, 'a'],
  ],
  [
    'alternatives by a property, or null by a flag',
    { nullable: true, ...aOrB() },
    [null, { kind: 'A', a: 1 }],
    [{ kind: 'A' }],
  ],
  [
    'values with null and the flag of OpenAPI 3.0',
    { ...text, nullable: true, enum: ['open', null] },
    ['open', null],
    ['closed', 1],
  ],
  [
    'values with null and the types of OpenAPI 3.1',
    { type: ['string', 'null'], enum: ['open', null] },
    ['open', null],
    ['closed', 1],
  ],
  ['values beside null', { type: ['string', 'null'], enum: ['a'] }, ['a', null], ['b']],
  [
    'alternatives with a mapping for some',
    aOrB(ofA),
    [
      { kind: 'a', a: 1 },
      { kind: 'A', a: 1 },
      { kind: 'B', b: 1 },
    ],
    [{ kind: 'a', b: 1 }, { kind: 'x', a: 1 }, { b: 1 }],
  ],
  [
    'alternatives whose names are swapped',
    aOrB({ A: 'B', B: 'A' }),
    [
      { kind: 'A', b: 1 },
      { kind: 'B', a: 1 },
    ],
    [{ kind: 'A', a: 1 }],
  ],
  [
    'alternatives with a mapping to a subtype',
    aOrB({ ...ofA, c: '#/components/schemas/C' }),
    [{ kind: 'c', a: 1, c: 1 }],
    [{ kind: 'c', c: 1 }],
  ],
  [
    'alternatives with a mapping to another document',
    aOrB({ first: './A.yaml' }),
    [{ kind: 'first', a: 1 }],
    [{ kind: 'first' }],
  ],
]

test.each(cases)('%s', async (_what, schema, accepted, rejected) => {
  const all = new ResponseSchemas(document, { work: createWork() })
  const converted = all.schemaOf(schema)
  const { validate } = jsonSchemas(all.definitions)(converted)['~standard']
  for (const value of accepted) expect(await validate(value)).toEqual({ value })
  for (const value of rejected) expect(await validate(value)).toHaveProperty('issues')
})

test('a list of lines that is described by reference is not a list of lists', () => {
  expect(linesSchema(document, named('List'))).toEqual(named('List'))
  expect(linesSchema(document, named('A'))).toEqual({ type: 'array', items: named('A') })
})

test('with numbers as strings, checks accept long numbers as strings where a number is described', async () => {
  const all = new ResponseSchemas(document, { work: createWork(), largeNumbers: 'string' })
  const long = '12345678901234567890'
  for (const type of ['integer', 'number', ['number', 'null']]) {
    const { validate } = jsonSchemas({})(all.schemaOf({ type }))['~standard']
    for (const value of [1, long, `-${long}`, '1e999'])
      expect(await validate(value)).toEqual({ value })
    for (const value of ['', 'a', '1.5', '12', true])
      expect(await validate(value)).toHaveProperty('issues')
  }
  const { validate } = jsonSchemas({})(all.schemaOf({ type: ['integer', 'string'] }))['~standard']
  expect(await validate('a')).toEqual({ value: 'a' })
})
