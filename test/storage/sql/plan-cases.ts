import { expect, test } from 'vitest'
import type { PartialQuery } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'

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
