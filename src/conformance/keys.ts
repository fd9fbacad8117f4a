import type { Row } from '../request/query.ts'
import { equal, expectStorageError } from './assertion.ts'
import { equals, find, findValues, store, write, type ConformanceCase } from './case.ts'
import { customers, orderLines, passes, rowOf, samples } from './collections.ts'

/** Keys that a naive implementation may confuse with something else. */
const strangeKeys = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  '0',
  '-0',
  '1e3',
  'null',
  'undefined',
  'NaN',
  ' ',
  'a/b',
  'a,b',
  '["a","b"]',
  '{"$ne":null}',
  "'; drop table customers; --",
  '"',
  '`',
  '\\',
  '%',
  '\u0001',
  '\u007f',
  '\u2028',
  '\u{1f511}',
  '\uffff',
  'e\u0301',
  '\u00e9',
]

const pass: Row = {
  day: '2024-02-29',
  large: '9007199254740993',
  amount: '-1.50',
  flag: false,
  moment: '2024-02-29T12:00:00.500Z',
  token: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
  note: 'first',
}

/** For each part of the key, a value that is close to the value of `pass`. */
const neighbours: Row = {
  day: '2024-03-01',
  large: '9007199254740992',
  amount: '1.50',
  flag: true,
  moment: '2024-02-29T12:00:00Z',
  token: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeef',
}

/** Keys: complete, exact, and with any content. */
export const keyCases: readonly ConformanceCase[] = [
  {
    name: 'every string is a distinct key: names of object members, literals, quotes, control characters',
    run: async ({ adapter }) => {
      await store(
        adapter,
        customers,
        strangeKeys.map((customerId, visits) => ({ customerId, visits })),
      )
      for (const [visits, customerId] of strangeKeys.entries()) {
        const conditions = equals({ customerId })
        const found = await findValues(adapter, customers, 'visits', { conditions })
        equal(found, [visits], `the rows with key ${JSON.stringify(customerId)}`)
        const again = (): unknown => store(adapter, customers, [{ customerId }])
        await expectStorageError(again, 'duplicate', `the second ${JSON.stringify(customerId)}`)
        const changed = await write(adapter, (on) =>
          on.update(customers, conditions, { region: 'x' }),
        )
        equal(changed, rowOf(customers, { customerId, visits, region: 'x' }), 'the changed row')
        const removed = await write(adapter, (on) => on.delete(customers, conditions))
        equal(removed, changed, 'the removed row')
      }
      equal(await find(adapter, customers), [], 'the rows that are left')
    },
  },
  {
    name: 'a key with the name of an object member is not found unless it was stored',
    run: async ({ adapter }) => {
      for (const customerId of ['__proto__', 'constructor', 'toString']) {
        const conditions = equals({ customerId })
        equal(await find(adapter, customers, { conditions }), [], `the rows with key ${customerId}`)
        const removed = await write(adapter, (on) => on.delete(customers, conditions))
        equal(removed, undefined, 'what delete returned')
      }
    },
  },
  {
    name: 'composite keys differ even if their parts are equal when concatenated',
    run: async ({ adapter }) => {
      const keys = [
        [1, '1'],
        [11, ''],
        [1, ',1'],
        [1, '1,'],
        [1, '"1"'],
        [1, ' 1'],
        [-1, '1'],
      ]
      const rows = keys.map(([orderId, product], quantity) => {
        return rowOf(orderLines, { orderId: Number(orderId), product: String(product), quantity })
      })
      await store(adapter, orderLines, rows)
      for (const row of rows) {
        const { orderId = null, product = null } = row
        const conditions = equals({ product, orderId })
        equal(await find(adapter, orderLines, { conditions }), [row], 'the row with the key')
      }
    },
  },
  {
    name: 'a condition on a part of a composite key finds all rows with that part',
    run: async ({ adapter }) => {
      const lines = [
        { orderId: 1, product: 'a' },
        { orderId: 1, product: 'b' },
        { orderId: 2, product: 'a' },
      ]
      await store(adapter, orderLines, lines)
      const byOrder = { conditions: equals({ orderId: 1 }) }
      equal(await findValues(adapter, orderLines, 'product', byOrder), ['a', 'b'], 'order 1')
      const byProduct = { conditions: equals({ product: 'a' }) }
      equal(await findValues(adapter, orderLines, 'orderId', byProduct), [1, 2], 'product a')
    },
  },
  {
    name: 'a key of dates, bigints, decimals, booleans, instants and UUIDs is exact in every part',
    run: async ({ adapter }) => {
      const { note: _note, ...key } = pass
      const others = Object.entries(neighbours).map(([part, value]) => {
        return { ...pass, [part]: value, note: part }
      })
      await store(adapter, passes, [pass, ...others])
      equal(await find(adapter, passes, { conditions: equals(key) }), [pass], 'the pass')
      const again = (): unknown => store(adapter, passes, [{ ...pass, note: 'again' }])
      await expectStorageError(again, 'duplicate', 'the second pass')
      for (const [part, value] of Object.entries(neighbours)) {
        const conditions = equals({ ...key, [part]: value })
        const changed = await write(adapter, (on) => on.update(passes, conditions, { note: 'new' }))
        equal(changed, { ...pass, [part]: value, note: 'new' }, `the pass of another ${part}`)
        const removed = await write(adapter, (on) => on.delete(passes, conditions))
        equal(removed, changed, `the removed pass of another ${part}`)
      }
      equal(await find(adapter, passes), [pass], 'the passes that are left')
    },
  },
  {
    name: 'integer keys are exact to the last safe integer',
    run: async ({ adapter }) => {
      const ids = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1, Number.MIN_SAFE_INTEGER, 0]
      await store(
        adapter,
        samples,
        ids.map((id) => ({ id })),
      )
      for (const id of ids) {
        const found = await findValues(adapter, samples, 'id', { conditions: equals({ id }) })
        equal(found, [id], `the rows with key ${id}`)
      }
    },
  },
]
