import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { publishApplications } from '../../src/definition/publish-applications.ts'
import { defineCollection, integer, text } from '../../src/entries/index.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { applyTables, diffTables, type SchemaDatabase } from '../../src/schema/apply.ts'
import type { SchemaChangeKind } from '../../src/schema/changes.ts'
import { mysqlSchemaDatabase } from '../../src/schema/mysql/schema-database.ts'
import { postgresSchemaDatabase } from '../../src/schema/postgres/schema-database.ts'
import type { StorageAdapter } from '../../src/storage/adapter.ts'
import type { Connections } from '../../src/storage/pool/connection.ts'
import { mysqlConnections } from '../../src/storage/mysql/connection.ts'
import { completeMysql } from '../../src/storage/mysql/options.ts'
import { connections } from '../../src/storage/postgres/connection.ts'
import { completePostgres } from '../../src/storage/postgres/options.ts'
import * as mysql from '../kit/mysql.ts'
import * as postgres from '../kit/postgres.ts'

/** A database with a table `people` of 20,000 rows, whose key and names have another order than pages. */
interface Peopled {
  readonly schema: SchemaDatabase
  readonly own: Pick<Connections, 'use'>
  storage(): StorageAdapter
  drop(): Promise<void>
}

async function onPostgres(): Promise<Peopled> {
  const schema = await postgres.testSchema()
  await schema.run(`create collation other (provider = icu, locale = 'en');
    create table people (id text collate other primary key, name text collate other);
    create index on people (name);
    insert into people select 'K' || i, 'n' || i from generate_series(1, 20000) i;
    analyze people`)
  const own = connections(schema.open(3), completePostgres({}))
  return {
    schema: postgresSchemaDatabase(200),
    own,
    storage: () => postgresStorage(schema.pool),
    async drop() {
      await own.close()
      await schema.drop()
    },
  }
}

async function onMariaDb(): Promise<Peopled> {
  const database = await mysql.testDatabase()
  await database.run(
    `create table people (id varchar(40) primary key, name varchar(40), index (name))
      charset=utf8mb4 collate=utf8mb4_general_ci`,
    `insert into people select concat('K', seq), concat('n', seq) from ${mysql.numbersTable(20_000)}`,
    'analyze table people',
  )
  const own = mysqlConnections(database.open({ connectionLimit: 3 }), completeMysql({}))
  return {
    schema: mysqlSchemaDatabase(own.server, 1_000),
    own,
    storage: () => mysqlStorage(database.pool),
    async drop() {
      await own.close()
      await database.drop()
    },
  }
}

const missing = {
  PostgreSQL: await postgres.missingServer(),
  MariaDB: await mysql.missingServer(),
}

describe.each([
  ['PostgreSQL', onPostgres],
  ['MariaDB', onMariaDb],
] as const)('the indexes for orders of pages of %s', (name, create) => {
  describe.skipIf(missing[name] !== undefined)('that a large table lacks', () => {
    let database: Peopled
    beforeAll(async () => {
      database = await create()
    })
    afterAll(() => database.drop())

    const published = (fields: Parameters<typeof defineCollection>[0]['fields']) =>
      publishApplications({
        app: { collections: { people: defineCollection({ key: 'id', fields }) } },
      })
    const people = published({ id: text({ maxLength: 40 }), name: text({ maxLength: 40 }) })

    const run = (kinds: readonly SchemaChangeKind[], collections = people) =>
      database.own.use((on) =>
        applyTables(database.schema, on, collections, {
          allowed: new Set(kinds),
          progress: () => undefined,
        }),
      )

    test('are created only if they are allowed, also after another change of the table', async () => {
      const { changes, left, mistakes } = await run(['add'])
      expect({ changes, mistakes }).toEqual({ changes: [], mistakes: [] })
      expect(left.map(({ kind, table }) => [kind, table])).toEqual([
        ['order', 'people'],
        ['order', 'people'],
      ])
      const grown = published({
        id: text({ maxLength: 40 }),
        name: text({ maxLength: 40 }),
        rank: integer(),
      })
      const applied = await run(['add', 'drop', 'order'], grown)
      expect(applied.changes.map(({ kind }) => kind)).toEqual(['add', 'order', 'order'])
      expect(applied.left).toEqual([])
      const diff = await database.own.use((on) =>
        diffTables(database.schema, on, grown, new Set(['add', 'drop', 'order'])),
      )
      expect(diff).toEqual({ changes: [], left: [], mistakes: [] })
      const storage = database.storage()
      await storage.open(grown)
      expect(storage.advice?.()).toEqual([])
      await storage.close()
    })
  })
})
