import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { defineCollection } from '../../../src/definition/collection.ts'
import { integer, text } from '../../../src/definition/field.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { equal } from '../../../src/request/query.ts'
import type { StorageAdapter, StorageTransaction } from '../../../src/storage/adapter.ts'
import { sqliteStorage, type SqliteHandle } from '../../../src/entries/sqlite.ts'
import { drivers, observed, openHandle, rowsIn } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'

const notes = publishCollection(
  'app',
  'notes',
  defineCollection({ key: 'id', fields: { id: integer(), name: text() } }),
)
const numbered = publishCollection(
  'app',
  'numbered',
  defineCollection({
    key: 'id',
    fields: { id: integer({ generated: 'database' }), name: text() },
  }),
)
const tables = `
  CREATE TABLE notes (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
  CREATE TABLE numbered (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
  CREATE TABLE log (id INTEGER)`
const failing = `CREATE TRIGGER logged BEFORE INSERT ON notes BEGIN
  INSERT INTO log VALUES (new.id);
  SELECT RAISE(FAIL, 'no') WHERE new.name = 'bad';
END`

describe.each(drivers)('%s: transactions of one write that share a commit', (driver) => {
  let file: string
  let handle: SqliteHandle
  let storage: StorageAdapter
  let commands: string[]

  beforeEach(async () => {
    file = `${temporaryFolder()}/notes.db`
    handle = openHandle(driver, file)
    handle.exec(tables)
    commands = []
    storage = sqliteStorage(observed(handle, commands))
    await storage.open([notes, numbered])
  })
  afterEach(async () => {
    await storage.close()
    handle.close()
  })

  function save(work: (on: StorageTransaction) => unknown): Promise<unknown> {
    return storage.transaction({ mode: 'write', brief: true, oneWrite: true }, work)
  }
  const insert = (id: number, name: string) => save((on) => on.insert(notes, { id, name }))
  const savepoints = () => commands.filter((command) => command.startsWith('SAVEPOINT')).length
  const kept = () => rowsIn(handle, 'SELECT id, name FROM notes ORDER BY id')

  async function statusOf(...saves: Promise<unknown>[]): Promise<string[]> {
    return (await Promise.allSettled(saves)).map(({ status }) => status)
  }

  test('have no savepoint, and one that fails changes nothing', async () => {
    const rename = (id: number) => save((on) => on.update(notes, [equal('id', id)], { name: 'b' }))
    const saves = [
      insert(1, 'a'),
      insert(2, 'c'),
      insert(1, 'd'),
      rename(1),
      rename(2),
      insert(3, 'e'),
    ]
    expect(await statusOf(...saves)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(kept()).toEqual([
      { id: 1, name: 'b' },
      { id: 2, name: 'c' },
      { id: 3, name: 'e' },
    ])
    expect(savepoints()).toBe(0)
  })

  test('do not fail because another one finds no row', async () => {
    const missing = save(async (on) => {
      const row = await on.update(notes, [equal('id', 9)], { name: 'b' })
      if (row === undefined) throw new Error('not found')
    })
    expect(await statusOf(insert(1, 'a'), missing, insert(2, 'b'))).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
  })

  test('undo the changes of a trigger that ignores the write', async () => {
    await insert(1, 'a')
    handle.exec(`CREATE TRIGGER ignored BEFORE UPDATE ON notes BEGIN
      INSERT INTO log VALUES (new.id);
      SELECT RAISE(IGNORE);
    END`)
    const ignored = save((on) => on.update(notes, [equal('id', 1)], { name: 'b' }))
    expect(await Promise.all([ignored, insert(2, 'c')])).toEqual([undefined, { id: 2, name: 'c' }])
    expect(rowsIn(handle, 'SELECT id FROM log')).toEqual([])
  })

  test('have one if the row that is stored may not fit', async () => {
    const number = (name: string) => save((on) => on.insert(numbered, { name }))
    expect(await statusOf(number('a'), number('b'))).toEqual(['fulfilled', 'fulfilled'])
    expect(savepoints()).toBe(2)
  })

  test.each([
    ['of a trigger', failing],
    [
      'of a temporary trigger',
      failing.replace('TRIGGER', 'TEMP TRIGGER').replace('ON notes', 'ON main.notes'),
    ],
  ])('undo the changes %s that fails', async (_, trigger) => {
    await Promise.all([insert(1, 'a'), insert(2, 'b')])
    handle.exec(trigger)
    expect(await statusOf(insert(3, 'c'), insert(4, 'bad'), insert(5, 'e'))).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(kept().map((row) => (row as { id: number }).id)).toEqual([1, 2, 3, 5])
    expect(rowsIn(handle, 'SELECT id FROM log')).toEqual([{ id: 3 }, { id: 5 }])
  })

  test('undo the changes of a trigger that another connection has added', async () => {
    await Promise.all([insert(1, 'a'), insert(2, 'b')])
    const other = openHandle(driver, file)
    onTestFinished(() => void other.close())
    other.exec(failing)
    expect(await statusOf(insert(3, 'bad'), insert(4, 'd'))).toEqual(['rejected', 'fulfilled'])
    expect(rowsIn(handle, 'SELECT id FROM log')).toEqual([{ id: 4 }])
  })

  test('undo what a constraint keeps that fails without undoing', async () => {
    handle.exec(`DROP TABLE notes;
      CREATE TABLE notes (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT FAIL)`)
    const saves = [insert(1, 'a'), insert(2, 'a'), insert(3, 'c')]
    expect(await statusOf(...saves)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(kept()).toEqual([
      { id: 1, name: 'a' },
      { id: 3, name: 'c' },
    ])
    expect(savepoints()).toBe(3)
  })

  test('and other transactions keep nothing of a write that fails', async () => {
    handle.exec(failing)
    await storage.transaction({ mode: 'write', brief: false }, async (on) => {
      await on.insert(notes, { id: 1, name: 'a' })
      const bad = Promise.resolve(on.insert(notes, { id: 2, name: 'bad' }))
      await expect(bad).rejects.toMatchObject({ kind: 'invalid' })
    })
    expect(rowsIn(handle, 'SELECT id FROM log')).toEqual([{ id: 1 }])
  })

  test('are all rejected if one fails after its write', async () => {
    const first = insert(1, 'a')
    const late = save(async (on) => {
      await on.insert(notes, { id: 2, name: 'b' })
      throw new Error('late')
    })
    const settled = await Promise.allSettled([first, late])
    expect(settled).toMatchObject([
      { status: 'rejected', reason: { kind: 'unavailable' } },
      { status: 'rejected', reason: { kind: 'unavailable' } },
    ])
    expect(kept()).toEqual([])
  })
})
