import type { Row } from '../request/query.ts'
import { equal } from './assertion.ts'
import { find, findValues, store, type ConformanceCase } from './case.ts'
import { customers, orderLines, passes, readings, samples } from './collections.ts'

/** The values of a field in ascending order. */
export const ascending: readonly (readonly [string, string, readonly Row[string][]])[] = [
  [
    'label',
    'strings by code point',
    ['', ' ', '!', '-', '0', '10', '9', 'A', 'Z', '_', 'a', 'aa', 'a\u0301', 'b', 'z'],
  ],
  [
    'label',
    'strings beyond ASCII by code point, not by UTF-16 unit',
    [
      'z',
      '\u00c4',
      '\u00e4',
      '\u0131',
      '\u1e9e',
      '\u212a',
      '\ud7ff',
      '\ue000',
      '\ufb00',
      '\uffe5',
      '\ufffd',
      '\u{10000}',
      '\u{1f600}',
      '\u{10ffff}',
    ],
  ],
  ['label', 'strings with a common prefix', ['a', 'ab', 'a\uffe5', 'a\u{10000}', 'a\u{10000}a']],
  [
    'label',
    'strings with spaces and punctuation, which a collation must not ignore',
    ['a', 'a ', 'a b', 'a-b', 'aB', 'a_b', 'ab'],
  ],
  [
    'quantity',
    'integers by value',
    [Number.MIN_SAFE_INTEGER, -100, -20, -3, 0, 4, 30, 200, Number.MAX_SAFE_INTEGER],
  ],
  [
    'large',
    '64-bit integers by value',
    [
      '-9223372036854775808',
      '-9007199254740993',
      '-9007199254740992',
      '-10',
      '-9',
      '0',
      '9',
      '10',
      '9007199254740992',
      '9007199254740993',
      '9223372036854775807',
    ],
  ],
  [
    'amount',
    'decimals by value',
    [
      '-9999999999999999.9999',
      '-9999999999999999.9998',
      '-10.0000',
      '-9.5000',
      '-0.0001',
      '0.0000',
      '0.0001',
      '9.5000',
      '10.0000',
      '1234567890123456.7890',
      '1234567890123456.7891',
    ],
  ],
  [
    'exact',
    'decimals of 38 digits by value',
    [
      '-9999999999999999999999999999.9999999999',
      '-1.0000000001',
      '-1.0000000000',
      '0.0000000000',
      '0.0000000001',
      '2.0000000000',
      '10.0000000000',
      '9999999999999999999999999999.9999999998',
      '9999999999999999999999999999.9999999999',
    ],
  ],
  [
    'ratio',
    'doubles by value',
    [
      -1.7976931348623157e308, -10, -9.5, -5e-324, 0, 5e-324, 0.1, 9.5, 10, 1e21,
      1.7976931348623157e308,
    ],
  ],
  ['flag', 'false before true', [false, true]],
  [
    'day',
    'days',
    ['0001-01-01', '0999-12-31', '1969-12-31', '2024-02-29', '2024-03-01', '9999-12-31'],
  ],
  ['hour', 'times of a day', ['00:00:00', '00:00:01', '09:59:59', '10:00:00', '23:59:59']],
  [
    'local',
    'date-times, with a fraction or without',
    [
      '1969-12-31T23:59:59',
      '2024-01-01T00:00:00',
      '2024-01-01T00:00:00.001',
      '2024-01-01T00:00:00.500',
      '2024-01-01T00:00:01',
      '2024-01-01T10:00:00',
    ],
  ],
  [
    'moment',
    'instants, with a fraction or without',
    [
      '1969-12-31T23:59:59Z',
      '2024-01-01T00:00:00Z',
      '2024-01-01T00:00:00.001Z',
      '2024-01-01T00:00:00.500Z',
      '2024-01-01T00:00:01Z',
      '2024-01-01T10:00:00Z',
    ],
  ],
  [
    'token',
    'UUIDs as strings',
    [
      '00000000-0000-4000-8000-000000000000',
      '0a000000-0000-1000-8000-000000000000',
      'a0000000-0000-1000-8000-000000000000',
      'ffffffff-ffff-4fff-bfff-ffffffffffff',
    ],
  ],
]

/** `sort`: by value, strings by code point, null first, ties broken by the next field. */
export const sortCases: readonly ConformanceCase[] = [
  ...(ascending.map(([field, what, values]) => ({
    name: `sorts ${what}, with null first, and in reverse when descending`,
    run: async ({ adapter }) => {
      // Stored in another order: the odd ids first, in reverse.
      const marked = [null, ...values].map((value, id) => ({ id, [field]: value }))
      const odd = marked.filter(({ id }) => id % 2 === 1).toReversed()
      await store(adapter, samples, [...odd, ...marked.filter(({ id }) => id % 2 === 0)])
      const up = await findValues(adapter, samples, field, { sort: [{ field, descending: false }] })
      equal(up, [null, ...values], `${field}, ascending`)
      const down = await findValues(adapter, samples, field, {
        sort: [{ field, descending: true }],
      })
      equal(down, [...values.toReversed(), null], `${field}, descending`)
    },
  })) satisfies readonly ConformanceCase[]),
  {
    name: 'ties are broken by the next sort field, each in its own direction, and finally by the key',
    run: async ({ adapter }) => {
      await store(adapter, samples, [
        { id: 6, label: 'a', quantity: 1 },
        { id: 2, label: 'b', quantity: 1 },
        { id: 5, label: 'a', quantity: 2 },
        { id: 1, label: 'b', quantity: null },
        { id: 4, label: 'a', quantity: 2 },
        { id: 3, label: 'a', quantity: null },
      ])
      const sort = [
        { field: 'label', descending: false },
        { field: 'quantity', descending: true },
      ]
      equal(await findValues(adapter, samples, 'id', { sort }), [4, 5, 6, 3, 2, 1], 'the ids')
      const keyDown = [
        { field: 'label', descending: true },
        { field: 'id', descending: true },
      ]
      const found = await findValues(adapter, samples, 'id', { sort: keyDown })
      equal(found, [2, 1, 6, 5, 4, 3], 'the ids, descending')
    },
  },
  {
    name: 'a key of type text sorts by code point',
    run: async ({ adapter }) => {
      const keys = ['a', 'B', 'ä', 'Z', '\u{1f600}', '\uffe5', '10', '9', 'a ', 'A']
      await store(
        adapter,
        customers,
        keys.map((customerId) => ({ customerId })),
      )
      const found = await findValues(adapter, customers, 'customerId')
      equal(found, ['10', '9', 'A', 'B', 'Z', 'a', 'a ', 'ä', '\uffe5', '\u{1f600}'], 'the keys')
    },
  },
  {
    name: 'a composite key sorts part by part, each by its type',
    run: async ({ adapter }) => {
      const keys = [
        [10, 'a'],
        [9, 'b'],
        [9, 'a'],
        [9, 'B'],
        [-1, 'z'],
        [10, ''],
      ] as const
      await store(
        adapter,
        orderLines,
        keys.map(([orderId, product]) => ({ orderId, product })),
      )
      const rows = await find(adapter, orderLines)
      const expected = [
        [-1, 'z'],
        [9, 'B'],
        [9, 'a'],
        [9, 'b'],
        [10, ''],
        [10, 'a'],
      ]
      equal(
        rows.map(({ orderId, product }) => [orderId, product]),
        expected,
        'the keys',
      )
      const numbers = ['-5', '10', '9'].map((large, index) => ({
        ...pass,
        large,
        note: `${index}`,
      }))
      await store(adapter, passes, numbers)
      equal(await findValues(adapter, passes, 'large'), ['-5', '9', '10'], 'the bigint parts')
    },
  },
  {
    name: 'rows without key sort by all fields, and equal rows all appear',
    run: async ({ adapter }) => {
      const rows: readonly Row[] = [
        { station: 'b', value: 1 },
        { station: 'a', value: 10 },
        { station: 'a', value: 9, remark: 'x' },
        { station: 'a', value: 9, remark: null },
        { station: 'b', value: 1 },
        { station: null, value: 5 },
      ]
      await store(adapter, readings, rows)
      const found = await find(adapter, readings, { select: ['station', 'value', 'remark'] })
      const expected = [5, 3, 2, 1, 0, 4].map((index) => ({ remark: null, ...rows[index] }))
      equal(found, expected, 'the readings')
    },
  },
]

const pass: Row = {
  day: '2024-01-01',
  amount: '1.00',
  flag: true,
  moment: '2024-01-01T00:00:00Z',
  token: '00000000-0000-4000-8000-000000000000',
}
