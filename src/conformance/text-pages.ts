import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Row } from '../request/query.ts'
import type { StorageAdapter } from '../storage/adapter.ts'
import { ensure, equal } from './assertion.ts'
import {
  equals,
  pause,
  queryOf,
  store,
  write,
  writing,
  type ConformanceCase,
  type PartialQuery,
} from './case.ts'
import { customers, oddNames, orderLines, readings, samples } from './collections.ts'

/** Samples with values that are hard to write. */
export const rich: readonly Row[] = [
  {
    id: 1,
    label: '"quoted" \\ /slash\b\f\n\r\t\u0001\u001f\u007f\u2028\u2029 é e\u0301 😀 </script>',
    quantity: Number.MAX_SAFE_INTEGER,
    large: '-9223372036854775808',
    amount: '0.1000',
    exact: '9999999999999999999999999999.9999999999',
    ratio: 5e-324,
    flag: true,
    day: '2024-02-29',
    hour: '10:00:00',
    local: '2024-02-29T10:00:00',
    moment: '2024-02-29T10:00:00.500Z',
    token: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
    data: '{"b":[1,2.5,null,true,"\\n😀"],"a":{}}',
  },
  { id: 2, label: '', quantity: 0, ratio: 0, flag: false, data: 'null' },
  { id: 3 },
  { id: 4, ratio: 0.1, data: '"{\\"text\\":1}"', label: '{"not":"json"}' },
  { id: 5, ratio: 1e21, data: '[]', label: '[1]' },
  { id: 6, ratio: 1.7976931348623157e308, data: '123456789.5' },
  { id: 7, ratio: -1e-7, data: 'false', label: '\ud7ff\ue000\uffff\u{10ffff}' },
  { id: 8, ratio: 123456789012345680000, quantity: Number.MIN_SAFE_INTEGER },
  { id: 9, ratio: 0.30000000000000004, label: 'null' },
  { id: 10, ratio: 100, label: 'x'.repeat(100_000) },
]

/** `filterText`: the page that `filter` returns, as JSON text. */
export const textPageCases: readonly ConformanceCase[] = [
  {
    name: 'a page as text equals the JSON of its items, byte for byte',
    needs: 'textPages',
    run: async ({ adapter }) => {
      await store(adapter, samples, rich)
      for (const { id } of rich) {
        await samePage(adapter, samples, { conditions: equals({ id: id ?? null }) })
      }
      await samePage(adapter, samples, { count: true })
    },
  },
  {
    name: 'a page as text has the selected fields, in the order of the selection',
    needs: 'textPages',
    run: async ({ adapter }) => {
      await store(adapter, samples, rich)
      for (const select of [
        ['id'],
        ['data', 'label'],
        ['ratio', 'flag', 'id'],
        ['large', 'data'],
      ]) {
        await samePage(adapter, samples, { select })
      }
    },
  },
  {
    name: 'a page as text follows conditions, search, sort, limit, offset and count',
    needs: 'textPages',
    run: async ({ adapter }) => {
      await store(adapter, samples, rich)
      const down = [{ field: 'ratio', descending: true }]
      const queries: readonly PartialQuery[] = [
        { limit: 0, count: true },
        { limit: 2, offset: 3, count: true },
        { offset: 50, count: true },
        { sort: down, limit: 4 },
        { search: { fields: ['label'], text: 'not' }, count: true },
        { conditions: [{ field: 'label', is: 'empty' }] },
        { conditions: equals({ flag: false }) },
        { conditions: equals({ label: 'none' }), count: true },
      ]
      for (const query of queries) await samePage(adapter, samples, query)
    },
  },
  {
    name: 'a page as text works on every kind of collection',
    needs: 'textPages',
    run: async ({ adapter }) => {
      await store(adapter, orderLines, [
        { orderId: 1, product: 'b' },
        { orderId: 1, product: 'a' },
      ])
      await store(adapter, readings, [
        { station: 'a', value: 1 },
        { station: 'a', value: 1 },
      ])
      await store(adapter, oddNames, [{ id: 1, first: "it's", fifth: true, sixth: '{"a":[]}' }])
      for (const collection of [orderLines, readings, oddNames, customers]) {
        await samePage(adapter, collection, { count: true })
      }
    },
  },
  {
    name: 'several pages as text equal each of them',
    needs: 'textPages',
    run: async ({ adapter }) => {
      await store(adapter, samples, rich)
      await store(adapter, samples, [{ ...rich[0], id: 11 }])
      for (const { name } of samples.fields) {
        const values = [...rich, ...rich].map((row) => row[name] ?? null)
        const queries = values
          .filter((value) => value !== null && samples.byName.get(name)?.kind.compare !== undefined)
          .map((value) => ({ conditions: equals({ [name]: value }), limit: 3 }))
        await samePages(adapter, samples, queries)
        // Some databases write no doubles.
        const select = samples.allNames.filter((other) => other !== 'ratio')
        const texts = queries.map((query) => ({ ...query, select }))
        await samePages(adapter, samples, texts)
      }
      const lines = Array.from({ length: 300 }, (_, at) => ({
        orderId: at % 70,
        product: `p${at}`,
      }))
      await store(adapter, orderLines, lines)
      const ofOrders = Array.from({ length: 150 }, (_, at) => equals({ orderId: 149 - at }))
      const sort = [{ field: 'product', descending: true }]
      const select = ['product', 'note']
      for (const limit of [0, 1, 3, 100])
        await samePages(
          adapter,
          orderLines,
          ofOrders.map((conditions) => ({ conditions, sort, select, limit })),
        )
    },
  },
  {
    name: 'a page as text shows committed data only',
    needs: 'textPages',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A', visits: 1 }])
      const before = await textOf(adapter, customers, {})
      // The read may wait for the transaction, which is undone. Either way it returns the old page.
      let outside: Promise<string> | undefined
      const undone = adapter.transaction(writing, async (on) => {
        await on.update(customers, equals({ customerId: 'A' }), { visits: 2 })
        outside = textOf(adapter, customers, {})
        outside.catch(() => undefined)
        await pause(20)
        throw new Error('undo')
      })
      await undone.catch(() => undefined)
      equal(await outside, before, 'the page outside, before the commit')
      await samePage(adapter, customers, {})
      await write(adapter, (on) => on.delete(customers, equals({ customerId: 'A' })))
      equal(await textOf(adapter, customers, {}), '[]', 'the page without rows')
    },
  },
]

/** Compares `filterText` with `filter`. An adapter may return undefined for any query. */
async function samePage(
  adapter: StorageAdapter,
  collection: PublishedCollection,
  given: PartialQuery,
): Promise<void> {
  const query = queryOf(collection, given)
  ensure(adapter.filterText !== undefined, 'The adapter declares textPages without filterText.')
  const text = await adapter.filterText(collection, query)
  if (text === undefined) return
  const page = await adapter.filter(collection, query)
  const items = page.rows.map((row) => itemOf(collection, row, query.select))
  const texts = items.map((item) => JSON.stringify(item))
  equal(text.items, texts, 'the items of the page')
  equal(text.count, page.count, 'the count of the page')
}

/** Compares `filterTexts` with `filterText` of each query. An adapter may return undefined for any queries. */
async function samePages(
  adapter: StorageAdapter,
  collection: PublishedCollection,
  given: readonly PartialQuery[],
): Promise<void> {
  if (given.length === 0) return
  const queries = given.map((one) => queryOf(collection, one))
  const pages = await adapter.filterTexts?.(collection, queries)
  if (pages === undefined) return
  for (const [index, one] of given.entries()) {
    const page = await textOf(adapter, collection, one)
    equal(`[${pages[index]?.items.join(',')}]`, page, `the items of the page ${index}`)
    equal(pages[index]?.count, null, `the count of the page ${index}`)
  }
  equal(pages.length, queries.length, 'the number of pages')
}

/** Returns the JSON text of a page: that of `filterText`, or else that of the rows of `filter`. */
export async function textOf(
  adapter: StorageAdapter,
  collection: PublishedCollection,
  given: PartialQuery,
): Promise<string> {
  const query = queryOf(collection, given)
  const text = await adapter.filterText?.(collection, query)
  if (text !== undefined) return `[${text.items.join(',')}]`
  const page = await adapter.filter(collection, query)
  return JSON.stringify(page.rows.map((row) => itemOf(collection, row, query.select)))
}

function itemOf(collection: PublishedCollection, row: Row, select: readonly string[]): unknown {
  const values = select.map((name) => {
    const field = collection.byName.get(name) as PublishedField
    return [name, field.show(row[name] ?? null)]
  })
  return Object.fromEntries(values) as unknown
}
