import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import type { PublishedCollection } from '../../../src/definition/published.ts'
import {
  decimal,
  defineCollection,
  double,
  integer,
  text,
  type ApplicationDefinition,
  type Field,
} from '../../../src/entries/index.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { mysqlConnections } from '../../../src/storage/mysql/connection.ts'
import { completeMysql } from '../../../src/storage/mysql/options.ts'
import { exactCollations } from '../../../src/storage/mysql/dialect.ts'
import { mysqlSchemaDatabase } from '../../../src/schema/mysql/schema-database.ts'
import type { Connection } from '../../../src/storage/pool/connection.ts'
import { applyTables, diffTables } from '../../../src/schema/apply.ts'
import type { AppliedSchema, SchemaChangeKind, SchemaDiff } from '../../../src/schema/changes.ts'
import { missingServer, perServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'
import { checkRoundTrips } from '../sql/schema-round-trips.ts'

const missing = await missingServer()
const exact = perServer(exactCollations)
const everything: ReadonlySet<SchemaChangeKind> = new Set(['add', 'rename', 'rebuild', 'drop'])

type Collections = ApplicationDefinition['collections']

describe.skipIf(missing !== undefined)('the tables of MariaDB', () => {
  let database: TestDatabase
  let own: ReturnType<typeof mysqlConnections>
  let changed: ReturnType<typeof mysqlSchemaDatabase>
  beforeAll(async () => {
    database = await testDatabase()
    own = mysqlConnections(database.open({ connectionLimit: 3 }), completeMysql({}))
    changed = mysqlSchemaDatabase(own.server, 1_000)
  })
  afterEach(() => database.empty())
  afterAll(async () => {
    await own.close()
    await database.drop()
  })

  const published = (collections: Collections) => publishApplications({ shop: { collections } })
  const fits: SchemaDiff = { changes: [], left: [], mistakes: [] }

  function diff(collections: Collections): Promise<SchemaDiff> {
    return own.use((on) => diffTables(changed, on, published(collections), everything))
  }

  /** Makes the changes of a definition, or stops after some statements. */
  function applyAll(
    collections: readonly PublishedCollection[],
    statements = Infinity,
  ): Promise<AppliedSchema> {
    let left = statements
    const stopping = (connection: Connection): Connection => ({
      session: connection.session,
      pipelines: connection.pipelines,
      server: connection.server,
      rows: (statement) => connection.rows(statement),
      matched: (statement) => connection.matched(statement),
      command: (...texts) => connection.command(...texts),
      discard: () => connection.discard(),
      use: (deadline) => connection.use(deadline),
      change: (statement) =>
        left-- > 0 ? connection.change(statement) : Promise.reject(new Error('stopped')),
    })
    const options = { allowed: everything, progress: () => undefined }
    return own.use((on) => applyTables(changed, stopping(on), collections, options))
  }

  function apply(collections: Collections, statements?: number): Promise<AppliedSchema> {
    return applyAll(published(collections), statements)
  }

  async function open(collections: Collections): Promise<void> {
    const storage = mysqlStorage(database.pool)
    await storage.open(published(collections))
    await storage.close()
  }

  const made = [
    `create table clients (customerId varchar(20) collate ${exact} primary key,
      title varchar(40) collate ${exact}, fax text, old text, note longtext comment 'seen', size int, price decimal(6,1), ratio float)`,
    `create table orders (orderId bigint primary key, customerId varchar(20) collate ${exact},
      fax text, unique (customerId, fax(10)), foreign key (customerId) references clients (customerId))`,
    `insert into clients values ('A', 'Alfheim', '1', 'x', 'end ', 7, 1.5, 0.5), ('B', 'Bifrost', null, null, null, null, null, null)`,
    `insert into orders values (1, 'A', 'z')`,
  ]
  const customers = defineCollection({
    key: 'customerId',
    renamedFrom: 'clients',
    fields: {
      customerId: text({ maxLength: 20 }),
      name: text({ unique: true, maxLength: 40, renamedFrom: 'title' }),
      city: text(),
      note: text({ maxLength: 30 }),
      size: text(),
      price: decimal({ precision: 9, scale: 3 }),
      ratio: double(),
    },
    index: [['note', 'name']],
  })
  const orders = defineCollection({
    key: 'orderId',
    fields: {
      orderId: integer({ generated: 'database' }),
      customerId: text({ maxLength: 20, references: 'customers', onDelete: 'cascade' }),
    },
  })

  test('are renamed, extended, redeclared and dropped from, and keep their rows', async () => {
    await database.run(...made)
    await apply({ customers, orders })
    await open({ customers, orders })
    expect(await diff({ customers, orders })).toEqual(fits)
    const left = { city: null, note: null, size: null, price: null, ratio: null }
    expect(await database.run('select * from customers order by 1')).toEqual([
      {
        ...left,
        customerId: 'A',
        name: 'Alfheim',
        note: 'end ',
        size: '7',
        price: '1.500',
        ratio: 0.5,
      },
      { ...left, customerId: 'B', name: 'Bifrost' },
    ])
    const [created] = await database.run('show create table customers')
    const declared = String(created?.['Create Table'])
    expect(declared).toContain(
      `\`note\` varchar(30) CHARACTER SET utf8mb4 COLLATE ${exact} DEFAULT NULL COMMENT 'seen',`,
    )
    expect(declared).not.toContain('CONSTRAINT')
    expect(await database.run('select * from orders')).toEqual([{ orderId: 1, customerId: 'A' }])
  })

  test('that a stop leaves after any statement are changed to the end by the next apply', async () => {
    await database.run(...made)
    const { changes } = await diff({ customers, orders })
    const { length } = changes.flatMap(({ statements }) => statements)
    expect(length).toBeGreaterThan(8)
    for (let stop = 0; stop < length; stop++) {
      await database.empty()
      await database.run(...made)
      await expect(apply({ customers, orders }, stop)).rejects.toThrow(
        // An error that is not of the server does not say what the server has done.
        'This failed, and it may have been made, as those before it: stopped',
      )
      await apply({ customers, orders })
      await open({ customers, orders })
      expect({ stop, rows: await database.run('select * from customers') }).toMatchObject({
        rows: [
          { customerId: 'A', note: 'end ', size: '7', price: '1.500' },
          { customerId: 'B', note: null, size: null },
        ],
      })
    }
  }, 60_000)

  test('lose columns together with their unique indexes and foreign keys', async () => {
    await database.run(
      'create table parents (id bigint primary key)',
      `create table items (id bigint unique, a bigint, b bigint, c bigint, d varchar(9), primary key (a, b),
        unique (c, a, b), unique (c, d(2), b), foreign key (b) references parents (id),
        foreign key (c) references parents (id))`,
      'insert into parents values (1)',
      "insert into items values (1, 1, 1, 1, 'x'), (2, 2, 1, 1, 'y')",
    )
    const parents = defineCollection({ key: 'id', fields: { id: integer() } })
    const items = defineCollection({
      key: 'id',
      fields: { id: integer(), c: integer({ references: 'parents' }) },
    })
    await apply({ parents, items })
    expect(await diff({ parents, items })).toEqual(fits)
    expect(await database.run('select * from items order by 1')).toEqual([
      { id: 1, c: 1 },
      { id: 2, c: 1 },
    ])
  })

  test('keep a string that is too long for an index, whose end the server would cut', async () => {
    await database.run(
      'create table items (id bigint primary key, name longtext)',
      "insert into items values (1, 'one   ')",
    )
    const items = defineCollection({
      key: 'id',
      fields: { id: integer(), name: text({ maxLength: 4, unique: true }) },
    })
    await expect(apply({ items })).rejects.toThrow(
      /^Redeclares `name` of the table `items`.* This failed, and the changes before it stay: .*rowgate_length/,
    )
    expect(await database.run('select name from items')).toEqual([{ name: 'one   ' }])
    await database.run("update items set name = 'one '")
    await apply({ items })
    expect(await diff({ items })).toEqual(fits)
    expect(await database.run('select name from items')).toEqual([{ name: 'one ' }])
  })

  test('leave references to the service that the server rejects as foreign keys', async () => {
    await database.run('create table parents (id int primary key)')
    const parents = defineCollection({ key: 'id', fields: { id: integer() } })
    const items = defineCollection({
      key: 'id',
      fields: { id: integer(), parent: integer({ references: 'parents' }) },
    })
    await apply({ parents, items })
    expect(await diff({ parents, items })).toEqual(fits)
    await open({ parents, items })
  })

  test('reject null in a key, allow it where the definition does, and number a key', async () => {
    await database.run(
      `create table items (id bigint unique comment 'own', name text not null, code text not null)`,
      "insert into items values (41, 'a', 'b')",
    )
    const fields = {
      id: integer({ generated: 'database' }),
      name: text(),
      code: text({ required: true }),
    }
    const items = defineCollection({ key: 'id', fields })
    await apply({ items })
    expect(await diff({ items })).toEqual(fits)
    await database.run("insert into items (code) values ('c')")
    expect(await database.run('select * from items order by id')).toEqual([
      { id: 41, name: 'a', code: 'b' },
      { id: 42, name: null, code: 'c' },
    ])
  })

  test.each<readonly [type: string, field: Field]>([
    ['text', integer()],
    ['decimal(9,3)', decimal({ precision: 9, scale: 2 })],
    ['bigint', double()],
    ['int(5) zerofill', text()],
    ["int default '1'", text()],
    ['int check (value < 9)', text()],
  ])('of which a column is %s are left with what to do', async (type, value) => {
    await database.run(`create table items (id bigint primary key, value ${type})`)
    const items = defineCollection({ key: 'id', fields: { id: integer(), value } })
    expect(await apply({ items })).toMatchObject({
      changes: [],
      left: [],
      mistakes: [expect.stringContaining('does not keep every value of type')],
    })
  })

  test.each(['größe int, twice int, check (`größe` < 9)', 'größe int, twice int as (`größe` * 2)'])(
    'with %s are left with what to do',
    async (columns) => {
      await database.run(`create table items (id bigint primary key, ${columns})`)
      const fields = { id: integer(), größe: text(), twice: integer({ readOnly: true }) }
      const items = defineCollection({ key: 'id', fields, publishes: ['Filter'] })
      expect(await apply({ items })).toMatchObject({
        changes: [],
        mistakes: [expect.stringContaining('does not keep every value of type')],
      })
    },
  )

  test('lose what an interrupted change has left when the definition is taken back', async () => {
    await database.run(
      'create table items (id bigint primary key, name longtext)',
      "insert into items values (1, 'one')",
    )
    const fields = { id: integer(), name: text() }
    const items = defineCollection({ key: 'id', fields })
    const shorter = { ...fields, name: text({ maxLength: 4, unique: true }) }
    await expect(
      apply({ items: defineCollection({ key: 'id', fields: shorter }) }, 1),
    ).rejects.toThrow('stopped')
    expect(await diff({ items })).toMatchObject({
      changes: [
        { kind: 'rebuild', description: expect.stringContaining('`rowgate_length`') as string },
      ],
    })
    await apply({ items })
    expect(await diff({ items })).toEqual(fits)
    await database.run("update items set name = 'longer than four'")
  })

  test('keep a foreign key whose index has further columns that may be null', async () => {
    const parents = defineCollection({ key: 'id', fields: { id: integer() } })
    const items = defineCollection({
      key: 'id',
      fields: { id: integer(), parent: integer({ references: 'parents' }), size: integer() },
      index: [['parent', 'size']],
    })
    await apply({ parents, items })
    expect(await diff({ parents, items })).toEqual(fits)
    await open({ parents, items })
  })

  test('fit a definition after a change of any other one that was stopped, and keep their rows', async () => {
    let runs = 0
    await checkRoundTrips(
      {
        empty: () => database.empty(),
        storage: (ensureSchema) => mysqlStorage(database.pool, { ensureSchema }),
        apply: async (wanted) => {
          await applyAll(wanted, runs++ % 6).catch((error: unknown) => {
            expect((error as Error).message).toMatch(/: stopped$/)
          })
          return applyAll(wanted)
        },
        diff: (wanted) => own.use((on) => diffTables(changed, on, wanted, everything)),
      },
      25,
    )
  }, 180_000)
})
