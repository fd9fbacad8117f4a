import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { date, decimal, defineCollection, integer, text } from '../../../src/index.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../../src/storage/index.ts'
import { mysqlStorage } from '../../../src/storage/mysql.ts'
import { missingServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const parents = defineCollection({
  key: 'name',
  fields: { name: text({ column: 'Name' }) },
})
const children = defineCollection({
  key: 'id',
  fields: {
    id: integer({ generated: 'database' }),
    code: text({ column: "the 'code`", unique: true }),
    first: text({ maxLength: 10 }),
    second: text({ maxLength: 10 }),
    parent: text({ references: 'parents' }),
    small: integer(),
    amount: decimal({ precision: 4, scale: 2 }),
    day: date(),
  },
  unique: [['first', 'second']],
})
const published = publishApplications({ app: { collections: { parents, children } } })
const child = published.find(({ name }) => name === 'children') as PublishedCollection
const parent = published.find(({ name }) => name === 'parents') as PublishedCollection

const missing = await missingServer()

describe.skipIf(missing !== undefined)('an error of MariaDB', () => {
  let database: TestDatabase
  let storage: StorageAdapter

  beforeAll(async () => {
    database = await testDatabase()
    storage = mysqlStorage(database.pool, { ensureSchema: true })
    await storage.open(published)
    await database.run(
      'alter table children modify column small smallint',
      'alter table children modify column day date not null',
      'alter table children add constraint positive check (small > 0 and amount > 0)',
      `create trigger refuse before insert on children for each row begin
        if new.first = 'raise' then signal sqlstate '45000' set message_text = 'refused'; end if;
        if new.first = 'sleep' then do sleep(5); end if; end`,
    )
    await storage.close()
    storage = mysqlStorage(database.pool)
    await storage.open(published)
  })
  beforeEach(async () => {
    await database.run('delete from children', 'delete from parents')
    await insert(parent, { name: 'p' })
    await insert(child, row)
  })
  afterAll(async () => {
    await storage.close()
    await database.drop()
  })

  const row: Row = {
    id: 1,
    code: 'a',
    first: 'x',
    second: 'y',
    parent: 'p',
    small: 1,
    amount: '1.00',
    day: '2024-02-29',
  }

  function insert(collection: PublishedCollection, given: Row): Promise<Row> {
    return storage.transaction({ mode: 'write', brief: true }, (on) => on.insert(collection, given))
  }

  test.each<readonly [string, Row, string, readonly string[]]>([
    ['1062: a key that exists', { id: 1, code: 'b', first: 'z' }, 'duplicate', ['id']],
    ['1062: a unique value that exists', { code: 'a', first: 'z' }, 'duplicate', ['code']],
    ['1062: a unique group that exists', { code: 'b' }, 'duplicate', ['first', 'second']],
    [
      '1452: a missing referenced row',
      { code: 'b', first: 'z', parent: "q' for key 'PRIMARY" },
      'invalid',
      ['parent'],
    ],
    ['4025: a check', { code: 'b', first: 'z', small: -1 }, 'invalid', ['small', 'amount']],
    ['1048: no value', { code: 'b', first: 'z', day: null }, 'invalid', ['day']],
    ['1264: a number out of range', { code: 'b', first: 'z', small: 70_000 }, 'invalid', ['small']],
    ['1292: a date of zeros', { code: 'b', first: 'z', day: '0000-00-00' }, 'invalid', []],
    ['1406: a text that is too long', { code: 'b', first: 'elevenchars' }, 'invalid', ['first']],
    [
      'spaces that the column would cut',
      { code: 'b', first: `z${' '.repeat(10)}` },
      'invalid',
      ['first'],
    ],
    ['1644: a signal of a trigger', { code: 'b', first: 'raise' }, 'invalid', []],
  ])('is converted: %s', async (_, changes, kind, fields) => {
    const given = { ...row, id: null, ...changes }
    await expect(insert(child, given)).rejects.toMatchObject({ kind, fields })
  })

  test('1364: no value and no default', async () => {
    await database.run('create table bare (id int primary key, needed int not null)')
    const definition = defineCollection({
      key: 'id',
      fields: { id: integer(), needed: integer({ default: 'database' }) },
    })
    const [bare] = publishApplications({ app: { collections: { bare: definition } } })
    const own = mysqlStorage(database.open())
    await database.run('alter table bare alter column needed set default 1')
    await own.open([bare as PublishedCollection])
    await database.run('alter table bare alter column needed drop default')
    const run = own.transaction({ mode: 'write', brief: true }, (on) =>
      on.insert(bare as PublishedCollection, { id: 1 }),
    )
    await expect(run).rejects.toMatchObject({ kind: 'invalid', fields: ['needed'] })
    await own.close()
  })

  test('1366: a character that the column can not hold', async () => {
    await database.run(
      'create table narrow (id int primary key, name varchar(9) character set latin1)',
    )
    const definition = defineCollection({ key: 'id', fields: { id: integer(), name: text() } })
    const [narrow] = publishApplications({ app: { collections: { narrow: definition } } })
    const own = mysqlStorage(database.open())
    await own.open([narrow as PublishedCollection])
    const run = own.transaction({ mode: 'write', brief: true }, (on) =>
      on.insert(narrow as PublishedCollection, { id: 1, name: '\u{1f600}' }),
    )
    await expect(run).rejects.toMatchObject({ kind: 'invalid', fields: ['name'] })
    await own.close()
  })

  test('1451: a delete of a referenced row', async () => {
    const remove = storage.transaction({ mode: 'write', brief: true }, (on) =>
      on.delete(parent, [{ field: 'name', is: 'equal', value: 'p' }]),
    )
    await expect(remove).rejects.toMatchObject({ kind: 'referenced' })
  })

  test('1205: a lock that another transaction holds', async () => {
    const quick = mysqlStorage(database.open(), { lockTimeout: 1 })
    await quick.open(published)
    const change = (on: StorageAdapter): Promise<unknown> =>
      on.transaction({ mode: 'write', brief: true }, (inner) =>
        inner.update(child, [{ field: 'id', is: 'equal', value: 1 }], { first: 'new' }),
      )
    await storage.transaction({ mode: 'write', brief: false }, async (on) => {
      await on.update(child, [{ field: 'id', is: 'equal', value: 1 }], { first: 'held' })
      await expect(change(quick)).rejects.toMatchObject({ kind: 'unavailable' })
    })
    await quick.close()
  })

  test('1969: a statement that takes too long', async () => {
    const quick = mysqlStorage(database.open(), { statementTimeout: 1_000 })
    await quick.open(published)
    const slow = quick.transaction({ mode: 'write', brief: true }, (on) =>
      on.insert(child, { ...row, id: 2, first: 'sleep' }),
    )
    await expect(slow).rejects.toMatchObject({ kind: 'unavailable' })
    await quick.close()
  })

  test('1317: a statement that an operator ends', async () => {
    const slow = insert(child, { ...row, id: 2, code: 'b', first: 'sleep' })
    const sleeping = `select id from information_schema.processlist where state = 'User sleep' and db = '${database.name}'`
    const found = async (): Promise<unknown> => (await database.run(sleeping))[0]?.['id'] ?? found()
    await Promise.all([
      expect(slow).rejects.toMatchObject({ kind: 'unavailable' }),
      found().then((id) => database.run(`kill query ${String(id)}`)),
    ])
  })

  test('1792: a server that is read only', async () => {
    const pool = database.open({ connectionLimit: 1 })
    const own = mysqlStorage(pool)
    await own.open(published)
    await pool.query('set session transaction read only')
    const run = own.transaction({ mode: 'write', brief: true }, (on) =>
      on.insert(child, { ...row, id: 2 }),
    )
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    await own.close()
  })

  test('ECONNREFUSED: a server that does not respond', async () => {
    const own = mysqlStorage(database.open({ host: '127.0.0.1', port: 1 }))
    await expect(own.open(published)).rejects.toMatchObject({ kind: 'unavailable' })
    await own.close()
  })

  test.each([
    ['1146: a table that is gone', 'drop table gone'],
    ['1054: a column that is gone', 'alter table gone drop column name'],
  ])('is a fault: %s', async (_, statement) => {
    await database.run('create table gone (id int primary key, name varchar(9))')
    const definition = defineCollection({ key: 'id', fields: { id: integer(), name: text() } })
    const [gone] = publishApplications({ app: { collections: { gone: definition } } })
    const own = mysqlStorage(database.open())
    await own.open([gone as PublishedCollection])
    await database.run(statement)
    const run = own.transaction({ mode: 'write', brief: true }, (on) =>
      on.insert(gone as PublishedCollection, { id: 1, name: 'a' }),
    )
    await expect(run).rejects.not.toHaveProperty('kind')
    await own.close()
    await database.run('drop table if exists gone')
  })

  test('a lone surrogate is refused, and found nowhere', async () => {
    const value = '\ud800'
    await expect(insert(child, { ...row, id: 9, code: value })).rejects.toThrow('lone surrogate')
    const page = await storage.filter(child, {
      conditions: [{ is: 'or', conditions: [{ field: 'code', is: 'equal', value }] }],
      search: null,
      sort: [],
      limit: 10,
      offset: 0,
      select: ['id'],
      count: true,
    })
    expect(page).toEqual({ rows: [], count: 0 })
  })
})
