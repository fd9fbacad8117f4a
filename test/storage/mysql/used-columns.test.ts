import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import {
  defineCollection,
  integer,
  text,
  type CollectionDefinition,
} from '../../../src/entries/index.ts'
import { mysqlConnections } from '../../../src/storage/mysql/connection.ts'
import { completeMysql } from '../../../src/storage/mysql/options.ts'
import { mysqlSchemaDatabase } from '../../../src/schema/mysql/schema-database.ts'
import { diffTables } from '../../../src/schema/apply.ts'
import type { SchemaDiff } from '../../../src/schema/changes.ts'
import { missingServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('changes of the tables of MariaDB', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterEach(() => database.empty())
  afterAll(() => database.drop())

  /** Compares the table of a collection as a user. Default: the one of the tests. */
  async function diff(
    items: CollectionDefinition,
    user: { readonly user?: string; readonly password?: string } = {},
  ): Promise<SchemaDiff> {
    const pool = database.open({ connectionLimit: 1, ...user })
    const own = mysqlConnections(pool, completeMysql({}))
    const published = publishApplications({ shop: { collections: { items } } })
    try {
      return await own.use((on) =>
        diffTables(
          mysqlSchemaDatabase(own.server, 1_000),
          on,
          published,
          new Set(['drop', 'rebuild']),
        ),
      )
    } finally {
      await own.close()
    }
  }

  test('keep columns that views and constraints need, and conditions that a new type would lose', async () => {
    await database.run(
      `create table items (id bigint primary key, seen text, checked int, size int check (size < 9), constraint c check (checked > 0))`,
      'create view sights as select seen from items',
    )
    const items = defineCollection({ key: 'id', fields: { id: integer(), size: text() } })
    expect(await diff(items)).toMatchObject({
      changes: [],
      left: [],
      mistakes: [expect.stringContaining('does not keep every value of type text')],
    })
    await database.run('drop view sights')
  })

  test('keep columns while the user may not see what a view reads', async () => {
    // MySQL has users with at most 32 characters.
    const name = database.name.slice(-32)
    const user = `'${name}'@'%'`
    await database.run(
      'create table items (id bigint primary key, seen text)',
      'create view sights as select seen from items',
      `create user ${user} identified by 'secret'`,
      `grant select, alter, drop on ${database.name}.* to ${user}`,
    )
    const items = defineCollection({ key: 'id', fields: { id: integer() } })
    const limited = { user: name, password: 'secret' }
    try {
      expect(await diff(items, limited)).toEqual({ changes: [], left: [], mistakes: [] })
      await database.run('drop view sights')
      expect((await diff(items, limited)).changes).toMatchObject([{ kind: 'drop', table: 'items' }])
    } finally {
      await database.run('drop view if exists sights', `drop user ${user}`)
    }
  })
})
