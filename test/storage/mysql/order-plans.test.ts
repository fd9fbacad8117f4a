import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { positionFields, rangesAfter } from '../../../src/request/keyset.ts'
import type { Condition, SortField } from '../../../src/request/query.ts'
import { readTables } from '../../../src/schema/mysql/catalogue.ts'
import { bind } from '../../../src/storage/pool/connection.ts'
import { mysqlConnections } from '../../../src/storage/mysql/connection.ts'
import { completeMysql } from '../../../src/storage/mysql/options.ts'
import { sql } from '../../../src/storage/sql/fragments.ts'
import { pageStatement } from '../../../src/storage/sql/statements.ts'
import { missingServer, numbersTable, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const missing = await missingServer()

const people = publishCollection(
  'app',
  'people',
  defineCollection({
    key: 'id',
    fields: {
      id: text({ maxLength: 40 }),
      name: text({ maxLength: 40 }),
      city: text({ maxLength: 40 }),
      state: text({ maxLength: 4, required: true }),
      rank: integer(),
    },
  }),
)

const up = (field: string): SortField => ({ field, descending: false })
const down = (field: string): SortField => ({ field, descending: true })
const few = 500

describe.skipIf(missing !== undefined)('a page of MariaDB with columns of other collations', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
    await database.run(
      `create table people (id varchar(40) primary key, name varchar(40), city varchar(40) collate utf8mb4_bin,
        state varchar(4) not null, \`rank\` bigint, index (name), index (city), index (\`rank\`))
        charset=utf8mb4 collate=utf8mb4_general_ci`,
      `insert into people select concat('K', seq), if(seq % 10 > 0, concat('n', seq), null),
          if(seq % 7 > 0, concat('c', seq), null), concat('s', seq % 4), if(seq % 3 > 0, seq * 7919 % 20000, null)
        from ${numbersTable(20_000)}`,
      'analyze table people',
    )
    const storage = mysqlStorage(database.pool)
    await storage.open([people])
    const advice = storage.advice?.() ?? []
    expect(advice.map(({ fields }) => fields)).toEqual([['id'], ['name'], ['city']])
    await database.run(...advice.flatMap(({ statements }) => statements))
    await storage.open([people])
    expect(storage.advice?.()).toEqual([])
    await storage.close()
  })
  afterAll(() => database.drop())

  /** Returns the number of rows that the statement of a page reads. */
  async function read(given: PartialQuery): Promise<number> {
    const own = mysqlConnections(database.pool, completeMysql({}))
    const rows = await own.use(async (connection) => {
      const query = queryOf(people, { limit: 10, ...given })
      const page = pageStatement(
        await readTables(connection, [people], own.server()),
        people,
        query,
      )
      await connection.command('flush status')
      await connection.rows(page)
      return connection.rows(bind(sql`show session status like 'Handler_read%'`))
    })
    await own.close()
    return rows.reduce((sum, [, count]) => sum + Number(count), 0)
  }

  describe.each<readonly [string, readonly SortField[], readonly Condition[]]>([
    ['the key', [], []],
    ['the key in the other direction', [down('id')], []],
    ['a column', [up('name')], []],
    ['a column and the key in the other direction', [down('name'), down('id')], []],
    ['a column of which a range is read', [up('name')], [{ field: 'name', is: 'gt', value: 'n5' }]],
    ['another column', [up('city')], []],
    ['a number', [up('rank')], []],
    ['a column in the other direction', [down('name')], []],
    ['a number in the other direction', [down('rank')], []],
    ['two columns', [down('rank'), up('city')], []],
    [
      'a column of which a range is read backward',
      [down('name')],
      [{ field: 'name', is: 'lt', value: 'n5' }],
    ],
    [
      'a column that is not null',
      [down('city')],
      [{ is: 'not', condition: { field: 'city', is: 'equal', value: null } }],
    ],
  ])('in the order of %s', (_, sort, conditions) => {
    test.each<readonly [string, PartialQuery]>([
      ['first', {}],
      ['further', { offset: 10 }],
    ])('reads few rows for the %s page', async (__, page) => {
      expect(await read({ sort, conditions, ...page })).toBeLessThan(few)
    })

    test('reads few rows for a page after a cursor', async () => {
      const { sort: complete } = queryOf(people, { sort })
      const fields = positionFields(people, complete)
      const bound = { id: 'K7000', name: 'n7', city: 'c7', rank: 7_000 }
      const values = fields.map(({ field: { name } }) => bound[name as keyof typeof bound])
      for (const range of rangesAfter(fields, values)) {
        expect(await read({ sort, conditions: [...conditions, ...range] })).toBeLessThan(few)
      }
    })
  })

  test('counts rows, but sorts none', async () => {
    const sort = [up('name')]
    expect(await read({ sort, count: true })).toBeLessThan(20_000 + few)
  })
})
