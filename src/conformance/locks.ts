import type { PublishedCollection } from '../definition/published.ts'
import type { Row, StorageAdapter } from '../storage/adapter.ts'
import { equal } from './assertion.ts'
import {
  equals,
  find,
  findValues,
  pause,
  queryOf,
  retried,
  store,
  write,
  writing,
  type ConformanceCase,
} from './case.ts'
import { customers, samples } from './collections.ts'

const key = equals({ customerId: 'A' })

/** Reads that lock, and increments. */
export const lockCases: readonly ConformanceCase[] = [
  {
    name: 'a read that locks returns the same rows',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A' }, { customerId: 'B', visits: 1 }])
      await write(adapter, async (on) => {
        const { rows } = await on.filter(customers, { ...queryOf(customers), lock: true })
        equal(rows, await find(on, customers), 'the rows')
        const missing = { ...queryOf(customers, { conditions: equals({ customerId: 'C' }) }) }
        equal((await on.filter(customers, { ...missing, lock: true })).rows, [], 'no rows')
      })
    },
  },
  {
    name: 'a locked row is not written by another transaction before the one that has locked it ends',
    needs: 'rowLocks',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A', visits: 0 }])
      const order: string[] = []
      let second: Promise<unknown> = Promise.resolve()
      await adapter.transaction(writing, async (on) => {
        await on.filter(customers, { ...queryOf(customers, { conditions: key }), lock: true })
        second = retried(() =>
          adapter.transaction(writing, async (other) => {
            await other.update(customers, key, { visits: 1 })
            order.push('the other')
          }),
        )
        await pause(50)
        await on.update(customers, key, { region: 'x' })
        order.push('the one that has locked the row')
      })
      await second
      equal(order, ['the one that has locked the row', 'the other'], 'the order of the writes')
      equal(await findValues(adapter, customers, 'region'), ['x'], 'the region')
      equal(await findValues(adapter, customers, 'visits'), [1], 'the visits')
    },
  },
  {
    name: 'what a locking read returns is not stale: 20 transactions that lock first lose no update',
    needs: 'rowLocks',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A', visits: 0 }])
      const locked = { ...queryOf(customers, { conditions: key }), lock: true }
      const attempts = Array.from({ length: 20 }, () =>
        retried(() =>
          adapter.transaction(writing, async (on) => {
            const { rows } = await on.filter(customers, locked)
            await pause(1)
            await on.update(customers, key, { visits: Number(rows[0]?.['visits']) + 1 })
          }),
        ),
      )
      await Promise.all(attempts)
      equal(await findValues(adapter, customers, 'visits'), [20], 'the visits')
    },
  },
  {
    name: 'an update adds amounts to stored values exactly, and returns the row',
    needs: 'increments',
    run: async ({ adapter }) => {
      const stored = {
        id: 1,
        label: 'a',
        quantity: 5,
        large: '9007199254740993',
        exact: '9999999999999999999999999999.0000000001',
      }
      const added = {
        quantity: '-7',
        large: '9007199254740993',
        exact: '-0.0000000002',
        amount: '0.0001',
      }
      const expected: Row = {
        quantity: -2,
        large: '18014398509481986',
        exact: '9999999999999999999999999998.9999999999',
        amount: '0.0001',
      }
      await store(adapter, samples, [
        { ...stored, amount: '0.0000' },
        { id: 2, quantity: 5 },
      ])
      const names = Object.keys(added).filter((name) => canAdd(adapter, samples, name))
      const amounts = Object.fromEntries(
        Object.entries(added).filter(([name]) => names.includes(name)),
      )
      const changed = await write(adapter, (on) =>
        on.update(samples, equals({ id: 1 }), { label: 'b' }, amounts),
      )
      const sums = Object.fromEntries(names.map((name) => [name, expected[name] ?? null]))
      equal(changed, { ...changed, ...sums, label: 'b' }, 'the row that update returned')
      const [first, other] = await find(adapter, samples)
      equal(first, changed, 'the row')
      equal(other?.['quantity'], 5, 'the quantity of the other row')
    },
  },
  {
    name: 'an update adds amounts only if the conditions on the stored value hold',
    needs: 'increments',
    conditions: ['gte', 'lte'],
    run: async ({ adapter }) => {
      await store(adapter, samples, [{ id: 1, quantity: 5 }, { id: 2 }])
      if (!canAdd(adapter, samples, 'quantity')) return
      const add = (id: number, from: number, to: number): Promise<Row | undefined> =>
        write(adapter, (on) =>
          on.update(
            samples,
            [
              ...equals({ id }),
              { field: 'quantity', is: 'gte', value: from },
              { field: 'quantity', is: 'lte', value: to },
            ],
            {},
            { quantity: '1' },
          ),
        )
      equal(await add(1, 6, 9), undefined, 'a value below the lower bound')
      equal(await add(1, 1, 4), undefined, 'a value above the upper bound')
      equal(await add(2, -9, 9), undefined, 'a row without a value')
      equal((await add(1, 5, 5))?.['quantity'], 6, 'the sum')
    },
  },
  {
    name: '20 concurrent transactions that each add an amount lose none',
    needs: 'increments',
    run: async ({ adapter }) => {
      if (!canAdd(adapter, customers, 'visits')) return
      await store(adapter, customers, [{ customerId: 'A', visits: 0 }])
      const add = (): Promise<Row | undefined> =>
        adapter.transaction({ mode: 'write', brief: true, oneWrite: true }, async (on) =>
          on.update(customers, key, {}, { visits: '1' }),
        )
      await Promise.all(Array.from({ length: 20 }, () => retried(add)))
      equal(await findValues(adapter, customers, 'visits'), [20], 'the visits')
    },
  },
  {
    name: 'a transaction of one write that has found no row can go on',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A', visits: 0 }])
      await adapter.transaction({ mode: 'write', brief: true, oneWrite: true }, async (on) => {
        const none = await on.update(customers, equals({ customerId: 'B' }), { visits: 1 })
        equal(none, undefined, 'the update of a missing row')
        await on.update(customers, key, { visits: 2 })
      })
      equal(await findValues(adapter, customers, 'visits'), [2], 'the visits')
    },
  },
]

/** Returns whether the adapter adds amounts to a field. */
function canAdd(adapter: StorageAdapter, collection: PublishedCollection, name: string): boolean {
  const field = collection.byName.get(name)
  return field !== undefined && adapter.increments?.(collection, field) === true
}
