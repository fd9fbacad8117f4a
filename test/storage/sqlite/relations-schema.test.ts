import { describe, expect, onTestFinished, test } from 'vitest'
import { equals, queryOf } from '../../../src/conformance/case.ts'
import { rowOf } from '../../../src/conformance/collections.ts'
import { defineCollection } from '../../../src/definition/collection.ts'
import { integer, text } from '../../../src/definition/field.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import type { PublishedCollection } from '../../../src/definition/published.ts'
import type { SqliteOptions } from '../../../src/entries/sqlite.ts'
import { sqliteSchema, sqliteStorage } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'

const definitions = {
  customers: defineCollection({
    key: 'id',
    fields: { id: integer(), email: text({ unique: true }), country: text(), city: text() },
    unique: [['country', 'city']],
    index: [['-city', 'country']],
  }),
  prices: defineCollection({
    key: ['code', 'amount'],
    table: 'price "list"',
    fields: { code: text(), amount: integer() },
  }),
  orders: defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      customer: integer({ references: 'customers', onDelete: 'cascade', column: 'customer id' }),
      parent: integer({ references: 'orders', onDelete: 'setNull' }),
      code: text(),
      amount: integer(),
    },
    references: [{ fields: ['code', 'amount'], collection: 'prices' }],
  }),
}
const applications = { shop: { collections: definitions } }
const published = publishApplications(applications)
const [customers, , orders] = published as [
  PublishedCollection,
  PublishedCollection,
  PublishedCollection,
]

describe.each(drivers)('%s: the schema of relations', (driver) => {
  async function open(sql: string, options: SqliteOptions = {}, collections = published) {
    const handle = openHandle(driver, ':memory:')
    handle.exec(sql)
    const storage = sqliteStorage(handle, options)
    onTestFinished(async () => {
      await storage.close()
      handle.close()
    })
    await storage.open(collections)
    return { storage, handle }
  }
  const mistakesOf = async (sql: string, options: SqliteOptions = {}) =>
    open(sql, options).then(
      () => '',
      (error: unknown) => (error as Error).message,
    )
  const enforced = ({ storage }: Awaited<ReturnType<typeof open>>) =>
    orders.references.map((reference) => storage.enforces?.(reference))

  test('has a statement for each foreign key and index', () => {
    const schema = sqliteSchema(applications)
    expect(schema).toContain(
      '  FOREIGN KEY ("customer id") REFERENCES "customers" ("id") ON DELETE CASCADE,\n',
    )
    expect(schema).toContain(
      '  FOREIGN KEY ("parent") REFERENCES "orders" ("id") ON DELETE SET NULL,\n',
    )
    expect(schema).toContain(
      '  FOREIGN KEY ("code", "amount") REFERENCES "price ""list""" ("code", "amount")\n)',
    )
    expect(schema.split('\n').filter((line) => line.includes(' INDEX '))).toEqual([
      'CREATE UNIQUE INDEX IF NOT EXISTS "customers_email_unique" ON "customers" ("email");',
      'CREATE UNIQUE INDEX IF NOT EXISTS "customers_country_city_unique" ON "customers" ("country", "city");',
      'CREATE INDEX IF NOT EXISTS "customers_-city_country_index" ON "customers" ("city" DESC, "country");',
      'CREATE INDEX IF NOT EXISTS "orders_code_amount_index" ON "orders" ("code", "amount");',
      'CREATE INDEX IF NOT EXISTS "orders_customer id_index" ON "orders" ("customer id");',
      'CREATE INDEX IF NOT EXISTS "orders_parent_index" ON "orders" ("parent");',
    ])
  })

  test('has indexes whose names differ, even if names joined by _ are the same', () => {
    const fields = { id: integer(), b: text(), c: text(), b_c: text(), '-b': text(), 'b.c': text() }
    const index = [['b', 'c'], ['-b', 'c'], ['b_c'], ['b.c']] as const
    const collections = {
      a: defineCollection({ key: 'id', fields, index }),
      a_b: defineCollection({ key: 'id', fields: { id: integer(), c: text() }, index: [['c']] }),
    }
    const names = Array.from(
      sqliteSchema({ shop: { collections } }).matchAll(/ INDEX IF NOT EXISTS (.*) ON /g),
      ([, name]) => name,
    )
    expect(names).toEqual([
      '"a_b_c_index"',
      '"a_-b_c_index"',
      '"a.b_c.index"',
      '"a_""b.c""_index"',
      '"a_b.c.index"',
    ])
  })

  test('is the same by ensureSchema, and enforces the references', async () => {
    const opened = await open('', { ensureSchema: true })
    expect(enforced(opened)).toEqual([true, true, true])
    const other = await open(sqliteSchema(applications))
    expect(enforced(other)).toEqual([true, true, true])
    const statements = (handle: (typeof opened)['handle']) =>
      rowsIn(handle, 'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name')
    expect(statements(other.handle)).toEqual(statements(opened.handle))
  })

  const plain = sqliteSchema(applications).replaceAll(/CREATE (UNIQUE )?INDEX .*\n/g, '')

  test('of an existing table gets its indexes by ensureSchema', async () => {
    const { handle } = await open(plain, { ensureSchema: true })
    expect(rowsIn(handle, `SELECT name FROM sqlite_schema WHERE sql LIKE '%INDEX%'`)).toEqual([
      { name: 'customers_email_unique' },
      { name: 'customers_country_city_unique' },
      { name: 'customers_-city_country_index' },
    ])
  })

  test('without a unique index is a mistake that names the statement', async () => {
    expect(await mistakesOf(plain)).toBe(
      `sqliteStorage: the tables do not fit.
- shop/customers: the unique fields ("email") of table "customers" have no unique index. Create one with
CREATE UNIQUE INDEX IF NOT EXISTS "customers_email_unique" ON "customers" ("email");
- shop/customers: the unique fields ("country", "city") of table "customers" have no unique index. Create one with
CREATE UNIQUE INDEX IF NOT EXISTS "customers_country_city_unique" ON "customers" ("country", "city");`,
    )
    const partial = `${plain}
      CREATE UNIQUE INDEX a ON customers (email) WHERE email <> '';
      CREATE UNIQUE INDEX b ON customers (city, country)`
    expect(await mistakesOf(partial)).toContain('("email")')
    expect(await mistakesOf(partial)).not.toContain('("country", "city")')
  })

  test('cannot have a unique index of equal rows', async () => {
    const rows = `${plain} INSERT INTO customers (id, email) VALUES (1, 'a'), (2, 'a')`
    expect(await mistakesOf(rows, { ensureSchema: true })).toBe(
      'sqliteStorage: rows of "customers" ("email") have the same values, which the definition declares unique. Change them, or remove the option unique.',
    )
  })

  test.each([
    ['no foreign key', ''],
    ['another effect', 'REFERENCES customers (id) ON DELETE SET NULL'],
    ['another table', 'REFERENCES orders (id) ON DELETE CASCADE'],
    [
      'a deferred foreign key',
      'REFERENCES customers ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED',
    ],
  ])('with %s leaves the reference to the service', async (_, constraint) => {
    const [reference] = orders.references
    const before = plain.replace(/,\n {2}FOREIGN KEY \("customer id"\)[^\n]*(?=,\n)/, '')
    const changed = before.replace(/("customer id" INTEGER)/, `$1 ${constraint}`)
    const { storage } = await open(changed, { ensureSchema: true })
    expect(storage.enforces?.(reference as never)).toBe(false)
  })

  test('with a foreign key to the primary key, without its columns, enforces the reference', async () => {
    const before = plain.replaceAll(
      / REFERENCES ("\w+"|"price ""list""") \([^)]*\)/g,
      ' REFERENCES $1',
    )
    expect(enforced(await open(before, { ensureSchema: true }))).toEqual([true, true, true])
  })

  test('that compares without case leaves the reference to the service', async () => {
    const folded = plain.replace('"code" TEXT NOT NULL', '"code" TEXT NOT NULL COLLATE NOCASE')
    expect(enforced(await open(folded, { ensureSchema: true }))).toEqual([true, true, false])
  })

  test('has no foreign key to a view', async () => {
    const view = defineCollection({
      key: 'id',
      publishes: ['Filter'],
      fields: { id: integer() },
    })
    const visits = defineCollection({
      key: 'id',
      fields: { id: integer(), active: integer({ references: 'active' }) },
    })
    const collections = publishApplications({ shop: { collections: { active: view, visits } } })
    const sql = 'CREATE VIEW active AS SELECT 1 AS id'
    const { storage } = await open(sql, { ensureSchema: true }, collections)
    const [, own] = collections as [PublishedCollection, PublishedCollection]
    expect(storage.enforces?.(own.references[0] as never)).toBe(false)
    await storage.transaction({ mode: 'write', brief: true }, async (on) =>
      on.insert(own, rowOf(own, { id: 1, active: 1 })),
    )
  })

  test('serves the conditions of a unique group and of a reference with an index', async () => {
    const { storage, handle } = await open('', { ensureSchema: true })
    const query = queryOf(customers, { conditions: equals({ country: 'Peru', city: 'Lima' }) })
    await storage.filter(customers, query)
    const plan = (sql: string) =>
      rowsIn(handle, `EXPLAIN QUERY PLAN ${sql}`).map((row) => (row as { detail: string }).detail)
    expect(plan(`SELECT * FROM customers WHERE country = 'Peru' AND city = 'Lima'`)).toEqual([
      'SEARCH customers USING INDEX customers_country_city_unique (country=? AND city=?)',
    ])
    expect(plan('SELECT id FROM orders WHERE "customer id" = 1')).toEqual([
      'SEARCH orders USING COVERING INDEX orders_customer id_index (customer id=?)',
    ])
  })
})
