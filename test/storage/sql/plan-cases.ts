import { expect, test } from 'vitest'
import type { PartialQuery } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'
import { decodeQuery } from '../../../src/protocol/query.ts'
import type { Condition } from '../../../src/request/query.ts'
import { resolveConditions } from '../../../src/request/resolve.ts'

/** A table of 5000 rows `k1, n1, n1, 1` and so on, of 500 names and 700 ranks. */
export const items = publishCollection(
  'app',
  'items',
  defineCollection({
    key: 'id',
    fields: {
      id: text({ maxLength: 40 }),
      name: text({ maxLength: 40 }),
      loose: text(),
      rank: integer(),
    },
    index: [['name'], ['-rank']],
    operators: true,
  }),
)

const byName = (descending: boolean): NonNullable<PartialQuery['sort']> => [
  { field: 'name', descending },
  { field: 'id', descending },
]

const pages = {
  'in the order of the key': {},
  'in the order of an index with nulls': { sort: [{ field: 'name', descending: false }] },
  'in the other direction': { sort: [{ field: 'name', descending: true }] },
  'in the order of an index and the key': { sort: byName(false) },
  'in the other direction of both': { sort: byName(true) },
  'of a condition on the key': { conditions: [{ field: 'id', is: 'equal', value: 'k7' }] },
  'of a list': { conditions: [{ field: 'name', is: 'in', values: ['n7', 'n8'] }] },
  'of a start': { conditions: [{ field: 'name', is: 'startsWith', text: 'n7' }] },
  'of a number': { conditions: [{ field: 'rank', is: 'equal', value: 7 }] },
  'of a column that ignores case': { conditions: [{ field: 'loose', is: 'equal', value: 'n7' }] },
} as const satisfies Readonly<Record<string, PartialQuery>>

/**
 * Tests that pages of {@link items} are read with indexes.
 *
 * @param planOf returns the plan of the statement of a page
 * @param indexes what the plans of pages say of their indexes
 * @param wholeTable what no plan says: that all rows are read
 */
export function testPlans(
  planOf: (query: PartialQuery) => Promise<string>,
  indexes: Readonly<Partial<Record<keyof typeof pages, RegExp>>>,
  wholeTable: RegExp,
): void {
  const expected = Object.entries(indexes) as readonly [keyof typeof pages, RegExp][]
  test.each(expected)('%s uses its index', async (page, index) => {
    const plan = await planOf(pages[page])
    expect(plan).toMatch(index)
    expect(plan).not.toMatch(wholeTable)
  })
}

/** Queries that find few items of {@link items}, by the index of each. */
const indexed = {
  key: ['id.in=k7&id.in=k8', 'id.gt=k998', 'id.gte=k999', 'id.lt=k10', 'id.lte=k1'],
  name: [
    ...['name.in=n7&name.in=n8', 'name.lt=n1', 'name.lte=n0', 'name.gt=n98', 'name.gte=n99'],
    ...['name.isNull=true', 'name.gte=n499&name.lt=n5', 'name.startsWith=n499'],
  ],
  rank: ['rank.in=7', 'rank.lt=1', 'rank.lte=0', 'rank.gt=698', 'rank.gte=699', 'rank.isNull=true'],
} as const

/** Queries that no index answers: they exclude items, or look within strings. */
const excluding = [
  ...['name.ne=n7', 'name.notIn=n7&name.notIn=n8', 'name.isNull=false', 'name.contains=n77'],
  ...['rank.ne=7', 'rank.notIn=7', 'id.ne=k7', 'id.contains=k77'],
]

/** Returns the conditions of a query. */
function askedOf(query: string): readonly Condition[] {
  return resolveConditions(items, decodeQuery(query, items.operators))
}

/**
 * Tests which operators of {@link items} use an index.
 *
 * @param planOf returns the plan of the statement of a page
 * @param indexes what the plans say of the indexes
 * @param search what a plan says of a condition that an index answers
 */
export function testOperatorPlans(
  planOf: (query: PartialQuery) => Promise<string>,
  indexes: Readonly<Record<keyof typeof indexed, RegExp>>,
  search: RegExp,
): void {
  const used = Object.entries(indexed).flatMap(([index, queries]) =>
    queries.map((query) => [query, index as keyof typeof indexed] as const),
  )
  test.each(used)('%s uses the index of the %s', async (query, index) => {
    const plan = await planOf({ conditions: askedOf(query) })
    expect(plan).toMatch(indexes[index])
    expect(plan).toMatch(search)
  })

  test.each(excluding)('%s reads items one after the other', async (query) => {
    expect(await planOf({ conditions: askedOf(query) })).not.toMatch(search)
  })
}
