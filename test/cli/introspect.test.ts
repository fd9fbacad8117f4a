import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as rowgate from 'rowgate'
import { expect, test } from 'vitest'
import type { ApplicationDefinitions } from '../../src/definition/application.ts'
import {
  createDatabase,
  foreignTool,
  type DatabaseName,
} from '../introspection/foreign-database.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { runAlone } from './command-line.ts'

function open(name: DatabaseName = 'shop') {
  const folder = temporaryFolder()
  const file = join(folder, `${name}.db`)
  createDatabase(name, file)
  return {
    folder,
    execute: (sql: string) => {
      foreignTool.execute(file, sql)
    },
    text: (path: string) => readFileSync(join(folder, path), 'utf8'),
    run: (...line: readonly string[]) =>
      runAlone(['introspect', ...line], { workingFolder: folder }),
  }
}

/** Returns what a definition in TypeScript exports. It contains no types, so it is JavaScript. */
function evaluated(text: string): ApplicationDefinitions {
  const code = text
    .replace(/import (\{[^}]*\}) from 'rowgate'/, 'const $1 = rowgate')
    .replace('export const applications =', 'return')
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the code was written by the command
  const load = new Function('rowgate', code) as (library: object) => ApplicationDefinitions
  return load(rowgate)
}

test.each(['shop', 'forum', 'odd'] as const)(
  'the TypeScript and the JSON of %s are the same definition, which has no mistakes',
  async (name) => {
    const { run } = open(name)
    const [typescript, json] = [await run(`${name}.db`), await run(`${name}.db`, '--json')]
    expect([typescript.code, json.code]).toEqual([0, 0])
    expect(typescript.messages).toBe(json.messages)
    const definition = JSON.parse(json.output) as ApplicationDefinitions
    expect(rowgate.readApplications(definition)).toBeDefined()
    expect(evaluated(typescript.output)).toEqual(definition)
    for (const line of json.messages.split('\n').filter((each) => each !== ''))
      expect(typescript.output).toContain(`// - ${line}\n`)
  },
)

test('a large table is named before it is read', async () => {
  const { execute, run } = open()
  execute(`CREATE TABLE measured (id INTEGER PRIMARY KEY, value REAL);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO measured SELECT i, i / 7.0 FROM n`)
  const { messages, output } = await run('shop.db')
  expect(messages).toMatch(/^measured: reading all rows \(table \d+ of \d+\)\n/m)
  expect(messages.match(/reading all rows/g)).toHaveLength(1)
  expect(output).not.toContain('reading all rows')
})

test('what cannot be published is listed with the reason', async () => {
  const { messages } = await open('odd').run('odd.db')
  const lines = messages.trimEnd().split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      "broken: left out: can't be read: no such table: main.nowhere",
      'full text_data: left out: holds the data of a virtual table',
      'full text: read-only: it is a virtual table',
      'expressions: read-only: it is a view',
      'rowgate_things: left out: a table of rowgate',
      'sqlite_sequence: left out: a table of SQLite',
      'only_blobs: left out: it has no column that can be published',
      'blob_key.id: left out: holds blobs',
      "blob_key: no insert: clients can't set id, which needs a value",
      'no_key: no update and no delete: it has no key that can be published',
      'null_key: no update and no delete: it has no key that can be published',
      'mixed.anything: left out: holds values of several kinds: 1 blob, 1 integer, 1 text',
      'mixed.number: left out: holds values of several kinds: 1 text, 2 integer',
      'names.nul: left out: holds strings with U+0000 or invalid UTF-8',
      'names.bad: left out: holds strings with U+0000 or invalid UTF-8',
      'names.other: is declared VARCHAR(3), but has longer values',
      'untyped.: left out: its name is empty',
      'untyped.__proto__: left out: its name is reserved by JavaScript',
      'таблица.Имя: left out: its name differs from another column only in case',
      'children.missing: reference left out: refers to nowhere, which is not published',
      'children.code: reference left out: refers to null_key, which has no key',
      'children.wrong: reference left out: order has keys of another type',
      'circle_b.a: ON DELETE CASCADE left out: cascades would form a circle',
      'circle_b.c: ON DELETE SET NULL left out: c cannot be null',
    ]),
  )
})

test('a second run lists what has changed, and does not overwrite edits', async () => {
  const { run, text, execute, folder } = open()
  expect(await run('shop.db', '--out', 'shop.json')).toMatchObject({
    code: 0,
    output: 'Wrote 8 collections to shop.json.\n',
  })
  const edited = text('shop.json').replace('"categories": {', '"kinds": {')
  writeFileSync(join(folder, 'shop.json'), edited.replaceAll('"categories"', '"kinds"'))
  const before = text('shop.json')
  expect(await run('shop.db', '--out', 'shop.json')).toMatchObject({
    code: 0,
    output: 'shop.json agrees with the database.\n',
  })
  execute(`
    ALTER TABLE Customers ADD COLUMN Fax VARCHAR(24);
    ALTER TABLE Employees DROP COLUMN Salary;
    CREATE TABLE Regions (RegionID INTEGER PRIMARY KEY);
    CREATE UNIQUE INDEX OneShipper ON Orders (ShipName, OrderID);
    UPDATE Products SET Weight = 1.5, UnitsInStock = 0.5 WHERE ProductID = 1;
  `)
  const changed = await run('shop.db', '--out', 'shop.json')
  expect({ code: changed.code, lines: changed.output.trimEnd().split('\n') }).toEqual({
    code: 1,
    lines: [
      '+ Customers.Fax: new column, text',
      '- Employees.Salary: is not in the database, or left out',
      '~ Orders: unique is none in the definition, ShipName, OrderID in the database',
      '~ Products.UnitsInStock: type is integer in the definition, double in the database',
      '+ Regions: new table',
    ],
  })
  expect(changed.messages).toContain(
    'rowgate: 5 differences. Edit shop.json, or replace it with --force.\n',
  )
  expect(text('shop.json')).toBe(before)
  const json = await run('shop.db', '--out', 'shop.json', '--json')
  expect(json.code).toBe(1)
  expect(JSON.parse(json.output)).toHaveLength(5)
  expect((await run('shop.db', '--out', 'shop.json', '--force')).code).toBe(0)
  expect((await run('shop.db', '--out', 'shop.json')).code).toBe(0)
})

test('a file that is no definition is not replaced', async () => {
  const { run, folder, text } = open()
  writeFileSync(join(folder, 'notes.json'), '{ "milk": 1 }')
  const { code, messages } = await run('shop.db', '--out', 'notes.json')
  expect(code).toBe(1)
  expect(messages).toContain('notes.json exists and cannot be compared: ')
  expect(text('notes.json')).toBe('{ "milk": 1 }')
})

test('a database without tables has an empty definition', async () => {
  const folder = temporaryFolder()
  foreignTool.execute(join(folder, '数据.db'), 'CREATE TABLE t (photo BLOB);')
  const { code, output } = await runAlone(['introspect', '数据.db'], { workingFolder: folder })
  expect(code).toBe(0)
  expect(output).not.toContain('import')
  expect(evaluated(output)).toEqual({ database: { collections: {} } })
})

test('the application is named after the file, or by an option', async () => {
  const { run } = open()
  expect((await run('shop.db')).output).toContain('export const applications = {\n  shop: {')
  const { output } = await run('shop.db', '--application', 'back-office')
  expect(output).toContain("\n  'back-office': {\n")
  expect(await run('shop.db', '--application', 'a b')).toMatchObject({
    code: 2,
    messages: expect.stringContaining('letters, digits and . _ ~ -') as string,
  })
})

test.each([
  [['nothing.db'], 1, 'File not found: nothing.db.'],
  [['text.db'], 1, 'text.db cannot be read: file is not a database'],
  [['shop.db', '--out', 'nowhere/shop.ts'], 1, 'The folder of nowhere/shop.ts does not exist.'],
  [[], 2, 'Missing argument: <database>.'],
  [['shop.db', '--out', 'shop.ts', '--json'], 2, '--json writes JSON'],
  [['shop.db', '--table', 'Nowhere'], 1, 'There is no table Nowhere.'],
  [['shop.db', '--schema', 'sales'], 2, '--schema is for PostgreSQL databases.'],
  [['oracle://u:secret@h/shop'], 2, 'The protocol oracle: is not known.'],
  [['postgres://u:sec:ret@h:1x/shop'], 2, 'The URL of the database is not valid.'],
  [['postgres://u:secret@127.0.0.1:1/shop'], 1, 'postgres://u@127.0.0.1:1/shop cannot be read'],
])('introspect %j fails with %i: %s', async (line, code, message) => {
  const { run, folder } = open()
  writeFileSync(
    join(folder, 'text.db'),
    'This is a text that is longer than the header. '.repeat(9),
  )
  const result = await run(...line)
  expect(result.code).toBe(code)
  expect(result.messages).toContain(message)
  expect(result.messages).not.toMatch(/sec:?ret/)
  expect(existsSync(join(folder, 'shop.ts'))).toBe(false)
})
