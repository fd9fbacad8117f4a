import { execFileSync } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection } from '../../../src/entries/index.ts'
import { sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'
import { createSchema } from '../../../src/schema/sqlite/database.ts'
import { searchOf } from '../../../src/schema/sqlite/search-index.ts'
import {
  foundRows,
  type WantedSearch,
} from '../../../src/storage/sqlite/search/index-statements.ts'
import type { Slot } from '../../../src/storage/sql/fragments.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import {
  collectionsBy,
  fields,
  filesOf,
  insert,
  keys,
  rowOf,
  type KeyName,
} from './indexed-notes.ts'

const driver = drivers[0] as SqliteDriver

test('a search reads the rows that the index finds if they are few, and stops early if they are many', async () => {
  const files = await filesOf('string', driver)
  const rows = Array.from({ length: 1_200 }, (_, id) => rowOf(id, { name: `many ${id} of us` }))
  await insert(files, 'string', rows)
  const { indexed: collection } = collectionsBy('string')
  await files.indexed.open([collection])
  const handle = openHandle(driver, files.path)
  // Rows of which the index does not know show what a search reads.
  handle.exec(`DROP TRIGGER rowgate_search_notes_insert;
    INSERT INTO notes (id, code, part, name) VALUES (5000, 'A', 'p', 'many few')`)
  const read = async (needle: string, changes: object = {}) => {
    const search = { fields: ['name'], text: needle }
    const query = queryOf(collection, { search, limit: 1, count: true, ...changes })
    const { rows: page, count } = await files.indexed.filter(collection, query)
    return [page.map(({ id }) => id), count]
  }
  expect(await read('few')).toEqual([[], 0])
  expect(await read('119')).toEqual([[1119], 12])
  // The page is read in its order, and the count with the index.
  expect(await read('many')).toEqual([[5000], 1_200])
  expect(await read('fe')).toEqual([[5000], 1])
  handle.close()
})

test('SQLite starts with the index, and finds rows by their key', () => {
  const handle = openHandle(driver, ':memory:')
  const match: Slot = { read: () => null }
  for (const key of Object.keys(keys) as KeyName[]) {
    const { indexed } = collectionsBy(key)
    handle.exec('DROP TABLE IF EXISTS notes')
    handle.exec(createSchema([indexed]).join('\n'))
    const { texts } = foundRows(searchOf([indexed]) as WantedSearch, match)
    const sql = `EXPLAIN QUERY PLAN SELECT t.name FROM ${texts.join('?')}`
    const plan = rowsIn(handle, sql, '') as { detail: string }[]
    const steps = plan.map(({ detail }) => detail.replace(/^(\w+ \S+).*(\(.*\)|INDEX.*)/, '$1 $2'))
    expect(steps[0]).toMatch(/^SCAN .*INDEX 0:M1$/)
    expect(steps.at(-1)).toMatch(/^SEARCH t \((rowid|code|code=\? AND part)=\?\)$/)
    handle.exec(
      'DROP TABLE rowgate_search_notes_text; DROP TABLE IF EXISTS rowgate_search_notes_rows',
    )
  }
  handle.close()
})

test('a write leaves the versions of other collections as they are', async () => {
  const { indexed } = collectionsBy('string')
  const other = publishCollection('app', 'others', defineCollection({ key: 'id', fields }))
  const storage = sqliteStorage(`${temporaryFolder()}/a.db`, { driver, ensureSchema: true })
  onTestFinished(() => storage.close())
  await storage.open([indexed, other])
  const versions = () => [storage.version?.([indexed]), storage.version?.([other])]
  const before = versions()
  await storage.transaction({ mode: 'write', brief: true }, async (open) => {
    await open.insert(indexed, rowOf(1, { name: 'one' }))
  })
  const after = versions()
  expect(after[0]).toBeGreaterThan(before[0] as number)
  expect(after[1]).toBe(before[1])
})

test.each([0, 10])('reads in the thread use the index, from %s rows', async (scanRows) => {
  const { indexed } = collectionsBy('number')
  const storage = sqliteStorage(`${temporaryFolder()}/a.db`, {
    driver,
    ensureSchema: true,
    scanRows,
  })
  onTestFinished(() => storage.close())
  await storage.open([indexed])
  await storage.transaction({ mode: 'write', brief: true }, async (open) => {
    for (let id = 0; id < 1_500; id++) await open.insert(indexed, rowOf(id, { name: `note ${id}` }))
  })
  const read = async (needle: string) => {
    const search = { fields: ['name'], text: needle }
    const query = queryOf(indexed, { search, limit: 2, count: true })
    const { rows, count } = await storage.filter(indexed, query)
    return [rows.map(({ id }) => id), count]
  }
  expect(await read('note 149')).toEqual([[149, 1490], 11])
  expect(await read('note')).toEqual([[0, 1], 1_500])
  expect(await read('9')).toEqual([[9, 19], 366])
})

test('another program with an older SQLite writes the index', async (context) => {
  const files = await filesOf('two', driver)
  const run = (sql: string): void => {
    execFileSync('sqlite3', ['-bail', files.path], { input: sql })
  }
  try {
    execFileSync('sqlite3', ['--version'])
  } catch {
    return context.skip('no sqlite3 program')
  }
  run(`INSERT INTO notes (id, code, part, name) VALUES
    (1, 'a', 'x', 'Größe der Straße'), (2, 'b', 'x', 'ΟΔΟΣ İstanbul'), (3, 'c', 'x', 'third')`)
  run(`UPDATE notes SET code = 'A', name = 'GRÖSSER' WHERE id = 1; DELETE FROM notes WHERE id = 3`)
  run('VACUUM')
  expect(await files.find('größ')).toEqual([])
  expect(await files.find('größer')).toEqual([])
  expect(await files.find('grösse')).toEqual([1])
  expect(await files.find('οδοσ')).toEqual([2])
  expect(await files.find('i\u0307stan')).toEqual([2])
  expect(await files.find('third')).toEqual([])
})
