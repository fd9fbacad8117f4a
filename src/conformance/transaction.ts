import type { MaybePromise } from '../maybe-promise.ts'
import type { StorageAdapter, StorageTransaction } from '../storage/adapter.ts'
import { ensure, equal, expectStorageError, expectRejection } from './assertion.ts'
import { equals, find, findValues, pause, queryOf, store, write, writing } from './case.ts'
import type { ConformanceCase } from './case.ts'
import { customers, orderLines, rowOf } from './collections.ts'

const first = rowOf(customers, { customerId: 'A', visits: 1 })
const second = rowOf(customers, { customerId: 'B', visits: 2 })
const key = equals({ customerId: 'A' })
const brief = { mode: 'write', brief: true } as const
const reading = { mode: 'read', brief: false } as const
const oneWrite = { mode: 'write', brief: true, oneWrite: true } as const

/** The end of a transaction: it commits or undoes everything, and later calls reject. */
export const transactionEndCases: readonly ConformanceCase[] = [
  {
    name: 'a transaction resolves with the result of its work, after the commit',
    run: async ({ adapter }) => {
      const result = await adapter.transaction(writing, async (on) => {
        await on.insert(customers, first)
        return { answer: 42 }
      })
      equal(result, { answer: 42 }, 'the result')
      equal(await find(adapter, customers), [first], 'the rows right after it')
    },
  },
  ...(([writing, brief, reading] as const).map((options) => ({
    name: `a ${options.brief ? 'brief ' : ''}transaction of mode ${options.mode} that rejects undoes everything, and rejects with the same error`,
    run: async ({ adapter }) => {
      await store(adapter, customers, [first])
      const reason = new Error('from application code')
      const error = await expectRejection(
        () =>
          adapter.transaction(options, async (on) => {
            await on.insert(customers, second)
            await on.update(customers, key, { visits: 9 })
            await on.insert(orderLines, rowOf(orderLines, { orderId: 1, product: 'A' }))
            await on.delete(customers, key)
            throw reason
          }),
        'the transaction',
      )
      ensure(error === reason, `It rejected with another error: ${String(error)}`)
      equal(await find(adapter, customers), [first], 'the customers after it')
      equal(await find(adapter, orderLines), [], 'the order lines after it')
      await store(adapter, customers, [second])
      equal(await find(adapter, customers), [first, second], 'the customers after one more')
    },
  })) satisfies readonly ConformanceCase[]),
  {
    name: 'a transaction rejects with the same value, even if it is not an Error',
    run: async ({ adapter }) => {
      for (const reason of ['text', undefined, null, 0]) {
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        const run = (): unknown => adapter.transaction(writing, () => Promise.reject(reason))
        ensure((await expectRejection(run, 'the transaction')) === reason, `Not ${String(reason)}.`)
      }
    },
  },
  ...(([true, false] as const).map((commits) => ({
    name: `every call rejects once its transaction has ${commits ? 'committed' : 'been undone'}`,
    run: async ({ adapter }) => {
      const late = await endedTransaction(adapter, commits)
      const query = queryOf(customers)
      await expectRejection(() => late.filter(customers, query), 'a late filter')
      await expectRejection(() => late.insert(customers, second), 'a late insert')
      await expectRejection(() => late.update(customers, key, { visits: 9 }), 'a late update')
      await expectRejection(() => late.delete(customers, key), 'a late delete')
      equal(await find(adapter, customers), commits ? [first] : [], 'the rows after it')
    },
  })) satisfies readonly ConformanceCase[]),
  {
    name: 'a transaction without any call resolves',
    run: async ({ adapter }) => {
      for (const options of [writing, brief, reading]) {
        equal(await adapter.transaction(options, async () => 'done'), 'done', 'the result')
      }
    },
  },
]

/** The changes that a transaction sees, and those that are visible outside. */
export const isolationCases: readonly ConformanceCase[] = [
  {
    name: 'a transaction sees its own changes, over all collections',
    run: async ({ adapter }) => {
      await store(adapter, customers, [first])
      await write(adapter, async (on) => {
        await on.insert(customers, second)
        await on.update(customers, key, { visits: 9 })
        await on.insert(orderLines, rowOf(orderLines, { orderId: 1, product: 'A' }))
        const page = await on.filter(customers, queryOf(customers, { count: true, limit: 1 }))
        equal(page.count, 2, 'the count inside')
        equal(await findValues(on, customers, 'visits'), [9, 2], 'the visits inside')
        const sort = [{ field: 'visits', descending: false }]
        equal(await findValues(on, customers, 'visits', { sort }), [2, 9], 'in order of visits')
        const found = await find(on, customers, { conditions: equals({ visits: 1 }) })
        equal(found, [], 'the rows that were')
        equal(await findValues(on, orderLines, 'product'), ['A'], 'the order lines inside')
      })
    },
  },
  {
    name: 'an error of a call that the work does not catch undoes the transaction',
    run: async ({ adapter }) => {
      await store(adapter, customers, [first])
      await expectStorageError(
        () => store(adapter, customers, [second, first]),
        'duplicate',
        'the transaction',
      )
      equal(await find(adapter, customers), [first], 'the rows after it')
    },
  },
  {
    name: 'a change is not visible outside before its commit, however long the work takes',
    run: async ({ adapter }) => {
      await store(adapter, customers, [first])
      const half = signal()
      const work = { goesOn: true }
      const transaction = adapter.transaction(writing, async (on) => {
        await on.update(customers, key, { visits: 9 })
        await on.insert(customers, second)
        half.resolve()
        await pause(30)
        work.goesOn = false
      })
      await Promise.race([half.promise, transaction])
      const seen = await find(adapter, customers)
      // An adapter may let readers wait for the commit, but must not show a part of it.
      if (work.goesOn) equal(seen, [first], 'the rows outside, before the commit')
      await transaction
      const after = [{ ...first, visits: 9 }, second]
      equal(await find(adapter, customers), after, 'the rows outside, after the commit')
    },
  },
  {
    name: 'a change that is undone is never visible outside',
    run: async ({ adapter }) => {
      const half = signal()
      const transaction = adapter.transaction(writing, async (on) => {
        await on.insert(customers, first)
        half.resolve()
        await pause(20)
        throw new Error('undone')
      })
      const outcome = transaction.catch(() => 'undone')
      await half.promise
      equal(await find(adapter, customers), [], 'the rows outside')
      equal(await outcome, 'undone', 'the outcome')
      equal(await find(adapter, customers), [], 'the rows after it')
    },
  },
  {
    name: 'a transaction of mode read sees one state, whatever other transactions commit',
    run: async ({ adapter }) => {
      await store(adapter, customers, [first, second])
      const looked = signal()
      const changed = signal()
      const observation = adapter.transaction(reading, async (on) => {
        const before = await find(on, customers)
        looked.resolve()
        await Promise.race([changed.promise, pause(100)])
        equal(await find(on, customers), before, 'the second look')
        const page = await on.filter(customers, queryOf(customers, { count: true }))
        equal(page.count, 2, 'the count of the third look')
      })
      await Promise.race([looked.promise, observation])
      const change = write(adapter, async (on) => {
        await on.update(customers, key, { visits: 9 })
        await on.insert(customers, { ...first, customerId: 'C' })
        await on.delete(customers, equals({ customerId: 'B' }))
      })
      const done = change.then(changed.resolve)
      await Promise.all([observation, done])
      const after = [
        { ...first, visits: 9 },
        { ...first, customerId: 'C' },
      ]
      equal(await find(adapter, customers), after, 'the rows after both')
    },
  },
  {
    name: 'a transaction of mode read may write',
    run: async ({ adapter }) => {
      const run = adapter.transaction(reading, async (on) => {
        equal(await find(on, customers), [], 'the rows before')
        await on.insert(customers, first)
        await on.update(customers, key, { visits: 3 })
        equal(await findValues(on, customers, 'visits'), [3], 'the visits inside')
      })
      await run
      equal(await findValues(adapter, customers, 'visits'), [3], 'the visits after it')
    },
  },
  {
    name: 'a transaction of one write keeps it, also after a read and after a write that was rejected',
    run: async ({ adapter }) => {
      const run = <Value>(work: (on: StorageTransaction) => MaybePromise<Value>): Promise<Value> =>
        adapter.transaction(oneWrite, work)
      equal(await run((on) => on.insert(customers, first)), first, 'the inserted row')
      const changed = { ...first, visits: 9 }
      const update = (on: StorageTransaction) => on.update(customers, key, { visits: 9 })
      equal(await run(update), changed, 'the updated row')
      await run(async (on) => {
        await expectStorageError(() => on.insert(customers, first), 'duplicate', 'the insert')
        equal(await find(on, customers), [changed], 'the rows after it')
        await on.insert(customers, second)
      })
      equal(await find(adapter, customers), [changed, second], 'the rows after three')
      equal(await run((on) => on.delete(customers, key)), changed, 'the deleted row')
      equal((await run((on) => on.delete(customers, key))) ?? null, null, 'the second delete')
      const reason = new Error('before its write')
      const failed = run(async (on) => {
        await find(on, customers)
        throw reason
      })
      ensure((await failed.catch((error: unknown) => error)) === reason, 'It must reject.')
      equal(await find(adapter, customers), [second], 'the rows at the end')
    },
  },
  {
    name: 'calls of one transaction may be concurrent',
    run: async ({ adapter }) => {
      const names = Array.from({ length: 10 }, (_, index) => `k${index}`)
      await write(adapter, async (on) => {
        const insert = (customerId: string): unknown =>
          on.insert(customers, rowOf(customers, { customerId }))
        await Promise.all(names.map(insert))
      })
      equal(await findValues(adapter, customers, 'customerId'), names, 'the keys')
    },
  },
]

async function endedTransaction(
  adapter: StorageAdapter,
  commits: boolean,
): Promise<StorageTransaction> {
  let late: StorageTransaction | undefined
  const reason = new Error('undone')
  const run = adapter.transaction(writing, async (on) => {
    late = on
    await on.insert(customers, first)
    if (!commits) throw reason
  })
  await run.catch((error: unknown) => {
    if (error !== reason) throw error
  })
  if (late === undefined) throw new Error('The work did not run.')
  return late
}

/** Returns a promise and the function that resolves it. */
function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: () => resolve() }
}
