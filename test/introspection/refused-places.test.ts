import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createService, defineCollection, openAccess, text } from 'rowgate'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { runAlone } from '../cli/command-line.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { address as mysqlAddress, missingServer as missingMariaDb } from '../kit/mysql.ts'
import { address, missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'

const { host, port, user, database } = address
const postgresUrl = `postgres://${user}@${host}:${port}/${database}`

test.skipIf((await missingPostgres()) !== undefined).each(['pg_catalog', 'information_schema'])(
  'the schema %s of PostgreSQL is not published',
  async (schema) => {
    expect(await runAlone(['introspect', postgresUrl, '--schema', schema])).toMatchObject({
      code: 1,
      messages: `rowgate: The schema ${schema} is one of the server. Its tables are not published.\n`,
    })
  },
)

test.skipIf((await missingMariaDb()) !== undefined).each(['mysql', 'information_schema', 'sys'])(
  'the database %s of MariaDB is not published',
  async (name) => {
    const url = `mysql://${mysqlAddress.user}:${encodeURIComponent(mysqlAddress.password)}@${mysqlAddress.host}:${mysqlAddress.port}/${name}`
    expect(await runAlone(['introspect', url])).toMatchObject({
      code: 1,
      messages: `rowgate: The database ${name} is one of the server. Its tables are not published.\n`,
    })
  },
)

test('a folder is named as such', async () => {
  const workingFolder = temporaryFolder()
  mkdirSync(join(workingFolder, 'shop'))
  expect(await runAlone(['introspect', 'shop'], { workingFolder })).toMatchObject({
    code: 1,
    messages: 'rowgate: shop is a folder.\n',
  })
  expect(() => sqliteStorage(join(workingFolder, 'shop'))).toThrow(/shop is a folder/)
})

describe('a SQLite file in UTF-16', () => {
  test('is rejected, because SQLite orders its strings by their bytes', async () => {
    const workingFolder = temporaryFolder()
    const file = join(workingFolder, 'shop.db')
    const handle = openHandle(drivers[0] as (typeof drivers)[number], file)
    handle.exec(`pragma encoding = 'UTF-16le'; create table words (word text not null primary key);
      insert into words values ('b'), ('\u0101'), ('a')`)
    handle.close()
    const words = defineCollection({ key: 'word', fields: { word: text() } })
    const service = createService({
      applications: { shop: { collections: { words } } },
      storage: sqliteStorage(file),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    const message =
      'the encoding of the database is UTF-16le, whose strings SQLite does not order by code point. Copy it to a file with UTF-8: sqlite3 old.db .dump | sqlite3 new.db'
    await expect(service.ready()).rejects.toThrow(`sqliteStorage: ${message}`)
    expect(await service.inspect()).toMatchObject([{ kind: 'table', message }])
    expect(await runAlone(['introspect', 'shop.db'], { workingFolder })).toMatchObject({
      code: 1,
      messages: `rowgate: shop.db cannot be read: ${message}\n`,
    })
  })
})

test.skipIf((await missingPostgres()) !== undefined)(
  'the notes of a table without a key do not mention single items',
  async () => {
    const { name, run, drop } = await testSchema()
    onTestFinished(drop)
    await run('create table logs (data jsonb); create table keyed (id int primary key, data jsonb)')
    const { messages } = await runAlone(['introspect', postgresUrl, '--schema', name, '--json'])
    expect(messages).toMatch(/^keyed\.data: read-only, and only in single items: jsonb/m)
    expect(messages).toMatch(/^logs\.data: read-only: jsonb .* replace readOnly with storedAs/m)
  },
)
