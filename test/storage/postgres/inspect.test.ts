import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  createService,
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  integer,
  json,
  openAccess,
  text,
  type ApplicationDefinitions,
} from '../../../src/index.ts'
import type { StorageAdapter, StorageProblem } from '../../../src/storage/index.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()

const customers = defineCollection({
  key: 'id',
  fields: { id: text(), email: text({ unique: true }), data: json() },
})
const orders = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    customer: text({ references: 'customers' }),
    size: integer(),
  },
})
const applications = { shop: { collections: { customers, orders } } }

/** What both databases understand. */
const statements = `
  create table customers (id text primary key, email text, data {json});
  create table orders (id bigint, customer text, size bigint);
  insert into customers values ('a', 'x', '{}'), ('b', 'x', '["\\u00e9"]'), ('c', 'x', 'null'), ('d', 'y', '1e9'), ('é''', 'Y', null);
  insert into orders values (1, 'a', 9007199254740991), (2, 'z', 9007199254740992), (3, null, -9007199254740993), (4, 'zz', null),
    (4, 'A', 1), (7, 'é''', 1);
`

describe.skipIf(missing !== undefined)('rows of PostgreSQL', () => {
  let schema: TestSchema
  beforeAll(async () => {
    schema = await testSchema()
  })
  afterEach(() =>
    schema.run(
      `set client_min_messages = warning; drop schema ${schema.name} cascade; create schema ${schema.name}`,
    ),
  )
  afterAll(() => schema.drop())

  async function problemsOf(
    storage: StorageAdapter,
    definitions: ApplicationDefinitions = applications,
    progress?: (rows: number, total: number) => void,
  ): Promise<readonly StorageProblem[]> {
    const service = createService({ applications: definitions, storage, security: openAccess() })
    try {
      return await service.inspect((_, rows, total) => progress?.(rows, total))
    } finally {
      await service.close()
    }
  }

  function rowsOf(problems: readonly StorageProblem[]): readonly StorageProblem[] {
    return problems.filter(({ kind }) => kind !== 'table')
  }

  test('have the same problems as those of SQLite', async () => {
    const handle = openHandle(drivers[0] as (typeof drivers)[number], ':memory:')
    handle.exec(statements.replace('{json}', 'text'))
    await schema.run(statements.replace('{json}', 'json'))
    const storage = postgresStorage(schema.pool)
    const found = rowsOf(await problemsOf(storage))
    expect(found).toEqual(rowsOf(await problemsOf(sqliteStorage(handle))))
    expect(
      found.map(({ kind, fields, count, examples }) => [kind, ...fields, count, examples]),
    ).toEqual([
      ['duplicate', 'email', 2, [`'x': 3 items`]],
      ['unfit', 'size', 2, ['2: 9007199254740992', '3: -9007199254740993']],
      ['duplicate', 'id', 1, ['4: 2 items']],
      ['reference', 'customer', 3, [`2: 'z'`, `4: 'zz'`, `4: 'A'`]],
    ])
  })

  test('have the same problems as if all of them are read', async () => {
    await schema.run(`create table items (id bigint, price numeric, ratio double precision, day date, made timestamp(3), cost money, data json);
      insert into items values (1, 1.25, 'NaN', '0001-01-01', 'infinity', 1.5, '"\\ud800"'), (2, 1.255, 'Infinity', '10000-01-01', '2024-01-01', null, '["\\u0000"]'),
        (3, 'NaN', 1, '0044-03-15 BC', '0044-03-15 BC', 20000, '1e999'), (4, 1000000, -1, 'infinity', '9999-12-31 23:59:59.999', 1, '${'['.repeat(70)}${']'.repeat(70)}'), (null, null, null, null, null, null, '"\\ud83d\\ude00"'),
        (8, null, null, null, null, null, '1e100'), (8, null, null, null, null, null, null)`)
    const read = defineCollection({
      key: 'id',
      publishes: ['Filter'],
      table: 'seen',
      fields: {
        id: integer(),
        price: decimal({ precision: 6, scale: 2 }),
        ratio: double(),
        day: date(),
        made: dateTime(),
        cost: decimal({ precision: 6, scale: 2, readOnly: true }),
        data: json(),
      },
    })
    await schema.run('create view seen as select * from items')
    const definitions = { shop: { collections: { read } } }
    const storage = postgresStorage(schema.pool)
    const found = await problemsOf(storage, definitions)
    const { inspect: _, ...plain } = postgresStorage(schema.pool)
    const brief = (problems: readonly StorageProblem[]) =>
      problems.map(({ kind, fields, count }) => [kind, fields.join(), count].join(' ')).toSorted()
    expect(brief(found)).toEqual(brief(await problemsOf(plain, definitions)))
    expect(brief(found)).toEqual([
      'duplicate id 1',
      'unfit cost 1',
      'unfit data 4',
      'unfit day 3',
      'unfit id 1',
      'unfit made 2',
      'unfit price 3',
      'unfit ratio 2',
    ])
  })

  test('of a large table are inspected in parts, with progress', async () => {
    await schema.run(`create table customers (id text primary key, email text unique, data json);
      create table orders (id bigint primary key, customer text, size bigint);
      insert into orders select i, null, case when i % 100000 = 0 then 9007199254740993 end from generate_series(1, 300000) as i`)
    const seen: (readonly number[])[] = []
    const problems = await problemsOf(postgresStorage(schema.pool), applications, (...rows) => {
      seen.push(rows)
    })
    expect(problems).toMatchObject([{ fields: ['size'], count: 3 }])
    expect(seen.length).toBe(21)
    expect(seen.at(-1)).toEqual([300_000, 300_000])
  })

  test('are inspected where tables or columns are missing', async () => {
    await schema.run(
      'create table orders (id bigint primary key, size bigint); insert into orders values (1, 9007199254740993)',
    )
    const problems = await problemsOf(postgresStorage(schema.pool))
    expect(problems.map(({ kind, collection, fields }) => [kind, collection, ...fields])).toEqual([
      ['table', 'shop/customers'],
      ['table', 'shop/orders'],
      ['unfit', 'shop/orders', 'size'],
    ])
  })
})
