import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { defineCollection } from '../../../src/definition/collection.ts'
import {
  bigint,
  boolean,
  date,
  decimal,
  integer,
  json,
  text,
  uuid,
  type Field,
} from '../../../src/definition/field.ts'
import { publishCollection, type PublishedCollection } from '../../../src/definition/published.ts'
import { sqliteSchema, sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'
import { createTables } from '../../../src/schema/sqlite/statements.ts'
import { drivers, openHandle, temporaryDirectory } from '../../kit/databases.ts'

const driver = drivers[0] as SqliteDriver
const items = defineCollection({
  key: 'id',
  fields: {
    id: integer({ generated: 'database' }),
    name: text(),
    price: decimal({ precision: 9, scale: 2 }),
  },
})
const published = publishCollection('shop', 'items', items)

async function messageOf(tables: string, collection: PublishedCollection): Promise<string> {
  const handle = openHandle(driver, ':memory:')
  handle.exec(tables)
  const storage = sqliteStorage(handle)
  try {
    await storage.open([collection])
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return (error as Error).message
  } finally {
    await storage.close()
    handle.close()
  }
}

const priceCheck = `CHECK (("price" GLOB '[0-9]*.[0-9][0-9]' OR "price" GLOB '-[0-9]*.[0-9][0-9]') AND trim(substr("price", 2), '0123456789') = '.' AND "price" NOT GLOB '0[0-9]*' AND "price" NOT GLOB '-0[0-9]*' AND "price" <> '-0.00')`

test('sqliteSchema returns the schema that ensureSchema creates', async () => {
  const shop = { collections: { items } }
  expect(sqliteSchema({ shop })).toBe(`CREATE TABLE IF NOT EXISTS "items" (
  "id" INTEGER NOT NULL CHECK ("id" BETWEEN -9007199254740991 AND 9007199254740991),
  "name" TEXT CHECK (instr("name", char(0)) = 0),
  "price" TEXT ${priceCheck},
  PRIMARY KEY ("id")
) STRICT;
`)
  expect(await messageOf(sqliteSchema({ shop }), published)).toBe('')
})

test('collections that share a table have one CREATE TABLE statement', () => {
  const names = defineCollection({ table: 'ITEMS', fields: { name: text(), extra: json() } })
  expect(sqliteSchema({ shop: { collections: { names, items } } })).toBe(
    `CREATE TABLE IF NOT EXISTS "ITEMS" (
  "name" TEXT CHECK (instr("name", char(0)) = 0),
  "extra" TEXT CHECK (json_valid("extra") AND instr("extra", char(0)) = 0),
  "id" INTEGER NOT NULL CHECK ("id" BETWEEN -9007199254740991 AND 9007199254740991),
  "price" TEXT ${priceCheck},
  PRIMARY KEY ("id")
) STRICT;
`,
  )
})

test('all mistakes are reported at once, with the SQL that corrects them', async () => {
  expect(await messageOf('CREATE TABLE items (id INTEGER, price NUMERIC)', published)).toBe(
    `sqliteStorage: the tables do not fit.
- shop/items.name: table "items" has no column "name". Set "column" to the right name, or add it with
ALTER TABLE "items" ADD COLUMN "name" TEXT CHECK (instr("name", char(0)) = 0);
- shop/items.price: column "price" of table "items" is declared NUMERIC, which would change values of type decimal. Declare it "price" TEXT, set storedAs: 'real', or give the field another type.
- shop/items: the key ("id") of table "items" has no unique index. Create one with
CREATE UNIQUE INDEX IF NOT EXISTS "items_id_unique" ON "items" ("id");`,
  )
  expect(await messageOf('', published)).toContain(
    'shop/items: the table "items" does not exist. Set "table" to the right name, create it with\nCREATE TABLE',
  )
})

test('ensureSchema `columns` adds missing columns and changes nothing else', async () => {
  const folder = temporaryDirectory()
  const file = join(folder, 'shop.db')
  const before = sqliteStorage(file, { ensureSchema: true })
  const plain = defineCollection({ key: 'id', fields: { id: integer(), Name: text() } })
  const old = publishCollection('shop', 'goods', plain)
  await before.open([old])
  await before.transaction({ mode: 'write', brief: true }, async (on) =>
    on.insert(old, { id: 1, Name: 'tea' }),
  )
  await before.close()
  const fields = { id: integer(), Name: text(), price: decimal({ precision: 9, scale: 2 }) }
  const wider = publishCollection('shop', 'goods', defineCollection({ key: 'id', fields }))
  await expect(async () =>
    sqliteStorage(file, { ensureSchema: true }).open([wider]),
  ).rejects.toThrow(`ALTER TABLE "goods" ADD COLUMN "price" TEXT ${priceCheck};`)
  const after = sqliteStorage(file, { ensureSchema: 'columns' })
  const shared = { table: 'GOODS', fields: plain.fields }
  await after.open([wider, publishCollection('shop', 'same', defineCollection(shared))])
  const page = await after.filter(wider, queryOf(wider))
  expect(page.rows).toEqual([{ id: 1, Name: 'tea', price: null }])
  await after.close()
  const again = sqliteStorage(file)
  await again.open([old])
  await again.close()
  rmSync(folder, { recursive: true })
})

test('a key that SQLite does not number is a mistake', async () => {
  const table = 'CREATE TABLE items (id INT PRIMARY KEY, name TEXT, price TEXT)'
  expect(await messageOf(table, published)).toContain(
    'shop/items.id: column "id" of table "items" is not numbered by SQLite.',
  )
})

const composite = publishCollection(
  'shop',
  'lines',
  defineCollection({ key: ['a', 'b'], fields: { a: integer(), b: text() } }),
)
test.each([
  ['CREATE TABLE lines (a INTEGER, b TEXT, PRIMARY KEY (a, b))', true],
  ['CREATE TABLE lines (a INTEGER, b TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID', true],
  ['CREATE TABLE lines (a INTEGER, b TEXT, UNIQUE (b, a))', true],
  ['CREATE TABLE lines (a INTEGER PRIMARY KEY, b TEXT)', false],
  ['CREATE TABLE lines (a INTEGER, b TEXT, c TEXT, UNIQUE (a, b, c))', false],
  ['CREATE TABLE lines (a INTEGER, b TEXT); CREATE INDEX i ON lines (a, b)', false],
  ['CREATE TABLE lines (a INTEGER, b TEXT); CREATE UNIQUE INDEX i ON lines (a, lower(b))', false],
  [
    'CREATE TABLE lines (a INTEGER, b TEXT); CREATE UNIQUE INDEX i ON lines (a, b) WHERE a > 1',
    false,
  ],
])('%s: the key is unique: %s', async (tables, fits) => {
  expect((await messageOf(tables, composite)) === '').toBe(fits)
})

const typed = publishCollection(
  'shop',
  'typed',
  defineCollection({
    fields: { a: text(), b: bigint(), c: boolean(), d: uuid(), e: json() },
  }),
)
test.each([
  ['a VARCHAR(20), b BIGINT, c BOOLEAN, d UUID, e TEXT', true],
  ['a, b, c, d, e', true],
  ['a TEXT, b NUMERIC, c INT, d BLOB, e CLOB', true],
  ['a STRING, b INTEGER, c INTEGER, d TEXT, e TEXT', false],
  ['a TEXT, b TEXT, c INTEGER, d TEXT, e TEXT', false],
  ['a TEXT, b INTEGER, c REAL, d TEXT, e TEXT', false],
  ['a TEXT, b INTEGER, c INTEGER, d INTEGER, e TEXT', false],
  ['a TEXT, b INTEGER, c INTEGER, d TEXT, e JSON', true],
  ['a TEXT, b INTEGER, c INTEGER, d TEXT, e INTEGER', false],
  ['a TEXT, b INTEGER, c INTEGER, d TEXT, e REAL', false],
])('the columns %s fit: %s', async (columns, fits) => {
  expect((await messageOf(`CREATE TABLE typed (${columns})`, typed)) === '').toBe(fits)
})

test('a view may be published for Filter', async () => {
  const view = `CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT id, 'x' AS name FROM t`
  const fields = { id: integer(), name: text() }
  const read = defineCollection({ key: 'id', table: 'v', publishes: ['Filter'], fields })
  expect(await messageOf(view, publishCollection('shop', 'v', read))).toBe('')
  const write = defineCollection({ key: 'id', table: 'v', fields })
  expect(await messageOf(view, publishCollection('shop', 'v', write))).toContain('is a view')
})

test.each([
  [{ ensureschema: true }, 'ensureschema: is not an option; did you mean ensureSchema?'],
  [{ ensureSchema: 1 }, "ensureSchema: must be true, false or 'columns'"],
  [{ synchronous: 'OFF' }, "synchronous: must be 'FULL' or 'NORMAL'"],
  [{ busyTimeout: -1 }, 'busyTimeout: must be a whole number of milliseconds'],
  [{ scanRows: true }, 'scanRows: must be false, or a whole number of rows'],
  [{ scanRows: -1 }, 'scanRows: must be false, or a whole number of rows'],
  [{ scanQueue: 1.5 }, 'scanQueue: must be a whole number of reads'],
  [{ scanTimeout: 0 }, 'scanTimeout: must be a whole number of milliseconds from 1'],
  [{ driver: 'sqlite3' }, 'driver: must be'],
  [null, 'sqliteStorage: must be an object'],
])('the options %j throw a TypeError', (options, message) => {
  expect(() => sqliteStorage(':memory:', options as object)).toThrow(message)
})

test.each([
  ['', 'is empty'],
  ['no/such/directory/a.db', 'does not exist'],
  [42, 'the source must be a file name, or an open database'],
  [{}, 'the source must be a file name, or an open database'],
])('the source %j throws', (source, message) => {
  expect(() => sqliteStorage(source as string)).toThrow(message)
})

test('the error for a missing driver says what to install', () => {
  if (drivers.includes('node:sqlite')) return
  expect(() => sqliteStorage(':memory:', { driver: 'node:sqlite' })).toThrow('Node 22.13 or later')
  const handle = openHandle(driver, ':memory:')
  expect(() => sqliteStorage(handle, { driver })).toThrow('A handle has its own driver')
  handle.close()
})

test('a file is opened in WAL mode with full durability, and a handle keeps its settings', () => {
  const directory = temporaryDirectory()
  const storage = sqliteStorage(`${directory}/a.db`, { driver })
  void storage.close()
  const handle = openHandle(driver, `${directory}/a.db`)
  const prepared = handle.prepare('PRAGMA journal_mode') as { all(): unknown[] }
  expect(prepared.all()).toEqual([{ journal_mode: 'wal' }])
  handle.close()
  rmSync(directory, { recursive: true })
})

test('a column with the CHECK of another type is a mistake', async () => {
  const define = (field: Field) =>
    publishCollection(
      'shop',
      'items',
      defineCollection({ key: 'id', fields: { id: integer(), field } }),
    )
  const created = (field: Field) => createTables([define(field)]).join('')
  const money = decimal({ precision: 9, scale: 2 })
  const changes: readonly (readonly [Field, Field, string])[] = [
    [date(), text(), 'date'],
    [json(), text(), 'json'],
    [integer(), bigint(), 'integer'],
    [money, decimal({ precision: 9, scale: 4 }), 'decimal'],
    [money, decimal({ precision: 19, scale: 2 }), ''],
    [text(), date(), ''],
    [bigint(), integer(), ''],
  ]
  for (const [before, after, type] of changes) {
    const message = await messageOf(created(before), define(after))
    if (type === '') expect(message).toBe('')
    else
      expect(message).toContain(`a CHECK for another definition of the field, with type ${type}.`)
  }
})
