import { expect, onTestFinished, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import type { PublishedCollection } from '../../../src/definition/published.ts'
import {
  defineCollection,
  integer,
  text,
  type ApplicationDefinition,
  type CollectionDefinition,
} from '../../../src/entries/index.ts'
import {
  sqliteSchema,
  sqliteStorage,
  type SqliteDriver,
  type SqliteOptions,
} from '../../../src/entries/sqlite.ts'
import { applyToFile, diffFile } from '../../../src/schema/sqlite/file-schema.ts'
import type { SchemaChangeKind } from '../../../src/schema/changes.ts'
import { drivers, openHandle } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import { runStatements, selectRows } from './raw.ts'

const everything: readonly SchemaChangeKind[] = ['add', 'rename', 'rebuild', 'drop']
const driver = drivers[0] as SqliteDriver
const search = 'indexed'

type Collections = ApplicationDefinition['collections']

const notes = defineCollection({ key: 'code', fields: { code: text(), name: text() }, search })
const numbered = defineCollection({ key: 'id', fields: { id: integer(), name: text() }, search })

function openScene(statements = '') {
  const folder = temporaryFolder()
  const file = `${folder}/a.db`
  runStatements(file, statements)
  let copies = 0
  const published = (collections: Collections) => publishApplications({ app: { collections } })
  const open = async (collections: Collections, options: SqliteOptions = {}) => {
    const storage = sqliteStorage(file, options)
    onTestFinished(() => storage.close())
    const all = published(collections)
    await storage.open(all)
    return { storage, collection: all[0] as PublishedCollection }
  }
  return {
    file,
    open,
    run: (sql: string) => runStatements(file, sql),
    names: () =>
      selectRows(
        file,
        `SELECT name FROM sqlite_schema WHERE name LIKE 'rowgate%' AND type <> 'index'
        AND name NOT GLOB '*_text_*' ORDER BY name`,
      ).flat(),
    diff: (collections: Collections) => diffFile(file, published(collections), new Set(everything)),
    apply: (collections: Collections, kinds = everything) =>
      applyToFile(file, published(collections), {
        allowed: new Set(kinds),
        busyTimeout: 0,
        copyTo: `${folder}/copy-${++copies}.db`,
        progress: () => undefined,
      }).changes.map(({ kind, description }) => [kind, description]),
    /** Returns how many rows a search finds. */
    async find(collections: Collections, needle: string, options?: SqliteOptions) {
      const { storage, collection } = await open(collections, options)
      const query = { search: { fields: collection.searchNames, text: needle } }
      const page = await storage.filter(collection, queryOf(collection, query))
      await storage.close()
      return page.rows.length
    },
  }
}

const made = `CREATE TABLE notes (code TEXT PRIMARY KEY, name TEXT, extra TEXT);
  INSERT INTO notes VALUES ('a', 'first note', 'one'), ('b', 'second note', 'two')`

test('ensureSchema creates the index of a table with rows', async () => {
  const scene = openScene(made)
  expect(await scene.find({ notes }, 'first', { ensureSchema: true })).toBe(1)
  expect(scene.names()).toEqual([
    'rowgate_search_notes_delete',
    'rowgate_search_notes_insert',
    'rowgate_search_notes_rows',
    'rowgate_search_notes_text',
    'rowgate_search_notes_update',
  ])
  expect(await scene.find({ notes }, 'note')).toBe(2)
})

test('a missing index is reported at start', async () => {
  const scene = openScene(made)
  const messageOf = async (collections: Collections) => {
    const error = await scene.open(collections).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    return error instanceof TypeError ? error.message : 'none'
  }
  expect(await messageOf({ notes })).toContain('app/notes: table "notes" lacks its search index')
  expect(await scene.find({ notes }, 'second', { ensureSchema: true })).toBe(1)
  expect(await messageOf({ notes })).toBe('none')
  const other = { ...notes, fields: { ...notes.fields, extra: text() } }
  expect(await messageOf({ notes: other })).toContain('or has one for other fields')
  expect(await scene.find({ notes: other }, 'two', { ensureSchema: true })).toBe(1)
  scene.run('DROP TRIGGER rowgate_search_notes_update')
  expect(await messageOf({ notes: other })).toContain('lacks its search index')
})

test('the statements of sqliteSchema create and fill the index, and may run again', async () => {
  for (const own of [notes, numbered] as readonly CollectionDefinition[]) {
    const schema = sqliteSchema({ app: { collections: { notes: own } } })
    const scene = openScene(schema)
    const key = own === notes ? `'a'` : '7'
    scene.run(`INSERT INTO notes VALUES (${key}, 'a note')`)
    scene.run(schema)
    expect(await scene.find({ notes: own }, 'a note')).toBe(1)
    scene.run(`DROP TRIGGER rowgate_search_notes_insert; DROP TRIGGER rowgate_search_notes_update;
      DROP TRIGGER rowgate_search_notes_delete; DELETE FROM notes;
      DROP TABLE rowgate_search_notes_text; DROP TABLE IF EXISTS rowgate_search_notes_rows`)
    scene.run(`INSERT INTO notes VALUES (${key}, 'other words')`)
    scene.run(schema)
    expect(await scene.find({ notes: own }, 'other words')).toBe(1)
  }
})

test('schema apply creates, replaces and drops an index', async () => {
  const scene = openScene(made)
  const creates = 'Creates the search index of the table "notes".'
  expect(scene.apply({ notes }, ['add'])).toEqual([['add', creates]])
  expect(scene.diff({ notes }).changes.map(({ kind }) => kind)).toEqual(['drop'])
  expect(await scene.find({ notes }, 'first')).toBe(1)
  scene.run('VACUUM')
  const wider = { ...notes, fields: { ...notes.fields, extra: text(), more: text() } }
  expect(scene.apply({ notes: wider })).toEqual([
    ['add', 'Adds the column "more" to the table "notes".'],
    ['add', 'Recreates the search index of the table "notes".'],
  ])
  expect(await scene.find({ notes: wider }, 'two')).toBe(1)
  expect(scene.apply({ notes })).toEqual([
    ['add', 'Recreates the search index of the table "notes".'],
    ['drop', 'Drops the column "extra" of the table "notes", which the definition does not name.'],
    ['drop', 'Drops the column "more" of the table "notes", which the definition does not name.'],
  ])
  expect(await scene.find({ notes }, 'note')).toBe(2)
  const { search: _search, ...plain } = notes
  expect(scene.apply({ notes: plain }, ['add'])).toEqual([])
  expect(scene.apply({ notes: plain })).toEqual([
    ['drop', 'Drops the search index of the table "notes", which the definition does not declare.'],
  ])
  expect(scene.names()).toEqual([])
  expect(scene.diff({ notes: plain })).toEqual({ changes: [], left: [], mistakes: [] })
})

test('an index follows a table and a column that are renamed, and a table that is copied', async () => {
  const scene = openScene(made)
  scene.apply({ notes })
  const renamed = defineCollection({
    key: 'code',
    fields: { code: text(), title: text({ renamedFrom: 'name' }) },
    renamedFrom: 'notes',
    search,
  })
  scene.apply({ pages: renamed })
  expect(await scene.find({ pages: renamed }, 'first')).toBe(1)
  expect(scene.names()).toHaveLength(5)
  expect(scene.names()[0]).toBe('rowgate_search_pages_delete')
  const retyped = defineCollection({
    key: 'code',
    fields: { code: text(), title: text(), count: integer() },
    table: 'pages',
    search,
  })
  scene.run(`ALTER TABLE pages ADD COLUMN count TEXT; UPDATE pages SET count = '00123'`)
  expect(scene.apply({ pages: retyped }).map(([kind]) => kind)).toEqual(['rebuild', 'add'])
  expect(await scene.find({ pages: retyped }, '123')).toBe(2)
  expect(scene.diff({ pages: retyped })).toEqual({ changes: [], left: [], mistakes: [] })
})

test('collections that share a table have one index, and a view has none', async () => {
  const scene = openScene(made)
  const others = defineCollection({
    key: 'code',
    table: 'notes',
    fields: { code: text(), extra: text() },
    search,
  })
  expect(await scene.find({ notes, others }, 'first', { ensureSchema: true })).toBe(1)
  expect(await scene.find({ others, notes }, 'two', { ensureSchema: false })).toBe(1)
  scene.run('CREATE VIEW pages AS SELECT * FROM notes')
  const pages = { ...notes, publishes: ['Filter'] as const }
  await expect(scene.open({ pages })).rejects.toThrow(
    `app/pages: table "pages" can't have a search index. Leave out search: 'indexed'.`,
  )
})

test('a number that no column has is not used to identify rows', async () => {
  const scene = openScene(`CREATE TABLE notes (id INTEGER PRIMARY KEY DESC, name TEXT);
    INSERT INTO notes VALUES (5, 'five'), (9, 'nine')`)
  expect(await scene.find({ notes: numbered }, 'five', { ensureSchema: true })).toBe(1)
  scene.run(`DELETE FROM notes WHERE id = 5; VACUUM; UPDATE notes SET name = 'other' WHERE id = 9`)
  expect(await scene.find({ notes: numbered }, 'other')).toBe(1)
})

test('SQLite without the tokenizer is reported at start', async () => {
  const handle = openHandle(driver, ':memory:')
  const exec = (sql: string) => {
    if (sql.includes('fts5')) throw new Error('no such module: fts5')
    return handle.exec(sql)
  }
  const withoutFts = new Proxy(handle, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (name === 'exec') return exec
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
  const storage = sqliteStorage(withoutFts, { ensureSchema: true })
  const open = async () => storage.open(publishApplications({ app: { collections: { notes } } }))
  await expect(open()).rejects.toThrow(/search: 'indexed' needs SQLite 3.34 .*no such module: fts5/)
  handle.close()
})
