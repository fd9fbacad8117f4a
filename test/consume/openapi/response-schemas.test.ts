import { expect, test } from 'vitest'
import { createWork } from '../../../src/consume/openapi/document.ts'
import { linesSchema } from '../../../src/consume/openapi/operation-bodies.ts'
import { ResponseSchemas } from '../../../src/consume/openapi/response-schemas.ts'
import { jsonSchemas } from '../../../src/entries/consume.ts'

const named = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const text = { type: 'string' }
const schemas = {
  Secret: { ...text, writeOnly: true },
  A: { type: 'object', properties: { kind: text }, required: ['a'] },
  B: { type: 'object', required: ['b'] },
  C: { allOf: [named('A'), { required: ['c'] }] },
  List: { type: 'array', items: named('A') },
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
