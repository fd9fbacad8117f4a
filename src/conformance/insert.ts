import { StorageError } from '../storage/adapter.ts'
import { ensure, equal, expectStorageError } from './assertion.ts'
import { find, findValues, store, write, type ConformanceCase } from './case.ts'
import { customers, entries, orderLines, readings, rowOf, tickets } from './collections.ts'

const alfki = rowOf(customers, { customerId: 'ALFKI', companyName: 'Alfheim', visits: 3 })

/** `insert`. */
export const insertCases: readonly ConformanceCase[] = [
  {
    name: 'an insert stores the row, and returns it complete',
    run: async ({ adapter }) => {
      const row = await write(adapter, (transaction) => transaction.insert(customers, alfki))
      equal(row, alfki, 'the row that insert returned')
      equal(await find(adapter, customers), [alfki], 'the rows')
    },
  },
  {
    name: 'an insert with an existing key rejects as duplicate, and changes nothing',
    run: async ({ adapter }) => {
      await store(adapter, customers, [alfki])
      const other = rowOf(customers, { customerId: 'ALFKI', companyName: 'Other' })
      const insert = (): unknown => write(adapter, (on) => on.insert(customers, other))
      const fields = await expectStorageError(insert, 'duplicate', 'the second insert')
      if (fields.length > 0) equal(fields, ['customerId'], 'the fields of the error, if any')
      equal(await find(adapter, customers), [alfki], 'the rows')
    },
  },
  {
    name: 'an insert with an existing composite key rejects, and one with a single equal part does not',
    run: async ({ adapter }) => {
      const lines = [
        { orderId: 1, product: 'tea' },
        { orderId: 1, product: 'rum' },
        { orderId: 2, product: 'tea' },
      ]
      await store(adapter, orderLines, lines)
      const insert = (): unknown => store(adapter, orderLines, [{ orderId: 2, product: 'tea' }])
      const fields = await expectStorageError(insert, 'duplicate', 'the second insert')
      if (fields.length > 0)
        equal(fields, ['orderId', 'product'], 'the fields of the error, if any')
      equal((await find(adapter, orderLines)).length, 3, 'the number of rows')
    },
  },
  {
    name: 'a transaction stays usable after an insert that rejects',
    run: async ({ adapter }) => {
      await store(adapter, customers, [alfki])
      await write(adapter, async (transaction) => {
        await transaction.insert(customers, rowOf(customers, { customerId: 'before' }))
        await expectStorageError(
          () => transaction.insert(customers, alfki),
          'duplicate',
          'the insert',
        )
        await transaction.insert(customers, rowOf(customers, { customerId: 'later' }))
      })
      const keys = await findValues(adapter, customers, 'customerId')
      equal(keys, ['ALFKI', 'before', 'later'], 'the keys')
    },
  },
  {
    name: 'an insert of a duplicate within one transaction rejects',
    run: async ({ adapter }) => {
      const twice = (): unknown => store(adapter, customers, [alfki, alfki])
      await expectStorageError(twice, 'duplicate', 'the transaction')
      equal(await find(adapter, customers), [], 'the rows')
    },
  },
  {
    name: 'a key may be inserted again after its row was deleted',
    run: async ({ adapter }) => {
      await store(adapter, customers, [alfki])
      await write(adapter, async (transaction) => {
        const conditions = [{ field: 'customerId', is: 'equal', value: 'ALFKI' }] as const
        await transaction.delete(customers, conditions)
        await transaction.insert(customers, { ...alfki, companyName: 'New' })
      })
      equal(await find(adapter, customers), [{ ...alfki, companyName: 'New' }], 'the rows')
    },
  },
  {
    name: 'equal rows without key may be inserted repeatedly',
    run: async ({ adapter }) => {
      const reading = rowOf(readings, { station: 'north', value: 1.5 })
      const row = await write(adapter, (transaction) => transaction.insert(readings, reading))
      equal(row, reading, 'the row that insert returned')
      await store(adapter, readings, [reading, reading])
      equal(await find(adapter, readings), [reading, reading, reading], 'the rows')
    },
  },
  {
    name: 'an insert copies the values of the given row',
    run: async ({ adapter }) => {
      const given: Record<string, string | number | null> = { ...alfki, companyName: 'Before' }
      await write(adapter, async (transaction) => {
        await transaction.insert(customers, given)
        given['companyName'] = 'After'
      })
      given['region'] = 'After'
      equal(await find(adapter, customers), [{ ...alfki, companyName: 'Before' }], 'the rows')
    },
  },
  {
    name: 'each row without a number gets a new generated number',
    needs: 'generatedNumbers',
    run: async ({ adapter }) => {
      const titles = ['a', 'b', 'c']
      const rows = await write(adapter, async (transaction) => {
        const stored = []
        for (const title of titles) stored.push(await transaction.insert(tickets, { title }))
        return stored
      })
      const numbers = rows.map(({ number }) => number)
      ensure(
        numbers.every(Number.isSafeInteger),
        'The generated number of an integer field must be a safe integer.',
      )
      equal(new Set(numbers).size, 3, 'the number of different numbers')
      equal(
        numbers,
        numbers.toSorted((a, b) => Number(a) - Number(b)),
        'the numbers in order',
      )
      const stored = await find(adapter, tickets)
      equal(stored, rows, 'the rows')
      equal(
        stored.map(({ title }) => title),
        titles,
        'the titles by number',
      )
    },
  },
  {
    name: 'the generated number of a bigint field is a string',
    needs: 'generatedNumbers',
    run: async ({ adapter }) => {
      const row = await write(adapter, (transaction) => transaction.insert(entries, { title: 'a' }))
      ensure(
        typeof row['number'] === 'string' && /^[1-9][0-9]*$/.test(row['number']),
        `The generated number of a bigint field must be a string of digits, but is ${String(row['number'])}.`,
      )
      equal(await find(adapter, entries), [row], 'the rows')
    },
  },
  {
    name: 'generated numbers are above a number that was inserted',
    needs: 'generatedNumbers',
    run: async ({ adapter }) => {
      await store(adapter, tickets, [{ number: 41, title: 'own' }])
      const row = await write(adapter, (transaction) => transaction.insert(tickets, { title: 'a' }))
      ensure(Number(row['number']) > 41, `The number ${String(row['number'])} is not above 41.`)
    },
  },
  {
    name: 'concurrent inserts get different numbers',
    needs: 'generatedNumbers',
    run: async ({ adapter }) => {
      const titles = Array.from({ length: 20 }, (_, index) => `t${index}`)
      const insert = (title: string): Promise<unknown> =>
        adapter.transaction({ mode: 'write', brief: true }, async (transaction) =>
          transaction.insert(tickets, { title }),
        )
      await Promise.all(titles.map(insert))
      equal(new Set(await findValues(adapter, tickets, 'number')).size, 20, 'the different numbers')
    },
  },
  {
    name: 'an insert that rejects has a StorageError that other copies of the package recognize',
    run: async ({ adapter }) => {
      await store(adapter, customers, [alfki])
      const error: unknown = await store(adapter, customers, [alfki]).catch(
        (caught: unknown) => caught,
      )
      const brand = Object.getOwnPropertySymbols(new StorageError('duplicate'))
      ensure(error instanceof Error, 'The reason of the rejection must be an Error.')
      ensure(
        brand.every((symbol) => symbol in error),
        'The error lacks the symbol that marks a StorageError.',
      )
    },
  },
]
