import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { samples } from '../../../src/conformance/collections.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'
import type {
  Condition,
  PublishedCollection,
  StorageAdapter,
} from '../../../src/entries/storage.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { missingServer, perServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('a stored value of MariaDB', () => {
  let database: TestDatabase
  let storage: StorageAdapter
  beforeAll(async () => {
    database = await testDatabase()
    storage = mysqlStorage(database.pool, { ensureSchema: true })
    await storage.open([samples])
    await database.run(`set sql_mode = ''`)
  })
  afterAll(async () => {
    await storage.close()
    await database.drop()
  })

  async function read(field: string, value: string): Promise<unknown> {
    await database.run(
      'delete from samples',
      `insert into samples (id, \`${field}\`) values (1, ${value})`,
    )
    try {
      const page = await storage.filter(samples, queryOf(samples, { select: ['id', field] }))
      return page.rows[0]?.[field]
    } catch (error) {
      return (error as { readonly kind?: unknown }).kind
    }
  }

  test.each([
    ['quantity', '9007199254740993', 'unfit'],
    ['large', '9223372036854775807', '9223372036854775807'],
    ['amount', '-0', '0.0000'],
    ['ratio', '-0e0', 0],
    ['ratio', '8.41e21', 8.41e21],
    ['ratio', '5e-324', 5e-324],
    ['ratio', '0.1e0 + 0.2e0', 0.1 + 0.2],
    ['ratio', '2.2250738585072014e-308', 2.2250738585072014e-308],
    ['flag', '2', 'unfit'],
    ['flag', '1', true],
    ['day', `'0000-00-00'`, 'unfit'],
    ['day', `'2024-00-10'`, 'unfit'],
    ['day', `'0001-01-01'`, '0001-01-01'],
    ['local', `'0000-00-00'`, 'unfit'],
    ['local', `'2024-01-01 00:00:00.1'`, '2024-01-01T00:00:00.100'],
    ['local', `'2024-01-01 00:00:00'`, '2024-01-01T00:00:00'],
    ['moment', `'0000-00-00'`, 'unfit'],
    ['moment', `'2024-01-01 00:00:00.25'`, '2024-01-01T00:00:00.250Z'],
    ['data', `'{"b": 1,  "a":1e400, "b":2}'`, 'unfit'],
    ['data', `'{"b": 1,  "a":[], "b":2}'`, '{"b": 1,  "a":[], "b":2}'],
  ])('of %s that is %s', async (field, value, expected) => {
    expect(await read(field, value)).toBe(expected)
  })

  test('is read exactly whatever the options of the pool are: 2000 random doubles', async () => {
    const pool = database.open({
      connectionLimit: 1,
      decimalNumbers: true,
      dateStrings: false,
      timezone: '+05:30',
    })
    const own = mysqlStorage(pool)
    await own.open([samples])
    let state = 11
    const next = (): number => (state = (state * 48_271) % 2_147_483_647)
    const ratios = Array.from({ length: 2_000 }, () => {
      const bits = new DataView(new ArrayBuffer(8))
      bits.setUint32(0, next() * 2)
      bits.setUint32(4, next() * 2)
      const value = bits.getFloat64(0)
      return Number.isFinite(value) ? value : 1
    })
    await database.run('delete from samples')
    await own.transaction({ mode: 'write', brief: true }, async (on) => {
      for (const [id, ratio] of ratios.entries()) await on.insert(samples, { id, ratio })
    })
    const query = queryOf(samples, { select: ['ratio'], limit: 2_000 })
    const page = await own.filter(samples, query)
    expect(page.rows.map(({ ratio }) => ratio)).toEqual(ratios)
    await own.close()
  }, 60_000)

  test('of a text is compared, ordered and searched exactly in any collation', async () => {
    const collations = [
      'utf8mb4 collate utf8mb4_general_ci',
      'utf8mb4 collate utf8mb4_bin',
      'latin1 collate latin1_swedish_ci',
      'latin1 collate latin1_german2_ci',
      'utf8mb3 collate utf8mb3_unicode_ci',
      ...perServer({
        MariaDB: ['utf8mb4 collate utf8mb4_uca1400_ai_ci', 'utf8mb4 collate utf8mb4_nopad_bin'],
        MySQL: [
          'utf8mb4 collate utf8mb4_0900_ai_ci',
          'utf8mb4 collate utf8mb4_0900_bin',
          'utf8mb3 collate utf8mb3_general_ci',
        ],
      }),
    ]
    const own = publishCollection(
      'app',
      'words',
      defineCollection({ key: 'id', fields: { id: integer(), word: text() } }),
    )
    for (const collation of collations) {
      await database.run(
        'drop table if exists words',
        `create table words (id int primary key, word varchar(20) character set ${collation}, index (word))`,
        `insert into words values (1, 'a'), (2, 'A'), (3, 'a '), (4, 'é'), (5, 'B'), (6, null), (7, 'a\\t'), (8, '')`,
      )
      const storage2 = mysqlStorage(database.open({ connectionLimit: 1 }))
      await storage2.open([own])
      const found = async (query: Parameters<typeof queryOf>[1]): Promise<unknown> =>
        (await storage2.filter(own, queryOf(own, { select: ['id'], ...query }))).rows.map(
          ({ id }) => id,
        )
      const equal = { field: 'word', is: 'equal', value: 'a' } as const
      expect(await found({ conditions: [equal] }), collation).toEqual([1])
      const list = { field: 'word', is: 'in', values: ['A', 'é', '\u{1f600}'] } as const
      expect(await found({ conditions: [list] }), collation).toEqual([2, 4])
      expect(await found({ conditions: [{ field: 'word', is: 'empty' }] }), collation).toEqual([
        6, 8,
      ])
      const start = { field: 'word', is: 'startsWith', text: 'a' } as const
      expect(await found({ conditions: [start] }), collation).toEqual([1, 3, 7])
      const sort = [{ field: 'word', descending: false }]
      expect(await found({ sort }), collation).toEqual([6, 8, 2, 5, 1, 7, 3, 4])
      const search = { fields: ['word'], text: 'é' }
      expect(await found({ search }), collation).toEqual([4])
      await storage2.close()
    }
  })

  test('of a key refers to exactly its row, whatever the rows before it refer to', async () => {
    const word = text({ maxLength: 9 })
    const [owners, pets] = publishApplications({
      app: {
        collections: {
          owners: defineCollection({ key: 'name', fields: { name: word } }),
          pets: defineCollection({
            key: 'id',
            fields: { id: integer(), owner: text({ maxLength: 9, references: 'owners' }) },
          }),
        },
      },
    }) as [PublishedCollection, PublishedCollection]
    const type = 'varchar(9) collate utf8mb4_general_ci'
    await database.run(
      `create table owners (name ${type} primary key)`,
      `create table pets (id int primary key, owner ${type})`,
      `insert into owners values ('a'), ('b')`,
      `insert into pets values (1, 'a'), (2, 'A'), (3, 'B'), (4, 'b'), (5, null)`,
    )
    const own = mysqlStorage(database.open({ connectionLimit: 1 }))
    await own.open([owners, pets])
    const through: Condition = {
      is: 'through',
      fields: ['owner'],
      collection: owners,
      conditions: [],
    }
    const found = async (condition: Condition): Promise<unknown> =>
      (await own.filter(pets, queryOf(pets, { conditions: [condition], select: ['id'] }))).rows
    expect(await found(through)).toEqual([{ id: 1 }, { id: 4 }])
    expect(await found({ is: 'not', condition: through })).toEqual([
      { id: 2 },
      { id: 3 },
      { id: 5 },
    ])
    await own.close()
  })

  test('of a long text is ordered beyond the first kilobyte', async () => {
    const start = 'x'.repeat(5_000)
    const own = publishCollection(
      'app',
      'long',
      defineCollection({ key: 'id', fields: { id: integer(), body: text() } }),
    )
    const storage2 = mysqlStorage(database.open({ connectionLimit: 1 }), { ensureSchema: true })
    await storage2.open([own])
    await database.run(
      `insert into \`long\` values (1, '${start}c'), (2, '${start}a'), (3, '${start}b')`,
    )
    const sort = [{ field: 'body', descending: false }]
    const page = await storage2.filter(own, queryOf(own, { sort, select: ['id'] }))
    expect(page.rows.map(({ id }) => id)).toEqual([2, 3, 1])
    await storage2.close()
  })

  test('is ordered by the strings before it, however many those are', async () => {
    const names = Array.from({ length: 64 }, (_, at) => `text${at}`)
    const fields = Object.fromEntries(names.map((name) => [name, text()]))
    const wide = publishCollection('app', 'wide', defineCollection({ fields }))
    const storage2 = mysqlStorage(database.open({ connectionLimit: 1 }), { ensureSchema: true })
    await storage2.open([wide])
    const row = Object.fromEntries(names.map((name) => [name, 'same']))
    await storage2.transaction({ mode: 'write', brief: true }, async (on) => {
      for (const text63 of ['b', 'c', 'a']) await on.insert(wide, { ...row, text63 })
      const page = await on.filter(wide, queryOf(wide, { select: ['text63'] }))
      expect(page.rows.map(({ text63 }) => text63)).toEqual(['a', 'b', 'c'])
    })
    await storage2.close()
  })

  test('cannot end a string of SQL', async () => {
    const texts = [`'`, `\\`, `\\'`, `'' or 1=1 -- `, `\\\\' or 1=1 -- `, '?', '??', '\x1a', '"']
    await database.run('delete from samples')
    await storage.transaction({ mode: 'write', brief: true }, async (on) => {
      for (const [id, name] of texts.entries())
        await on.insert(samples, { id, [textField()]: name })
    })
    for (const [id, value] of texts.entries()) {
      const conditions = [{ field: textField(), is: 'equal', value } as const]
      const page = await storage.filter(samples, queryOf(samples, { conditions, select: ['id'] }))
      expect(page.rows).toEqual([{ id }])
    }
  })
})

function textField(): string {
  return samples.fields.find(({ type }) => type === 'text')?.name ?? ''
}
