import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exactCollations } from '../../src/storage/mysql/dialect.ts'
import { missingServer as missingMariaDb, perServer, testDatabase } from '../kit/mysql.ts'
import { missingServer, testSchema } from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { runStatements, selectRows } from '../storage/sqlite/raw.ts'
import { runAlone } from './command-line.ts'

/** A folder with a definition and a database of the version before. */
function openScene(fields: object, statements: string | undefined) {
  const folder = temporaryFolder()
  const file = join(folder, 'shop.db')
  const items = { key: 'id', fields: { id: { type: 'integer' }, ...fields } }
  writeFileSync(join(folder, 'shop.json'), JSON.stringify({ shop: { collections: { items } } }))
  if (statements !== undefined) runStatements(file, statements)
  const run = (...line: readonly string[]) =>
    runAlone(['schema', line[0] ?? '', 'shop.json', '--storage', 'shop.db', ...line.slice(1)], {
      workingFolder: folder,
    })
  return { folder, file, run }
}

const renamed = { label: { type: 'text', renamedFrom: 'name' }, size: { type: 'integer' } }
const made = `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, old TEXT);
  INSERT INTO items VALUES (1, 'one', 'x')`

test('diff prints the SQL of each change, and the exit code is 1', async () => {
  const { run } = openScene(renamed, made)
  const { code, output, messages } = await run('diff')
  expect(output)
    .toBe(`-- Renames the column "name" of the table "items" to "label". (needs --allow rename)
ALTER TABLE "items" RENAME COLUMN "name" TO "label";

-- Adds the column "size" to the table "items".
ALTER TABLE "items" ADD COLUMN "size" INTEGER CHECK ("size" BETWEEN -9007199254740991 AND 9007199254740991);

-- Drops the column "old" of the table "items", which the definition does not name. (needs --allow drop)
ALTER TABLE "items" DROP COLUMN "old";

`)
  expect({ code, messages }).toEqual({
    code: 1,
    messages: 'rowgate: The database does not fit the definition.\n',
  })
})

test('apply makes what loses nothing, and names the option for the rest', async () => {
  const { run, folder, file } = openScene(renamed, made)
  const { code, output } = await run('apply')
  expect(output).toBe(`Adds the column "size" to the table "items".
Made 1 change of shop.db.
Not made without --allow rename: Renames the column "name" of the table "items" to "label".
Not made without --allow drop: Drops the column "old" of the table "items", which the definition does not name.
`)
  expect(code).toBe(1)
  expect(selectRows(file, 'SELECT name, old, size FROM items')).toEqual([['one', 'x', null]])
  expect(readdirSync(folder).sort()).toEqual(['shop.db', 'shop.json'])
})

test('apply with --allow copies the file first, and then the database fits', async () => {
  const { run, folder, file } = openScene(renamed, made)
  const { code, output } = await run('apply', '--allow', 'rename', '--allow', 'drop')
  const copy = join(folder, 'shop.db.20260301T093000Z')
  expect(code).toBe(0)
  expect(output).toContain(`The file as it was: ${copy}\n`)
  expect(selectRows(copy, 'SELECT * FROM items')).toEqual([[1, 'one', 'x']])
  expect(selectRows(file, 'SELECT * FROM items')).toEqual([[1, 'one', null]])
  expect(await run('diff')).toMatchObject({
    code: 0,
    output: 'The database fits the definition.\n',
  })
})

test('apply creates the database, and diff does not', async () => {
  const { run, file } = openScene(renamed, undefined)
  expect(await run('diff')).toMatchObject({
    code: 1,
    messages: 'rowgate: File not found: shop.db.\n',
  })
  expect(existsSync(file)).toBe(false)
  expect(await run('apply')).toMatchObject({ code: 0 })
  expect(await run('diff')).toMatchObject({ code: 0 })
})

test('--json prints the changes as JSON', async () => {
  const { run } = openScene(renamed, made)
  const { output } = await run('diff', '--json')
  expect(JSON.parse(output)).toMatchObject({
    changes: [{ kind: 'rename' }, { kind: 'add' }],
    left: [{ kind: 'drop', table: 'items' }],
    mistakes: [],
  })
})

test('rows that do not fit leave the database unchanged', async () => {
  const { run, file } = openScene(
    { name: { type: 'integer' } },
    "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT) STRICT; INSERT INTO items VALUES (1, 2), (2, NULL), (3, 'x')",
  )
  const { code, messages } = await run('apply', '--allow', 'rebuild')
  expect(code).toBe(1)
  expect(messages).toContain(', which copies the table. This failed, and nothing was changed: ')
  expect(selectRows(file, 'SELECT name FROM items')).toEqual([['2'], [null], ['x']])
})

test('the mistakes of a definition are listed', async () => {
  const { run } = openScene({ name: { type: 'txt' } }, made)
  const { code, messages } = await run('diff')
  expect(code).toBe(1)
  expect(messages).toContain('applications.shop.collections.items.fields.name')
})

test('an unknown kind is invalid usage', async () => {
  const { run } = openScene(renamed, made)
  const { code, messages } = await run('apply', '--allow', 'everything')
  expect(code).toBe(2)
  expect(messages).toContain('--allow must be one of rename, rebuild, drop, nulls, require, order.')
})

const missing = await missingServer()

describe.skipIf(missing !== undefined)('for PostgreSQL', () => {
  async function openPostgres(statements: string) {
    const { folder } = openScene(renamed, undefined)
    const schema = await testSchema()
    await schema.run(statements)
    const { host, port, user, database } = schema.address
    const url = `postgres://${user}:secret@${host}:${port}/${database}`
    const shown = `postgres://${user}@${host}:${port}/${database}`
    const run = (command: string, ...line: readonly string[]) =>
      runAlone(
        ['schema', command, 'shop.json', '--storage', url, '--schema', schema.name, ...line],
        { workingFolder: folder },
      )
    return { schema, shown, run }
  }

  const items = `create table items (id bigint primary key, name text, old text);
    insert into items values (1, 'one', 'x')`

  test('diff and apply print what they print for SQLite', async () => {
    const { schema, shown, run } = await openPostgres(items)
    try {
      expect(await run('diff')).toMatchObject({
        code: 1,
        messages: 'rowgate: The database does not fit the definition.\n',
        output: `-- Renames the column "name" of the table "items" to "label". (needs --allow rename)
ALTER TABLE "items" RENAME COLUMN "name" TO "label";

-- Adds the column "size" to the table "items".
ALTER TABLE "items" ADD COLUMN "size" bigint;

-- Drops the column "old" of the table "items", which the definition does not name. (needs --allow drop)
ALTER TABLE "items" DROP COLUMN "old";

`,
      })
      expect(await run('apply')).toMatchObject({
        code: 1,
        output: `Adds the column "size" to the table "items".
Made 1 change of ${shown}.
Not made without --allow rename: Renames the column "name" of the table "items" to "label".
Not made without --allow drop: Drops the column "old" of the table "items", which the definition does not name.
`,
      })
      expect(await run('apply', '--allow', 'rename', '--allow', 'drop')).toMatchObject({ code: 0 })
      expect(await schema.run('select * from items')).toEqual([
        { id: '1', label: 'one', size: null },
      ])
      expect(await run('diff')).toMatchObject({
        code: 0,
        output: 'The database fits the definition.\n',
      })
    } finally {
      await schema.drop()
    }
  })

  test('a change that the server rejects undoes the others, and --copy is invalid usage', async () => {
    const { schema, run } = await openPostgres(
      'create table items (id bigint primary key, label int); create view labels as select label from items',
    )
    try {
      const { code, messages } = await run('apply', '--allow', 'rebuild')
      expect(code).toBe(1)
      expect(messages).toContain(', which copies the table. This failed, and nothing was changed: ')
      expect(await schema.run('select * from items')).toEqual([])
      expect((await run('diff')).output).toContain('Adds the column "size" to the table "items".')
      const copied = await run('apply', '--copy', 'before.db')
      expect(copied).toMatchObject({ code: 2 })
      expect(copied.messages).toContain('--copy is for SQLite files.')
    } finally {
      await schema.drop()
    }
  })
})

describe.skipIf((await missingMariaDb()) !== undefined)('for MariaDB', () => {
  test('diff and apply print what they print for SQLite', async () => {
    const { folder } = openScene(renamed, undefined)
    const database = await testDatabase()
    const { host, port, user, password } = database.address
    const url = `mysql://${user}:${password}@${host}:${port}/${database.name}`
    const run = (command: string, ...line: readonly string[]) =>
      runAlone(['schema', command, 'shop.json', '--storage', url, ...line], {
        workingFolder: folder,
      })
    try {
      await database.run(
        `create table items (id bigint primary key, name longtext collate ${perServer(exactCollations)}, old text)`,
        "insert into items values (1, 'one', 'x')",
      )
      expect(await run('diff')).toMatchObject({
        code: 1,
        messages: 'rowgate: The database does not fit the definition.\n',
        output: `-- Renames the column \`name\` of the table \`items\` to \`label\`. (needs --allow rename)
ALTER TABLE \`items\` RENAME COLUMN \`name\` TO \`label\`;

-- Adds the column \`size\` to the table \`items\`.
ALTER TABLE \`items\` ADD COLUMN \`size\` bigint;

-- Drops the column \`old\` of the table \`items\`, which the definition does not name. (needs --allow drop)
ALTER TABLE \`items\` DROP COLUMN \`old\`;

`,
      })
      expect(await run('apply', '--copy', 'before.db')).toMatchObject({ code: 2 })
      expect(await run('apply', '--allow', 'rename', '--allow', 'drop')).toMatchObject({ code: 0 })
      expect(await database.run('select * from items')).toEqual([
        { id: 1, label: 'one', size: null },
      ])
      expect(await run('diff')).toMatchObject({
        code: 0,
        output: 'The database fits the definition.\n',
      })
    } finally {
      await database.drop()
    }
  })
})
