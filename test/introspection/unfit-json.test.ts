import { createService, openAccess } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { perServer } from '../kit/mysql.ts'
import { databaseKinds, emptyDatabase, introspected, type DatabaseKind } from './empty-databases.ts'

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

// How each database is made to accept the JSON, and the field that a column with it is.
const accepting = {
  SQLite: {
    fallback: { type: 'text' },
    create: () => statements((column) => `text check (json_valid(${column}))`),
  },
  PostgreSQL: {
    fallback: { type: 'text', readOnly: true },
    create: () => statements(() => 'json'),
  },
  MariaDB: {
    fallback: { type: 'text' },
    create: () => [
      `set sql_mode = 'NO_BACKSLASH_ESCAPES'`,
      // JSON_VALID of MariaDB rejects some of it.
      perServer({ MariaDB: 'set check_constraint_checks = 0', MySQL: 'select 1' }),
      ...statements((column) => `longtext check (json_valid(${column}))`),
    ],
  },
}

/** Creates the tables in a database, and introspects it. */
async function open(kind: DatabaseKind, context: TestContext, more: readonly string[] = []) {
  const { folder, database } = await emptyDatabase(kind, context)
  await database.run(...accepting[kind.name].create(), ...more)
  return { database, ...(await introspected(database, folder)) }
}

describe.each(databaseKinds)('JSON of $name', (kind) => {
  describe('that no field can have', () => {
    test('makes its column text, so that its page can be read', async (context) => {
      const { database, collections, messages } = await open(kind, context)
      const fields = collections['notes']?.fields ?? {}
      const names = (types: object): readonly string[] => Object.keys(types)
      const fieldOf = (column: string): unknown =>
        Object.values(fields).find((field) => field.column === `${column}_`)
      expect(names(unfit).map((name) => [name, fieldOf(name)])).toMatchObject(
        names(unfit).map((name) => [name, accepting[kind.name].fallback]),
      )
      expect(names(fit).map((name) => [name, fieldOf(name)])).toMatchObject(
        names(fit).map((name) => [name, { type: 'json' }]),
      )
      expect(messages).toContain('notes.deep_: ')
      expect(messages).toContain('some values are not JSON that a field can have')
      const service = createService({
        applications: { shop: { collections } },
        storage: database.storage(),
        security: openAccess(),
      })
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

test.for(databaseKinds.filter(({ name }) => name === 'PostgreSQL'))(
  'jsonb with a number that no field can have is read-only text',
  async (kind, context) => {
    const { folder, database } = await emptyDatabase(kind, context)
    await database.run(
      `create table notes (id integer primary key, large jsonb, small jsonb)`,
      `insert into notes values (1, '[1e400]', '[1e300]'), (2, null, null)`,
    )
    const { collections } = await introspected(database, folder)
    expect(collections['notes']?.fields).toMatchObject({
      large: { type: 'text', readOnly: true },
      small: { type: 'json', readOnly: true, itemOnly: true },
    })
    const service = createService({
      applications: { shop: { collections } },
      storage: database.storage(),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    expect(await service.inspect()).toEqual([])
  },
)

describe.each(databaseKinds.slice(1))('much JSON of $name', (kind) => {
  const { name } = kind
  test('that may not fit is read in batches', async (context) => {
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
    const { collections } = await open(kind, context, [
      `create table fitting (id integer not null primary key, doc ${type})`,
      rows('fitting'),
      `create table other (id integer not null primary key, doc ${type})`,
      rows('other'),
      `update other set doc = '["1", 1e400]' where id = 30`,
    ])
    expect(collections['fitting']?.fields['doc']).toMatchObject({ type: 'json' })
    expect(collections['other']?.fields['doc']).toMatchObject(accepting[name].fallback)
  }, 60_000)
})
