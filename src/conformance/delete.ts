import type { StorageAdapter } from '../storage/adapter.ts'
import type { Row } from '../request/query.ts'
import { equal } from './assertion.ts'
import { equals, find, findValues, store, write, type ConformanceCase } from './case.ts'
import { customers, orderLines } from './collections.ts'

const lines: readonly Row[] = [
  { orderId: 1, product: 'rum', quantity: 1, note: 'a' },
  { orderId: 1, product: 'tea', quantity: 2, note: null },
  { orderId: 2, product: 'rum', quantity: 3, note: 'a' },
]

/** `delete`. */
export const deleteCases: readonly ConformanceCase[] = [
  {
    name: 'a delete returns the complete removed row, and removes no other row',
    run: async ({ adapter }) => {
      const removed = await remove(adapter, { orderId: 1, product: 'tea' })
      equal(removed, lines[1], 'the row that delete returned')
      equal(await find(adapter, orderLines), [lines[0], lines[2]], 'the rows')
    },
  },
  {
    name: 'a delete of a missing key returns undefined and removes nothing',
    run: async ({ adapter }) => {
      for (const key of [
        { orderId: 3, product: 'rum' },
        { orderId: 2, product: 'tea' },
        { orderId: 1, product: 'Rum' },
      ]) {
        equal(await remove(adapter, key), undefined, 'what delete returned')
      }
      equal(await find(adapter, orderLines), lines, 'the rows')
    },
  },
  {
    name: 'a repeated delete returns undefined',
    run: async ({ adapter }) => {
      await remove(adapter, { orderId: 1, product: 'rum' })
      equal(await remove(adapter, { orderId: 1, product: 'rum' }), undefined, 'the second delete')
      equal(await find(adapter, orderLines), lines.slice(1), 'the rows')
    },
  },
  {
    name: 'a delete applies only if all conditions hold, not the key alone',
    run: async ({ adapter }) => {
      const key = { orderId: 1, product: 'rum' }
      equal(await remove(adapter, { ...key, quantity: 2 }), undefined, 'quantity 2')
      equal(await remove(adapter, { note: null, ...key }), undefined, 'note null')
      equal(await find(adapter, orderLines), lines, 'the rows')
      equal(await remove(adapter, { note: 'a', ...key }), lines[0], 'note a')
      equal(await find(adapter, orderLines), lines.slice(1), 'the rows after it')
    },
  },
  {
    name: 'a deleted row is missing for the rest of its transaction',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A' }, { customerId: 'B' }])
      await write(adapter, async (on) => {
        const conditions = equals({ customerId: 'A' })
        await on.delete(customers, conditions)
        equal(await findValues(on, customers, 'customerId'), ['B'], 'the keys inside')
        equal(await on.update(customers, conditions, { visits: 1 }), undefined, 'an update of it')
        equal(await on.delete(customers, conditions), undefined, 'a delete of it')
      })
      equal(await findValues(adapter, customers, 'customerId'), ['B'], 'the keys')
    },
  },
]

/** Deletes an order line. Stores the order lines first if there are none. */
async function remove(adapter: StorageAdapter, conditions: Row): Promise<Row | undefined> {
  if ((await find(adapter, orderLines)).length === 0) await store(adapter, orderLines, lines)
  return write(adapter, (on) => on.delete(orderLines, equals(conditions)))
}
