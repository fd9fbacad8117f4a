import type { Row } from '../request/query.ts'
import { equal } from './assertion.ts'
import { equals, find, findValues, store, type ConformanceCase } from './case.ts'
import { customers, orderLines, readings, samples } from './collections.ts'

/** Strings that some databases treat as equal. The service never does. */
export const lookAlikes: readonly (readonly [string, readonly string[]])[] = [
  ['letter case', ['berlin', 'Berlin', 'BERLIN']],
  ['accents', ['resume', 'résumé', 'résume']],
  ['trailing and leading spaces', ['a', 'a ', 'a  ', ' a', 'a\t', 'a\u00a0']],
  ['Unicode normal forms', ['\u00e9', 'e\u0301', '\u212b', '\u00c5', 'A\u030a']],
  ['emoji and their modifiers', ['👍', '👍🏽', '👎', '❤', '❤\ufe0f', '👩‍💻', '👩']],
  ['letters with and without case pairs', ['ı', 'i', 'I', 'İ', 'ß', 'ss', 'ẞ', 'SS']],
  ['sigmas and Kelvin', ['σ', 'ς', 'Σ', 'k', 'K', '\u212a']],
  ['invisible characters', ['ab', 'a\u200bb', 'a\u00adb', '\ufeffab']],
  ['strings that look like numbers', ['0', '00', '0.0', '-0', '+0', '0e0', '1', '1e0', ' 1']],
  ['strings that look like other literals', ['null', 'NULL', 'true', 'TRUE', "''", '""']],
  ['wide and narrow forms', ['A', '\uff21', '1', '\uff11', '\u00b9']],
  ['wildcards', ['a%', 'a_', 'ab', 'a*', 'a?', 'a\\%', 'a']],
]

/** Different values of each type. */
export const typed: readonly (readonly [string, readonly Row[string][]])[] = [
  ['quantity', [0, 1, -1, 10, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]],
  ['large', ['0', '-1', '9007199254740993', '9007199254740992', '9223372036854775807']],
  ['amount', ['0.0000', '0.1000', '-0.1000', '1234567890123456.7891', '1234567890123456.7890']],
  ['exact', ['0.0000000001', '0.0000000002', '9999999999999999999999999999.9999999999']],
  ['ratio', [0, 0.1, 0.30000000000000004, 0.3, 1e300, 5e-324, -2.5]],
  ['flag', [true, false]],
  ['day', ['2024-02-29', '2024-02-28', '0001-01-01', '9999-12-31']],
  ['hour', ['00:00:00', '00:00:01', '12:00:00', '23:59:59']],
  ['local', ['2024-01-01T00:00:00', '2024-01-01T00:00:00.001', '2024-01-01T00:00:01']],
  ['moment', ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.500Z', '2024-03-31T02:30:00Z']],
  ['token', ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-4fff-bfff-ffffffffffff']],
]

/** Equality conditions: exact on every type, whatever the collation of the database. */
export const conditionCases: readonly ConformanceCase[] = [
  ...(lookAlikes.map(([what, texts]) => ({
    name: `a condition distinguishes ${what}`,
    run: ({ adapter }) => everyValueFindsItself(adapter, 'label', texts),
  })) satisfies readonly ConformanceCase[]),
  ...(typed.map(([field, values]) => ({
    name: `a condition on the ${samples.byName.get(field)?.type ?? ''} field ${field} is exact`,
    run: ({ adapter }) => everyValueFindsItself(adapter, field, values),
  })) satisfies readonly ConformanceCase[]),
  {
    name: 'a condition on a key of type text is exact',
    run: async ({ adapter }) => {
      const keys = ['ALFKI', 'alfki', 'ALFKI ', 'ÁLFKI', 'ALFK', 'ALFKII', '0', '00']
      await store(
        adapter,
        customers,
        keys.map((customerId) => ({ customerId })),
      )
      for (const customerId of keys) {
        const found = await findValues(adapter, customers, 'customerId', {
          conditions: equals({ customerId }),
        })
        equal(found, [customerId], `the customers with key ${customerId}`)
      }
    },
  },
  {
    name: 'equal to null finds rows without value, and no empty string',
    run: async ({ adapter }) => {
      await storeRegions(adapter)
      equal(await keysWhere(adapter, equals({ region: null })), ['null1', 'null2'], 'region = null')
      equal(await keysWhere(adapter, equals({ region: '' })), ['empty'], "region = ''")
    },
  },
  {
    name: 'the condition `empty` finds null and the empty string, and no space or zero',
    run: async ({ adapter }) => {
      await storeRegions(adapter)
      const found = await keysWhere(adapter, [{ field: 'region', is: 'empty' }])
      equal(found, ['empty', 'null1', 'null2'], 'the rows whose region is empty')
      const numbers = await keysWhere(adapter, [{ field: 'visits', is: 'empty' }])
      equal(numbers, ['empty', 'null2', 'space', 'zero'], 'the rows whose number is empty')
    },
  },
  {
    name: 'the condition `empty` works on every type',
    run: async ({ adapter }) => {
      await store(adapter, samples, [{ id: 1 }, fullSample])
      for (const [field] of typed) {
        const found = await findValues(adapter, samples, 'id', {
          conditions: [{ field, is: 'empty' }],
        })
        equal(found, [1], `the rows whose ${field} is empty`)
      }
    },
  },
  {
    name: 'all conditions must hold, also two on one field',
    run: async ({ adapter }) => {
      await store(adapter, orderLines, [
        { orderId: 1, product: 'tea', quantity: 5 },
        { orderId: 1, product: 'rum', quantity: 5 },
        { orderId: 2, product: 'tea', quantity: 5 },
        { orderId: 2, product: 'rum', quantity: 6 },
      ])
      const query = { conditions: equals({ product: 'rum', quantity: 5 }) }
      equal(await findValues(adapter, orderLines, 'orderId', query), [1], 'rum, 5 of it')
      const never = { conditions: [...equals({ product: 'rum' }), ...equals({ product: 'tea' })] }
      equal(await find(adapter, orderLines, never), [], 'what is both rum and tea')
      const both = {
        conditions: [...equals({ orderId: 2, product: 'rum' }), ...equals({ orderId: 1 })],
      }
      equal(await find(adapter, orderLines, both), [], 'a whole key, and another value of its part')
    },
  },
  {
    name: 'conditions work on a collection without key',
    run: async ({ adapter }) => {
      await store(adapter, readings, [
        { station: 'north', value: 1.5 },
        { station: 'north', value: 1.5 },
        { station: 'South', value: 1.5 },
      ])
      const query = { conditions: equals({ station: 'north', value: 1.5 }), count: true }
      equal((await find(adapter, readings, query)).length, 2, 'the number of equal rows')
    },
  },
]

const fullSample: Row = {
  id: 2,
  quantity: 0,
  large: '0',
  amount: '0.0000',
  exact: '0.0000000000',
  ratio: 0,
  flag: false,
  day: '2024-01-01',
  hour: '00:00:00',
  local: '2024-01-01T00:00:00',
  moment: '2024-01-01T00:00:00Z',
  token: '00000000-0000-0000-0000-000000000000',
}

type Adapter = Parameters<typeof store>[0]

async function everyValueFindsItself(
  adapter: Adapter,
  field: string,
  values: readonly Row[string][],
): Promise<void> {
  const rows = values.map((value, id) => ({ id, [field]: value }))
  await store(adapter, samples, [...rows, { id: values.length }])
  for (const row of rows) {
    const conditions = equals({ [field]: row[field] ?? null })
    const found = await find(adapter, samples, { conditions, select: ['id', field] })
    equal(found, [row], `the rows whose ${field} equals that of row ${row.id}`)
  }
}

function storeRegions(adapter: Adapter): Promise<void> {
  return store(adapter, customers, [
    { customerId: 'empty', region: '' },
    { customerId: 'null1', region: null, visits: 1 },
    { customerId: 'null2', region: null },
    { customerId: 'space', region: ' ' },
    { customerId: 'word', region: 'null', visits: 0 },
    { customerId: 'zero', region: '0' },
  ])
}

function keysWhere(
  adapter: Adapter,
  conditions: ReturnType<typeof equals>,
): Promise<readonly unknown[]> {
  return findValues(adapter, customers, 'customerId', { conditions })
}
