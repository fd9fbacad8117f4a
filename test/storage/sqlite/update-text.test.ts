import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineCollection } from '../../../src/definition/collection.ts'
import { integer, text } from '../../../src/definition/field.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { equal } from '../../../src/request/query.ts'
import type { Condition, Row, StorageAdapter } from '../../../src/storage/adapter.ts'
import {
  sqliteStorage,
  type BetterSqlite3Handle,
  type SqliteHandle,
} from '../../../src/entries/sqlite.ts'
import { drivers, observed, openHandle, rowsIn } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'

const notes = publishCollection(
  'app',
  'notes',
  defineCollection({
    key: 'id',
    fields: { id: integer(), name: text(), number: integer(), owner: integer() },
  }),
)
const tables = `
  CREATE TABLE owners (id INTEGER PRIMARY KEY);
  CREATE TABLE notes (
    id INTEGER PRIMARY KEY, name TEXT UNIQUE, number INTEGER CHECK (number < 100),
    owner INTEGER REFERENCES owners
  );
  CREATE TABLE log (old TEXT, new TEXT);
  INSERT INTO notes VALUES (1, 'one', 1, NULL), (2, 'two', 2, NULL)`

const one = { id: 1, name: 'one', number: 1, owner: null }

describe.each(drivers)('%s: an update as text', (driver) => {
  let handle: SqliteHandle
  let storage: StorageAdapter
  let commands: string[]
  let isReadable: boolean
  let rollsBack: boolean

  beforeEach(async () => {
    handle = openHandle(driver, `${temporaryFolder()}/notes.db`)
    handle.exec(tables)
    commands = []
    isReadable = true
    rollsBack = false
    const failing = failingToRead(observed(handle, commands), () => {
      if (!isReadable && rollsBack) handle.exec('ROLLBACK')
      return !isReadable
    })
    storage = sqliteStorage(failing)
    await storage.open([notes])
  })
  afterEach(async () => {
    await storage.close()
    handle.close()
  })

  function update(
    changes: Row,
    conditions: readonly Condition[] = [equal('id', 1)],
    select: readonly string[] = notes.allNames,
  ): Promise<string | null | undefined> {
    return storage.transaction({ mode: 'write', brief: true, oneWrite: true }, (on) =>
      on.updateText?.(notes, conditions, changes, select),
    )
  }
  const row = (id = 1): unknown =>
    rowsIn(handle, `SELECT id, name, number, owner FROM notes WHERE id = ${id}`)[0]

  test('sets what is given, without a savepoint', async () => {
    expect(await update({ name: 'new', number: null })).toBe(
      '{"id":1,"name":"new","number":null,"owner":null}',
    )
    expect(row()).toEqual({ id: 1, name: 'new', number: null, owner: null })
    expect(row(2)).toEqual({ id: 2, name: 'two', number: 2, owner: null })
    expect(commands.filter((command) => command.startsWith('SAVEPOINT'))).toEqual([])
  })

  test('returns the selected fields', async () => {
    expect(await update({ number: 5 }, undefined, ['number', 'name'])).toBe(
      '{"number":5,"name":"one"}',
    )
  })

  test('returns null if there is no row', async () => {
    expect(await update({ number: 5 }, [equal('id', 3)])).toBeNull()
  })

  test.each([
    ['other conditions than those of the key', { number: 5 }, [equal('id', 1), equal('number', 1)]],
    ['a condition on another field', { number: 5 }, [equal('name', 'one')]],
    ['another key', { id: 3, number: 5 }, [equal('id', 1)]],
    ['no changes', {}, [equal('id', 1)]],
    ['the key only', { id: 1 }, [equal('id', 1)]],
  ])('is left to an update for %s', async (_, changes, conditions) => {
    expect(await update(changes, conditions)).toBeUndefined()
    expect(row()).toEqual(one)
  })

  test.each(['UPDATE', 'UPDATE OF name', 'UPDATE OF number'])(
    'is left to an update if a trigger ON %s would notice a column that keeps its value',
    async (event) => {
      const named = event.includes('number') ? { number: 1 } : { name: 'one' }
      await update({ name: 'one', number: 1 })
      handle.exec(`CREATE TRIGGER noticed AFTER ${event} ON notes BEGIN
        INSERT INTO log VALUES (old.name, new.name);
      END`)
      expect(await update(named)).toBeUndefined()
      expect(rowsIn(handle, 'SELECT * FROM log')).toEqual([])
    },
  )

  test.each([
    ['a duplicate', { name: 'two' }, 'duplicate'],
    ['a CHECK constraint', { number: 100 }, 'invalid'],
    ['a missing row', { owner: 7 }, 'invalid'],
  ])('rejects %s, and has changed nothing', async (_, changes, kind) => {
    await expect(update({ ...changes })).rejects.toMatchObject({ kind })
    expect(row()).toEqual(one)
  })

  test('has no text for a row with a value that does not fit, which it has changed', async () => {
    handle.exec(`UPDATE notes SET name = x'00' WHERE id = 1`)
    expect(await update({ number: 5 })).toBeUndefined()
    expect(row()).toMatchObject({ number: 5 })
    const updated = await storage.transaction({ mode: 'write', brief: true }, (on) =>
      on.update(notes, [equal('id', 1)], { number: 5 }),
    )
    expect(updated).toEqual({ id: 1, number: 5, owner: null })
  })

  test('whose text cannot be read is undone if its transaction fails, although it has no savepoint', async () => {
    isReadable = false
    const oneWrite = { mode: 'write', brief: true, oneWrite: true } as const
    const failed = storage.transaction(oneWrite, async (on) => {
      const changed = await on.updateText?.(notes, [equal('id', 1)], { number: 5 }, notes.allNames)
      throw new Error(`no: ${changed}`)
    })
    const other = storage.transaction(oneWrite, (on) => on.delete(notes, [equal('id', 2)]))
    await Promise.allSettled([failed, other])
    await expect(failed).rejects.toThrow()
    expect(row()).toEqual(one)
  })

  test('whose transaction SQLite has rolled back fails, and nothing is written after it', async () => {
    isReadable = false
    rollsBack = true
    const failed = storage.transaction(
      { mode: 'write', brief: true, oneWrite: true },
      async (on) => {
        const conditions = [equal('id', 1)]
        const text = await on.updateText?.(notes, conditions, { number: 5 }, notes.allNames)
        return text ?? on.update(notes, conditions, { number: 5 })
      },
    )
    await expect(failed).rejects.toMatchObject({ kind: 'unavailable' })
    expect(row()).toEqual(one)
  })

  test('is left to an update if it could break a deferred foreign key, which fails only at the commit', async () => {
    handle.exec(`PRAGMA foreign_keys = OFF; DROP TABLE notes;
      CREATE TABLE notes (
        id INTEGER PRIMARY KEY, name TEXT, number INTEGER,
        owner INTEGER REFERENCES owners DEFERRABLE INITIALLY DEFERRED
      );
      INSERT INTO notes VALUES (1, 'one', 1, 7); PRAGMA foreign_keys = ON`)
    const orphan = { ...one, name: 'new', owner: 7 }
    expect(await update({ name: 'new', owner: 7 })).toBeUndefined()
    const updated = await storage.transaction({ mode: 'write', brief: true }, (on) =>
      on.update(notes, [equal('id', 1)], { name: 'new', owner: 7 }),
    )
    expect(updated).toEqual(orphan)
    expect(row()).toEqual(orphan)
    expect(await update({ name: 'newer' })).toContain('newer')
  })

  test('that has changed a row is undone if its transaction fails', async () => {
    const failed = storage.transaction({ mode: 'write', brief: true }, async (on) => {
      await on.updateText?.(notes, [equal('id', 1)], { number: 5 }, notes.allNames)
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(row()).toEqual(one)
  })
})

/** Returns a handle that prepares no statement that writes JSON while `isFailing` returns true. */
function failingToRead(handle: SqliteHandle, isFailing: () => boolean): SqliteHandle {
  return new Proxy(handle, {
    get(target, name) {
      if (name !== 'prepare') return Reflect.get(target, name) as unknown
      return (sql: string): unknown => {
        if (sql.includes('json_object') && isFailing()) throw new Error('The text is unreadable.')
        return (target as BetterSqlite3Handle).prepare(sql)
      }
    },
  })
}
