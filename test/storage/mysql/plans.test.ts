import { afterAll, beforeAll, describe } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { readTables } from '../../../src/schema/mysql/catalogue.ts'
import { mysqlConnections } from '../../../src/storage/mysql/connection.ts'
import { completeMysql } from '../../../src/storage/mysql/options.ts'
import { sql } from '../../../src/storage/sql/fragments.ts'
import { pageStatement } from '../../../src/storage/sql/statements.ts'
import { missingServer, numbersTable, testDatabase, type TestDatabase } from '../../kit/mysql.ts'
import { items, testOperatorPlans, testPlans } from '../sql/plan-cases.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('the plan of a page of MariaDB', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
    const storage = mysqlStorage(database.pool, { ensureSchema: true })
    await storage.open([items])
    await storage.close()
    await database.run(
      'alter table items modify column loose varchar(40) collate utf8mb4_general_ci',
      'create index loose on items (loose)',
      `insert into items select concat('k', seq), concat('n', seq % 500), concat('n', seq % 500), seq % 700
       from ${numbersTable()}`,
      'analyze table items',
    )
  })
  afterAll(() => database.drop())

  /** Returns the plan of the statement of a page. */
  async function planOf(given: PartialQuery): Promise<string> {
    const own = mysqlConnections(database.pool, completeMysql({}))
    const rows = await own.use(async (connection) => {
      const query = queryOf(items, { limit: 10, ...given })
      const page = pageStatement(await readTables(connection, [items], own.server()), items, query)
      return connection.rows({ ...page, sql: sql`explain format=traditional ${page.sql}` })
    })
    await own.close()
    return rows.map((row) => row.join(' ')).join('\n')
  }

  testPlans(
    planOf,
    {
      'in the order of the key': /index .*PRIMARY/,
      'in the order of an index with nulls': /index .*items_name/,
      'in the order of an index and the key': /index .*items_name/,
      'in the other direction of both': /index .*items_name/,
      'of a condition on the key': /const PRIMARY/,
      'of a list': /range items_name/,
      'of a start': /range items_name/,
      'of a number': /ref items_rank/,
      'of a column that ignores case': /ref loose/,
    },
    / ALL /,
  )

  testOperatorPlans(
    planOf,
    {
      key: /range PRIMARY/,
      name: /(range|ref|ref_or_null) items_name/,
      rank: /(range|ref) items_rank/,
    },
    / (range|ref|ref_or_null) /,
  )
})
