import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import {
  date,
  decimal,
  defineCollection,
  double,
  instant,
  integer,
  text,
  uuid,
  type CollectionDefinition,
} from '../../../src/entries/index.ts'
import { searchText, type StorageAdapter } from '../../../src/storage/adapter.ts'
import { readTables } from '../../../src/schema/postgres/catalogue.ts'
import { connections } from '../../../src/storage/postgres/connection.ts'
import { completePostgres } from '../../../src/storage/postgres/options.ts'
import { sql } from '../../../src/storage/sql/fragments.ts'
import { pageStatement } from '../../../src/storage/sql/statements.ts'
import { postgresSchema, postgresStorage } from '../../../src/entries/postgres.ts'
import { foldedLetters } from '../../../src/storage/sql/folded-letters.ts'
import { schemaPool, missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()

const data = {
  key: 'id',
  table: 'notes',
  fields: {
    id: integer(),
    name: text(),
    note: text(),
    amount: decimal({ precision: 9, scale: 2 }),
    token: uuid(),
    day: date(),
    at: instant(),
    ratio: double({ search: true }),
  },
} as const
const indexed = publishCollection('app', 'notes', defineCollection({ ...data, search: 'indexed' }))
const plain = publishCollection('app', 'notes', defineCollection(data))
const signs = Array.from(
  'aabbciİıkK\u212asSßΣςσÉée\u0301\u0307Å\u212bx%_*"\'\\é1-. აᲐꭰᎠ𐐀𐐨😀\n\uf8ff',
)
const some = (maxLength: number) =>
  fc.array(fc.constantFrom(...signs), { maxLength }).map((characters) => characters.join(''))

describe.skipIf(missing !== undefined)('the search index of PostgreSQL', () => {
  let schema: TestSchema
  let withIndexPool: ReturnType<typeof schemaPool>
  let withIndex: StorageAdapter
  let without: StorageAdapter
  beforeAll(async () => {
    schema = await testSchema()
    withIndexPool = schemaPool(`${schema.name} -c enable_seqscan=off -c jit=off`, 1)
    withIndex = postgresStorage(withIndexPool, { ensureSchema: true })
    await withIndex.open([indexed])
    without = postgresStorage(schema.open(2))
    await without.open([plain])
  })
  afterAll(async () => {
    await Promise.all([withIndex.close(), without.close()])
    await withIndexPool.end()
    await schema.drop()
  })

  async function find(needle: string, changes: PartialQuery = {}): Promise<readonly unknown[]> {
    const search = { fields: indexed.searchNames, text: searchText(needle) }
    const query = { search, limit: 100_000, count: true, ...changes }
    const expected = await without.filter(plain, queryOf(plain, query))
    expect(await withIndex.filter(indexed, queryOf(indexed, query))).toEqual(expected)
    return expected.rows.map(({ id }) => id)
  }

  test('searches find the same rows as without it', async () => {
    await schema.clear()
    const names = fc.sample(some(9), { numRuns: 300 })
    await withIndex.transaction({ mode: 'write', brief: false }, async (open) => {
      for (const [id, name] of names.entries()) {
        const row = { id, name, note: names[id + 1] ?? null, amount: null }
        await open.insert(indexed, { ...row, token: null, day: null, at: null, ratio: null })
      }
    })
    const property = fc.asyncProperty(some(7), fc.nat(), async (needle, at) => {
      await find(needle)
      await find(
        Array.from(names[at % names.length] ?? '')
          .slice(at % 3, (at % 3) + 5)
          .join(''),
      )
    })
    await fc.assert(property, { numRuns: 100 })
  }, 60_000)

  test('every letter that folds is found by its fold', { timeout: 60_000 }, async () => {
    await schema.clear()
    const letters = [...foldedLetters()].flatMap(([fold, others]) => [fold, ...others])
    const texts = letters.flatMap((letter) => [letter.repeat(3), `ab${letter}cd`, `c${letter}abc`])
    await schema.run(
      `insert into notes (id, name) select n, v from unnest(array[${texts
        .map((value) => `'${value.replaceAll("'", "''")}'`)
        .join(',')}]) with ordinality as u (v, n)`,
    )
    const folded = texts.map(searchText)
    for (const [index, fold] of [...foldedLetters().keys()].entries()) {
      const needle = [`ab${fold}cd`, `${fold}abc`, fold.repeat(3)][index % 3] as string
      const search = { fields: ['name'], text: needle }
      const { rows } = await withIndex.filter(indexed, queryOf(indexed, { search, limit: 10_000 }))
      const expected = folded.flatMap((value, at) => (value.includes(needle) ? [at + 1] : []))
      expect([needle, rows.map(({ id }) => id)]).toEqual([needle, expected])
    }
  })

  test('values of every type are found by their text, with any sort and page', async () => {
    await schema.clear()
    await schema.run(`insert into notes values
      (12345, 'one', 'x', -12.5, null, '2024-02-29', '2024-02-29T12:30:00Z', 1e21),
      (2, 'two', null, 123.45, '01234567-89ab-cdef-0123-456789abcdef', null, null, 0.1),
      (3, 'THREE one', null, null, null, '1999-12-31', '2024-02-29T12:30:00.12Z', 5)`)
    expect(await find('234')).toEqual([2, 12345])
    expect([await find('12.5'), await find('89AB-c')]).toEqual([[12345], [2]])
    expect([await find('-02-29'), await find('12:30:00.12')]).toEqual([[3, 12345], [3]])
    expect([await find('1e+21'), await find('0.1'), await find('00z')]).toEqual([
      [12345],
      [2, 3],
      [12345],
    ])
    const sort = [
      { field: 'name', descending: true },
      { field: 'id', descending: false },
    ]
    expect(await find('one', { sort, limit: 1, offset: 1 })).toEqual([3])
  })

  test('rare strings are found with the index', async () => {
    await schema.clear()
    await schema.run(`insert into notes (id, name, note, token)
      select n, 'name ' || n, 'many', gen_random_uuid() from generate_series(1, 20000) n`)
    await schema.run('vacuum analyze notes')
    const own = connections(schema.pool, completePostgres({}))
    const plan = await own.use(async (connection) => {
      const search = { fields: ['id', 'name', 'note', 'token'], text: 'nowhere' }
      const query = queryOf(indexed, { search, limit: 10 })
      const page = pageStatement(await readTables(connection, [indexed]), indexed, query)
      return connection.rows({ ...page, sql: sql`explain ${page.sql}` })
    })
    await own.close()
    expect(plan.join('\n')).toMatch(/Bitmap Index Scan on rowgate_search_/)
    const read = async (text: string) => {
      const search = { fields: ['name'], text }
      await withIndex.filter(indexed, queryOf(indexed, { search, limit: 10 }))
    }
    for (let times = 0; times < 8; times++) await read(`name ${times}`)
    // A prepared statement would have one plan for all texts.
    const named = `select count(*)::int as n from pg_prepared_statements where statement like '%collate "C.utf8" ~%'`
    expect((await withIndexPool.query<{ n: number }>(named)).rows).toEqual([{ n: 0 }])
    expect(await find('name 1999')).toHaveLength(11)
    expect(await find('many', { limit: 3, count: false })).toEqual([1, 2, 3])
  })

  test('columns of existing tables are found with it, but for those that no index can have', async () => {
    await schema.run(`create type mood as enum ('glad', 'sad');
      create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      create table pets (id int primary key, code char(12), loose text collate loose, short varchar(20), rate numeric,
        mood mood, host inet);
      insert into pets select n, 'code ' || n, 'Loose ' || n, 'short ' || n, n + 0.5, 'glad', '10.0.0.1'
        from generate_series(1, 20000) n;
      update pets set mood = 'sad', host = '10.0.0.2' where id = 7`)
    const pets = publishCollection(
      'app',
      'pets',
      defineCollection({
        key: 'id',
        search: 'indexed',
        fields: {
          id: integer(),
          code: text({ maxLength: 12, storedAs: 'char' }),
          loose: text(),
          short: text({ maxLength: 20 }),
          rate: decimal({ precision: 12, scale: 2 }),
          mood: text({ enumeration: ['glad', 'sad'] }),
          host: text({ readOnly: true }),
        },
      }),
    )
    const storage = postgresStorage(schema.open(1), { ensureSchema: true })
    await storage.open([pets])
    await schema.run('vacuum analyze pets')
    const own = connections(schema.pool, completePostgres({}))
    const isIndexed = async (needle: string, ...fields: readonly string[]): Promise<boolean> => {
      const query = queryOf(pets, { search: { fields, text: needle }, limit: 100 })
      const { rows } = await storage.filter(pets, query)
      expect([needle, rows.map(({ id }) => id)]).toEqual([needle, [7]])
      const plan = await own.use(async (connection) => {
        const page = pageStatement(await readTables(connection, [pets]), pets, query)
        return connection.rows({ ...page, sql: sql`explain ${page.sql}` })
      })
      return plan.join('\n').includes('Index Scan on rowgate_search_')
    }
    await schema.run(
      `update pets set code = 'rare', loose = 'Seldom', short = 'Unique', rate = 0.12 where id = 7`,
    )
    expect(await isIndexed('rare', 'code')).toBe(true)
    expect(await isIndexed('seldom', 'loose')).toBe(true)
    expect(await isIndexed('unique', 'code', 'loose', 'short')).toBe(true)
    expect(await isIndexed('0.12', 'rate')).toBe(true)
    expect(await isIndexed('sad', 'mood')).toBe(false)
    expect(await isIndexed('0.0.2', 'host')).toBe(false)
    await own.close()
    await storage.close()
  })

  test('a missing index is reported, and one for other fields is replaced', async () => {
    const names = async () => {
      const rows = await schema.run(
        `select indexname as n from pg_indexes where schemaname = '${schema.name}' and indexname like 'rowgate%'`,
      )
      return rows.map(({ n }) => n)
    }
    const other = (changes: Partial<CollectionDefinition>) =>
      publishApplications({
        app: {
          collections: { books: { key: 'id', fields: { id: text(), name: text() }, ...changes } },
        },
      })
    const open = async (changes: Partial<CollectionDefinition>, ensureSchema: boolean) => {
      const storage = postgresStorage(schema.open(1), { ensureSchema })
      await storage.open(other(changes))
      await storage.close()
    }
    await open({}, true)
    const before = await names()
    await expect(open({ search: 'indexed' }, false)).rejects.toThrow(
      /table "books" lacks its search index.*\nCREATE INDEX IF NOT EXISTS "rowgate_search_/,
    )
    await open({ search: 'indexed' }, true)
    await open({ search: 'indexed' }, false)
    const [first] = (await names()).filter((name) => !before.includes(name))
    const fields = { id: text(), name: text({ search: false }) }
    await expect(open({ search: 'indexed', fields }, false)).rejects.toThrow('DROP INDEX')
    await open({ search: 'indexed', fields }, true)
    const after = (await names()).filter((name) => !before.includes(name))
    expect(after).toHaveLength(1)
    expect(after).not.toContain(first)
    await schema.run('create view pages as select * from books')
    const view = { table: 'pages', publishes: ['Filter'] } as const
    await expect(open({ ...view, search: 'indexed' }, false)).rejects.toThrow(
      `app/books: table "pages" is not a table, and has no search index. Leave out search: 'indexed'.`,
    )
  })

  test('postgresSchema contains the statements', () => {
    const books = { key: 'id', fields: { id: integer(), name: text() }, search: 'indexed' } as const
    const created = postgresSchema({ app: { collections: { books } } })
    expect(created).toContain('\nCREATE EXTENSION IF NOT EXISTS pg_trgm;\n')
    expect(created).toMatch(
      /ON "books" USING gin \(\("id"::text\) COLLATE "C.utf8" gin_trgm_ops, \("name"\) COLLATE/,
    )
  })
})
