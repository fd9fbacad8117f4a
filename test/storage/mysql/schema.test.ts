import { createPool } from 'mysql2'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import {
  bigint,
  boolean,
  createService,
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  instant,
  integer,
  json,
  openAccess,
  text,
  time,
  uuid,
  type CollectionDefinition,
  type Field,
} from '../../../src/entries/index.ts'
import {
  mysqlSchema,
  mysqlStorage,
  type MysqlClient,
  type MysqlOptions,
  type MysqlPool,
} from '../../../src/entries/mysql.ts'
import { missingServer, perServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const missing = await missingServer()

const parents = defineCollection({ key: 'id', fields: { id: integer({ generated: 'database' }) } })
const children = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    name: text({ unique: true, maxLength: 100 }),
    rank: integer(),
    parent: integer({ references: 'parents', onDelete: 'cascade' }),
  },
  index: [['-rank', 'name']],
})
const collections = { parents, children }

describe.skipIf(missing !== undefined)('tables of MariaDB', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterEach(() => database.empty())
  afterAll(() => database.drop())

  async function open(
    definitions: Readonly<Record<string, CollectionDefinition>>,
    options?: MysqlOptions,
  ): Promise<string> {
    const storage = mysqlStorage(database.pool, options)
    const published = publishApplications({ app: { collections: definitions } })
    try {
      await storage.open(published)
      return `enforced: ${published.flatMap(({ references }) => references).filter((one) => storage.enforces?.(one)).length}`
    } catch (error) {
      return (error as Error).message
    } finally {
      await storage.close()
    }
  }

  test('a new table refers to an existing key of another type through the service', async () => {
    await database.pool.query('CREATE TABLE parents (id int NOT NULL PRIMARY KEY) ENGINE=InnoDB')
    const existing = defineCollection({ key: 'id', fields: { id: integer() } })
    expect(await open({ parents: existing, children }, { ensureSchema: true })).toBe('enforced: 0')
    await database.empty()
    await database.pool.query('CREATE TABLE parents (id bigint NOT NULL PRIMARY KEY) ENGINE=InnoDB')
    expect(await open({ parents: existing, children }, { ensureSchema: true })).toBe('enforced: 1')
  })

  function columns(): Promise<unknown> {
    return database.run(`select table_name, column_name, column_type, is_nullable, collation_name, extra
      from information_schema.columns where table_schema = database() order by 1, 2`)
  }

  test('that are missing are created once, by any number of processes', async () => {
    const opened = await Promise.all([1, 2, 3].map(() => open(collections, { ensureSchema: true })))
    expect(opened).toEqual(['enforced: 1', 'enforced: 1', 'enforced: 1'])
    expect(await open(collections)).toBe('enforced: 1')
    const created = await columns()
    const indexes = await database.run(
      `select concat(non_unique, ' ', group_concat(column_name, ' ', collation order by seq_in_index)) as own
       from information_schema.statistics where table_schema = database()
       group by table_name, index_name, non_unique`,
    )
    expect(indexes.map(({ own }) => own).sort()).toEqual([
      '0 id A',
      '0 id A',
      '0 name A',
      '1 parent A',
      '1 rank D,name A',
    ])
    await database.empty()
    const statements = mysqlSchema(
      { app: { collections } },
      perServer({ MariaDB: 'MariaDB', MySQL: 'MySQL' }),
    ).split(/;\n+/)
    await database.run(...statements.filter((statement) => statement.trim() !== ''))
    expect(await columns()).toEqual(created)
    expect(await open(collections)).toBe('enforced: 1')
  })

  test('that are missing are named with the statement that creates them', async () => {
    const message = await open(collections)
    expect(message).toContain('app/children: the table `children` does not exist in the database')
    expect(message).toContain('`id` bigint AUTO_INCREMENT NOT NULL')
  })

  test('get missing columns and indexes', async () => {
    const { rank, ...others } = children.fields
    const first = { parents, children: { key: 'id', fields: others } as CollectionDefinition }
    await open(first, { ensureSchema: true })
    expect(await open(collections, { ensureSchema: true })).toContain(
      'app/children.rank: table `children` has no column `rank`',
    )
    expect(rank).toBeDefined()
    expect(await open(collections, { ensureSchema: 'columns' })).toBe('enforced: 1')
  })

  test('have the names of the definition, or names in another case', async () => {
    await database.run('create table PARENTS (ID int auto_increment primary key)')
    const upper = defineCollection({
      key: 'id',
      table: 'Parents',
      fields: { id: integer({ column: 'Id', generated: 'database' }) },
    })
    expect(await open({ upper })).toBe('enforced: 0')
  })

  test.each<readonly [string, Field]>([
    ['int', text()],
    ['varbinary(9)', text()],
    ['blob', text()],
    [`enum('a', 'b')`, text()],
    [`enum('a', 'b')`, text({ enumeration: ['a', 'B'] })],
    [`set('a', 'b')`, text()],
    ['bit(2)', boolean()],
    ['tinyint', boolean()],
    ['tinyint(1) zerofill', boolean()],
    ['bigint unsigned', decimal({ precision: 20, scale: 1 })],
    ['decimal(8,3)', decimal({ precision: 8, scale: 2 })],
    ['double', decimal({ precision: 8, scale: 2 })],
    ['float', double()],
    ['double(8,2)', double()],
    ['float', text({ readOnly: true })],
    ['blob', text({ readOnly: true })],
    ['point', text({ readOnly: true })],
    ['time(3)', time()],
    ['datetime', dateTime()],
    ['datetime(1)', dateTime({ storedAs: 'seconds' })],
    ['datetime(6)', dateTime()],
    ['timestamp', instant()],
    ['timestamp(3)', dateTime()],
    ['varchar(10)', date()],
    ['char(36) collate utf8mb4_general_ci', uuid()],
    // That of MariaDB keeps the text.
    ...perServer<readonly (readonly [string, Field])[]>({ MariaDB: [], MySQL: [['json', json()]] }),
  ])('of which a column has the type %s are rejected', async (type, field) => {
    await database.run(`create table items (id bigint primary key, value ${type})`)
    const items = defineCollection({ key: 'id', fields: { id: integer(), value: field } })
    expect(await open({ items })).toContain('does not keep every value of type')
  })

  test.each<readonly [string, Field]>([
    ['varchar(20) character set latin1', text()],
    ['char(3)', text()],
    ['tinytext', text()],
    ['mediumint unsigned', integer()],
    ['tinyint(1)', integer()],
    ['tinyint(1)', boolean()],
    ['bigint unsigned', bigint()],
    ['bigint unsigned', decimal({ precision: 20, scale: 0 })],
    ['decimal(6,2) unsigned', decimal({ precision: 8, scale: 2 })],
    ['decimal(6,2) zerofill', decimal({ precision: 8, scale: 2 })],
    ['int(5) zerofill', integer()],
    ['year', integer()],
    ['bit(1)', boolean()],
    [`enum('a', 'b')`, text({ enumeration: ['b'] })],
    [`set('a', 'b')`, text({ readOnly: true })],
    ['time', time()],
    ['time', text({ readOnly: true })],
    ['float', double({ readOnly: true })],
    ['double(8,2)', decimal({ precision: 8, scale: 2 })],
    ['double(15,4) unsigned', decimal({ precision: 15, scale: 4 })],
    ['datetime', dateTime({ storedAs: 'seconds' })],
    ['datetime(1)', dateTime({ readOnly: true })],
    ['datetime(6)', dateTime({ storedAs: 'microseconds' })],
    ['timestamp(6) null', instant({ storedAs: 'microseconds' })],
    ['timestamp(3) null', instant()],
    ...perServer<readonly (readonly [string, Field])[]>({
      MariaDB: [
        ['uuid', uuid()],
        ['json', json()],
      ],
      MySQL: [['json', json({ storedAs: 'jsonb' })]],
    }),
  ])('of which a column has the type %s are accepted', async (type, field) => {
    await database.run(`create table items (id bigint primary key, value ${type})`)
    const items = defineCollection({ key: 'id', fields: { id: integer(), value: field } })
    expect(await open({ items })).toBe('enforced: 0')
  })

  test('without a unique key, a number, a default or transactions are rejected, with what to do', async () => {
    await database.run(
      'create table keyless (id bigint)',
      'create table prefixed (id varchar(20) not null, unique (id(5)))',
      'create table unnumbered (id bigint primary key)',
      'create table plain (id bigint primary key, value text)',
      'create table old (id bigint primary key) engine=MyISAM',
      'create or replace view seen as select * from plain',
    )
    const id = integer()
    const message = await open({
      keyless: { key: 'id', fields: { id } },
      prefixed: { key: 'id', fields: { id: text() } },
      unnumbered: { key: 'id', fields: { id: integer({ generated: 'database' }) } },
      plain: { key: 'id', fields: { id, value: text({ default: 'database' }) } },
      old: { key: 'id', fields: { id } },
      seen: { key: 'id', fields: { id, value: text() } },
    })
    await database.run('drop view seen')
    expect(
      message
        .split('\n- ')
        .slice(1)
        .map((line) => line.split('. ')[0]),
    ).toEqual([
      'app/keyless: the key (`id`) of table `keyless` has no unique index',
      'app/prefixed: the key (`id`) of table `prefixed` has no unique index',
      `app/unnumbered.id: column \`id\` of table \`unnumbered\` is not numbered by ${perServer({ MariaDB: 'MariaDB', MySQL: 'MySQL' })}`,
      'app/plain.value: column `value` of table `plain` has no default',
      'app/old: the table `old` is kept by the engine MyISAM, which has no transactions',
      'app/seen: `seen` is a view, which is not written',
    ])
  })

  test('with a foreign key whose columns ignore case are not left to the database', async () => {
    const owners = defineCollection({ key: 'name', fields: { name: text({ maxLength: 9 }) } })
    const pets = defineCollection({
      key: 'id',
      fields: { id: integer(), owner: text({ maxLength: 9, references: 'owners' }) },
    })
    await database.run(
      'create table owners (name varchar(9) collate utf8mb4_general_ci primary key)',
      `create table pets (id int primary key, owner varchar(9) collate utf8mb4_general_ci,
        foreign key (owner) references owners (name))`,
    )
    expect(await open({ owners, pets })).toBe('enforced: 0')
  })

  test('with a foreign key whose index has further columns are left to the service in MySQL', async () => {
    // MySQL 9.7 stores a row of which such a key refers to nothing, if one of the other columns is null.
    await database.run(
      'create table owners (id bigint primary key)',
      `create table pets (id bigint primary key, owner bigint, note bigint, index (owner, note),
        foreign key (owner) references owners (id))`,
    )
    const id = integer()
    const owners = defineCollection({ key: 'id', fields: { id } })
    const pets = defineCollection({
      key: 'id',
      fields: { id, owner: integer({ references: 'owners' }) },
    })
    expect(await open({ owners, pets })).toBe(
      `enforced: ${perServer({ MariaDB: '1', MySQL: '0' })}`,
    )
    await database.run('alter table pets add index (owner), drop index owner')
    expect(await open({ owners, pets })).toBe('enforced: 1')
  })

  test('have rows whose problems are found', async () => {
    await database.run(
      'create table owners (id bigint primary key)',
      'create table pets (id bigint primary key, owner bigint)',
      'insert into pets values (1, 7), (9007199254740993, null)',
    )
    const id = integer()
    const owners = defineCollection({ key: 'id', fields: { id } })
    const pets = defineCollection({
      key: 'id',
      fields: { id, owner: integer({ references: 'owners' }) },
    })
    const service = createService({
      applications: { app: { collections: { owners, pets } } },
      storage: mysqlStorage(database.open()),
      security: openAccess(),
    })
    const problems = await service.inspect()
    expect(problems.map(({ kind, fields }) => [kind, ...fields])).toEqual([
      ['unfit', 'id'],
      ['reference', 'owner'],
    ])
    await service.close()
  })

  test('cannot have stored forms and long names', async () => {
    const items = defineCollection({
      key: 'id',
      table: 'x'.repeat(65),
      fields: { id: integer(), at: dateTime({ storedAs: 'unixSeconds' }) },
    })
    const message = await open({ items }, { ensureSchema: true })
    expect(message).toContain(`app/items: the table name \`${'x'.repeat(65)}\` has 65 characters`)
    expect(message).toContain(`app/items.at: storedAs is 'unixSeconds'`)
  })

  test('have numbers that continue after the numbers of rows, and a key 0', async () => {
    await database.run(
      `create table notes (id int primary key auto_increment, state varchar(9) not null default 'new')`,
    )
    const notes = defineCollection({
      key: 'id',
      fields: { id: integer({ generated: 'database' }), state: text({ default: 'database' }) },
    })
    const service = createService({
      applications: { app: { collections: { notes } } },
      storage: mysqlStorage(database.open()),
      security: openAccess(),
    })
    await service.ready()
    const storage = mysqlStorage(database.pool)
    const published = publishApplications({ app: { collections: { notes } } })
    await storage.open(published)
    const [collection] = published
    if (collection === undefined) throw new Error('There is no collection.')
    const ids = []
    for (const row of [{}, { id: 1_000 }, {}, { id: 5 }, { id: 0 }, {}]) {
      const stored = await storage.transaction({ mode: 'write', brief: true }, (on) =>
        on.insert(collection, row),
      )
      ids.push([stored['id'], stored['state']])
    }
    expect(ids).toEqual([1, 1_000, 1_001, 5, 0, 1_002].map((id) => [id, 'new']))
    await storage.close()
    await service.close()
  })

  test('are reached through a pool with callbacks too', async () => {
    const own = mysqlStorage(database.pool.pool, { ensureSchema: true })
    await own.open(publishApplications({ app: { collections: { parents } } }))
    expect(await database.run(`show tables like 'parents'`)).toHaveLength(1)
    await own.close()
  })

  test('are not found through a pool that returns rows in another form', async () => {
    const { pool } = database.open({ connectionLimit: 1 })
    const other: MysqlPool = {
      getConnection(done) {
        pool.getConnection((error, client) => {
          const query: MysqlClient['query'] = ({ sql }, ended) =>
            client.query({ sql } as never, ended)
          done(error, Object.assign(Object.create(client) as MysqlClient, { query }))
        })
      },
    }
    const own = mysqlStorage(other)
    const published = publishApplications({ app: { collections: { parents } } })
    await expect(own.open(published)).rejects.toThrow(
      'the pool returns rows that are not lists of strings',
    )
    await own.close()
  })

  test('are not found through a pool that returns promises', async () => {
    const released: string[] = []
    const client = { release: () => released.push('released') }
    for (const connection of [Promise.resolve(client), Promise.reject(new Error('no server'))]) {
      const own = mysqlStorage({ getConnection: () => connection })
      const published = publishApplications({ app: { collections: { parents } } })
      await expect(own.open(published)).rejects.toThrow('the pool returns promises of connections')
      await own.close()
    }
    expect(released).toEqual(['released'])
  })

  test('are not found without a database', async () => {
    const own = mysqlStorage(database.open({ database: '' }))
    const published = publishApplications({ app: { collections: { parents } } })
    await expect(own.open(published)).rejects.toThrow('The pool has no database')
    await own.close()
  })
})

test('a pool of another kind and options that cannot work are rejected', () => {
  const pool = { getConnection: () => undefined, config: { resetOnRelease: true } }
  expect(() => mysqlStorage({} as never)).toThrow('must be a pool of the package mysql2')
  expect(() => mysqlStorage(pool)).toThrow('resetOnRelease')
  for (const nestTables of [true, '_', '']) {
    const nesting = createPool({ nestTables })
    const plain = createPool({ nestTables: false })
    expect(() => mysqlStorage(nesting)).toThrow('with the option nestTables of the pool')
    expect(() => mysqlStorage(nesting.promise())).toThrow('nestTables')
    expect(() => mysqlStorage(plain, { reads: nesting })).toThrow('nestTables')
    expect(() => mysqlStorage(plain)).not.toThrow()
    nesting.end()
    plain.end()
  }
  expect(() => mysqlStorage({} as never, { lockTimeout: 0 })).toThrow('mysqlStorage.lockTimeout')
})
