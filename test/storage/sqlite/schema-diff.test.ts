import fc from 'fast-check'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  boolean,
  date,
  decimal,
  defineCollection,
  integer,
  text,
  type ApplicationDefinition,
} from '../../../src/entries/index.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { applyToFile, diffFile } from '../../../src/schema/sqlite/file-schema.ts'
import type { SchemaChangeKind } from '../../../src/schema/changes.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import { runStatements, selectRows } from './raw.ts'

const everything: readonly SchemaChangeKind[] = ['add', 'rename', 'rebuild', 'drop']

type Collections = ApplicationDefinition['collections']

/** A database file and the definitions that are compared with it. */
function openScene(statements = '') {
  const folder = temporaryFolder()
  const file = join(folder, 'shop.db')
  runStatements(file, statements)
  let copies = 0
  const published = (collections: Collections) => publishApplications({ shop: { collections } })
  return {
    file,
    folder,
    diff: (collections: Collections, kinds = everything) =>
      diffFile(file, published(collections), new Set(kinds)),
    apply: (collections: Collections, kinds = everything) =>
      applyToFile(file, published(collections), {
        allowed: new Set(kinds),
        busyTimeout: 0,
        copyTo: join(folder, `copy-${++copies}.db`),
        progress: () => undefined,
      }),
    /** Opens the storage, which rejects tables that do not fit. */
    open: async (collections: Collections) => {
      const storage = sqliteStorage(file)
      await storage.open(published(collections))
      await storage.close()
    },
    rows: (select: string) => selectRows(file, select),
  }
}

const customers = defineCollection({
  key: 'customerId',
  fields: { customerId: text(), name: text({ unique: true }), city: text() },
  index: [['city', 'name']],
})
const orders = defineCollection({
  key: 'orderId',
  fields: {
    orderId: integer({ generated: 'database' }),
    customerId: text({ references: 'customers', onDelete: 'cascade' }),
    ordered: date(),
  },
})

describe('an empty database', () => {
  test('gets every table, index and reference, and then fits', async () => {
    const { diff, apply, open, folder } = openScene()
    expect(diff({ customers, orders }).changes.map(({ description }) => description)).toEqual([
      'Creates the table "customers".',
      'Creates a unique index of the table "customers".',
      'Creates an index of the table "customers".',
      'Creates the table "orders".',
      'Creates an index of the table "orders".',
    ])
    const applied = apply({ customers, orders }, ['add'])
    expect(applied).toMatchObject({ left: [], mistakes: [], copy: null })
    expect(readdirSync(folder)).toEqual(['shop.db'])
    await open({ customers, orders })
    expect(diff({ customers, orders })).toEqual({ changes: [], left: [], mistakes: [] })
  })
})

describe('a database that somebody else made', () => {
  const made = `
    CREATE TABLE clients (customerId TEXT PRIMARY KEY, title VARCHAR(40), fax TEXT);
    CREATE VIEW titles AS SELECT title FROM clients;
    INSERT INTO clients VALUES ('A', 'Alfheim', '1'), ('B', 'Bifrost', NULL);
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

  test('has its tables and columns renamed, with what refers to them', async () => {
    const { apply, open, rows } = openScene(made)
    const applied = apply({ customers: renamed }, ['add', 'rename'])
    expect(applied.changes.map(({ kind, description }) => [kind, description])).toEqual([
      ['rename', 'Renames the table "clients" to "customers".'],
      ['rename', 'Renames the column "title" of the table "customers" to "name".'],
      ['add', 'Adds the column "city" to the table "customers".'],
      ['add', 'Creates a unique index of the table "customers".'],
    ])
    expect(applied.left.map(({ description }) => description)).toEqual([
      'Drops the column "fax" of the table "customers", which the definition does not name.',
    ])
    await open({ customers: renamed })
    expect(rows('SELECT * FROM titles ORDER BY 1')).toEqual([['Alfheim'], ['Bifrost']])
    expect(rows('SELECT customerId, name, fax, city FROM customers ORDER BY 1')).toEqual([
      ['A', 'Alfheim', '1', null],
      ['B', 'Bifrost', null, null],
    ])
  })

  test('is not changed where a rename is not allowed, and nothing is created in its place', () => {
    const { apply, rows } = openScene(made)
    const applied = apply({ customers: renamed }, ['add'])
    expect(applied).toMatchObject({
      changes: [],
      left: [{ kind: 'rename', table: 'customers' }],
      mistakes: [],
    })
    expect(rows(`SELECT name FROM sqlite_schema WHERE type = 'table'`)).toEqual([['clients']])
  })

  test('is copied before anything may be lost', () => {
    const { apply, folder } = openScene(made)
    const { copy } = apply({ customers: renamed })
    expect(copy).toBe(join(folder, 'copy-1.db'))
    expect(selectRows(copy ?? '', 'SELECT fax FROM clients ORDER BY 1')).toEqual([[null], ['1']])
    expect(() => selectRows(join(folder, 'shop.db'), 'SELECT fax FROM customers')).toThrow('fax')
  })

  test('with rows that break a unique group keeps everything as it was', () => {
    const { apply, rows } = openScene(`${made} INSERT INTO clients VALUES ('C', 'Alfheim', NULL);`)
    expect(() => apply({ customers: renamed }, ['add', 'rename'])).toThrow(
      'Creates a unique index of the table "customers". This failed, and nothing was changed: sqliteStorage: rows of "customers" ("name") have the same values',
    )
    expect(rows('SELECT count(*) FROM clients')).toEqual([[3]])
  })

  test('that another process is writing is not changed', () => {
    const { apply, file } = openScene(made)
    const other = runStatements(file, 'BEGIN IMMEDIATE', 'open')
    try {
      expect(() => apply({ customers: renamed }, ['add', 'rename'])).toThrow('locked')
    } finally {
      other.close()
    }
  })
})

describe('a column that has to be redeclared', () => {
  const before = defineCollection({
    key: 'orderId',
    fields: { orderId: integer(), paid: text(), amount: decimal({ precision: 8, scale: 2 }) },
  })
  const after = defineCollection({
    key: 'orderId',
    fields: { orderId: integer(), paid: boolean(), amount: decimal({ precision: 8, scale: 3 }) },
  })
  const dependents = `
    CREATE TABLE lines (lineId INTEGER PRIMARY KEY, orderId INTEGER REFERENCES orders);
    CREATE TABLE log (orderId INTEGER);
    CREATE INDEX by_amount ON orders (amount);
    CREATE TRIGGER logged AFTER INSERT ON orders BEGIN INSERT INTO log VALUES (new.orderId); END;
    CREATE VIEW paid AS SELECT orderId, paid FROM orders;
    INSERT INTO orders VALUES (1, '1', NULL), (2, '0', NULL);
    INSERT INTO lines VALUES (7, 1);
  `

  test('is rebuilt with its rows, and what depends on the table stays', async () => {
    const { file, apply, open, rows } = openScene()
    apply({ orders: before })
    runStatements(file, dependents)
    const applied = apply({ orders: after }, ['add', 'rebuild'])
    expect(applied.changes.map(({ kind, description }) => [kind, description])).toEqual([
      ['rebuild', 'Redeclares "paid", "amount" of the table "orders", which copies the table.'],
    ])
    await open({ orders: after })
    runStatements(file, 'INSERT INTO orders VALUES (3, NULL, NULL)')
    expect(rows('SELECT orderId, paid FROM paid ORDER BY 1')).toEqual([
      [1, 1],
      [2, 0],
      [3, null],
    ])
    expect(rows('SELECT orderId FROM log ORDER BY 1')).toEqual([[1], [2], [3]])
    expect(rows('SELECT orderId FROM lines')).toEqual([[1]])
    expect(rows(`SELECT "table" FROM pragma_foreign_key_list('lines')`)).toEqual([['orders']])
    expect(rows(`SELECT name FROM sqlite_schema WHERE name LIKE '%amount%'`)).toEqual([
      ['by_amount'],
    ])
  })

  test('is not rebuilt if a row would not fit', () => {
    const { file, apply, rows } = openScene()
    apply({ orders: before })
    runStatements(file, `INSERT INTO orders VALUES (1, 'perhaps', NULL)`)
    expect(() => apply({ orders: after })).toThrow(
      'Redeclares "paid", "amount" of the table "orders", which copies the table. This failed, and nothing was changed: ',
    )
    expect(rows('SELECT paid FROM orders')).toEqual([['perhaps']])
  })

  test('with a constraint of its own is left, with what to do', () => {
    const { diff } = openScene(
      'CREATE TABLE orders (orderId INTEGER PRIMARY KEY, paid TEXT DEFAULT 1, amount TEXT)',
    )
    const paid = defineCollection({
      key: 'orderId',
      fields: { orderId: integer(), paid: boolean() },
    })
    const { changes, mistakes } = diff({ orders: paid }, ['add', 'rebuild'])
    expect(changes).toEqual([])
    expect(mistakes).toEqual([
      expect.stringContaining('shop/orders.paid: column "paid" of table "orders" is declared TEXT'),
    ])
  })

  test('keeps NOT NULL, and is left if it has a check of its own', () => {
    const { file, apply, diff, rows } = openScene(`
      CREATE TABLE orders (orderId INTEGER PRIMARY KEY, paid INT NOT NULL, amount INT CHECK (amount > 0))`)
    const made = (fields: Readonly<Record<string, ReturnType<typeof text>>>) => ({
      orders: defineCollection({ key: 'orderId', fields: { orderId: integer(), ...fields } }),
    })
    apply(made({ paid: text() }), ['add', 'rebuild'])
    expect(
      rows(`SELECT type, "notnull" FROM pragma_table_info('orders') WHERE name = 'paid'`),
    ).toEqual([['TEXT', 1]])
    expect(() => runStatements(file, 'INSERT INTO orders (orderId) VALUES (1)')).toThrow('NOT NULL')
    const { changes, mistakes } = diff(made({ amount: text() }), ['add', 'rebuild'])
    expect(changes).toEqual([])
    expect(mistakes).toEqual([expect.stringContaining('column "amount" of table "orders" is')])
    const asNumber = defineCollection({
      key: 'orderId',
      fields: { orderId: integer(), paid: integer() },
    })
    apply({ orders: asNumber }, ['add', 'rebuild'])
    expect(
      rows(`SELECT type, "notnull" FROM pragma_table_info('orders') WHERE name = 'paid'`),
    ).toEqual([['INTEGER', 1]])
  })

  test.each(['orders', 'Orders'])('does not reuse the numbers of deleted rows of %s', (name) => {
    const { file, apply, rows } = openScene(`
      CREATE TABLE ${name} (orderId INTEGER PRIMARY KEY AUTOINCREMENT, paid TEXT);
      INSERT INTO ${name} VALUES (9, NULL); DELETE FROM ${name};
    `)
    const paid = defineCollection({
      key: 'orderId',
      fields: { orderId: integer({ generated: 'database' }), paid: boolean() },
    })
    apply({ orders: paid }, ['add', 'rebuild'])
    runStatements(file, 'INSERT INTO orders (paid) VALUES (1)')
    expect(rows('SELECT orderId, paid FROM orders')).toEqual([[10, 1]])
  })
})

test('what no change makes fit is listed with what to do', () => {
  const { diff } = openScene(
    'CREATE TABLE customers (name TEXT); CREATE VIEW orders AS SELECT 1 AS orderId',
  )
  const { changes, mistakes } = diff({ customers, orders })
  expect(changes.map(({ kind }) => kind)).toEqual(['add', 'add', 'add'])
  expect(mistakes.join('\n')).toContain(
    'shop/customers.customerId: table "customers" has no column',
  )
  expect(mistakes.join('\n')).toContain('shop/orders: "orders" is a view, which can\'t be written.')
})

test('any definition can follow any other one while there are no rows', async () => {
  const type = fc.constantFrom(
    text(),
    integer(),
    boolean(),
    date(),
    decimal({ precision: 9, scale: 2 }),
  )
  const names = ['b', 'c', 'd']
  const fields = fc.dictionary(fc.constantFrom(...names), type, { minKeys: 1 })
  const collection = fc
    .tuple(fields, fc.boolean(), fc.boolean(), fc.constantFrom({}, { search: 'indexed' } as const))
    .map(([others, isUnique, isIndexed, search]) => {
      const own = Object.keys(others)
      const groups = { ...(isUnique && { unique: [own] }), ...(isIndexed && { index: [own] }) }
      return { key: 'id', fields: { id: integer(), ...others }, ...groups, ...search }
    })
  const definitions = fc.array(collection, { minLength: 2, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(definitions, async (versions) => {
      const { apply, diff, open } = openScene()
      for (const items of versions) {
        expect(apply({ items }, ['add', 'rebuild', 'rename']).mistakes).toEqual([])
        await open({ items })
        expect(diff({ items }, ['add', 'rebuild', 'rename']).changes).toEqual([])
      }
    }),
    { numRuns: 25 },
  )
})

test('virtual tables and views that need what is missing do not disturb the comparison', () => {
  const { diff } = openScene(`
    CREATE VIRTUAL TABLE words USING fts5(word);
    CREATE TABLE customers (customerId TEXT PRIMARY KEY, name TEXT UNIQUE, city TEXT);
    CREATE VIEW broken AS SELECT missing FROM nowhere;
  `)
  expect(diff({ customers })).toMatchObject({
    changes: [{ description: 'Creates an index of the table "customers".' }],
    mistakes: [],
  })
})
