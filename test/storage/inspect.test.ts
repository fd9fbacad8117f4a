import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  dateTime,
  decimal,
  defineCollection,
  integer,
  json,
  memoryStorage,
  mount,
  openAccess,
  text,
  type ApplicationDefinitions,
} from '../../src/entries/index.ts'
import type { Row, StorageAdapter, StorageProblem } from '../../src/entries/storage.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'

const customers = defineCollection({
  key: 'id',
  fields: { id: text(), email: text({ unique: true }), data: json() },
})
const orders = defineCollection({
  key: 'id',
  table: 'Orders',
  fields: {
    id: integer(),
    customer: text({ references: 'customers' }),
    ordered: dateTime(),
    total: decimal({ precision: 6, scale: 2, storedAs: 'real' }),
    note: text({ column: 'the "note"' }),
  },
})
const applications = { shop: { collections: { customers, orders } } }

const tables = `CREATE TABLE customers (id TEXT PRIMARY KEY, email TEXT, data TEXT);
  CREATE TABLE Orders (id INTEGER PRIMARY KEY, customer TEXT, ordered DATETIME, total NUMERIC, "the ""note""" TEXT);`
const unique = 'CREATE UNIQUE INDEX customers_email ON customers (email);'

function openedOn(driver: (typeof drivers)[number], sql: string) {
  const handle = openHandle(driver, ':memory:')
  handle.exec(sql)
  return handle
}

async function problemsOf(
  storage: StorageAdapter,
  definitions: ApplicationDefinitions = applications,
): Promise<readonly StorageProblem[]> {
  const service = createService({ applications: definitions, storage, security: openAccess() })
  onTestFinished(() => service.close())
  return service.inspect()
}

/** The same storage without its own inspection, so that the service reads all rows. */
function plain(storage: StorageAdapter): StorageAdapter {
  const { inspect: _inspect, ...others } = storage
  return others
}

describe.each(drivers)('%s', (driver) => {
  test('a database that fits has no problems', async () => {
    const handle = openedOn(
      driver,
      `${tables} ${unique} INSERT INTO customers VALUES ('a', NULL, NULL), ('b', NULL, '{}'), ('ä', 'ö', NULL);
       INSERT INTO Orders VALUES (1, 'ä', '2024-01-01T00:00:00', 18.5, 'ß'), (2, NULL, NULL, NULL, NULL)`,
    )
    expect(await problemsOf(sqliteStorage(handle))).toEqual([])
  })

  test('all problems have their fields, counts, examples and advice', async () => {
    const handle = openedOn(
      driver,
      `${tables}
       INSERT INTO customers VALUES ('a', 'x', '{'), ('b', 'x', NULL), ('c', 'x', 'null'), ('d', 'y', NULL);
       INSERT INTO Orders VALUES (1, 'a', '2024-01-01 00:00:00', 0.1 + 0.2, cast(x'61ff62' as text)),
         (2, 'z', '2024-01-01 09:30:00', 10000, 'b' || char(0)), (3, NULL, NULL, 18.5, x'00'), (4, 'zz', NULL, 1, NULL)`,
    )
    expect(await problemsOf(sqliteStorage(handle))).toEqual([
      {
        kind: 'table',
        collection: 'shop/customers',
        fields: [],
        count: null,
        examples: [],
        message: expect.stringContaining('have no unique index. Create one with') as string,
      },
      {
        kind: 'unfit',
        collection: 'shop/customers',
        fields: ['data'],
        count: 1,
        examples: [`'a': '{'`],
        message: expect.stringMatching(
          /^data must be a JSON value .*, but 1 of 4 items has another stored value\. Correct them /,
        ) as string,
      },
      {
        kind: 'duplicate',
        collection: 'shop/customers',
        fields: ['email'],
        count: 2,
        examples: [`'x': 3 items`],
        message: expect.stringContaining(
          'email must be unique, but 2 items have the values of another one.',
        ) as string,
      },
      {
        kind: 'unfit',
        collection: 'shop/orders',
        fields: ['ordered'],
        count: 2,
        examples: [`1: '2024-01-01 00:00:00'`, `2: '2024-01-01 09:30:00'`],
        message: expect.stringContaining(
          `With storedAs: 'YYYY-MM-DD hh:mm:ss[.fff]', all of them fit.`,
        ) as string,
      },
      {
        kind: 'unfit',
        collection: 'shop/orders',
        fields: ['total'],
        count: 2,
        examples: ['1: 0.30000000000000004', '2: 10000'],
        message: expect.stringContaining(
          'after the point, stored as real, but 2 of 4 items',
        ) as string,
      },
      {
        kind: 'unfit',
        collection: 'shop/orders',
        fields: ['note'],
        count: 3,
        examples: [expect.stringMatching(/^1: 'a.+b'$/) as string, `2: 'b'`, `3: X'00'`],
        message: expect.stringContaining('note must be a string') as string,
      },
      {
        kind: 'reference',
        collection: 'shop/orders',
        fields: ['customer'],
        count: 2,
        examples: [`2: 'z'`, `4: 'zz'`],
        message:
          'customer must be the key of an item of customers, but 2 items have another value. Correct these values, or add the missing items.',
      },
    ])
  })

  test('tables and columns that are missing are problems, and others are inspected', async () => {
    const handle = openedOn(
      driver,
      `CREATE TABLE Orders (id INTEGER PRIMARY KEY, total REAL, "the ""note""" TEXT, ordered TEXT);
       INSERT INTO Orders VALUES (1, 0.001, NULL, NULL)`,
    )
    const problems = await problemsOf(sqliteStorage(handle))
    expect(problems.map(({ kind, collection, fields }) => [kind, collection, ...fields])).toEqual([
      ['table', 'shop/customers'],
      ['table', 'shop/orders'],
      ['unfit', 'shop/orders', 'total'],
    ])
  })

  test('tables without row numbers, views and columns that are called rowid are inspected', async () => {
    const fields = { rowid: text(), day: dateTime() }
    const handle = openedOn(
      driver,
      `CREATE TABLE a (rowid TEXT NOT NULL PRIMARY KEY, day TEXT) WITHOUT ROWID;
       CREATE TABLE b (rowid TEXT PRIMARY KEY, day TEXT);
       CREATE VIEW c AS SELECT * FROM a;
       INSERT INTO a VALUES ('x', '1');
       INSERT INTO b SELECT * FROM a; INSERT INTO b VALUES (NULL, NULL)`,
    )
    const publishes = ['Filter'] as const
    const collections = {
      a: defineCollection({ key: 'rowid', fields }),
      b: defineCollection({ key: 'rowid', fields }),
      c: defineCollection({ fields, publishes }),
    }
    const problems = await problemsOf(sqliteStorage(handle), { shop: { collections } })
    expect(
      problems.map(({ collection, fields, examples }) => [collection, ...fields, ...examples]),
    ).toEqual([
      ['shop/a', 'day', `'x': '1'`],
      ['shop/b', 'rowid', 'NULL: NULL'],
      ['shop/b', 'day', `'x': '1'`],
      ['shop/c', 'day', `'1'`],
    ])
  })

  test('progress is reported until all rows are inspected', async () => {
    const handle = openedOn(
      driver,
      `${tables} ${unique} WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
       INSERT INTO Orders (id, total) SELECT i * 3 - 200000, CASE i % 60000 WHEN 0 THEN 'x' END FROM n`,
    )
    const service = createService({
      applications,
      storage: sqliteStorage(handle),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    const seen: unknown[] = []
    const problems = await service.inspect(({ name }, rows, total) =>
      seen.push([name, rows, total]),
    )
    const found = problems.filter(({ kind }) => kind !== 'condition')
    expect(found).toMatchObject([{ fields: ['total'], count: 2 }])
    expect(seen.slice(-3)).toEqual([
      ['orders', 50_000, 120_000],
      ['orders', 100_000, 120_000],
      ['orders', 120_000, 120_000],
    ])
  })

  test('a storage that cannot inspect has the same problems', async () => {
    const literal = fc.oneof(
      fc.constantFrom(`'a'`, `'b'`, `'c'`, 'NULL', '1', '1.25', '1.234', `x'00'`, `'{}'`, `'{'`),
      fc.constantFrom(
        `'2024-01-01T10:00:00'`,
        `'2024-01-01 10:00:00'`,
        `cast(x'ff' as text)`,
        `'é'`,
      ),
    )
    const customer = fc.tuple(literal, literal).map((values) => values.join())
    const order = fc.tuple(literal, literal, literal, literal).map((values) => values.join())
    const property = fc.asyncProperty(
      fc.array(customer, { maxLength: 4 }),
      fc.array(order, { maxLength: 12 }),
      async (some, others) => {
        const handle = openedOn(driver, `${tables} ${unique}`)
        for (const [index, values] of some.entries())
          handle.exec(`INSERT OR IGNORE INTO customers VALUES (char(97 + ${index}), ${values})`)
        for (const [index, values] of others.entries())
          handle.exec(`INSERT INTO Orders VALUES (${index}, ${values})`)
        const storage = sqliteStorage(handle)
        const brief = (problems: readonly StorageProblem[]) =>
          problems
            .filter(({ kind }) => kind !== 'reference')
            .map(({ kind, collection, fields, count }) => [kind, collection, fields, count].join())
            .toSorted()
        const own = brief(await problemsOf(storage))
        expect(brief(await problemsOf(plain(storage)))).toEqual(own)
      },
    )
    await fc.assert(property, { numRuns: 40 })
  })

  test('references are inspected on each storage, and between mounted ones', async () => {
    const sql = `${tables} ${unique} INSERT INTO customers (id) VALUES ('a'), ('b');
      INSERT INTO Orders (id, customer) VALUES (1, 'a'), (2, 'c'), (3, 'b'), (4, 'c'), (5, NULL)`
    const storages = [
      plain(sqliteStorage(openedOn(driver, sql))),
      mount({
        'shop/customers': sqliteStorage(openedOn(driver, sql)),
        '*': plain(sqliteStorage(openedOn(driver, sql))),
      }),
      mount({ '*': sqliteStorage(openedOn(driver, sql)) }),
    ]
    for (const storage of storages) {
      expect(await problemsOf(storage)).toMatchObject([
        { kind: 'reference', fields: ['customer'], count: 2, examples: { length: 2 } },
      ])
    }
  })
})

test('items with the same unique values are found in a storage that cannot inspect', async () => {
  const rows: Record<string, readonly Row[]> = {
    customers: [
      { id: 'a', email: 'x', data: null },
      { id: 'b', email: 'x', data: null },
      { id: 'b', email: null, data: null },
    ],
    orders: [],
  }
  const storage: StorageAdapter = {
    ...plain(memoryStorage()),
    filter: ({ name }, { offset, limit, count, select }) => {
      const own = rows[name] ?? []
      const page = own.slice(offset, offset + limit)
      return {
        rows: page.map((row) =>
          Object.fromEntries(select.map((each) => [each, row[each] ?? null])),
        ),
        count: count ? own.length : null,
      }
    },
  }
  expect(await problemsOf(storage)).toMatchObject([
    { kind: 'duplicate', fields: ['id'], count: 1, examples: ['"b": 2 items'] },
    { kind: 'duplicate', fields: ['email'], count: 1, examples: ['"x": 2 items'] },
  ])
})
