import { isStorageError } from '../storage/adapter.ts'
import type { StorageAdapter, TransactionOptions } from '../storage/adapter.ts'
import { ensure, equal } from './assertion.ts'
import {
  equals,
  find,
  findValues,
  pause,
  retried,
  store,
  writing,
  type ConformanceCase,
} from './case.ts'
import { customers, orderLines, rowOf } from './collections.ts'

const brief = { mode: 'write', brief: true } as const
const reading = { mode: 'read', brief: false } as const
const key = equals({ customerId: 'A' })

/** Concurrent transactions. */
export const concurrencyCases: readonly ConformanceCase[] = [
  ...(([writing, brief] as const).map((options) => ({
    name: `one of 20 concurrent ${options.brief ? 'brief ' : ''}inserts of one key succeeds, and 19 reject as duplicates`,
    run: async ({ adapter }) => {
      const attempts = Array.from({ length: 20 }, (_, visits) =>
        adapter.transaction(options, async (on) =>
          on.insert(customers, rowOf(customers, { customerId: 'A', visits })),
        ),
      )
      const results = await Promise.allSettled(attempts)
      const kinds = results.map((result) => {
        if (result.status === 'fulfilled') return 'stored'
        return isStorageError(result.reason) ? result.reason.kind : String(result.reason)
      })
      const expected = ['stored', ...Array.from({ length: 19 }, () => 'duplicate')]
      equal(kinds.toSorted().toReversed(), expected, 'the outcomes')
      const stored = results.find((result) => result.status === 'fulfilled')
      equal(await find(adapter, customers), [stored?.value], 'the rows')
    },
  })) satisfies readonly ConformanceCase[]),
  ...((
    [
      ['writing', writing, 50, 0],
      ['brief', brief, 50, 0],
      ['waiting', writing, 20, 1],
      ['read mode', reading, 20, 0],
    ] as const
  ).map(([what, options, times, delay]) => ({
    name: `${times} concurrent increments in ${what} transactions lose no update`,
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A', visits: 0 }])
      const increments = Array.from({ length: times }, () => increment(adapter, options, delay))
      await Promise.all(increments)
      equal(await findValues(adapter, customers, 'visits'), [times], 'the visits')
    },
  })) satisfies readonly ConformanceCase[]),
  {
    name: '40 concurrent increments through two adapters over one store lose no update',
    needs: 'another',
    run: async ({ adapter, another }) => {
      const other = await another()
      await store(adapter, customers, [{ customerId: 'A', visits: 0 }])
      const increments = Array.from({ length: 40 }, (_, index) =>
        increment(index % 2 === 0 ? adapter : other, writing, 0),
      )
      await Promise.all(increments)
      for (const one of [adapter, other]) {
        equal(await findValues(one, customers, 'visits'), [40], 'the visits')
      }
    },
  },
  {
    name: 'an adapter sees the commits of another adapter over the same store',
    needs: 'another',
    run: async ({ adapter, another }) => {
      const other = await another()
      await store(other, customers, [{ customerId: 'B' }])
      equal(await findValues(adapter, customers, 'customerId'), ['B'], 'the keys')
      await store(adapter, customers, [{ customerId: 'A' }])
      equal(await findValues(other, customers, 'customerId'), ['A', 'B'], 'the keys')
    },
  },
  {
    name: 'one of 10 concurrent updates on the same old value succeeds',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A', visits: 0 }])
      const attempts = Array.from({ length: 10 }, (_, index) =>
        adapter.transaction(brief, async (on) => {
          const conditions = equals({ customerId: 'A', visits: 0 })
          return on.update(customers, conditions, { visits: index + 1 })
        }),
      )
      const results = await Promise.allSettled(attempts)
      const changed = results.filter((one) => one.status === 'fulfilled' && one.value !== undefined)
      equal(changed.length, 1, 'the number of updates that succeeded')
    },
  },
  {
    name: 'a brief transaction that fails is undone without the concurrent ones',
    run: async ({ adapter }) => {
      const reason = new Error('the fourth')
      const attempts = Array.from({ length: 10 }, (_, index) =>
        adapter.transaction(brief, async (on) => {
          await on.insert(orderLines, rowOf(orderLines, { orderId: index, product: 'head' }))
          if (index === 3) throw reason
          await on.insert(orderLines, rowOf(orderLines, { orderId: index, product: 'line' }))
          return index
        }),
      )
      const results = await Promise.allSettled(attempts)
      const values = results.map((one) =>
        one.status === 'fulfilled' ? one.value : one.reason === reason,
      )
      equal(values, [0, 1, 2, true, 4, 5, 6, 7, 8, 9], 'the results')
      const orders = await findValues(adapter, orderLines, 'orderId')
      equal(
        orders,
        [0, 1, 2, 4, 5, 6, 7, 8, 9].flatMap((id) => [id, id]),
        'the orders',
      )
    },
  },
  {
    name: 'brief and long transactions never see a part of each other',
    run: async ({ adapter }) => {
      await store(adapter, customers, [
        { customerId: 'A', visits: 0 },
        { customerId: 'B', visits: 0 },
      ])
      const attempts = Array.from({ length: 12 }, (_, index) =>
        retried(() =>
          adapter.transaction({ mode: 'write', brief: index % 3 > 0 }, async (on) => {
            const [a, b] = await findValues(on, customers, 'visits')
            equal(a, b, 'the visits of A and B inside')
            const visits = Number(a) + 1
            await on.update(customers, key, { visits })
            if (index % 3 === 0) await pause(2)
            await on.update(customers, equals({ customerId: 'B' }), { visits })
          }),
        ),
      )
      const look = Array.from({ length: 12 }, async (_, index) => {
        await pause(index)
        const [a, b] = await findValues(adapter, customers, 'visits')
        equal(a, b, 'the visits of A and B outside')
      })
      await Promise.all([...attempts, ...look])
      equal(await findValues(adapter, customers, 'visits'), [12, 12], 'the visits')
    },
  },
  {
    name: 'a waiting transaction continues after the one ahead of it fails',
    run: async ({ adapter }) => {
      const failing = adapter.transaction(writing, async (on) => {
        await on.insert(customers, rowOf(customers, { customerId: 'A' }))
        await pause(5)
        throw new Error('undone')
      })
      const waiting = store(adapter, customers, [{ customerId: 'A', visits: 1 }])
      const [lost, done] = await Promise.allSettled([failing, waiting])
      equal([lost.status, done.status], ['rejected', 'fulfilled'], 'the outcomes')
      equal(await findValues(adapter, customers, 'visits'), [1], 'the visits')
    },
  },
]

function increment(
  adapter: StorageAdapter,
  options: TransactionOptions,
  delay: number,
): Promise<void> {
  return retried(() =>
    adapter.transaction(options, async (on) => {
      const [visits] = await findValues(on, customers, 'visits', { conditions: key })
      if (delay > 0) await pause(delay)
      const changed = await on.update(customers, key, { visits: Number(visits) + 1 })
      ensure(changed !== undefined, 'The row to increment is missing.')
    }),
  )
}
