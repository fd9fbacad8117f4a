import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import {
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  integer,
  json,
  text,
  type ApplicationDefinition,
  type Field,
} from '../../../src/entries/index.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { connections } from '../../../src/storage/postgres/connection.ts'
import { completePostgres } from '../../../src/storage/postgres/options.ts'
import { postgresSchemaDatabase } from '../../../src/schema/postgres/schema-database.ts'
import { applyTables, diffTables } from '../../../src/schema/apply.ts'
import type { AppliedSchema, SchemaChangeKind, SchemaDiff } from '../../../src/schema/changes.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'
import { checkRoundTrips } from '../sql/schema-round-trips.ts'

const missing = await missingServer()
const everything: readonly SchemaChangeKind[] = ['add', 'rename', 'rebuild', 'drop']

type Collections = ApplicationDefinition['collections']

describe.skipIf(missing !== undefined)('the tables of PostgreSQL', () => {
  let schema: TestSchema
  let own: ReturnType<typeof connections>
  beforeAll(async () => {
    schema = await testSchema()
    own = connections(schema.open(3), completePostgres({}))
  })
  afterEach(() => empty())
  afterAll(async () => {
    await own.close()
    await schema.drop()
  })

  function empty(): Promise<unknown> {
    return schema.run(
      `set client_min_messages = warning; drop schema ${schema.name} cascade; create schema ${schema.name}`,
    )
  }

  const database = postgresSchemaDatabase(200)
  const published = (collections: Collections) => publishApplications({ shop: { collections } })

  function diff(collections: Collections, kinds = everything): Promise<SchemaDiff> {
    return own.use((on) => diffTables(database, on, published(collections), new Set(kinds)))
  }

  function apply(collections: Collections, kinds = everything): Promise<AppliedSchema> {
    const options = { allowed: new Set(kinds), progress: () => undefined }
    return own.use((on) => applyTables(database, on, published(collections), options))
  }

  /** Opens the storage, which rejects tables that do not fit. Returns how many references are enforced. */
  async function open(collections: Collections, ensureSchema = false): Promise<number> {
    const storage = postgresStorage(schema.pool, { ensureSchema })
    const all = published(collections)
    await storage.open(all)
    const references = all.flatMap((one) => one.references)
    await storage.close()
    return references.filter((reference) => storage.enforces?.(reference)).length
  }

  async function sentences(
    of: Promise<Pick<SchemaDiff, 'changes'>>,
  ): Promise<readonly (readonly [SchemaChangeKind, string])[]> {
    return (await of).changes.map(({ kind, description }) => [kind, description])
  }

  const fits: SchemaDiff = { changes: [], left: [], mistakes: [] }
  const customers = defineCollection({
    key: 'customerId',
    fields: { customerId: text(), name: text({ unique: true }), city: text() },
    index: [['city', 'name']],
    search: 'indexed',
  })
  const orders = defineCollection({
    key: 'orderId',
    fields: {
      orderId: integer({ generated: 'database' }),
      customerId: text({ references: 'customers', onDelete: 'cascade' }),
      ordered: date(),
    },
  })

  test('that are missing are created with indexes, references and search indexes', async () => {
    expect(await sentences(diff({ customers, orders }))).toEqual([
      ['add', 'Creates the table "customers".'],
      ['add', 'Creates a unique index of the table "customers".'],
      ['add', 'Creates an index of the table "customers".'],
      ['add', 'Creates the table "orders".'],
      ['add', 'Creates an index of the table "orders".'],
      ['add', 'Creates the search index of the table "customers".'],
      ['add', 'Adds the foreign key ("customerId") of the table "orders".'],
    ])
    expect(await apply({ customers, orders }, ['add'])).toMatchObject({ left: [], mistakes: [] })
    expect(await open({ customers, orders })).toBe(1)
    expect(await diff({ customers, orders })).toEqual(fits)
  })

  test('that ensureSchema has created fit', async () => {
    await open({ customers, orders }, true)
    expect(await diff({ customers, orders })).toEqual(fits)
  })

  describe('that others have made', () => {
    const made = `
      create table clients ("customerId" text primary key, title varchar(40), fax text, old text);
      create view titles as select title, old from clients;
      create table notes (id int primary key, client text references clients);
      insert into clients values ('A', 'Alfheim', '1', 'x'), ('B', 'Bifrost', null, null);
      insert into notes values (1, 'A');
    `
    const renamed = defineCollection({
      key: 'customerId',
      renamedFrom: 'clients',
      fields: {
        customerId: text(),
        name: text({ unique: true, renamedFrom: 'title' }),
        city: text(),
      },
    })

    test('are renamed with their columns, and what refers to them stays', async () => {
      await schema.run(made)
      expect(await sentences(apply({ customers: renamed }))).toEqual([
        ['rename', 'Renames the table "clients" to "customers".'],
        ['rename', 'Renames the column "title" of the table "customers" to "name".'],
        ['add', 'Adds the column "city" to the table "customers".'],
        [
          'drop',
          'Drops the column "fax" of the table "customers", which the definition does not name.',
        ],
        ['add', 'Creates a unique index of the table "customers".'],
      ])
      await open({ customers: renamed })
      expect(await schema.run('select * from titles order by 1')).toEqual([
        { title: 'Alfheim', old: 'x' },
        { title: 'Bifrost', old: null },
      ])
      // The view needs the column old.
      expect(await diff({ customers: renamed })).toEqual(fits)
    })

    test('are left as they are where a rename is not allowed', async () => {
      await schema.run(made)
      expect(await apply({ customers: renamed }, ['add'])).toMatchObject({
        changes: [],
        left: [{ kind: 'rename', table: 'customers' }],
        mistakes: [],
      })
    })

    test('keep everything if a row breaks a unique group', async () => {
      await schema.run(`${made} insert into clients values ('C', 'Alfheim', null, null)`)
      await expect(apply({ customers: renamed })).rejects.toThrow(
        /^Creates a unique index of the table "customers"\. This failed, and nothing was changed: could not create unique index .*: Key \(name\)=\(Alfheim\) is duplicated\.$/,
      )
      expect(await schema.run('select count(*)::int as rows from clients')).toEqual([{ rows: 3 }])
    })

    test('are not changed while another process uses them for too long', async () => {
      await schema.run(made)
      const other = await schema.open(1).connect()
      await other.query('begin; select * from clients')
      await expect(apply({ customers: renamed })).rejects.toThrow(
        'Renames the table "clients" to "customers". This failed, and nothing was changed: canceling statement due to lock timeout',
      )
      await other.query('rollback')
      other.release()
    })
  })

  test('get another type if every value stays the same', async () => {
    await schema.run(`
      create type mood as enum ('sad', 'ok');
      create table items (id bigint primary key, feeling mood, size int, price numeric(6,1), data jsonb, made timestamp(0), ratio int);
      insert into items values (1, 'ok', 7, 1.5, '{"b":1,"a":2}', '2024-01-02 03:04:05', 3)`)
    const items = defineCollection({
      key: 'id',
      fields: {
        id: integer(),
        feeling: text(),
        size: text(),
        price: decimal({ precision: 9, scale: 3 }),
        data: json(),
        made: dateTime(),
        ratio: double(),
      },
    })
    expect(await sentences(apply({ items }))).toEqual([
      [
        'rebuild',
        'Redeclares "feeling", "size", "price", "data", "made", "ratio" of the table "items", which copies the table.',
      ],
    ])
    await open({ items })
    expect(await schema.run('select * from items')).toEqual([
      {
        id: '1',
        feeling: 'ok',
        size: '7',
        price: '1.500',
        data: { a: 2, b: 1 },
        made: new Date(2024, 0, 2, 3, 4, 5),
        ratio: 3,
      },
    ])
  })

  test.each<readonly [type: string, field: Field]>([
    ['text', integer()],
    ['numeric(9,3)', decimal({ precision: 9, scale: 2 })],
    ['timestamp', dateTime()],
    ['timestamptz(3)', dateTime()],
    ['real', double()],
    ["int default '1'", text()],
    ['short', text()],
  ])('of which a column is %s are left with what to do', async (type, value) => {
    await schema.run(`create domain short as int check (value < 9);
      create table items (id bigint primary key, value ${type})`)
    const items = defineCollection({ key: 'id', fields: { id: integer(), value } })
    expect(await apply({ items })).toMatchObject({
      changes: [],
      left: [],
      mistakes: [expect.stringContaining('does not keep every value of type')],
    })
  })

  test('reject null in a key, allow it where the definition does, and number a key', async () => {
    await schema.run(`create table items (id bigint unique, name text not null, code text not null);
      insert into items values (41, 'a', 'b')`)
    const items = defineCollection({
      key: 'id',
      fields: {
        id: integer({ generated: 'database' }),
        name: text(),
        code: text({ required: true }),
      },
    })
    expect(await apply({ items }, ['add'])).toMatchObject({
      left: [{ kind: 'rebuild' }],
      mistakes: [],
    })
    expect(await sentences(apply({ items }))).toEqual([
      [
        'rebuild',
        'Allows null in the column "name" of the table "items", which the definition does not require.',
      ],
    ])
    await open({ items })
    expect(await schema.run(`insert into items (code) values ('c') returning *`)).toEqual([
      { id: '42', name: null, code: 'c' },
    ])
  })

  test('have foreign keys that follow the definition', async () => {
    const keyed = (key: Field, onDelete?: 'cascade') => ({
      parents: defineCollection({ key: 'id', fields: { id: key } }),
      children: defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          parent: { ...key, references: 'parents', ...(onDelete && { onDelete }) },
        },
      }),
    })
    await open(keyed(integer()), true)
    await schema.run('insert into parents values (7); insert into children values (1, 7)')
    expect(await sentences(apply(keyed(integer(), 'cascade')))).toEqual([
      [
        'rebuild',
        'Redeclares the foreign key ("parent") of the table "children", with another effect.',
      ],
    ])
    expect(await sentences(apply(keyed(text(), 'cascade')))).toEqual([
      ['rebuild', 'Redeclares "id" of the table "parents", which copies the table.'],
      ['rebuild', 'Redeclares "parent" of the table "children", which copies the table.'],
      ['add', 'Adds the foreign key ("parent") of the table "children".'],
    ])
    expect(await open(keyed(text(), 'cascade'))).toBe(1)
    expect(await schema.run('select * from children')).toEqual([{ id: '1', parent: '7' }])
  })

  test('have no foreign key for rows that refer to missing ones', async () => {
    const parents = defineCollection({ key: 'id', fields: { id: integer() } })
    const bare = defineCollection({ key: 'id', fields: { id: integer(), parent: integer() } })
    await open({ parents, children: bare }, true)
    await schema.run('insert into children values (1, 7)')
    const children = defineCollection({
      key: 'id',
      fields: { id: integer(), parent: integer({ references: 'parents' }) },
    })
    await expect(apply({ parents, children })).rejects.toThrow(
      'Adds the foreign key ("parent") of the table "children". This failed, and nothing was changed: ',
    )
  })

  test('that no change makes fit are listed with what to do', async () => {
    await schema.run(
      'create table customers (name text); create view orders as select 1 as "orderId"',
    )
    const { mistakes } = await diff({ customers, orders })
    expect(mistakes.join('\n')).toContain(
      'shop/customers.customerId: table "customers" has no column',
    )
    expect(mistakes.join('\n')).toContain('shop/orders: "orders" is a view, which is not written.')
  })

  test('fit a definition after a change of any other one, and keep their rows', async () => {
    const all = new Set(everything)
    await checkRoundTrips(
      {
        empty,
        storage: (ensureSchema) => postgresStorage(schema.pool, { ensureSchema }),
        apply: (wanted) =>
          own.use((on) =>
            applyTables(database, on, wanted, { allowed: all, progress: () => undefined }),
          ),
        diff: (wanted) => own.use((on) => diffTables(database, on, wanted, all)),
      },
      40,
    )
  }, 120_000)
})
