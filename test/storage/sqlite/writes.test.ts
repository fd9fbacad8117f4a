import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { equal } from '../../../src/request/query.ts'
import { defineCollection } from '../../../src/definition/collection.ts'
import { boolean, double, instant, integer, text } from '../../../src/definition/field.ts'
import { publishCollection, type PublishedCollection } from '../../../src/definition/published.ts'
import type {
  Row,
  StorageAdapter,
  StorageError,
  StorageTransaction,
} from '../../../src/storage/adapter.ts'
import { sqliteStorage, type SqliteHandle } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'

const fields = {
  id: integer(),
  name: text(),
  price: double(),
  open: boolean(),
  since: instant(),
} as const
const own = publishCollection('app', 'own', defineCollection({ key: 'id', fields }))
const foreign = publishCollection('app', 'foreign', defineCollection({ key: 'id', fields }))
const row: Row = { id: 1, name: 'a', price: 0, open: true, since: '2026-01-02T03:04:05Z' }
const table = `CREATE TABLE "foreign" (id INTEGER PRIMARY KEY, name TEXT, price REAL, open INTEGER, since TEXT);`

describe.each(drivers)('%s: writes', (driver) => {
  let handle: SqliteHandle
  let storage: StorageAdapter

  beforeEach(async () => {
    handle = openHandle(driver, ':memory:')
    handle.exec(table)
    storage = sqliteStorage(handle, { ensureSchema: true })
    await storage.open([own, foreign])
  })
  afterEach(async () => {
    await storage.close()
    handle.close()
  })

  function write<Result>(work: (on: StorageTransaction) => Result | Promise<Result>) {
    return storage.transaction({ mode: 'write', brief: true }, async (on) => work(on))
  }
  const byId = [equal('id', 1)]

  test.each([own, foreign])('return the row as it is read later: $name', async (collection) => {
    const read = async () =>
      (await storage.filter(collection, queryOf(collection))).rows.map((each) => ({ ...each }))
    const inserted = await write((on) => on.insert(collection, row))
    expect(inserted).toEqual(row)
    expect(await read()).toEqual([inserted])
    const updated = await write((on) => on.update(collection, byId, { name: 'b', price: 1.5 }))
    expect(updated).toEqual({ ...row, name: 'b', price: 1.5 })
    expect(await read()).toEqual([updated])
    expect(await write((on) => on.delete(collection, byId))).toEqual(updated)
    expect(await read()).toEqual([])
    expect(await write((on) => on.delete(collection, byId))).toBeUndefined()
    expect(await write((on) => on.update(collection, byId, { name: 'b' }))).toBeUndefined()
  })

  test('fail for a read-only text that the column would keep as a number', async () => {
    const fields = { id: integer(), code: text({ readOnly: true }) }
    const coded = publishCollection('app', 'coded', defineCollection({ key: 'id', fields }))
    handle.exec('CREATE TABLE coded (id INTEGER PRIMARY KEY, code NUMERIC)')
    await storage.open([coded])
    const stored = async () =>
      (await storage.filter(coded, queryOf(coded))).rows.map((each) => ({ ...each }))
    const kept = { id: 1, code: 'x7' }
    expect({ ...(await write((on) => on.insert(coded, kept))) }).toEqual(kept)
    const unfit = { kind: 'unfit', fields: ['code'] }
    const insert = write((on) => on.insert(coded, { id: 2, code: '007' }))
    await expect(insert).rejects.toMatchObject(unfit)
    const update = write(async (on) => {
      await expect(async () => on.update(coded, byId, { code: '007' })).rejects.toMatchObject(unfit)
    })
    await update
    expect(await stored()).toEqual([kept])
  })

  test.each([own, foreign])(
    'do not set a column that keeps its value: $name',
    async (collection) => {
      handle.exec(`CREATE TABLE log (id INTEGER);
      CREATE TRIGGER named AFTER UPDATE OF name ON "${collection.table}" BEGIN
        INSERT INTO log VALUES (new.id); END;`)
      await write((on) => on.insert(collection, row))
      await write((on) => on.update(collection, byId, { name: 'a', price: 2 }))
      await write((on) => on.update(collection, byId, { name: 'a' }))
      expect(rowsIn(handle, 'SELECT * FROM log')).toEqual([])
      await write((on) => on.update(collection, byId, { name: 'b' }))
      expect(rowsIn(handle, 'SELECT * FROM log')).toHaveLength(1)
    },
  )

  test.each([own, foreign])(
    'that a trigger ignores are not reported as done: $name',
    async (collection) => {
      await write((on) => on.insert(collection, row))
      const ignoring = ['INSERT', 'UPDATE', 'DELETE'].map(
        (event) =>
          `CREATE TRIGGER no_${event} BEFORE ${event} ON "${collection.table}" BEGIN SELECT RAISE(IGNORE); END;`,
      )
      handle.exec(ignoring.join(''))
      expect(await write((on) => on.update(collection, byId, { name: 'b' }))).toBeUndefined()
      expect(await write((on) => on.delete(collection, byId))).toBeUndefined()
      const insert = write((on) => on.insert(collection, { ...row, id: 2 }))
      await expect(insert).rejects.toMatchObject({ kind: 'invalid' })
    },
  )

  test('return the columns that SQLite computes from others', async () => {
    handle.exec(`CREATE TABLE lines (id INTEGER PRIMARY KEY, price REAL, amount INTEGER,
      total REAL GENERATED ALWAYS AS (price * amount) STORED)`)
    const lines = publishCollection(
      'app',
      'lines',
      defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          price: double(),
          amount: integer(),
          total: double({ readOnly: true, default: 'database' }),
        },
      }),
    )
    await storage.open([own, foreign, lines])
    const first = { id: 1, price: 2.5, amount: 2 }
    expect(await write((on) => on.insert(lines, first))).toEqual({ ...first, total: 5 })
    expect(await write((on) => on.update(lines, byId, { amount: 3 }))).toEqual({
      ...first,
      amount: 3,
      total: 7.5,
    })
  })

  test('replace stored values that are not valid UTF-8, and leave out the others', async () => {
    await write((on) => on.insert(own, row))
    handle.exec(`UPDATE own SET name = CAST(x'61ff' AS TEXT)`)
    const other = await write((on) => on.update(own, byId, { price: 3 }))
    expect(other).toEqual({ id: 1, price: 3, open: true, since: row['since'] })
    const replaced = await write((on) => on.update(own, byId, { name: 'b' }))
    expect(replaced).toEqual({ ...row, price: 3, name: 'b' })
  })
})

describe.each(drivers)('%s: writes that share a commit', (driver) => {
  const brief = { mode: 'write', brief: true } as const

  /** Inserts rows at the same time. Returns what each insert has led to, and the rows that are stored. */
  async function insertAll(names: readonly string[], trigger = '') {
    const file = join(temporaryFolder(), 'data.db')
    const storage = sqliteStorage(file, { driver, ensureSchema: true })
    const other = openHandle(driver, file)
    onTestFinished(async () => {
      await storage.close()
      other.close()
    })
    await storage.open([own])
    other.exec(`CREATE TABLE log (name TEXT);${trigger}`)
    const results = await Promise.allSettled(
      names.map((name, index) =>
        storage.transaction(brief, (on) => on.insert(own, { ...row, id: index % 3, name })),
      ),
    )
    return {
      results: results.map((result) =>
        result.status === 'fulfilled' ? 'stored' : (result.reason as StorageError).kind,
      ),
      rows: rowsIn(other, 'SELECT id, name FROM own ORDER BY id').map((each) => ({
        ...(each as Row),
      })),
      log: rowsIn(other, 'SELECT * FROM log'),
    }
  }

  test('fail alone', async () => {
    const { results, rows } = await insertAll(['a', 'b', 'c', 'd', 'e'])
    expect(results).toEqual(['stored', 'stored', 'stored', 'duplicate', 'duplicate'])
    expect(rows).toEqual(['a', 'b', 'c'].map((name, id) => ({ id, name })))
  })

  test('leave nothing of a trigger that another program has created', async () => {
    const trigger = `CREATE TRIGGER reject BEFORE INSERT ON own WHEN new.name = 'bad' BEGIN
      INSERT INTO log VALUES (new.name); SELECT RAISE(FAIL, 'rejected'); END`
    const { results, rows, log } = await insertAll(['a', 'bad', 'c'], trigger)
    expect(results).toEqual(['stored', 'invalid', 'stored'])
    expect(rows).toEqual([
      { id: 0, name: 'a' },
      { id: 2, name: 'c' },
    ])
    expect(log).toEqual([])
  })
})

function queryOf(collection: PublishedCollection) {
  return {
    conditions: [],
    search: null,
    sort: [],
    limit: 10,
    offset: 0,
    select: collection.allNames,
    count: false,
  }
}
