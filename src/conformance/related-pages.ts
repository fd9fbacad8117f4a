import type { PublishedCollection } from '../definition/published.ts'
import type { RelatedQuery, StorageAdapter } from '../storage/adapter.ts'
import { equal } from './assertion.ts'
import { equals, queryOf, store, type ConformanceCase, type PartialQuery } from './case.ts'
import { customers, orderLines, samples } from './collections.ts'
import { rich, textOf } from './text-pages.ts'

export const relatedPageCases: readonly ConformanceCase[] = [
  {
    name: 'a page with related items equals the page and the items of each',
    needs: 'textPages',
    run: async ({ adapter }) => {
      await store(adapter, samples, rich)
      await store(adapter, samples, [{ ...rich[0], id: 11 }])
      // Some databases write no doubles.
      const select = samples.allNames.filter((name) => name !== 'ratio')
      for (const { name, kind } of samples.fields.filter((one) => select.includes(one.name))) {
        if (kind.compare === undefined) continue
        const related = { collection: samples, own: [name], theirs: [name] }
        await sameRelated(adapter, samples, { select, sort: [{ field: 'id', descending: true }] }, [
          { ...related, query: { select, limit: 3 } },
          { ...related, query: { select: ['id'], limit: 1, sort: [] } },
        ])
      }
      await store(adapter, customers, [
        { customerId: 'A', visits: 1 },
        { customerId: 'B', visits: 70 },
        { customerId: 'C', visits: null },
      ])
      const lines = Array.from({ length: 300 }, (_, at) => ({
        orderId: at % 70,
        product: `p${at}`,
      }))
      await store(adapter, orderLines, lines)
      const sort = [{ field: 'product', descending: true }]
      const ofCustomer = { collection: orderLines, own: ['visits'], theirs: ['orderId'] }
      for (const limit of [1, 3, 100])
        for (const conditions of [[], equals({ note: 'x' })])
          await sameRelated(adapter, customers, { limit }, [
            { ...ofCustomer, query: { conditions, sort, select: ['product', 'note'], limit } },
          ])
      const both = ['orderId', 'product']
      const ofLine = { collection: orderLines, own: both, theirs: both }
      await sameRelated(adapter, orderLines, { limit: 50, offset: 20 }, [
        { ...ofLine, query: { limit: 1 } },
        { ...ofLine, own: ['orderId'], theirs: ['orderId'], query: { limit: 2, sort } },
      ])
      await sameRelated(adapter, orderLines, { conditions: equals({ orderId: 99 }) }, [
        { ...ofLine, query: { limit: 1 } },
      ])
    },
  },
]

/** A relation whose query has defaults. */
type PartialRelation = Omit<RelatedQuery, 'query'> & { readonly query: PartialQuery }

/** Compares `filterRelated` with `filterText` of the page and of each list. An adapter may return undefined for any page. */
async function sameRelated(
  adapter: StorageAdapter,
  collection: PublishedCollection,
  given: PartialQuery,
  relations: readonly PartialRelation[],
): Promise<void> {
  const all = relations.map((one) => ({ ...one, query: queryOf(one.collection, one.query) }))
  const query = queryOf(collection, given)
  const page = await adapter.filterRelated?.(collection, query, all)
  if (page === undefined) return
  equal(`[${page.items.join(',')}]`, await textOf(adapter, collection, given), 'the page')
  const { rows } = await adapter.filter(collection, query)
  equal(page.related.length, relations.length, 'the number of relations')
  for (const [at, { collection: other, own, theirs, query: partial }] of relations.entries()) {
    equal(page.related[at]?.length, rows.length, `the number of lists of relation ${at}`)
    for (const [index, row] of rows.entries()) {
      const values = own.map((name) => row[name] ?? null)
      const related = equals(
        Object.fromEntries(theirs.map((name, part) => [name, values[part] ?? null])),
      )
      const conditions = [...related, ...(partial.conditions ?? [])]
      const expected = values.includes(null)
        ? '[]'
        : await textOf(adapter, other, { ...partial, conditions })
      equal(
        `[${page.related[at]?.[index]?.join(',')}]`,
        expected,
        `the items of relation ${at} of item ${index}`,
      )
    }
  }
}
