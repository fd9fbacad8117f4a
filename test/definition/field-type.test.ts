import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareDecimals } from '../../src/definition/compare-values.ts'
import { fieldTypes } from '../../src/definition/field-type.ts'
import { padDecimal } from '../../src/definition/value-forms.ts'

import type { Field, FieldTypeName } from '../../src/definition/field.ts'
import type { Json } from '../../src/protocol/json.ts'

const fieldOf = (type: FieldTypeName): Field =>
  type === 'decimal' ? { type, precision: 6, scale: 2 } : { type }

const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)])

/** JSON values of the right JSON type that a field accepts and rejects. */
const values: Readonly<
  Record<FieldTypeName, readonly [accepted: readonly Json[], rejected: readonly Json[]]>
> = {
  text: [
    ['', ' a ', '😀', '\u0001', '\uffff', "'; drop"],
    ['\0', 'a\0b', '\ud800', '\udc00a', '\udc00\ud800'],
  ],
  integer: [
    [0, -0, 1, -1, 2 ** 53 - 1, 1 - 2 ** 53],
    [0.5, 2 ** 53, -(2 ** 53), 1e300],
  ],
  bigint: [
    ['0', '-1', '9223372036854775807', '-9223372036854775808', 0, 2 ** 53 - 1],
    [
      '',
      '-0',
      '00',
      '01',
      '+1',
      '1.0',
      ' 1',
      '1e3',
      '9223372036854775808',
      '-9223372036854775809',
      '1'.repeat(30),
      2 ** 53,
      0.5,
      true,
      null,
      [],
    ],
  ],
  decimal: [
    ['0', '0.0', '-0.00', '9999.99', '-9999.99', '1', '1.5', '0.01'],
    ['', '10000', '1.234', '01', '+1', '.5', '5.', '1e3', ' 1', '1 ', '-', 'NaN', '1,5', '٣'],
  ],
  double: [
    [0, -0, 0.1, 1e308, -1e-308, 5],
    [Infinity, NaN],
  ],
  boolean: [[true, false], []],
  date: [
    ['2024-02-29', '0001-01-01', '9999-12-31', '2000-02-29'],
    [
      '2023-02-29',
      '1900-02-29',
      '2024-02-30',
      '2024-04-31',
      '2024-00-01',
      '2024-13-01',
      '2024-01-00',
      '0000-01-01',
      '2024-1-5',
      '20240105',
      '+012024-01-01',
      '2024-01-05T00:00:00',
      ' 2024-01-05',
      '2024-01-05\n',
      '٢٠٢٤-01-05',
    ],
  ],
  time: [
    ['00:00:00', '09:05:07', '19:59:59', '23:59:59'],
    [
      '',
      '24:00:00',
      '23:60:00',
      '23:59:60',
      '9:05:07',
      '09:05',
      '09:05:07.000',
      '09:05:07Z',
      '09:05:07+00:00',
      '-09:05:07',
      ' 09:05:07',
      '09:05:07\n',
      'T09:05:07',
      '2024-01-05T09:05:07',
      '٠٩:05:07',
    ],
  ],
  dateTime: [
    ['2024-01-05T00:00:00', '2024-01-05T23:59:59.999', '2024-01-05T10:00:00.000'],
    [
      '2024-01-05',
      '2024-01-05T24:00:00',
      '2024-01-05T23:60:00',
      '2024-01-05T23:59:60',
      '2024-01-05T10:00',
      '2024-01-05 10:00:00',
      '2024-01-05T10:00:00.1',
      '2024-01-05T10:00:00.1234',
      '2024-01-05T10:00:00Z',
      '2024-01-05T10:00:00+00:00',
      '2023-02-29T10:00:00',
      '2024-01-05t10:00:00',
    ],
  ],
  instant: [
    ['2024-01-05T00:00:00Z', '2024-01-05T23:59:59.999Z'],
    [
      '2024-01-05T00:00:00',
      '2024-01-05T00:00:00z',
      '2024-01-05T00:00:00+00:00',
      '2024-01-05T00:00:00ZZ',
      'Z',
    ],
  ],
  uuid: [
    [
      '0a000000-0000-4000-8000-00000000000b',
      '0A000000-0000-4000-8000-00000000000B',
      '00000000-0000-0000-0000-000000000000',
    ],
    [
      '',
      '0a',
      '0a0000000000400080000000000000000b',
      '{0a000000-0000-4000-8000-00000000000b}',
      '0a000000-0000-4000-8000-00000000000g',
      ' 0a000000-0000-4000-8000-00000000000b',
    ],
  ],
  json: [
    [null, 0, '', false, [], {}, { a: [1, { b: null }] }, nested(32)],
    ['\0', { a: '\ud800' }, { '\0': 1 }, nested(33), Infinity, [NaN]],
  ],
}

const types = Object.keys(fieldTypes) as FieldTypeName[]

test.each(types)('%s accepts exactly its values', (type) => {
  const { accepts } = fieldTypes[type]
  const [accepted, rejected] = values[type]
  for (const value of accepted)
    expect(accepts(value, fieldOf(type)), JSON.stringify(value)).toBe(true)
  for (const value of rejected)
    expect(accepts(value, fieldOf(type)), JSON.stringify(value)).toBe(false)
})

test.each(types)(
  '%s stores a value in one form, which is accepted as text if it can be filtered',
  (type) => {
    const { store, show, acceptsText, storeText, filterable } = fieldTypes[type]
    for (const value of values[type][0]) {
      const field = fieldOf(type)
      const stored = store(value, field)
      const shown = show(stored)
      expect(store(shown, field)).toBe(stored)
      if (!filterable) continue
      expect(acceptsText(String(stored), field), String(stored)).toBe(true)
      expect(storeText(String(stored), field)).toBe(stored)
    }
  },
)

test.each([
  [
    'integer',
    ['0', '-1', '9007199254740991'],
    ['-0', '01', '+1', '1.0', '1e3', ' 1', '', '9007199254740992'],
  ],
  ['decimal', ['0.00', '-1.50', '9999.99'], ['0', '-0.00', '1.5', '01.00', '1.500', '.50', '']],
  ['double', ['0', '0.5', '-1e3', '1.0'], ['.5', '+1', 'NaN', 'Infinity', '1e999', '0x1', '']],
  ['boolean', ['true', 'false'], ['True', '1', '0', '', 'yes']],
  [
    'dateTime',
    ['2024-01-05T10:00:00', '2024-01-05T10:00:00.500', '2024-01-05T10:00:00.001'],
    ['2024-01-05T10:00:00.000', '2024-01-05T10:00:00.5', '2024-01-05T10:00:00Z'],
  ],
  [
    'instant',
    ['2024-01-05T10:00:00Z', '2024-01-05T10:00:00.010Z'],
    ['2024-01-05T10:00:00.000Z', '2024-01-05T10:00:00.5Z', '2024-01-05T10:00:00'],
  ],
  ['uuid', ['0A000000-0000-4000-8000-00000000000B'], ['0a']],
  ['json', [], ['1', '{}', 'null']],
] as const)('%s accepts canonical strings only', (type, accepted, rejected) => {
  const { acceptsText } = fieldTypes[type]
  for (const text of accepted) expect(acceptsText(text, fieldOf(type)), text).toBe(true)
  for (const text of rejected) expect(acceptsText(text, fieldOf(type)), text).toBe(false)
})

test('text is ordered by code point, as UTF-8 bytes are', () => {
  const text = fc.string({ unit: 'binary', maxLength: 4 })
  const start = fc.nat(600).map((length) => 'x'.repeat(length))
  const property = fc.property(text, text, start, (...[one, other, common]) => {
    const [left, right] = [common + one, common + other]
    const order = Buffer.compare(Buffer.from(left), Buffer.from(right))
    expect(Math.sign(fieldTypes.text.compare?.(left, right) ?? NaN)).toBe(order)
  })
  fc.assert(property, { numRuns: 2000 })
})

test('integers and decimals are ordered by value, at any size', () => {
  const large = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const property = fc.property(large, large, (left, right) => {
    const order = left < right ? -1 : Number(left > right)
    expect(Math.sign(compareDecimals(String(left), String(right))) + 0).toBe(order)
    const scaled = (value: bigint) => {
      const digits = String(value < 0n ? -value : value).padStart(5, '0')
      return `${value < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`
    }
    expect(Math.sign(compareDecimals(scaled(left), scaled(right))) + 0).toBe(order)
  })
  fc.assert(property, { numRuns: 1000 })
})

test('days and times are ordered by time, with and without fraction', () => {
  const moment = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  })
  const { store, compare } = fieldTypes.instant
  const property = fc.property(moment, moment, (left, right) => {
    const stored = (time: Date) => store(time.toISOString(), fieldOf('instant'))
    const order = Math.sign(left.getTime() - right.getTime())
    expect(compare?.(stored(left), stored(right))).toBe(order)
    expect(fieldTypes.date.accepts(left.toISOString().slice(0, 10), fieldOf('date'))).toBe(true)
  })
  fc.assert(property, { numRuns: 1000 })
})

test('every day of the calendar is a day, and no other', () => {
  const { accepts } = fieldTypes.date
  const two = (value: number) => String(value).padStart(2, '0')
  for (const year of ['0004', '1900', '2000', '2023', '2024']) {
    for (let month = 0; month <= 13; month++) {
      for (let day = 0; day <= 32; day++) {
        const text = `${year}-${two(month)}-${two(day)}`
        const time = new Date(`${text}T00:00:00Z`)
        const real = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text)
        expect(accepts(text, fieldOf('date')), text).toBe(real)
      }
    }
  }
})

test.each([
  ['1', '1.00'],
  ['-0.0', '0.00'],
  ['-0.01', '-0.01'],
  ['1.5', '1.50'],
])('the decimal %s is %s', (given, padded) => {
  expect(padDecimal(given, fieldOf('decimal'))).toBe(padded)
})

test('a decimal without fraction and one without whole part', () => {
  const whole = { type: 'decimal', precision: 3, scale: 0 } as const
  const part = { type: 'decimal', precision: 2, scale: 2 } as const
  const { accepts, acceptsText } = fieldTypes.decimal
  expect(['0', '-0', '999', '1000', '1.0'].map((text) => accepts(text, whole))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
  expect(['0', '-0', '999'].map((text) => acceptsText(text, whole))).toEqual([true, false, true])
  expect(['0.99', '0', '1.00', '0.999'].map((text) => accepts(text, part))).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(padDecimal('-0', whole)).toBe('0')
})
