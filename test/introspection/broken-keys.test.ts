import { join } from 'node:path'
import { createService, openAccess, principal, readApplications } from 'rowgate'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { exerciseAll } from './exercised-database.ts'
import { foreignTool } from './foreign-database.ts'
import { publishFile } from './published-database.ts'

const tables = `
  PRAGMA foreign_keys = OFF;
  CREATE TABLE parent (id INTEGER PRIMARY KEY, code TEXT, name TEXT);
  CREATE TABLE wide (a INTEGER, b INTEGER, note TEXT, PRIMARY KEY (a, b));
  CREATE TABLE plain (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent);
  CREATE TABLE missing (id INTEGER PRIMARY KEY, other INTEGER REFERENCES nowhere (id), note TEXT);
  CREATE TABLE not_unique (id INTEGER PRIMARY KEY, code TEXT REFERENCES parent (code) DEFERRABLE INITIALLY DEFERRED, note TEXT);
  CREATE TABLE wrong_number (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES wide, note TEXT);
  CREATE TABLE wrong_column (id INTEGER PRIMARY KEY, x INTEGER REFERENCES plain (absent));
  INSERT INTO parent VALUES (1, 'a', 'one');
  INSERT INTO wide VALUES (1, 2, 'w');
  INSERT INTO plain VALUES (1, 1);
  INSERT INTO missing VALUES (1, 5, 'm');
  INSERT INTO not_unique VALUES (1, 'a', 'n');
  INSERT INTO wrong_number VALUES (1, 1, 'w');
  INSERT INTO wrong_column VALUES (1, 1);`

function create(change = ''): string {
  const folder = temporaryFolder()
  foreignTool.execute(join(folder, 'keys.db'), tables + change)
  return folder
}

test('what SQLite cannot check is not published, with the way out, and the rest works', async () => {
  const folder = create()
  const published = await publishFile(folder, 'keys')
  await exerciseAll(published)
  const publishes = Object.entries(published.collections).map(([name, each]) => [
    name,
    each.publishes,
  ])
  expect(Object.fromEntries(publishes)).toEqual({
    parent: ['Filter', 'Update'],
    // SQLite checks the foreign keys to a table only for an insert that returns the row.
    wide: ['Filter', 'Insert', 'Update'],
    plain: ['Filter'],
    missing: ['Filter', 'Update'],
    'not-unique': ['Filter', 'Update'],
    'wrong-number': ['Filter', 'Update'],
    'wrong-column': ['Filter'],
  })
  const { missing, parent } = published.collections
  expect(missing?.fields['other']).toMatchObject({ readOnly: true })
  expect(parent?.fields['code']).toMatchObject({ readOnly: true })
  const out = 'remove the foreign key, or set the option foreignKeys of sqliteStorage to false'
  const reasons = {
    missing: `SQLite can't check the foreign key ("other") of "missing" to "nowhere": the table "nowhere" does not exist. Create it, ${out}`,
    code: `SQLite can't check the foreign key ("code") of "not_unique" to "parent": ("code") of "parent" is not unique. Create an index with CREATE UNIQUE INDEX "parent_code" ON "parent" ("code");, ${out}`,
    number: `SQLite can't check the foreign key ("a") of "wrong_number" to "wide": it has another number of columns than the primary key of "wide", which has 2. Name the columns of "wide", ${out}`,
    column: `SQLite can't check the foreign key ("x") of "wrong_column" to "plain": "plain" has no column "absent". Add it, ${out}`,
  }
  expect(published.notes).toEqual(
    expect.arrayContaining([
      `missing: no insert and no delete: ${reasons.missing}`,
      `missing.other: read-only: ${reasons.missing}`,
      `parent: no insert and no delete: ${reasons.code}`,
      `not_unique: no insert and no delete: ${reasons.code}`,
      `wrong_number: no insert and no delete: ${reasons.number}`,
      `wide: no delete: ${reasons.number}`,
      `wrong_column: read-only: ${reasons.column}`,
      `plain: read-only: ${reasons.column}`,
    ]),
  )
})

test('the index of the note makes the foreign key work', async () => {
  const folder = create('CREATE UNIQUE INDEX "parent_code" ON "parent" ("code");')
  const { collections } = await publishFile(folder, 'keys')
  expect(collections['not-unique']?.publishes).toBeUndefined()
  expect(collections['parent']?.publishes).toBeUndefined()
})

const applications = readApplications({
  shop: {
    collections: {
      missing: {
        key: 'id',
        fields: { id: { type: 'integer' }, other: { type: 'integer' }, note: { type: 'text' } },
      },
      parent: {
        key: 'id',
        publishes: ['Filter', 'Update'],
        fields: { id: { type: 'integer' }, code: { type: 'text' }, name: { type: 'text' } },
      },
    },
  },
})

function open(foreignKeys?: boolean) {
  const file = join(create(), 'keys.db')
  const service = createService({
    applications,
    storage: sqliteStorage(file, { ...(foreignKeys !== undefined && { foreignKeys }) }),
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  return { service, file }
}

test('a start and a check list what fails for every item', async () => {
  const { service } = open()
  const expected = [
    /^shop\/missing: Insert fails for every item: SQLite can't check the foreign key .*; or leave Insert out of publishes\.$/m,
    /^shop\/missing\.other: an update of it fails: .*; or set readOnly: true\.$/m,
    /^shop\/missing: Delete fails for every item: /m,
    /^shop\/parent\.code: an update of it fails: .* is not unique/m,
  ]
  const failure = String(await service.ready().catch((error: unknown) => error)).replaceAll(
    '- ',
    '',
  )
  for (const line of expected) expect(failure).toMatch(line)
  const messages = (await service.inspect()).map(({ message }) => message)
  for (const line of expected) expect(messages).toContainEqual(expect.stringMatching(line))
  expect(messages).toHaveLength(expected.length)
})

test('a start accepts inserts into the table of a broken foreign key, if no value is read back', async () => {
  const start = (b: object) => {
    const service = createService({
      applications: readApplications({
        shop: {
          collections: {
            wide: {
              key: ['a', 'b'],
              publishes: ['Filter', 'Insert', 'Update'],
              fields: { a: { type: 'integer' }, b: { type: 'integer' }, note: b },
            },
          },
        },
      }),
      storage: sqliteStorage(join(create(), 'keys.db')),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    return service
  }
  const service = start({ type: 'text' })
  await service.ready()
  expect(await service.inspect()).toEqual([])
  const wide = service.as(principal('any')).collection('shop', 'wide')
  expect(await wide.insert({ a: 3, b: 4 })).toMatchObject({ item: { a: 3, b: 4, note: null } })
  await expect(start({ type: 'text', default: 'database' }).ready()).rejects.toThrow(
    'shop/wide: Insert fails for every item: ',
  )
})

test('without foreign keys, every item can be written', async () => {
  const { service } = open(false)
  await service.ready()
  expect(await service.inspect()).toEqual([])
  const missing = service.as(principal('any')).collection('shop', 'missing')
  expect(await missing.insert({ id: 2, other: 9, note: null })).toMatchObject({ item: { id: 2 } })
  await missing.delete(2)
})
