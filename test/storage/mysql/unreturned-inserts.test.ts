import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'
import { readTables } from '../../../src/schema/mysql/catalogue.ts'
import { mysqlConnections, type MysqlConnections } from '../../../src/storage/mysql/connection.ts'
import { completeMysql } from '../../../src/storage/mysql/options.ts'
import type { Tables } from '../../../src/storage/sql/dialect.ts'
import { collectionMistakes } from '../../../src/schema/mistakes.ts'
import { insertRow } from '../../../src/storage/pool/writes.ts'
import { exactCollation, missingServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const readings = publishCollection(
  'app',
  'readings',
  defineCollection({ fields: { station: text(), value: integer() } }),
)
const stamped = publishCollection(
  'app',
  'stamped',
  defineCollection({ fields: { station: text(), at: integer({ default: 'database' }) } }),
)
const parts = publishCollection(
  'app',
  'parts',
  defineCollection({
    key: ['id', 'tenant'],
    fields: { id: integer({ default: 'database' }), tenant: integer(), name: text() },
  }),
)
const coded = publishCollection(
  'app',
  'coded',
  defineCollection({
    key: 'code',
    fields: { code: text({ maxLength: 36, default: 'database' }), name: text() },
  }),
)
const collections = [readings, stamped, parts, coded]
const missing = await missingServer()
const exact = `character set utf8mb4 collate ${exactCollation()}`
const statements = [
  `create table readings (station varchar(20) ${exact}, value bigint)`,
  `create table stamped (station varchar(20) ${exact}, at bigint default 7)`,
  `create table parts (id bigint auto_increment, tenant bigint, name varchar(20) ${exact}, primary key (id, tenant))`,
  `create table coded (code varchar(36) ${exact} default (uuid()), name varchar(20) ${exact}, primary key (code))`,
]

// As MySQL does, which has no RETURNING.
describe.skipIf(missing !== undefined)('inserts that return no rows', () => {
  let database: TestDatabase
  let connections: MysqlConnections
  let tables: Tables
  beforeAll(async () => {
    database = await testDatabase()
    await database.run(...statements)
    connections = mysqlConnections(database.pool, completeMysql({}))
    tables = await connections.use(async (connection) => {
      const found = await readTables(connection, collections, connections.server())
      const { dialect } = found
      return { ...found, dialect: { ...dialect, writes: { ...dialect.writes, returning: [] } } }
    })
  })
  afterAll(async () => {
    await connections.close()
    await database.drop()
  })

  test('without a key, the row is the one that was given', async () => {
    await database.run(`insert into readings values ('north', 1)`)
    const row = { station: 'south', value: 2 }
    const stored = connections.use((connection) => insertRow(connection, tables, readings, row))
    expect(await stored).toEqual(row)
    expect(await database.run('select * from readings order by station')).toEqual([
      { station: 'north', value: 1 },
      { station: 'south', value: 2 },
    ])
  })

  test('a part of the key that the column numbers is found', async () => {
    const insert = (tenant: number) =>
      connections.use((connection) =>
        insertRow(connection, tables, parts, { tenant, name: `of ${tenant}` }),
      )
    expect(await insert(1)).toEqual({ id: 1, tenant: 1, name: 'of 1' })
    expect(await insert(2)).toEqual({ id: 2, tenant: 2, name: 'of 2' })
  })

  test('a value that only a column default knows is a mistake, and fails before it is stored', async () => {
    const mistakes = (collection: (typeof collections)[number]) =>
      collectionMistakes(tables, collection, collections)
    expect([mistakes(readings), mistakes(parts)]).toEqual([[], []])
    const { database: server } = tables.dialect
    expect(mistakes(stamped)).toEqual([
      `app/stamped.at: ${server} does not return the rows that it inserts, so a new row of a collection without a key must get all of its values from the service. Set a value or a function as the default of the field, or give the collection a key.`,
    ])
    expect(mistakes(coded)).toEqual([
      `app/coded.code: ${server} does not return the rows that it inserts, so the key of a new row must be known or numbered. Set a value or a function as the default of the field.`,
    ])
    const insert = connections.use((connection) =>
      insertRow(connection, tables, stamped, { station: 'north' }),
    )
    await expect(insert).rejects.toThrow('returns no values of column defaults')
    expect(await database.run('select * from stamped')).toEqual([])
  })
})
