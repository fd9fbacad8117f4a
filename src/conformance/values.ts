import type { Row } from '../request/query.ts'
import { equal } from './assertion.ts'
import { equals, find, store, write, type ConformanceCase } from './case.ts'
import { rowOf, samples } from './collections.ts'

const controls = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).join('')

/** Values that must be returned unchanged, by field. */
const values: readonly (readonly [string, string, readonly Row[string][]])[] = [
  ['label', 'empty and blank strings', ['', ' ', '  ', '\u00a0', 'trailing ', ' leading']],
  ['label', 'control characters', [controls, '\u007f\u0080\u009f', '\r\n', '\n', '\t ', '\b\f']],
  [
    'label',
    'line separators, quotes and backslashes',
    ['\u2028\u2029', '"\\"', "''", '\\u0041', '`'],
  ],
  [
    'label',
    'characters of every plane',
    ['\ud7ff\ue000\ufffd\uffff', '\u{10000}\u{1f600}\u{10ffff}', '\ufeffbom'],
  ],
  [
    'label',
    'Unicode normal forms',
    ['\u00e9', 'e\u0301', '\u1e9b\u0323', '\ufb01', '\u2126', '\u03a9'],
  ],
  [
    'label',
    'strings that look like other values',
    ['null', 'true', '0', '007', '1e5', '2024-01-01', '{}', 'NaN', '0x1F'],
  ],
  ['label', 'a string of 100 KB', ['\u00e4\u{1f600} xyz'.repeat(10_000)]],
  [
    'quantity',
    'integers to the last safe one',
    [0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, 1 - 2 ** 53],
  ],
  [
    'large',
    '64-bit integers',
    ['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'],
  ],
  [
    'amount',
    'decimals with their zeros',
    ['0.0000', '1.0000', '0.1000', '-0.0001', '9999999999999999.9999', '-1234567890123456.7890'],
  ],
  [
    'exact',
    'decimals of 38 digits',
    [
      '0.0000000001',
      '1.1000000000',
      '-9999999999999999999999999999.9999999999',
      '1234567890123456789012345678.0123456789',
    ],
  ],
  [
    'ratio',
    'doubles to the last bit',
    [
      0,
      0.1,
      0.30000000000000004,
      5e-324,
      -5e-324,
      2.2250738585072014e-308,
      1.7976931348623157e308,
      -1.7976931348623157e308,
      1e21,
      123456789012345680000,
      1 / 3,
      2 ** 53 + 2,
      4.35,
      1.0000000000000002,
    ],
  ],
  ['flag', 'booleans', [true, false]],
  [
    'day',
    'days',
    [
      '0001-01-01',
      '1582-10-10',
      '1900-03-01',
      '1969-12-31',
      '2024-02-29',
      '2024-03-31',
      '9999-12-31',
    ],
  ],
  ['hour', 'times of a day', ['00:00:00', '02:30:00', '12:00:00', '23:59:59']],
  [
    'local',
    'date-times, including those that daylight saving time skips',
    [
      '2024-03-31T02:30:00',
      '1969-12-31T23:59:59.999',
      '0001-01-01T00:00:00',
      '2024-10-27T02:30:00.010',
    ],
  ],
  [
    'moment',
    'instants',
    [
      '2024-03-31T01:30:00Z',
      '1969-12-31T23:59:59.999Z',
      '9999-12-31T23:59:59Z',
      '2024-01-01T00:00:00.100Z',
    ],
  ],
  [
    'token',
    'UUIDs',
    [
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '0e123456-0000-4000-8000-000000000000',
    ],
  ],
  [
    'data',
    'JSON text, byte for byte',
    [
      '{}',
      '[]',
      '""',
      'null',
      '0',
      'true',
      '"null"',
      '{"b":1,"a":2}',
      '{"a":{"b":[1,2.5e-7,"\u2028\\"\\\\ü😀\\n"]}}',
      '[1e+21,0.1,-5]',
      '{"9":4,"10":3,"__proto__":1,"":2}',
    ],
  ],
]

/** Insert and filter return values unchanged, in their JavaScript types. */
export const valueCases: readonly ConformanceCase[] = [
  {
    name: 'a row with only a key has null in every other field',
    run: async ({ adapter }) => {
      const row = rowOf(samples, { id: 1 })
      equal(await write(adapter, (on) => on.insert(samples, row)), row, 'as insert returned it')
      equal(await find(adapter, samples), [row], 'as filter found it')
    },
  },
  ...(values.map(([field, what, list]) => ({
    name: `keeps ${what}, through insert and filter`,
    run: async ({ adapter }) => {
      for (const [id, value] of list.entries()) {
        const row = rowOf(samples, { id, [field]: value })
        const stored = await write(adapter, (on) => on.insert(samples, row))
        equal(stored, row, `${field} as insert returned it`)
        // One row at a time: a fault in the sort order is not the subject.
        const found = await find(adapter, samples, { conditions: equals({ id }) })
        equal(found, [row], `${field} as filter found it`)
      }
    },
  })) satisfies readonly ConformanceCase[]),
  {
    name: 'a json field distinguishes the JSON value null from no value',
    run: async ({ adapter }) => {
      const rows = [
        { id: 1, data: 'null' },
        { id: 2, data: null },
      ]
      await store(adapter, samples, rows)
      equal(await find(adapter, samples, { select: ['id', 'data'] }), rows, 'the rows')
    },
  },
  {
    name: 'a row with a value in every field is returned complete',
    run: async ({ adapter }) => {
      const row = Object.fromEntries(values.map(([field, , list]) => [field, list.at(-1) ?? null]))
      await store(adapter, samples, [{ id: 7, ...row }])
      equal(await find(adapter, samples), [rowOf(samples, { id: 7, ...row })], 'the row')
    },
  },
]

/** Update and delete return values unchanged. */
export const changedValueCases: readonly ConformanceCase[] = values.map(([field, what, list]) => ({
  name: `keeps ${what}, through update and delete`,
  run: async ({ adapter }) => {
    for (const [id, value] of list.entries()) {
      await store(adapter, samples, [{ id }])
      const row = rowOf(samples, { id, [field]: value })
      const conditions = equals({ id })
      const changed = await write(adapter, (on) =>
        on.update(samples, conditions, { [field]: value }),
      )
      equal(changed, row, `${field} as update returned it`)
      const found = await find(adapter, samples, { conditions })
      equal(found, [row], `${field} as filter found it`)
      const removed = await write(adapter, (on) => on.delete(samples, conditions))
      equal(removed, row, `${field} as delete returned it`)
    }
  },
}))
