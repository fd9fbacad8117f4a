import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createService, openAccess, type ApplicationDefinitions } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { StorageAdapter } from '../../src/storage/index.ts'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { runAlone } from '../cli/stage.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import {
  address as mysqlAddress,
  missingServer as missingMariaDb,
  perServer,
  testDatabase,
} from '../kit/mysql.ts'
import { address, missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'

/** A database with tables that another program has made. */
interface Foreign {
  /** What `rowgate introspect` names it. */
  readonly line: readonly string[]
  storage(): StorageAdapter
}

// JSON of the standard that no field of type json can have, but that each of the databases accepts.
const unfit: Readonly<Record<string, string>> = {
  large: '1e400',
  digits: `[1${'0'.repeat(320)}]`,
  nul: '{"a": "\\u0000"}',
  name: '{"\\u0000": 1}',
  surrogate: '["\\ud800"]',
  halves: '["\\udc00\\ud800"]',
  deep: `${'['.repeat(33)}${']'.repeat(33)}`,
}
// What looks like it in the statements that search for it.
const fit: Readonly<Record<string, string>> = {
  pair: '["\\ud83d\\ude00"]',
  escaped: '"\\\\u0000 1e400 \\\\ud800"',
  small: '[1e-400, 1e307]',
  brackets: JSON.stringify('['.repeat(40)),
  siblings: `[${'[],'.repeat(40)}{}]`,
}

function statements(type: (column: string) => string): readonly string[] {
  const all = Object.entries({ ...unfit, ...fit })
  const columns = all.map(([name]) => `${name}_ ${type(`${name}_`)}`)
  const literal = (text: string): string => `'${text}'`
  return [
    `create table notes (id integer not null primary key, ${columns.join()})`,
    `insert into notes values (1, ${all.map(() => literal('{"a":1}')).join()}),
      (2, ${all.map(([, text]) => literal(text)).join()}), (3, ${all.map(() => 'null').join()})`,
  ]
}

const databases = [
  {
    name: 'SQLite',
    missing: undefined,
    fallback: { type: 'text' },
    open: async (more: readonly string[] = []): Promise<Foreign> => {
      const file = join(temporaryFolder(), 'shop.db')
      writeFileSync(file, '')
      const handle = openHandle(drivers[0] as (typeof drivers)[number], file)
      for (const each of [...statements((column) => `text check (json_valid(${column}))`), ...more])
        handle.exec(each)
      handle.close()
      return { line: [file], storage: () => sqliteStorage(file) }
    },
  },
  {
    name: 'PostgreSQL',
    missing: await missingPostgres(),
    fallback: { type: 'text', readOnly: true },
    open: async (more: readonly string[] = []): Promise<Foreign> => {
      const { name, run, pool, drop } = await testSchema()
      onTestFinished(drop)
      await run([...statements(() => 'json'), ...more].join(';'))
      const { host, port, user, database } = address
      return {
        line: [`postgres://${user}@${host}:${port}/${database}`, '--schema', name],
        storage: () => postgresStorage(pool),
      }
    },
  },
  {
    name: 'MariaDB',
    missing: await missingMariaDb(),
    fallback: { type: 'text' },
    open: async (more: readonly string[] = []): Promise<Foreign> => {
      const { name, run, pool, drop } = await testDatabase()
      onTestFinished(drop)
      await run(
        `set sql_mode = 'NO_BACKSLASH_ESCAPES'`,
        // JSON_VALID of MariaDB rejects some of it.
        perServer({ MariaDB: 'set check_constraint_checks = 0', MySQL: 'select 1' }),
        ...statements((column) => `longtext check (json_valid(${column}))`),
        ...more,
      )
      const { host, port, user, password } = mysqlAddress
      return {
        line: [`mysql://${user}:${encodeURIComponent(password)}@${host}:${port}/${name}`],
        storage: () => mysqlStorage(pool),
      }
    },
  },
]

describe.each(databases)('JSON of $name', ({ missing, fallback, open }) => {
  describe.skipIf(missing !== undefined)('that no field can have', () => {
    test('makes its column text, so that its page can be read', async () => {
      const { line, storage } = await open()
      const { output, code, messages } = await runAlone([
        ...['introspect', ...line],
        ...['--json', '--application', 'shop'],
      ])
      expect(code).toBe(0)
      const applications = JSON.parse(output) as ApplicationDefinitions
      const fields = applications['shop']?.collections['notes']?.fields ?? {}
      const names = (types: object): readonly string[] => Object.keys(types)
      const fieldOf = (column: string): unknown =>
        Object.values(fields).find((field) => field.column === `${column}_`)
      expect(names(unfit).map((name) => [name, fieldOf(name)])).toMatchObject(
        names(unfit).map((name) => [name, fallback]),
      )
      expect(names(fit).map((name) => [name, fieldOf(name)])).toMatchObject(
        names(fit).map((name) => [name, { type: 'json' }]),
      )
      expect(messages).toContain('notes.deep_: ')
      expect(messages).toContain('some values are not JSON that a field can have')
      const service = createService({ applications, storage: storage(), security: openAccess() })
      onTestFinished(() => service.close())
      expect(await service.inspect()).toEqual([])
      const handle = toFetchHandler(service)
      const response = await handle(new Request('http://localhost/rest/v1/shop/notes'))
      const page = (await response.json()) as { readonly items: readonly object[] }
      expect({ status: response.status, items: page.items.length }).toEqual({
        status: 200,
        items: 3,
      })
      const shown = JSON.stringify(page.items[1])
      for (const text of Object.values(unfit)) expect(shown).toContain(JSON.stringify(text))
    })
  })
})

test.skipIf((await missingPostgres()) !== undefined)(
  'jsonb with a number that no field can have is read-only text',
  async () => {
    const { name, run, pool, drop } = await testSchema()
    onTestFinished(drop)
    await run(`create table notes (id integer primary key, large jsonb, small jsonb);
      insert into notes values (1, '[1e400]', '[1e300]'), (2, null, null)`)
    const { host, port, user, database } = address
    const { output, code } = await runAlone([
      ...['introspect', `postgres://${user}@${host}:${port}/${database}`, '--schema', name],
      ...['--json', '--application', 'shop'],
    ])
    expect(code).toBe(0)
    const applications = JSON.parse(output) as ApplicationDefinitions
    expect(applications['shop']?.collections['notes']?.fields).toMatchObject({
      large: { type: 'text', readOnly: true },
      small: { type: 'json', readOnly: true, itemOnly: true },
    })
    const storage = postgresStorage(pool)
    const service = createService({ applications, storage, security: openAccess() })
    onTestFinished(() => service.close())
    expect(await service.inspect()).toEqual([])
  },
)

describe.each(databases.slice(1))('much JSON of $name', ({ name, missing, fallback, open }) => {
  test.skipIf(missing !== undefined)(
    'that may not fit is read in batches',
    async () => {
      // Each row is doubtful. Together they are more than one batch.
      const rows = (table: string): string => {
        const size = 'repeat(cast(id as char(2)), 300000)'
        const text =
          name === 'PostgreSQL'
            ? `('["\\ud83d\\ude00", "' || repeat(id::text, 300000) || '"]')::json`
            : `concat('["', char(92 using utf8mb4), 'ud83d', char(92 using utf8mb4), 'ude00", "', ${size}, '"]')`
        const ids =
          name === 'PostgreSQL'
            ? 'select generate_series(10, 49) as id'
            : `with recursive n(id) as (select 10 union all select id + 1 from n where id < 49) select id from n`
        return `insert into ${table} select id, ${text} from (${ids}) as ids`
      }
      const type = name === 'PostgreSQL' ? 'json' : 'longtext check (json_valid(doc))'
      const { line } = await open([
        `create table fitting (id integer not null primary key, doc ${type})`,
        rows('fitting'),
        `create table other (id integer not null primary key, doc ${type})`,
        rows('other'),
        `update other set doc = '["1", 1e400]' where id = 30`,
      ])
      const { output, code } = await runAlone([
        ...['introspect', ...line],
        ...['--json', '--application', 'shop'],
      ])
      expect(code).toBe(0)
      const { collections = {} } = (JSON.parse(output) as ApplicationDefinitions)['shop'] ?? {}
      expect(collections['fitting']?.fields['doc']).toMatchObject({ type: 'json' })
      expect(collections['other']?.fields['doc']).toMatchObject(fallback)
    },
    60_000,
  )
})
