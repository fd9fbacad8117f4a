import type { StorageAdapter } from '../storage/adapter.ts'
import { ensure, equal } from './assertion.ts'
import { equals, find, findValues, pick, queryOf, store, write } from './case.ts'
import type { ConformanceCase, PartialQuery } from './case.ts'
import { journal, orderLines, readings, samples } from './collections.ts'

/** `limit`, `offset`, `count` and `select`. */
export const pageCases: readonly ConformanceCase[] = [
  {
    name: 'an empty collection has no rows and the count 0',
    run: async ({ adapter }) => {
      equal(await pageOf(adapter, { count: true }), { ids: [], count: 0 }, 'the page')
      equal(await pageOf(adapter, { count: true, limit: 0 }), { ids: [], count: 0 }, 'limit 0')
    },
  },
  {
    name: 'limit and offset select a page of the sorted rows',
    run: async ({ adapter }) => {
      await storeTen(adapter)
      const pages: readonly (readonly [number, number, readonly number[]])[] = [
        [3, 0, [0, 1, 2]],
        [3, 3, [3, 4, 5]],
        [3, 9, [9]],
        [10, 0, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
        [1000, 8, [8, 9]],
        [5, 10, []],
        [5, 11, []],
        [1, Number.MAX_SAFE_INTEGER, []],
      ]
      for (const [limit, offset, ids] of pages) {
        const found = await findValues(adapter, samples, 'id', { limit, offset })
        equal(found, ids, `limit ${limit}, offset ${offset}`)
      }
    },
  },
  {
    name: 'the count ignores limit and offset, and is null if it is not requested',
    run: async ({ adapter }) => {
      await storeTen(adapter)
      const expected = { ids: [2, 3], count: 10 }
      equal(await pageOf(adapter, { limit: 2, offset: 2, count: true }), expected, 'the page')
      const beyond = await pageOf(adapter, { limit: 2, offset: 50, count: true })
      equal(beyond, { ids: [], count: 10 }, 'the page beyond the end')
      equal(await pageOf(adapter, { limit: 1 }), { ids: [0], count: null }, 'without count')
    },
  },
  {
    name: 'the count is the same for pages that are full, not full and empty',
    run: async ({ adapter }) => {
      await storeTen(adapter)
      for (const [limit, offset] of [
        [9, 0],
        [10, 0],
        [11, 0],
        [1, 9],
        [2, 9],
        [5, 5],
        [6, 5],
        [1, 10],
      ] as const) {
        const query = queryOf(samples, { limit, offset, count: true })
        const { count } = await adapter.filter(samples, query)
        equal(count, 10, `the count with limit ${limit}, offset ${offset}`)
      }
    },
  },
  {
    name: 'an estimate of a count, if the adapter has one, is a number for all conditions',
    run: async ({ adapter }) => {
      await storeTen(adapter)
      for (const conditions of [
        [],
        equals({ quantity: 1 }),
        equals({ id: 7 }),
        equals({ id: 70 }),
      ]) {
        const estimate = await adapter.estimateCount?.(samples, conditions)
        if (estimate === undefined) continue
        const isCount = Number.isSafeInteger(estimate) && estimate >= 0
        ensure(isCount, `The estimate ${estimate} is not a non-negative integer.`)
      }
    },
  },
  {
    name: 'limit 0 returns no rows, and the count if it is requested',
    run: async ({ adapter }) => {
      await storeTen(adapter)
      equal(await pageOf(adapter, { limit: 0 }), { ids: [], count: null }, 'limit 0')
      equal(await pageOf(adapter, { limit: 0, count: true }), { ids: [], count: 10 }, 'with count')
    },
  },
  {
    name: 'the count follows conditions and search',
    run: async ({ adapter }) => {
      await storeTen(adapter)
      const conditions = equals({ quantity: 1 })
      const some = await pageOf(adapter, { conditions, limit: 2, count: true })
      equal(some, { ids: [1, 3], count: 5 }, 'the page of odd rows')
      const search = { fields: ['label'], text: '3' }
      const both = await pageOf(adapter, { conditions, search, count: true })
      equal(both, { ids: [3], count: 1 }, 'the page of odd rows with a 3')
      const none = await pageOf(adapter, { conditions: equals({ id: 99 }), count: true })
      equal(none, { ids: [], count: 0 }, 'the page of a missing key')
      const one = await pageOf(adapter, { conditions: equals({ id: 4 }), limit: 0, count: true })
      equal(one, { ids: [], count: 1 }, 'the page of limit 0 of one key')
    },
  },
  {
    name: 'consecutive pages contain every row once, whatever the ties',
    run: async ({ adapter }) => {
      const keys = Array.from({ length: 23 }, (_, index) => (index * 7) % 23)
      await store(
        adapter,
        orderLines,
        keys.map((key) => ({ orderId: key % 5, product: `p${key}`, quantity: key % 2 })),
      )
      const sort = [{ field: 'quantity', descending: true }]
      const seen: unknown[] = []
      for (let offset = 0; offset < 30; offset += 4) {
        seen.push(...(await findValues(adapter, orderLines, 'product', { sort, limit: 4, offset })))
      }
      equal(seen, await findValues(adapter, orderLines, 'product', { sort }), 'page after page')
      equal(new Set(seen).size, 23, 'the number of different rows')
    },
  },
  {
    name: 'a row has at least the selected fields, and only fields of the collection',
    run: async ({ adapter }) => {
      await storeTen(adapter)
      for (const select of [
        ['id'],
        ['label', 'quantity'],
        ['ratio', 'id', 'data'],
        samples.allNames,
      ]) {
        const query = queryOf(samples, { select, limit: 1, offset: 3 })
        const [row] = (await adapter.filter(samples, query)).rows
        ensure(row !== undefined, 'The page has no row.')
        const expected = { id: 3, label: 'Row 3', quantity: 1, data: '[3]' }
        const all = { ...Object.fromEntries(select.map((name) => [name, null])), ...expected }
        equal(pick(row, select), pick(all, select), `the row with ${select.join(', ')}`)
        const strange = Object.keys(row).filter((name) => !samples.byName.has(name))
        equal(strange, [], 'the fields that the collection does not have')
      }
    },
  },
  {
    name: 'conditions, search and sort may name fields that are not selected',
    run: async ({ adapter }) => {
      await storeTen(adapter)
      const found = await find(adapter, samples, {
        select: ['label'],
        conditions: equals({ quantity: 1 }),
        search: { fields: ['data'], text: '[' },
        sort: [{ field: 'id', descending: true }],
        limit: 2,
      })
      equal(found, [{ label: 'Row 9' }, { label: 'Row 7' }], 'the rows')
    },
  },
  {
    name: 'limit and offset work on a collection without key',
    run: async ({ adapter }) => {
      const rows = [3, 1, 2, 1].map((value) => ({ station: 'a', value }))
      await store(adapter, readings, rows)
      const found = await findValues(adapter, readings, 'value', { limit: 2, offset: 1 })
      equal(found, [1, 2], 'the second and third value')
    },
  },
  {
    name: 'pages of a collection without key have every row once, also rows that differ in json only',
    run: async ({ adapter }) => {
      const long = 'x'.repeat(70_000)
      const rows = Array.from({ length: 60 }, (_, index) => ({
        topic: 'a',
        level: index % 2,
        note: index < 8 ? `${long}${index % 4}` : null,
        detail: index < 4 ? `"${long}${index}"` : index < 50 ? `{"at":${index % 25}}` : null,
      }))
      await store(adapter, journal, rows)
      const wanted = rows.map((row) => JSON.stringify(row)).toSorted()
      for (const [index, query] of pagedQueries.entries()) {
        for (const limit of index === 0 ? [1, 11] : [7]) {
          const seen: string[] = []
          for (let offset = 0; offset < rows.length; offset += limit) {
            const found = await find(adapter, journal, { ...query, limit, offset })
            seen.push(...found.map((row) => JSON.stringify(row)))
          }
          equal(seen.toSorted(), wanted, `the rows of pages of ${limit}, ${JSON.stringify(query)}`)
        }
      }
    },
  },
  {
    name: 'a page does not change after it was returned',
    run: async ({ adapter }) => {
      await storeTen(adapter)
      const page = await adapter.filter(samples, queryOf(samples))
      const before = JSON.stringify(page.rows)
      const change = { label: 'changed' }
      await write(adapter, (transaction) => transaction.update(samples, equals({ id: 3 }), change))
      await write(adapter, (transaction) => transaction.delete(samples, equals({ id: 4 })))
      equal(JSON.stringify(page.rows), before, 'the page that was read before')
    },
  },
]

const pagedQueries: readonly PartialQuery[] = [
  {},
  { count: true },
  { sort: [{ field: 'level', descending: true }] },
  { sort: [{ field: 'note', descending: false }], count: true },
  { search: { fields: ['topic'], text: 'a' } },
]

function storeTen(adapter: StorageAdapter): Promise<void> {
  const rows = Array.from({ length: 10 }, (_, id) => {
    return { id, label: `Row ${id}`, quantity: id % 2, data: `[${id}]` }
  })
  return store(adapter, samples, rows.toReversed())
}

async function pageOf(adapter: StorageAdapter, query: PartialQuery): Promise<unknown> {
  const page = await adapter.filter(samples, queryOf(samples, query))
  return { ids: page.rows.map(({ id }) => id), count: page.count }
}
