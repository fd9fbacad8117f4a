import { join } from 'node:path'
import { createService, defineCollection, integer, openAccess, text } from 'rowgate'
import { describe, expect, onTestFinished, test } from 'vitest'
import { describeSqlite } from '../../src/schema/describe/sqlite/describe-sqlite.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'
import { mount } from '../../src/storage/mount/mount.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { connectionOf } from '../../src/storage/sqlite/connection/open.ts'
import { slowViews } from '../../src/storage/sqlite/reading/slow-views.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { missingServer as missingMariaDb, numbersTable, testDatabase } from '../kit/mysql.ts'
import { missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'

const limit = 1_500

/** Creates a storage of a database after statements. */
type Open = (statements: readonly string[]) => Promise<StorageAdapter>

const databases = [
  {
    name: 'SQLite',
    missing: undefined,
    integer: 'integer',
    // Its first row takes as long as all of them.
    slow: `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1e15)
      select count(*) as id, 1 as size from n`,
    broken: 'select id, missing(size) as size from items',
    // The columns of this one can't be read, either.
    lost: 'select id, size from nowhere',
    open: (async (statements) => {
      const file = join(temporaryFolder(), 'shop.db')
      const handle = openHandle(drivers[0] as (typeof drivers)[number], file)
      for (const statement of statements) handle.exec(statement)
      handle.close()
      return sqliteStorage(file, { scanTimeout: limit })
    }) satisfies Open,
  },
  {
    name: 'PostgreSQL',
    missing: await missingPostgres(),
    integer: 'bigint',
    slow: 'select 1::bigint as id, length(pg_sleep(100)::text)::bigint as size',
    broken: 'select id, size / (id - id) as size from items',
    lost: 'select id, size / (id - id) as size from items',
    open: (async (statements) => {
      const { run, pool, drop } = await testSchema()
      onTestFinished(drop)
      await run(statements.join(';'))
      return postgresStorage(pool, { statementTimeout: limit })
    }) satisfies Open,
  },
  {
    name: 'MariaDB',
    missing: await missingMariaDb(),
    integer: 'bigint',
    slow: '',
    broken: 'select id, (select i.size from items as i) as size from items',
    lost: 'select id, size from gone',
    open: (async (statements) => {
      const { run, pool, drop } = await testDatabase()
      onTestFinished(drop)
      await run('create table gone (id bigint, size bigint)', ...statements, 'drop table gone')
      return mysqlStorage(pool, { statementTimeout: limit })
    }) satisfies Open,
  },
]

const fields = { id: integer(), size: integer() }
const readOnly = { publishes: ['Filter'], fields } as const
const collections = {
  broken: defineCollection(readOnly),
  lost: defineCollection(readOnly),
  slow: defineCollection({ key: 'id', ...readOnly }),
  uses: defineCollection({
    key: 'id',
    fields: { id: integer(), size: integer({ references: 'slow' }) },
  }),
  items: defineCollection({ key: 'id', fields }),
}

describe.each(databases)('a check of $name', ({ name, missing, open, ...own }) => {
  test.skipIf(missing !== undefined)(
    'names views that are broken or take too long, and goes on',
    async () => {
      const numbers = name === 'MariaDB' ? numbersTable(5_000) : ''
      const slow =
        name === 'MariaDB'
          ? `select count(*) as id, 1 as size from ${[1, 2, 3, 4].map((at) => `${numbers} as n${at}`).join(' cross join ')}`
          : own.slow
      const type = `(id ${own.integer} not null primary key, size ${own.integer})`
      const storage = await open([
        `create table items ${type}`,
        `insert into items values (1, 1), (2, 9007199254740993)`,
        `create table uses ${type}`,
        `insert into uses values (1, 7), (2, 9007199254740993)`,
        `create view slow as ${slow}`,
        `create view broken as ${own.broken}`,
        `create view lost as ${own.lost}`,
      ])
      const service = createService({
        applications: { shop: { collections } },
        storage,
        security: openAccess(),
      })
      onTestFinished(() => service.close())
      const began = performance.now()
      const problems = await service.inspect()
      expect(performance.now() - began).toBeLessThan(10 * limit)
      const rows = problems.filter(
        ({ kind, message }) => kind === 'unfit' || message.includes("can't be read"),
      )
      expect(rows.map(({ collection, fields: names }) => [collection, ...names])).toEqual([
        ['shop/broken'],
        ['shop/lost'],
        ['shop/slow'],
        ['shop/uses', 'size'],
        ['shop/items', 'size'],
      ])
    },
    30_000,
  )
})

test('introspection of SQLite leaves a view out that takes too long', async () => {
  const file = join(temporaryFolder(), 'shop.db')
  const handle = openHandle(drivers[0] as (typeof drivers)[number], file)
  handle.exec(`create table items (id integer primary key);
    create view few as select id, count(*) as size from items group by id;
    create view slow as ${databases[0]?.slow ?? ''}`)
  handle.close()
  const { tables, leftOut } = await describeSqlite(file, undefined, limit)
  expect(tables.map((table) => table.name)).toEqual(['few', 'items'])
  expect(leftOut).toEqual([
    { name: 'slow', reason: `can't be read: it takes longer than ${limit} ms` },
  ])
})

describe.each(drivers)('the views of a file, with %s', (driver) => {
  function openFile(statements: string) {
    const file = join(temporaryFolder(), 'shop.db')
    const handle = openHandle(driver, file)
    onTestFinished(() => void handle.close())
    handle.exec(statements)
    return { file, connection: connectionOf(handle) }
  }
  const slow = { name: 'slow', columns: ['id', 'size'] }

  test('may have names that together are longer than an argument of a process', async () => {
    const names = Array.from({ length: 80 }, (_, at) => `${'x'.repeat(2_000)}${at}`)
    const columns = names.map((name) => `1 as ${name}`).join(', ')
    const { connection } = openFile(`create view slow as ${databases[0]?.slow ?? ''};
      create view wide as select ${columns}`)
    const views = [slow, { name: 'wide', columns: names }]
    expect(await slowViews(connection, views, 2 * limit)).toEqual(['slow'])
  })

  test('do not count as slow while another program locks the file', async () => {
    const { file, connection } = openFile(
      'create table items (id, size); create view slow as select id, size from items',
    )
    const other = openHandle(driver, file)
    onTestFinished(() => void other.close())
    other.exec('begin exclusive')
    expect(await slowViews(connection, [slow], limit)).toEqual([])
  })
})

test.skipIf(databases[1]?.missing !== undefined)(
  'a check finds a view of PostgreSQL whose strings cannot be computed',
  async () => {
    const [, database] = databases
    const storage = await (database as (typeof databases)[number]).open([
      'create table words (id integer primary key, word text)',
      `insert into words values (1, 'a')`,
      'create view failing as select id, chr(-id) as word from words',
    ])
    const failing = defineCollection({ publishes: ['Filter'], fields: { word: text() } })
    const service = createService({
      applications: { shop: { collections: { failing } } },
      storage,
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    expect(await service.inspect()).toMatchObject([
      { kind: 'table', message: expect.stringMatching(/^its rows can't be read: /) as string },
    ])
  },
)

describe('a check of several storages', () => {
  const words = defineCollection({ key: 'id', fields: { id: integer() } })
  const uses = defineCollection({
    key: 'id',
    fields: { id: integer(), word: integer({ references: 'words' }) },
  })
  const broken = (): StorageAdapter => ({
    ...memoryStorage(),
    filter: () => Promise.reject(new Error('the report takes too long')),
  })

  test('names the collections of a view that cannot be read, and continues', async () => {
    for (const failing of [
      broken(),
      { ...memoryStorage(), inspect: () => Promise.reject(new Error('the report takes too long')) },
    ]) {
      const service = createService({
        applications: { shop: { collections: { words, uses, others: words } } },
        storage: mount({ 'shop/words': failing, '*': memoryStorage() }),
        security: openAccess(),
      })
      expect(await service.inspect()).toMatchObject([
        {
          collection: 'shop/words',
          kind: 'table',
          message: "its rows can't be read: the report takes too long",
        },
      ])
      await service.close()
    }
  })
})
