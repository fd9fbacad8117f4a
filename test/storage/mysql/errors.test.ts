import type { PoolOptions } from 'mysql2'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import {
  defineCollection,
  integer,
  text,
  type CollectionDefinition,
  type Field,
} from '../../../src/entries/index.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../../src/entries/storage.ts'
import { mysqlStorage, type MysqlOptions, type MysqlPool } from '../../../src/entries/mysql.ts'
import { errorKinds } from '../../../src/storage/mysql/failure.ts'
import { missingServer, perServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'
import { startProxy } from '../../kit/proxy.ts'
import {
  child,
  conflict,
  deleteParent,
  duplicate,
  duringInsert,
  expectUnstorable,
  insert,
  insertChild,
  invalid,
  missingHost,
  parent,
  published,
  refusing,
  row,
  testErrorTable,
  unavailable,
  untestedNetworkFailures,
  updateCrosswise,
  updateHeld,
  updateOvertaken,
  type ErrorCase,
} from '../sql/error-cases.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('an error of MariaDB', () => {
  let database: TestDatabase
  let storage: StorageAdapter
  // MySQL allows no statement that writes tables of both kinds.
  const fill = perServer({
    MariaDB: "if new.first = 'fill' then insert into small select seq from seq_1_to_1000; end if;",
    MySQL: '',
  })

  beforeAll(async () => {
    database = await testDatabase()
    storage = mysqlStorage(database.pool, { ensureSchema: true })
    await storage.open(published)
    await database.run(
      'alter table children modify column small smallint',
      'alter table children modify column day date not null',
      'alter table children add constraint positive check (small > 0 and amount > 0)',
      "create table others (name varchar(9), colour enum('red'))",
      'create table parts (part int) partition by list (part) (partition one values in (1))',
      "create view early as select * from others where name < 'm' with check option",
      'set session max_heap_table_size = 16384',
      'create table small (filler char(255)) engine = memory',
      `create trigger reject before insert on children for each row begin
        if new.first = 'raise' then signal sqlstate '45000' set message_text = 'rejected'; end if;
        if new.first = 'own' then signal sqlstate '45000' set mysql_errno = 30001; end if;
        if new.first = 'view' then insert into early (name) values ('z'); end if;
        if new.first = 'divide' then set new.small = 1 / 0; end if;
        if new.first = 'subtract' then set new.small = cast(1 as unsigned) - 2; end if;
        if new.first = 'part' then insert into parts values (7); end if;
        if new.first = 'enum' then insert into others (colour) values ('blue'); end if;
        ${fill}
        if new.first = 'sleep' then do sleep(5); end if; end`,
    )
    await storage.close()
    storage = mysqlStorage(database.pool)
    await storage.open(published)
  })
  beforeEach(async () => {
    await database.run('delete from children', 'delete from parents')
    await insert(storage, parent, { name: 'p' })
    await insert(storage, child, row)
  })
  afterAll(async () => {
    await storage.close()
    await database.drop()
  })

  async function openedOn(
    pool: MysqlPool,
    collections = published,
    options?: MysqlOptions,
  ): Promise<StorageAdapter> {
    const own = mysqlStorage(pool, options)
    onTestFinished(() => own.close())
    await own.open(collections)
    return own
  }

  const opened = (settings: PoolOptions, options?: MysqlOptions) =>
    openedOn(database.open(settings), published, options)

  async function readOnly(): Promise<unknown> {
    const pool = database.open({ connectionLimit: 1 })
    await pool.query('set session transaction read only')
    return insertChild(await openedOn(pool), {})
  }

  /** Changes a table after it was opened, and inserts a row. */
  async function insertAfter(
    name: string,
    {
      fields,
      change,
      values,
    }: {
      readonly fields: CollectionDefinition['fields']
      readonly change: string
      readonly values: Row
    },
  ): Promise<unknown> {
    const [collection] = publishApplications({
      app: { collections: { [name]: defineCollection({ key: 'id', fields }) } },
    }) as [PublishedCollection]
    const own = await openedOn(database.open(), [collection])
    await database.run(change)
    return insert(own, collection, values)
  }

  async function sleeping(): Promise<unknown> {
    const [found] = await database.run(
      `select id from information_schema.processlist where state = 'User sleep' and db = '${database.name}'`,
    )
    return found?.['id']
  }

  /** Ends the statement or the connection of an insert that sleeps. */
  function killed(what: 'query' | 'connection'): Promise<unknown> {
    return duringInsert(
      storage,
      async () => (await sleeping()) !== undefined,
      async () => database.run(`kill ${what} ${String(await sleeping())}`),
    )
  }

  async function withoutResponse(): Promise<unknown> {
    const proxy = await startProxy(database.address)
    onTestFinished(() => proxy.stop())
    proxy.hold()
    return opened({ host: proxy.host, port: proxy.port, connectTimeout: 500 })
  }

  async function withoutDefault(): Promise<unknown> {
    await database.run('create table bare (id int primary key, needed int not null default 1)')
    return insertAfter('bare', {
      fields: { id: integer(), needed: integer({ default: 'database' }) },
      change: 'alter table bare alter column needed drop default',
      values: { id: 1 },
    })
  }

  async function withoutCharacter(): Promise<unknown> {
    await database.run(
      'create table narrow (id int primary key, name varchar(9) character set latin1)',
    )
    return insertAfter('narrow', {
      fields: { id: integer(), name: text() },
      change: 'do 0',
      values: { id: 1, name: '\u{1f600}' },
    })
  }

  /** Reads a collection of one field in MySQL, with a time limit. */
  async function readOf(name: string, field: Field, query: PartialQuery): Promise<unknown> {
    const [collection] = publishApplications({
      app: {
        collections: {
          [name]: defineCollection({ publishes: ['Filter'], fields: { value: field } }),
        },
      },
    }) as [PublishedCollection]
    const own = await openedOn(database.open(), [collection], { statementTimeout: 1_000 })
    return own.filter(collection, queryOf(collection, query))
  }

  async function slowRead(): Promise<unknown> {
    const many = 'information_schema.columns'
    await database.run(
      `create view slow as select 1 as value from ${many} a, ${many} b, ${many} c, ${many} d`,
    )
    return readOf('slow', integer(), { count: true })
  }

  async function longSearch(): Promise<unknown> {
    await database.run(
      'create table texts (value longtext)',
      "insert into texts values (repeat('a', 2000000))",
    )
    return readOf('texts', text(), { search: { fields: ['value'], text: 'ab' } })
  }

  test('a signal with a number of its own rejects the save', async () => {
    const insert = insertChild(storage, { first: 'own' })
    await expect(insert).rejects.toMatchObject({ kind: 'invalid', fields: [] })
  })

  const changed = (changes: Row) => () => insertChild(storage, changes)

  const check = changed({ small: -1 })
  const sleep = async (): Promise<unknown> =>
    insertChild(await opened({}, { statementTimeout: 1_000 }), { first: 'sleep' })

  const ofMariaDb: readonly ErrorCase[] = [
    [
      '1020',
      'a row that another transaction has changed',
      () => updateOvertaken(storage),
      conflict,
    ],
    ['4025', 'a check', check, invalid('small', 'amount')],
    ['1114', 'a table that is full', changed({ first: 'fill' }), unavailable],
    ['1969', 'a statement that takes too long', sleep, unavailable],
  ]

  const ofMySql: readonly ErrorCase[] = [
    [
      '1205',
      'a row that another transaction has read',
      () => updateOvertaken(storage),
      unavailable,
    ],
    ['3819', 'a check', check, invalid('small', 'amount')],
    ['ETIMEDOUT', 'a write that takes too long', sleep, unavailable],
    ['3024', 'a read that takes too long', slowRead, unavailable],
    ['3699', 'a search in a text that is too long', longSearch, unavailable],
  ]

  const cases: readonly ErrorCase[] = [
    ...perServer({ MariaDB: ofMariaDb, MySQL: ofMySql }),
    ['1213', 'a deadlock', () => updateCrosswise(storage), conflict],
    ['1062', 'a key that exists', changed({ id: 1 }), duplicate('id')],
    ['1062', 'a unique value that exists', changed({ code: 'a' }), duplicate('code')],
    [
      '1062',
      'a unique group that exists',
      changed({ first: 'x', second: 'y' }),
      duplicate('first', 'second'),
    ],
    [
      '1452',
      'a missing referenced row',
      changed({ parent: "q' for key 'PRIMARY" }),
      invalid('parent'),
    ],
    ['1451', 'a delete of a referenced row', () => deleteParent(storage), { kind: 'referenced' }],
    ['1048', 'no value', changed({ day: null }), invalid('day')],
    ['1264', 'a number out of range', changed({ small: 70_000 }), invalid('small')],
    [
      '1264',
      'two numbers out of range',
      changed({ small: -32_769, amount: '100.00' }),
      invalid('small', 'amount'),
    ],
    ['1265', 'an unknown label', changed({ first: 'enum' }), invalid()],
    ['1292', 'a date of zeros', changed({ day: '0000-00-00' }), invalid()],
    ['1364', 'no value and no default', withoutDefault, invalid('needed')],
    ['1365', 'a division by zero', changed({ first: 'divide' }), invalid()],
    ['1366', 'a character that the column cannot hold', withoutCharacter, invalid('name')],
    ['1369', 'the check of a view', changed({ first: 'view' }), invalid()],
    ['1406', 'a string that is too long', changed({ first: 'elevenchars' }), invalid('first')],
    ['1526', 'a row for which there is no partition', changed({ first: 'part' }), invalid()],
    ['1644', 'a signal of a trigger', changed({ first: 'raise' }), invalid()],
    ['1690', 'a difference below zero', changed({ first: 'subtract' }), invalid()],
    [
      '1205',
      'a lock that another transaction holds',
      async () => updateHeld(storage, await opened({}, { lockTimeout: 1 })),
      unavailable,
    ],
    ['1317', 'a statement that is ended', () => killed('query'), unavailable],
    ['1792', 'a server that is read only', readOnly, unavailable],
    [
      'PROTOCOL_CONNECTION_LOST',
      'a connection that is ended',
      () => killed('connection'),
      unavailable,
    ],
    ['ECONNREFUSED', 'a server that does not listen', () => opened({ port: 1 }), unavailable],
    [
      'ECONNRESET',
      'a connection that is reset',
      async () => opened(await refusing(database.address)),
      unavailable,
    ],
    ['ETIMEDOUT', 'a server that does not respond', withoutResponse, unavailable],
    ['ENOTFOUND', 'a host that does not exist', () => opened({ host: missingHost }), unavailable],
  ]

  testErrorTable({
    table: errorKinds,
    rowOf(error) {
      const { errno, code, sqlMessage } = error as Readonly<Record<string, unknown>>
      return String(sqlMessage === undefined ? code : errno)
    },
    cases,
    documented: {
      ...perServer<Readonly<Record<string, readonly string[]>>>({
        MariaDB: { 'MySQL alone': ['1041', '3024', '3572', '3699', '3819', '4031'] },
        MySQL: {
          'MariaDB alone': ['1020', '1969', '4025'],
          'a server without memory for a thread': ['1041'],
          'a statement that does not wait': ['3572'],
          'a time of connections that no one uses': ['4031'],
          'a table without room': ['1114'],
        },
      }),
      'users who may not read the referenced table': ['1216', '1217'],
      'users without all rights': ['1044', '1142', '1143', '1227', '1370'],
      'other engines than InnoDB, and partitions': ['1169', '1586'],
      'a server without memory, disk or threads': ['1021', '1037', '1038', '1206', '1637'],
      'limits of connections of a user or server': ['1040', '1203', '1226'],
      'a cluster that is not ready': ['1047'],
      'a server that stops': ['1053'],
      'options with which a server starts': ['1290', '1836'],
      'a connection that is ended, of which this server says nothing': ['1927'],
      'the network between the server and another client': ['1158', '1159', '1160', '1161'],
      'the client library in C, and proxies': ['2006', '2013'],
      ...untestedNetworkFailures,
    },
  })

  test.each<readonly [string, PoolOptions, readonly number[]]>([
    ['a wrong password', { password: 'wrong' }, [1045]],
    ['an unknown user', { user: 'no_such_user' }, [1044, 1045]],
    ['an unknown database', { database: 'no_such_database' }, [1044, 1049]],
  ])('storage is unavailable to %s', async (_, settings, numbers) => {
    const failure: unknown = await opened(settings).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'unavailable' })
    expect(numbers).toContain(((failure as Error).cause as { readonly errno?: unknown }).errno)
  })

  test('spaces that the column would cut are invalid', async () => {
    const cut = insertChild(storage, { first: `z${' '.repeat(10)}` })
    await expect(cut).rejects.toMatchObject({ kind: 'invalid', fields: ['first'] })
  })

  test('of a unique index of the start of a string names its field', async () => {
    await database.run(
      'create table starts (id int primary key, name varchar(9), kind int, unique (kind, name(3)))',
      "insert into starts values (1, 'abcd', 1)",
    )
    const same = insertAfter('starts', {
      fields: { id: integer(), name: text(), kind: integer() },
      change: 'do 0',
      values: { id: 2, name: 'abce', kind: 1 },
    })
    await expect(same).rejects.toMatchObject(duplicate('name', 'kind'))
  })

  test.each([
    ['1146: a table that is gone', 'drop table gone'],
    ['1054: a column that is gone', 'alter table gone drop column name'],
  ])('is a fault: %s', async (_, change) => {
    await database.run(
      'drop table if exists gone',
      'create table gone (id int primary key, name varchar(9))',
    )
    const run = insertAfter('gone', {
      fields: { id: integer(), name: text() },
      change,
      values: { id: 1, name: 'a' },
    })
    await expect(run).rejects.not.toHaveProperty('kind')
  })

  test('a lone surrogate is rejected, and matches no row', async () => {
    await expectUnstorable(storage, '\ud800', 'lone surrogate')
  })
})
