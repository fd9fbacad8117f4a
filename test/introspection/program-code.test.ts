import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createService, openAccess, readApplications } from 'rowgate'
import { describe, expect, onTestFinished, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import { sqliteStorage, type SqliteHandle, type SqliteOptions } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { exerciseAll } from './exercised-database.ts'
import { publishFile } from './published-database.ts'

const functions = {
  slug: (text: unknown) => String(text).toLowerCase().replaceAll(' ', '-'),
  is_code: (text: unknown) => (/^[A-Z]+$/.test(String(text)) ? 1 : 0),
  new_id: () => 'generated',
}

const tables = `
  CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE triggered (id INTEGER PRIMARY KEY, title TEXT, path TEXT, note TEXT);
  CREATE TRIGGER titled AFTER UPDATE OF title ON triggered BEGIN UPDATE triggered SET path = slug(new.title) WHERE id = new.id; END;
  CREATE TABLE checked (id INTEGER PRIMARY KEY, code TEXT CHECK (is_code(code)), note TEXT);
  CREATE TABLE defaulted (id INTEGER PRIMARY KEY, token TEXT DEFAULT (new_id()), note TEXT);
  CREATE TABLE indexed (id INTEGER PRIMARY KEY, name TEXT);
  CREATE INDEX slugs ON indexed (slug(name));
  CREATE TABLE computed (id INTEGER PRIMARY KEY, name TEXT, path TEXT AS (slug(name)));
  CREATE VIEW shown AS SELECT id, slug(name) AS path FROM plain;
  INSERT INTO plain VALUES (1, 'A Name');
  INSERT INTO triggered VALUES (1, 'A Title', 'a-title', NULL);
  INSERT INTO checked VALUES (1, 'ABC', NULL);
  INSERT INTO defaulted VALUES (1, 'x', NULL);
  INSERT INTO indexed VALUES (1, 'A Name');
  INSERT INTO computed (id, name) VALUES (1, 'A Name');`

const collated = `
  CREATE TABLE titles (id INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE, note TEXT);
  CREATE INDEX by_title ON titles (title);
  INSERT INTO titles VALUES (1, 'b', NULL), (2, 'A', NULL);
  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'NATSORT');`

/** How each driver allows a script to change sqlite_schema. */
interface Unprotected {
  unsafeMode?(): void
  enableDefensive?(active: boolean): void
}

function create(script: string): { readonly folder: string; readonly file: string } {
  const folder = temporaryFolder()
  const file = join(folder, 'app.db')
  const [driver] = drivers
  const handle: SqliteHandle & Unprotected = openHandle(driver ?? 'node:sqlite', file)
  for (const [name, work] of Object.entries(functions))
    handle.function(name, { deterministic: true, varargs: true }, work)
  handle.unsafeMode?.()
  handle.enableDefensive?.(false)
  handle.exec(script)
  handle.close()
  return { folder, file }
}

test('introspection publishes what needs none of these functions, and names the rest', async () => {
  const { folder } = create(tables)
  const published = await publishFile(folder, 'app')
  await exerciseAll(published)
  const { collections, notes } = published
  expect(
    Object.fromEntries(Object.entries(collections).map(([name, each]) => [name, each.publishes])),
  ).toEqual({
    plain: undefined,
    triggered: undefined,
    checked: ['Filter', 'Update', 'Delete'],
    defaulted: undefined,
    indexed: ['Filter'],
    computed: ['Filter', 'Delete'],
  })
  expect(collections['triggered']?.fields['title']).toMatchObject({ readOnly: true })
  expect(collections['checked']?.fields['code']).toMatchObject({ readOnly: true })
  expect(collections['defaulted']?.fields['token']).toEqual({ type: 'text' })
  expect(collections['computed']?.fields).not.toHaveProperty('path')
  const reason = (name: string): string =>
    `SQLite does not know the function ${name} of the program that made the file. Register it with the option functions of sqliteStorage`
  expect(notes.toSorted()).toEqual(
    [
      `shown: left out: can't be read: ${reason('slug')}`,
      `triggered.title: read-only: ${reason('slug')}`,
      `checked: no insert: ${reason('is_code')}`,
      `checked.code: read-only: ${reason('is_code')}`,
      `defaulted.token: its default is left out: ${reason('new_id')}`,
      `indexed: read-only: ${reason('slug')}`,
      `computed: no insert and no update: ${reason('slug')}`,
      `computed.path: left out: ${reason('slug')}`,
    ].toSorted(),
  )
})

const text = { type: 'text' }
const id = { type: 'integer', generated: 'database' }
const applications = readApplications({
  app: {
    collections: {
      plain: { key: 'id', fields: { id, name: text } },
      triggered: { key: 'id', fields: { id, title: text, path: text, note: text } },
      checked: { key: 'id', fields: { id, code: text, note: text } },
      defaulted: {
        key: 'id',
        fields: { id, token: { ...text, default: 'database' }, note: text },
      },
      indexed: { key: 'id', fields: { id, name: text } },
      computed: {
        key: 'id',
        fields: { id, name: text, path: { ...text, readOnly: true, default: 'database' } },
      },
      shown: { key: 'id', publishes: ['Filter'], fields: { id: { type: 'integer' }, path: text } },
    },
  },
})

function serve(storage: ReturnType<typeof sqliteStorage>, definition = applications) {
  const service = createService({ applications: definition, storage, security: openAccess() })
  onTestFinished(() => service.close())
  const send = async (method: string, path: string, values?: unknown) => {
    const reply = await service.handle({
      method,
      target: `/rest/v1/app/${path}`,
      header: (name) => ({ 'content-type': 'application/json' })[name],
      secure: true,
      peer: undefined,
      signal: undefined,
      body: async () => new TextEncoder().encode(JSON.stringify(values)),
    })
    return JSON.parse(reply.body) as object
  }
  return { service, send }
}

function closed(handle: SqliteHandle): SqliteHandle {
  onTestFinished(() => void handle.close())
  return handle
}

describe.each(drivers)('with %s', (driver) => {
  // SQLite compiles no CHECK for a handle that only reads.
  test.each([
    ['a file', (file: string) => sqliteStorage(file, { driver })],
    ['a handle', (file: string) => sqliteStorage(closed(openHandle(driver, file)))],
    [
      'a handle that only reads',
      (file: string) => sqliteStorage(closed(openHandle(driver, file, true))),
    ],
  ])('without the functions, a start on %s and a check name what fails', async (_, open) => {
    const { service } = serve(open(create(tables).file))
    const expected = [
      /^app\/triggered\.title: an update of it fails: SQLite does not know the function slug /,
      /^app\/checked: Insert fails for every item: SQLite does not know the function is_code /,
      /^app\/checked\.code: an update of it fails: /,
      /^app\/defaulted\.token: its default fails: SQLite does not know the function new_id /,
      /^app\/indexed: Insert fails for every item: /,
      /^app\/indexed: Update fails for every item: /,
      /^app\/indexed: Delete fails for every item: /,
    ]
    const unreadable = "its rows can't be read: SQLite does not know the function slug "
    const failure = String(await service.ready().catch((error: unknown) => error))
    const lines = failure.split('\n- ').slice(1)
    const messages = (await service.inspect()).map(({ message }) => message)
    for (const found of [lines, messages]) {
      for (const line of expected) expect(found).toContainEqual(expect.stringMatching(line))
      expect(found.filter((line) => line.includes(unreadable))).toHaveLength(2)
      expect(found).toHaveLength(expected.length + 2)
    }
  })

  test.each(['a file', 'a handle', 'a file whose reads run in the thread'])(
    'with the option functions, %s is read and written',
    async (kind) => {
      const { file } = create(tables)
      const handle = kind === 'a handle' ? openHandle(driver, file) : undefined
      onTestFinished(() => void handle?.close())
      const scanRows = kind.endsWith('thread') ? { scanRows: 0 } : {}
      const { service, send } = serve(
        handle === undefined
          ? sqliteStorage(file, { driver, functions, ...scanRows })
          : sqliteStorage(handle, { functions }),
      )
      await service.ready()
      expect(await service.inspect()).toEqual([])
      expect(await send('POST', 'triggered/1', { title: 'Another One' })).toMatchObject({
        status: 200,
      })
      expect(await send('GET', 'triggered/1')).toMatchObject({ item: { path: 'another-one' } })
      expect(await send('POST', 'checked', { code: 'XYZ' })).toMatchObject({ status: 200 })
      expect(await send('POST', 'checked', { code: 'xyz' })).toMatchObject({
        validations: [{ field: 'code' }],
      })
      expect(await send('POST', 'defaulted', {})).toMatchObject({ item: { token: 'generated' } })
      expect(await send('POST', 'indexed', { name: 'New' })).toMatchObject({ status: 200 })
      expect(await send('POST', 'computed', { name: 'New One' })).toMatchObject({
        item: { path: 'new-one' },
      })
      for (const path of ['computed?path=new-one&$count=true', 'computed?$q=NEW-one&$count=true'])
        expect(await send('GET', path)).toMatchObject({ items: [{ path: 'new-one' }], count: 1 })
      for (let time = 0; time < 2; time++)
        expect(await send('GET', 'shown?$q=a-name')).toMatchObject({ items: [{ path: 'a-name' }] })
    },
  )

  test.each([
    [{ functions: { rowgate_x: () => 1 } }, 'not begin with rowgate_'],
    [{ functions: { slug: 'x' } }, 'must be a function'],
    [{ extensions: 'x.so' }, 'extensions'],
    [{ extensions: ['/nowhere/x.so'] }, '/nowhere/x'],
    [{ foreignKeys: 1 }, 'must be true or false'],
  ])('the options %j are a mistake', (options, message) => {
    const { file } = create('CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT)')
    expect(() => sqliteStorage(file, { driver, ...options } as SqliteOptions)).toThrow(message)
  })
})

test('a table without a key takes inserts of fields that only updates could not set', async () => {
  const { folder } = create(
    `CREATE TABLE log (title TEXT, note TEXT);
     CREATE TRIGGER titled AFTER UPDATE OF title ON log BEGIN UPDATE log SET note = slug(new.title); END;
     INSERT INTO log VALUES ('a', 'b');`,
  )
  const { collections, notes, send } = await publishFile(folder, 'app')
  expect(collections['log']?.fields).toEqual({ title: { type: 'text' }, note: { type: 'text' } })
  expect(notes).toContain('log: no update and no delete: it has no key that can be published')
  expect(await send('POST', 'log', { title: 'c' })).toMatchObject({ status: 200 })
})

test('a table with a collation that SQLite does not know is left out, with the reason', async () => {
  const { folder } = create(tables + collated)
  const { collections, notes } = await publishFile(folder, 'app')
  expect(collections).not.toHaveProperty('titles')
  expect(notes).toContainEqual(
    expect.stringMatching(
      /^titles: left out: can't be read: SQLite does not know the collation NATSORT of the program .* option extensions of sqliteStorage$/,
    ),
  )
})

const titles = readApplications({
  app: { collections: { titles: { key: 'id', fields: { id, title: text, note: text } } } },
})

test('a start names what such a collation makes impossible', async () => {
  const { service } = serve(sqliteStorage(create(collated).file), titles)
  await expect(service.ready()).rejects.toThrow(
    /app\/titles: its rows can't be read: SQLite does not know the collation NATSORT/,
  )
})

test('a constraint with a text in double quotes, which SQLite accepts in a file, keeps no write out', async () => {
  const { folder, file } = create(`
    CREATE TABLE states (id INTEGER PRIMARY KEY, state TEXT CHECK (state IN ('open', 'closed')));
    INSERT INTO states VALUES (1, 'open');
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(replace(sql, '''open''', '"open"'), '''closed''', '"closed"');`)
  const { collections, notes } = await publishFile(folder, 'app')
  expect(collections['states']?.publishes).toBeUndefined()
  expect(collections['states']?.fields['state']).not.toHaveProperty('readOnly')
  expect(notes.join('')).toBe('')
  const definition = { states: { key: 'id', fields: { id, state: text } } }
  const { service, send } = serve(
    sqliteStorage(file),
    readApplications({ app: { collections: definition } }),
  )
  await service.ready()
  expect(await service.inspect()).toEqual([])
  expect(await send('POST', 'states', { state: 'closed' })).toMatchObject({ status: 200 })
  expect(await send('POST', 'states', { state: 'x' })).toMatchObject({
    validations: [{ field: 'state' }],
  })
})

const headers = join(root, 'node_modules/better-sqlite3/deps/sqlite3')
const extension = `
  #include "sqlite3ext.h"
  #include <string.h>
  SQLITE_EXTENSION_INIT1
  static int compare(void *_, int la, const void *a, int lb, const void *b) {
    int order = memcmp(a, b, la < lb ? la : lb);
    return order != 0 ? order : la - lb;
  }
  int sqlite3_extension_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
    SQLITE_EXTENSION_INIT2(api)
    return sqlite3_create_collation(db, "NATSORT", SQLITE_UTF8, 0, compare);
  }`

function compile(folder: string): string | undefined {
  if (!existsSync(join(headers, 'sqlite3ext.h'))) return undefined
  const [source, library] = [join(folder, 'natural.c'), join(folder, 'natural.so')]
  writeFileSync(source, extension)
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-I', headers, '-o', library, source], {
      stdio: 'pipe',
    })
  } catch {
    return undefined
  }
  return library
}

test.each(drivers)(
  'with %s, an extension brings the collation, also to the thread',
  async (driver) => {
    const { folder, file } = create(collated)
    const library = compile(folder)
    if (library === undefined) return
    const { service, send } = serve(
      sqliteStorage(file, { driver, extensions: [library], scanRows: 0 }),
      titles,
    )
    await service.ready()
    expect(await send('POST', 'titles', { title: 'c' })).toMatchObject({ status: 200 })
    expect(await send('GET', 'titles?$count=true&$sort=title')).toMatchObject({
      ...{ count: 3, items: [{ title: 'A' }, { title: 'b' }, { title: 'c' }] },
    })
  },
)
