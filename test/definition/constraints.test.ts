import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileConstraints } from '../../src/definition/constraints.ts'
import type { Field } from '../../src/definition/field.ts'
import { fieldSchema } from '../../src/definition/schema.ts'

const cases: readonly (readonly [
  name: string,
  field: Field,
  kept: readonly unknown[],
  broken: readonly unknown[],
])[] = [
  [
    'maxLength counts code points',
    { type: 'text', maxLength: 2 },
    ['', 'ab', '😀😀', null],
    ['abc', '😀😀😀', 'ae\u0301'],
  ],
  ['minLength', { type: 'text', minLength: 2 }, ['ab', '😀😀'], ['', 'a', '😀']],
  ['pattern in Unicode mode', { type: 'text', pattern: '^\\p{Lu}.$' }, ['Äx', 'A😀'], ['ax', 'A']],
  ['enumeration of text', { type: 'text', enumeration: ['a', 'b'] }, ['a', null], ['A', '', 'c']],
  ['enumeration of numbers', { type: 'integer', enumeration: [1, 2] }, [1], [3]],
  [
    'enumeration of decimals by value',
    { type: 'decimal', precision: 4, scale: 2, enumeration: ['1.5'] },
    ['1.5', '1.50'],
    ['1.51'],
  ],
  ['bounds of integers', { type: 'integer', minimum: -1, maximum: 1 }, [-1, 0, 1], [-2, 2]],
  [
    'bounds of bigints',
    { type: 'bigint', minimum: '-10', maximum: '9' },
    ['-10', '9', 9, '-9'],
    ['-11', '10', 10],
  ],
  [
    'bounds of decimals',
    { type: 'decimal', precision: 5, scale: 2, minimum: '-1', maximum: '10' },
    ['-1.00', '10', '9.99'],
    ['-1.01', '10.01', '-10'],
  ],
  ['bounds of doubles', { type: 'double', minimum: 0.1, maximum: 0.2 }, [0.1, 0.2], [0.09, 0.21]],
  [
    'bounds of days',
    { type: 'date', minimum: '2024-02-28', maximum: '2024-03-01' },
    ['2024-02-29'],
    ['2024-02-27', '2024-03-02'],
  ],
  [
    'bounds of times of a day',
    { type: 'time', minimum: '08:00:00', maximum: '17:30:00' },
    ['08:00:00', '12:00:00', '17:30:00'],
    ['07:59:59', '17:30:01'],
  ],
  [
    'bounds of times',
    { type: 'dateTime', minimum: '2024-01-01T00:00:00', maximum: '2024-01-01T00:00:01' },
    ['2024-01-01T00:00:00.500', '2024-01-01T00:00:01.000'],
    ['2024-01-01T00:00:01.001', '2023-12-31T23:59:59.999'],
  ],
]

test.each(cases)('%s', (_name, field, kept, broken) => {
  const check = compileConstraints('it', field)
  for (const it of kept) expect(check(it), JSON.stringify(it)).toEqual([])
  for (const it of broken) {
    expect(check(it), JSON.stringify(it)).toMatchObject([{ severity: 'error', field: 'it' }])
  }
})

const fields: readonly Field[] = [
  { type: 'text', maxLength: 1, enumeration: ['a'], pattern: 'a' },
  { type: 'integer', minimum: 1, maximum: 2, enumeration: [1] },
  { type: 'bigint', minimum: '1', maximum: '2', enumeration: ['1'] },
  { type: 'decimal', precision: 3, scale: 1, minimum: '1', maximum: '2' },
  { type: 'double', minimum: 1 },
  { type: 'boolean', enumeration: [true] },
  { type: 'date', minimum: '2024-01-01' },
  { type: 'time', minimum: '08:00:00' },
  { type: 'dateTime', minimum: '2024-01-01T00:00:00' },
  { type: 'instant', minimum: '2024-01-01T00:00:00Z' },
  { type: 'uuid', enumeration: ['0a000000-0000-4000-8000-00000000000b'] },
]

test.each(fields.map((field) => [field.type, field] as const))(
  'a value of another type has one message on a %s field, whatever it declares',
  (type, field) => {
    const check = compileConstraints('it', field)
    const others = [{}, [], ...(type === 'boolean' ? [] : [true])]
    if (!['integer', 'double', 'bigint'].includes(type)) others.push(5)
    for (const it of others) expect(check(it), JSON.stringify(it)).toHaveLength(1)
  },
)

test('absent and null values pass', () => {
  const check = compileConstraints('it', { type: 'integer', minimum: 1 })
  expect([check(null), check(undefined)]).toEqual([[], []])
})

test('a message names its field and its limit', () => {
  const check = compileConstraints('größe', { type: 'text', maxLength: 2, minLength: 1 })
  expect(check('abc')[0]?.message).toBe('größe must have at most 2 characters.')
  expect(check('')[0]?.message).toBe('größe must have at least 1 characters.')
})

const pattern = fc.constantFrom('^[ab]', '\\p{Lu}', '^.$', '😀')
const textFields = fc
  .record({ minLength: fc.nat(4), maxLength: fc.nat(4), pattern }, { requiredKeys: [] })
  .map((options): Field => ({ type: 'text', ...options }))
const strings = fc.string({ unit: fc.constantFrom('a', 'b', 'Ä', '1', '😀'), maxLength: 6 })

const schemas = new Ajv2020({ allowUnionTypes: true })

test('a text field accepts exactly the strings that its JSON Schema accepts', () => {
  const property = fc.property(textFields, fc.array(strings, { minLength: 20 }), (field, texts) => {
    const check = compileConstraints('it', field)
    const accepts = schemas.compile(fieldSchema(field))
    for (const it of texts) expect(check(it).length === 0, it).toBe(accepts(it))
  })
  fc.assert(property, { numRuns: 150 })
})

test('no field accepts a value that its JSON Schema rejects', () => {
  const typed = fields.map((field) => ({
    check: compileConstraints('it', field),
    accepts: schemas.compile(fieldSchema(field)),
  }))
  const texts = fc.constantFrom('1', '1.5', 'true', '2024-01-01', '2024-01-01T00:00:00')
  const property = fc.property(fc.oneof(fc.jsonValue(), texts), (it) => {
    for (const { check, accepts } of typed) {
      if (check(it).length === 0) expect(accepts(it), JSON.stringify(it)).toBe(true)
    }
  })
  fc.assert(property, { numRuns: 2_000 })
})
