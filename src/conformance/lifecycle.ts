import { ensure, equal, expectStorageError } from './assertion.ts'
import { find, pause, queryOf, store, write, writing, type ConformanceCase } from './case.ts'
import { customers, orderLines, rowOf, samples, tickets } from './collections.ts'

/** Opening, closing, and the declarations of the adapter. */
export const lifecycleCases: readonly ConformanceCase[] = [
  {
    name: 'an adapter has a name, and declares every ability as true or false',
    run: async ({ adapter }) => {
      ensure(typeof adapter.name === 'string' && adapter.name !== '', 'The adapter has no name.')
      const { textPages, durable, generatedNumbers } = adapter.supports
      const kinds = [textPages, durable, generatedNumbers].map((ability) => typeof ability)
      equal(kinds, ['boolean', 'boolean', 'boolean'], 'the types of the abilities')
      const kind = typeof adapter.filterText
      ensure(
        !textPages || kind === 'function',
        'The adapter declares textPages without filterText.',
      )
    },
  },
  {
    name: 'collections have separate rows',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: '1' }])
      await store(adapter, samples, [{ id: 1, label: 'sample' }])
      await store(adapter, orderLines, [{ orderId: 1, product: '1' }])
      equal((await find(adapter, customers)).length, 1, 'the number of customers')
      equal((await find(adapter, samples)).length, 1, 'the number of samples')
      equal((await find(adapter, orderLines)).length, 1, 'the number of order lines')
    },
  },
  {
    name: 'every call rejects as unavailable after close, and a second close has no effect',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A' }])
      await adapter.close()
      const query = queryOf(customers)
      await expectStorageError(
        () => adapter.filter(customers, query),
        'unavailable',
        'a late filter',
      )
      if (adapter.supports.textPages) {
        await expectStorageError(
          () => adapter.filterText?.(customers, query),
          'unavailable',
          'a late filterText',
        )
      }
      let ran = false
      const transaction = (): unknown =>
        adapter.transaction(writing, async () => {
          ran = true
        })
      await expectStorageError(transaction, 'unavailable', 'a late transaction')
      ensure(!ran, 'The work of a transaction ran after close.')
      await adapter.close()
    },
  },
  {
    name: 'close ends waiting transactions',
    run: async ({ adapter }) => {
      const long = adapter.transaction(writing, async (on) => {
        await on.insert(customers, rowOf(customers, { customerId: 'A' }))
        await pause(20)
      })
      const waiting = store(adapter, customers, [{ customerId: 'B' }])
      const ended = Promise.allSettled([long, waiting])
      await pause(5)
      await adapter.close()
      const late = pause(1000).then(() => 'late')
      const outcome = await Promise.race([ended, late])
      ensure(outcome !== 'late', 'A transaction still waits a second after close.')
    },
  },
  {
    name: 'a version, if the adapter has one, changes with each commit and only then',
    run: async ({ adapter }) => {
      const current = (): unknown => adapter.version?.([customers])
      if (current() === undefined) return
      const seen = [current()]
      const step = async (work: () => unknown): Promise<void> => {
        await work()
        const version = current()
        ensure(!seen.includes(version), 'A version came back after a commit.')
        seen.push(version)
      }
      await step(() => store(adapter, customers, [{ customerId: 'A' }]))
      await step(() => store(adapter, customers, [{ customerId: 'B' }]))
      const key = [{ field: 'customerId', is: 'equal', value: 'A' }] as const
      await step(() => write(adapter, (on) => on.update(customers, key, { region: 'North' })))
      await step(() => write(adapter, (on) => on.delete(customers, key)))
      await find(adapter, customers)
      equal(current(), seen.at(-1), 'the version after a read')
    },
  },
  {
    name: 'rows outlive the adapter',
    needs: 'durable',
    run: async ({ adapter, reopen }) => {
      const rows = [
        rowOf(samples, { id: 1, label: 'kept', amount: '0.1000', ratio: 0.1, data: '{"a":[1]}' }),
        rowOf(samples, { id: 2 }),
      ]
      await store(adapter, samples, rows)
      await store(adapter, customers, [{ customerId: 'gone' }])
      const gone = [{ field: 'customerId', is: 'equal', value: 'gone' }] as const
      await write(adapter, (on) => on.delete(customers, gone))
      const undone = adapter.transaction(writing, async (on) => {
        await on.insert(samples, rowOf(samples, { id: 3 }))
        throw new Error('undone')
      })
      await undone.catch(() => undefined)
      const next = await reopen()
      equal(await find(next, samples), rows, 'the samples')
      equal(await find(next, customers), [], 'the customers')
      const again = (): unknown => store(next, samples, [{ id: 1 }])
      await expectStorageError(again, 'duplicate', 'an insert with a key from before')
    },
  },
  {
    name: 'generated numbers continue after a restart',
    needs: 'durable',
    run: async ({ adapter, reopen }) => {
      if (!adapter.supports.generatedNumbers) return
      const before = await write(adapter, (on) => on.insert(tickets, { title: 'before' }))
      const next = await reopen()
      const after = await write(next, (on) => on.insert(tickets, { title: 'after' }))
      equal(await find(next, tickets), [before, after], 'the tickets')
    },
  },
]
