import { afterAll, beforeAll, describe } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import type { SqliteDriver, SqliteHandle } from '../../../src/entries/sqlite.ts'
import { pageStatement } from '../../../src/storage/sqlite/statements/statements.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'
import { items, testOperatorPlans } from '../sql/plan-cases.ts'

describe('the plan of a page of SQLite', () => {
  let handle: SqliteHandle
  beforeAll(() => {
    handle = openHandle(drivers[0] as SqliteDriver, ':memory:')
    handle.exec(`
      CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, name TEXT, loose TEXT, rank INTEGER);
      CREATE INDEX items_name ON items (name);
      CREATE INDEX items_rank ON items (rank DESC);`)
  })
  afterAll(() => {
    handle.close()
  })

  async function planOf({ conditions = [] }: PartialQuery): Promise<string> {
    const { select } = queryOf(items)
    const shape = { conditions, sort: [], select, search: null, deep: false }
    const { sql, slots } = pageStatement(items, shape, {
      output: 'rows',
      checksAll: true,
      guaranteed: new Map<never, never>(),
    })
    const steps = rowsIn(handle, `EXPLAIN QUERY PLAN ${sql}`, ...slots.map(() => null))
    return steps.map((step) => (step as { detail: string }).detail).join('; ')
  }

  testOperatorPlans(
    planOf,
    { key: /sqlite_autoindex_items_1/, name: /items_name/, rank: /items_rank/ },
    /SEARCH t USING/,
  )
})
