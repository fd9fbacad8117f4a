import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import { defineCollection, integer, text } from '../../../src/index.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import { readTables } from '../../../src/storage/postgres/catalogue.ts'
import { connections } from '../../../src/storage/postgres/connection.ts'
import { completePostgres } from '../../../src/storage/postgres/options.ts'
import { pageStatement } from '../../../src/storage/sql/statements.ts'
import { sql } from '../../../src/storage/sql/fragments.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()

const items = publishCollection(
  'app',
  'items',
  defineCollection({
    key: 'id',
    fields: { id: text(), name: text(), rank: integer() },
    index: [['name'], ['-rank']],
  }),
)

describe.skipIf(missing !== undefined)('the plan of a page of PostgreSQL', () => {
  let schema: TestSchema
  beforeAll(async () => {
    schema = await testSchema()
    const storage = postgresStorage(schema.pool, { ensureSchema: true })
    await storage.open([items])
    await storage.close()
    await schema.run(`insert into items select 'k' || n, 'n' || n % 500, n % 700
      from generate_series(1, 5000) as n; analyze items`)
  })
  afterAll(() => schema.drop())

  /** Returns the plan of the statement of a page. */
  async function planOf(given: PartialQuery): Promise<string> {
    const own = connections(schema.pool, completePostgres({}))
    const rows = await own.use(async (connection) => {
      const query = queryOf(items, { limit: 10, ...given })
      const page = pageStatement(await readTables(connection, [items]), items, query)
      return connection.rows({ ...page, sql: sql`explain ${page.sql}` })
    })
    await own.close()
    return rows.join('\n')
  }

  test.each<readonly [string, PartialQuery, RegExp]>([
    ['in the order of the key', {}, /Index Scan using items_pkey/],
    [
      'in the order of an index with nulls',
      { sort: [{ field: 'name', descending: false }] },
      /Index Scan using items_name/,
    ],
    [
      'in the other direction',
      { sort: [{ field: 'name', descending: true }] },
      /Index Scan Backward using items_name/,
    ],
    [
      'of a condition on the key',
      { conditions: [{ field: 'id', is: 'equal', value: 'k7' }] },
      /Index Scan using items_pkey/,
    ],
    [
      'of a list',
      { conditions: [{ field: 'name', is: 'in', values: ['n7', 'n8'] }] },
      /Index Scan on items_name/,
    ],
  ])('%s uses its index', async (_, query, index) => {
    const plan = await planOf(query)
    expect(plan).toMatch(index)
    expect(plan).not.toContain('Seq Scan on items')
  })
})
