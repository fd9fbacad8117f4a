import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { equals } from '../../../src/conformance/case.ts'
import { defineCollection } from '../../../src/definition/collection.ts'
import { integer, text } from '../../../src/definition/field.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import type { Row, StorageAdapter } from '../../../src/storage/adapter.ts'
import { sqliteStorage, type SqliteHandle } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

const parents = publishCollection(
  'app',
  'parents',
  defineCollection({
    key: 'id',
    table: 'Odd. name, "x"',
    fields: {
      id: integer(),
      first: text({ column: 'a' }),
      second: text({ column: 'a, Odd. name, "x".b' }),
      third: text({ column: 'b' }),
      unlike: text({ column: 'CASED' }),
    },
  }),
)
const children = publishCollection(
  'app',
  'children',
  defineCollection({ key: 'id', fields: { id: integer(), parent: integer(), later: integer() } }),
)
const tables = `
  CREATE TABLE "Odd. name, ""x""" (
    id INTEGER PRIMARY KEY, a TEXT NOT NULL, "a, Odd. name, ""x"".b" TEXT, b TEXT CHECK (b <> 'bad'),
    cased TEXT UNIQUE COLLATE NOCASE, hidden TEXT, UNIQUE (a, b),
    UNIQUE (hidden, "a, Odd. name, ""x"".b"));
  CREATE TABLE children (id INTEGER PRIMARY KEY,
    parent INTEGER REFERENCES "Odd. name, ""x""" (id) ON DELETE RESTRICT);`
const brief = { mode: 'write', brief: true } as const

describe.each(drivers)('%s: constraints', (driver) => {
  let handle: SqliteHandle
  let storage: StorageAdapter

  async function open(extra: string): Promise<void> {
    handle.exec(tables + extra)
    await storage.open([parents, children])
    await insert('parents', { id: 1, first: 'f', second: 's', third: 't', unlike: 'u' })
  }
  function insert(name: 'parents' | 'children', row: Row): Promise<Row> {
    const collection = name === 'parents' ? parents : children
    return storage.transaction(brief, async (on) => on.insert(collection, row))
  }
  function remove(id: number): Promise<Row | undefined> {
    return storage.transaction(brief, async (on) => on.delete(parents, equals({ id })))
  }

  beforeEach(() => {
    handle = openHandle(driver, ':memory:')
    storage = sqliteStorage(handle)
  })
  afterEach(async () => {
    await storage.close()
    handle.close()
  })

  test('name the fields of the collection', async () => {
    await open('ALTER TABLE children ADD COLUMN later INTEGER;')
    const row = { id: 2, first: 'x', second: 'y', third: 'z', unlike: 'w' }
    await insert('parents', row)
    const cases: readonly (readonly [Row, object])[] = [
      [
        { ...row, unlike: null },
        { kind: 'duplicate', fields: ['id'] },
      ],
      [
        { ...row, id: 3, unlike: null },
        { kind: 'duplicate', fields: ['first', 'third'] },
      ],
      [
        { ...row, id: 3, first: 'q', unlike: 'W' },
        { kind: 'duplicate', fields: ['unlike'] },
      ],
      [
        { ...row, id: 4, first: null, unlike: null },
        { kind: 'invalid', fields: ['first'] },
      ],
      [
        { ...row, id: 4, third: 'bad', unlike: null },
        { kind: 'invalid', fields: ['third'] },
      ],
    ]
    for (const [given, error] of cases) {
      await expect(insert('parents', given)).rejects.toMatchObject(error)
    }
  })

  test('name a field whose column name looks like a list of columns', async () => {
    const listed = publishCollection('app', 'listed', {
      key: 'id',
      fields: { id: integer(), odd: text({ column: 'x, listed.y' }), plain: text({ column: 'y' }) },
    })
    handle.exec(
      'CREATE TABLE listed (id INTEGER PRIMARY KEY, "x, listed.y" TEXT UNIQUE, y TEXT UNIQUE)',
    )
    await storage.open([listed])
    const add = (row: Row) => storage.transaction(brief, async (on) => on.insert(listed, row))
    await add({ id: 1, odd: 'a', plain: 'b' })
    await expect(add({ id: 2, odd: 'a', plain: 'c' })).rejects.toMatchObject({ fields: ['odd'] })
    await expect(add({ id: 2, odd: 'c', plain: 'b' })).rejects.toMatchObject({ fields: ['plain'] })
  })

  test('distinguish a referenced row from a row whose reference is missing', async () => {
    await open('ALTER TABLE children ADD COLUMN later INTEGER;')
    await insert('children', { id: 1, parent: 1, later: null })
    await expect(remove(1)).rejects.toMatchObject({ kind: 'referenced' })
    const orphan = insert('children', { id: 2, parent: 9, later: null })
    await expect(orphan).rejects.toMatchObject({ kind: 'invalid', fields: ['parent'] })
    const moved = storage.transaction(brief, async (on) =>
      on.update(children, equals({ id: 1 }), { parent: 9 }),
    )
    await expect(moved).rejects.toMatchObject({ kind: 'invalid', fields: ['parent'] })
    // Here the row is the parent: none of its foreign keys has failed.
    const renamed = storage.transaction(brief, async (on) =>
      on.update(parents, equals({ id: 1 }), { id: 5 }),
    )
    await expect(renamed).rejects.toMatchObject({ kind: 'invalid', fields: [] })
  })

  test('name the fields of a CHECK that has a name or several columns', async () => {
    await open(`ALTER TABLE children ADD COLUMN later INTEGER CONSTRAINT "it's (later)"
      CHECK (later <> 3 AND ')' <> 'parent');
      CREATE TABLE pairs (id INTEGER PRIMARY KEY, low INTEGER, [high] INTEGER,
        CONSTRAINT ordered CHECK (low <= [high]), CHECK ("low" > 0), CHECK (abs(id) < 100));`)
    const fields = { id: integer(), low: integer(), high: integer() }
    const pairs = publishCollection('app', 'pairs', defineCollection({ key: 'id', fields }))
    await storage.open([pairs])
    const save = (row: Row) => storage.transaction(brief, async (on) => on.insert(pairs, row))
    const later = insert('children', { id: 1, parent: null, later: 3 })
    await expect(later).rejects.toMatchObject({ kind: 'invalid', fields: ['later'] })
    for (const [row, named] of [
      [{ id: 1, low: 2, high: 1 }, ['low', 'high']],
      [{ id: 1, low: 0, high: 1 }, ['low']],
      [{ id: 100, low: 1, high: 1 }, ['id']],
    ] as const) {
      await expect(save(row)).rejects.toMatchObject({ kind: 'invalid', fields: named })
    }
  })

  test('are not reached in a read-only database, which is unavailable', async () => {
    await open('ALTER TABLE children ADD COLUMN later INTEGER;')
    handle.exec('PRAGMA query_only = ON')
    const saved = insert('children', { id: 1, parent: null, later: null })
    await expect(saved).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test('that are deferred fail only the transaction that violates them', async () => {
    await open(`ALTER TABLE children ADD COLUMN later INTEGER REFERENCES "Odd. name, ""x""" (id)
      DEFERRABLE INITIALLY DEFERRED;`)
    const settled = await Promise.allSettled([
      insert('children', { id: 1, parent: null, later: 1 }),
      insert('children', { id: 2, parent: null, later: 9 }),
      remove(1),
      insert('children', { id: 3, parent: null, later: null }),
    ])
    expect(settled).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { kind: 'invalid' } },
      { status: 'rejected', reason: { kind: 'referenced' } },
      { status: 'fulfilled' },
    ])
  })
})
