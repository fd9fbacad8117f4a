import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { date, decimal, defineCollection, integer, text } from '../../../src/index.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../../src/storage/index.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const parents = defineCollection({
  key: 'name',
  fields: { name: text({ column: 'Name' }) },
})
const children = defineCollection({
  key: 'id',
  fields: {
    id: integer({ generated: 'database' }),
    code: text({ column: 'the code', unique: true }),
    first: text(),
    second: text(),
    parent: text({ references: 'parents' }),
    small: integer(),
    amount: decimal({ precision: 4, scale: 2 }),
    day: date(),
  },
  unique: [['first', 'second']],
})
const published = publishApplications({ app: { collections: { parents, children } } })
const child = published.find(({ name }) => name === 'children') as PublishedCollection
const parent = published.find(({ name }) => name === 'parents') as PublishedCollection

const missing = await missingServer()

describe.skipIf(missing !== undefined)('an error of PostgreSQL', () => {
  let schema: TestSchema
  let storage: StorageAdapter

  beforeAll(async () => {
    schema = await testSchema()
    storage = postgresStorage(schema.pool, { ensureSchema: true })
    await storage.open(published)
    await schema.run(`
      alter table children alter column small type smallint;
      alter table children alter column "day" set not null;
      alter table children add constraint positive check (small > 0 and amount > 0);
      create function refuse() returns trigger language plpgsql as $$ begin
        if new.first = 'raise' then raise exception 'refused'; end if;
        if new.first = 'sleep' then perform pg_sleep(5); end if;
        if new.first = 'skip' then return null; end if;
        return new; end $$;
      create trigger refuse before insert on children for each row execute function refuse();
    `)
    await storage.close()
    storage = postgresStorage(schema.pool)
    await storage.open(published)
  })
  beforeEach(async () => {
    await schema.run('delete from children; delete from parents')
    await insert(parent, { name: 'p' })
    await insert(child, row)
  })
  afterAll(async () => {
    await storage.close()
    await schema.drop()
  })

  const row: Row = {
    id: 1,
    code: 'a',
    first: 'x',
    second: 'y',
    parent: 'p',
    small: 1,
    amount: '1.00',
    day: '2024-02-29',
  }

  function insert(collection: PublishedCollection, given: Row): Promise<Row> {
    return storage.transaction({ mode: 'write', brief: true }, (on) => on.insert(collection, given))
  }

  test.each<readonly [string, Row, string, readonly string[]]>([
    ['a key that exists', { id: 1, code: 'b', first: 'z' }, 'duplicate', ['id']],
    ['a unique value that exists', { code: 'a', first: 'z' }, 'duplicate', ['code']],
    ['a unique group that exists', { code: 'b' }, 'duplicate', ['first', 'second']],
    ['a missing referenced row', { code: 'b', first: 'z', parent: 'q' }, 'invalid', ['parent']],
    ['a check', { code: 'b', first: 'z', small: -1 }, 'invalid', ['small', 'amount']],
    ['no value', { code: 'b', first: 'z', day: null }, 'invalid', ['day']],
    ['a number out of range', { code: 'b', first: 'z', small: 70_000 }, 'invalid', []],
    ['an exception of a trigger', { code: 'b', first: 'raise' }, 'invalid', []],
    ['a row that a trigger skips', { code: 'b', first: 'skip' }, 'invalid', []],
    ['a text that is too long for its index', { code: longText(), first: 'z' }, 'invalid', []],
  ])('is converted: %s', async (_, changes, kind, fields) => {
    const given = { ...row, id: null, ...changes }
    await expect(insert(child, given)).rejects.toMatchObject({ kind, fields })
  })

  test('a delete of a referenced row', async () => {
    const remove = storage.transaction({ mode: 'write', brief: true }, (on) =>
      on.delete(parent, [{ field: 'name', is: 'equal', value: 'p' }]),
    )
    await expect(remove).rejects.toMatchObject({ kind: 'referenced' })
  })

  test('a lock that another transaction holds', async () => {
    const quick = postgresStorage(schema.open(), { lockTimeout: 20 })
    await quick.open(published)
    const change = (on: StorageAdapter): Promise<unknown> =>
      on.transaction({ mode: 'write', brief: true }, (inner) =>
        inner.update(child, [{ field: 'id', is: 'equal', value: 1 }], { first: 'new' }),
      )
    await storage.transaction({ mode: 'write', brief: false }, async (on) => {
      await on.update(child, [{ field: 'id', is: 'equal', value: 1 }], { first: 'held' })
      await expect(change(quick)).rejects.toMatchObject({ kind: 'unavailable' })
    })
    await quick.close()
  })

  test('a statement that takes too long', async () => {
    const quick = postgresStorage(schema.open(), { statementTimeout: 1_000 })
    await quick.open(published)
    const slow = quick.transaction({ mode: 'write', brief: true }, (on) =>
      on.insert(child, { ...row, id: 2, first: 'sleep' }),
    )
    await expect(slow).rejects.toMatchObject({ kind: 'unavailable' })
    await quick.close()
  })

  test('a string that PostgreSQL can not represent is refused, and found nowhere', async () => {
    for (const value of ['a\0b', '\ud800']) {
      await expect(insert(child, { ...row, id: 9, code: value })).rejects.toThrow('U+0000')
      const page = await storage.filter(child, {
        conditions: [{ is: 'or', conditions: [{ field: 'code', is: 'equal', value }] }],
        search: null,
        sort: [],
        limit: 10,
        offset: 0,
        select: ['id'],
        count: true,
      })
      expect(page).toEqual({ rows: [], count: 0 })
    }
  })
})

// Random characters, because the server compresses others.
function longText(): string {
  let state = 7
  return Array.from({ length: 9_000 }, () => {
    state = (state * 16_807) % 2_147_483_647
    return String.fromCodePoint(33 + (state % 90))
  }).join('')
}
