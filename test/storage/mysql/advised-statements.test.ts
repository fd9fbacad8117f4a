import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { defineCollection, instant, integer, text } from '../../../src/entries/index.ts'
import type { CollectionDefinition } from '../../../src/entries/index.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { missingServer, perServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('the statements of messages at start', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterEach(() => database.empty())
  afterAll(() => database.drop())

  async function advised(collections: Readonly<Record<string, CollectionDefinition>>) {
    const storage = mysqlStorage(database.pool)
    try {
      await storage.open(publishApplications({ app: { collections } }))
      return []
    } catch (error) {
      return (error as Error).message.match(/ALTER TABLE .*;/g)
    } finally {
      await storage.close()
    }
  }

  async function declaration(): Promise<unknown> {
    const [created] = await database.run('show create table tags')
    // MySQL writes a literal of a constraint in the character set that the column has by then.
    return String(created?.['Create Table']).replaceAll(/_(?:latin1|utf8mb4)'/g, "'")
  }

  test('make columns reject null, and keep the rest of their declarations', async () => {
    const created = (nulls: string): string => `create table tags (
      id varchar(40) character set latin1 collate latin1_bin ${nulls} default 'it''s'
        comment 'the ''key\\\\' check (id <> 'x'),
      at timestamp ${nulls} default current_timestamp() on update current_timestamp() invisible,
      unique (id, at))`
    const fields = { id: text({ maxLength: 40 }), at: instant({ storedAs: 'seconds' }) }
    const tags = defineCollection({ key: ['id', 'at'], fields })
    await database.run(created('not null'))
    const expected = await declaration()
    await database.run('drop table tags', created('null'))
    const statements = await advised({ tags })
    expect(statements).toHaveLength(2)
    await database.run(...(statements ?? []))
    expect(await declaration()).toEqual(expected)
    expect(await advised({ tags })).toEqual([])
  })

  test('keep the expression of a default', async () => {
    const created = (nulls: string): string => `create table tags (
      id varchar(40) character set latin1 collate latin1_bin ${nulls} default (concat('it''s \\\\ \\n', 'é')) comment 'é', unique (id))`
    await database.run(created('not null'))
    const expected = await declaration()
    await database.run('drop table tags', created('null'))
    const tags = defineCollection({ key: 'id', fields: { id: text({ maxLength: 40 }) } })
    const statements = await advised({ tags })
    expect(statements).toHaveLength(1)
    await database.run(...(statements ?? []), 'insert into tags values (default)')
    expect(await declaration()).toEqual(expected)
    expect(await database.run('select id from tags')).toEqual([{ id: "it's \\ \né" }])
  })

  test('number columns, and keep their comments', async () => {
    await database.run(`create table tags (id int default 5 primary key comment 'number')`)
    const tags = defineCollection({
      key: 'id',
      fields: { id: integer({ generated: 'database' }) },
    })
    const statements = await advised({ tags })
    expect(statements).toEqual([
      `ALTER TABLE \`tags\` MODIFY COLUMN \`id\` ${perServer({ MariaDB: 'int(11)', MySQL: 'int' })} NOT NULL AUTO_INCREMENT COMMENT 'number';`,
    ])
    await database.run(...(statements ?? []))
    expect(await advised({ tags })).toEqual([])
  })
})
