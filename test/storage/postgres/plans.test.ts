import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { readTables } from '../../../src/schema/postgres/catalogue.ts'
import { connections } from '../../../src/storage/postgres/connection.ts'
import { completePostgres } from '../../../src/storage/postgres/options.ts'
import type { StoredValue } from '../../../src/definition/field-type.ts'
import { positionFields, rangesAfter } from '../../../src/request/keyset.ts'
import type { Condition, SortField } from '../../../src/request/query.ts'
import { pageStatement } from '../../../src/storage/sql/statements.ts'
import { raw, sql } from '../../../src/storage/sql/fragments.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'
import { items, testOperatorPlans, testPlans } from '../sql/plan-cases.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('the plan of a page of PostgreSQL', () => {
  let schema: TestSchema
  beforeAll(async () => {
    schema = await testSchema()
    const storage = postgresStorage(schema.pool, { ensureSchema: true })
    await storage.open([items])
    await storage.close()
    await schema.run(`create collation case_free (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      alter table items alter column loose type text collate case_free;
      create index loose on items (loose);
      insert into items select 'k' || n, 'n' || n % 500, 'n' || n % 500, n % 700
      from generate_series(1, 5000) as n; analyze items`)
  })
  afterAll(() => schema.drop())

  /** Returns the plan of the statement of a page. */
  async function planOf(given: PartialQuery, explain = 'explain'): Promise<string> {
    const own = connections(schema.pool, completePostgres({}))
    const rows = await own.use(async (connection) => {
      const query = queryOf(items, { limit: 10, ...given })
      const page = pageStatement(await readTables(connection, [items]), items, query)
      return connection.rows({ ...page, sql: sql`${raw(explain)} ${page.sql}` })
    })
    await own.close()
    return rows.join('\n')
  }

  test.each<readonly [string, readonly SortField[], readonly StoredValue[], RegExp]>([
    ['the key', [{ field: 'id', descending: false }], ['k7'], /items_pkey.*\n.*Cond: \(id > 'k7'/],
    [
      'an index',
      [
        { field: 'name', descending: false },
        { field: 'id', descending: false },
      ],
      ['n7', 'k7'],
      /items_name.*\n.*Cond: \(name >= 'n7'/,
    ],
    [
      'a descending index',
      [
        { field: 'rank', descending: true },
        { field: 'id', descending: false },
      ],
      [690, 'k7'],
      /items_rank_desc.*\n.*Cond: \(rank <= '690'/,
    ],
  ])('of the items after a cursor is a range of %s', async (_, sort, position, range) => {
    const [conditions = []] = rangesAfter(positionFields(items, sort), position)
    expect(await planOf({ sort, conditions })).toMatch(range)
  })

  test('of a page and its count counts nothing if the page is not full', async () => {
    const count = async (given: PartialQuery) => {
      const plan = await planOf({ count: true, ...given }, 'explain analyze')
      return /Aggregate[^\n]*\(never executed\)/.test(plan) ? 'shown' : 'counted'
    }
    const few: Condition = { field: 'name', is: 'equal', value: 'n7' }
    expect(await count({ conditions: [few], limit: 11 })).toBe('shown')
    expect(await count({ conditions: [few], limit: 10 })).toBe('counted')
    expect(await count({ conditions: [few], limit: 7, offset: 5 })).toBe('shown')
    expect(await count({ conditions: [few], limit: 5, offset: 5 })).toBe('counted')
    expect(await count({ conditions: [few], limit: 5, offset: 10 })).toBe('counted')
  })

  testPlans(
    planOf,
    {
      'in the order of the key': /Index Scan using items_pkey/,
      'in the order of an index with nulls': /Index Scan using items_name/,
      'in the other direction': /Index Scan Backward using items_name/,
      'in the order of an index and the key': /Index Scan using items_name/,
      'in the other direction of both': /Index Scan Backward using items_name/,
      'of a condition on the key': /Index Scan using items_pkey/,
      'of a list': /Index Scan on items_name/,
      'of a number': /Index Scan on items_rank/,
      'of a column that ignores case': /Index Scan on loose/,
    },
    /Seq Scan on items/,
  )

  testOperatorPlans(
    planOf,
    { key: /items_pkey/, name: /items_name/, rank: /items_rank/ },
    /Index Cond: \((?!.* IS NOT NULL\))/,
  )
})
