import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { defineCollection } from '../../../src/definition/collection.ts'
import { integer, text } from '../../../src/definition/field.ts'
import { publishCollection, type PublishedCollection } from '../../../src/definition/published.ts'
import { equal, type StorageQuery } from '../../../src/request/query.ts'
import type { SqliteDriver, SqliteHandle } from '../../../src/entries/sqlite.ts'
import {
  countStatement,
  deleteStatement,
  pageStatement,
  updateStatement,
  type PageShape,
  type StatementText,
} from '../../../src/storage/sqlite/statements/statements.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'

const fields = { owner: text(), city: text(), amount: integer() }
const tables = {
  textKey: defineCollection({ key: 'id', fields: { id: text(), ...fields } }),
  rowIdKey: defineCollection({ key: 'id', fields: { id: integer(), ...fields } }),
  compositeKey: defineCollection({
    key: ['id', 'line'],
    fields: { id: integer(), line: text(), ...fields },
  }),
  withoutRowId: defineCollection({ key: 'id', fields: { id: text(), ...fields } }),
}
type Table = keyof typeof tables
const names = Object.keys(tables) as Table[]
const collections = Object.fromEntries(
  names.map((name) => [name, publishCollection('app', name, tables[name])]),
) as Record<Table, PublishedCollection>

let handle: SqliteHandle

beforeAll(() => {
  handle = openHandle(drivers[0] as SqliteDriver, ':memory:')
  const rest = 'owner TEXT, city TEXT, amount INTEGER'
  handle.exec(`
    CREATE TABLE textKey (id TEXT NOT NULL PRIMARY KEY, ${rest}) STRICT;
    CREATE TABLE rowIdKey (id INTEGER NOT NULL PRIMARY KEY, ${rest}) STRICT;
    CREATE TABLE compositeKey (id INTEGER NOT NULL, line TEXT NOT NULL, ${rest}, PRIMARY KEY (id, line)) STRICT;
    CREATE TABLE withoutRowId (id TEXT NOT NULL PRIMARY KEY, ${rest}) STRICT, WITHOUT ROWID;`)
  for (const name of names) handle.exec(`CREATE INDEX ${name}_owner ON ${name} (owner, city)`)
})

afterAll(() => {
  handle.close()
})

/** The steps of SQLite's plan, in order. */
function planOf({ sql, slots }: StatementText): readonly string[] {
  const values = slots.map(() => null)
  const steps = rowsIn(handle, `EXPLAIN QUERY PLAN ${sql}`, ...values)
  return steps.map((step) => (step as { detail: string }).detail)
}

type Query = Partial<StorageQuery>

function shapeOf(name: Table, query: Query, deep = false): PageShape {
  const { conditions, sort, select, search } = queryOf(collections[name], query)
  return {
    conditions,
    sort,
    select,
    search: search && { fields: search.fields, kind: 'ascii' },
    deep,
  }
}

function pagePlan(name: Table, query: Query, deep = false): readonly string[] {
  const reading = { output: 'rows', checksAll: true, guaranteed: new Map<never, never>() } as const
  return planOf(pageStatement(collections[name], shapeOf(name, query, deep), reading))
}

const byOwner = equal('owner', 'maria')
const queries: Readonly<Record<string, Query>> = {
  'a page': {},
  'a page that a row rule or filter selects by an indexed field': { conditions: [byOwner] },
  'a page that a filter selects by another field': { conditions: [equal('amount', 1)] },
  'a sorted page': { sort: [{ field: 'city', descending: true }] },
  'a searched page': { search: { fields: ['city', 'owner'], text: 'oslo' } },
  'a sorted and searched page of a row rule': {
    conditions: [byOwner],
    search: { fields: ['city'], text: 'oslo' },
    sort: [{ field: 'city', descending: false }],
  },
}
const keySearch: Readonly<Record<Table, string>> = {
  textKey: 'USING INDEX sqlite_autoindex_textKey_1 (id=?)',
  rowIdKey: 'USING INTEGER PRIMARY KEY (rowid=?)',
  compositeKey: 'USING INDEX sqlite_autoindex_compositeKey_1 (id=? AND line=?)',
  withoutRowId: 'USING PRIMARY KEY (id=?)',
}

describe.each(names)('a table with the key form %s', (name) => {
  test.each(Object.entries(queries))(
    '%s beyond 1,000 rows reads its rows by key',
    (_name, query) => {
      const plan = pagePlan(name, query, true)
      const page = plan.findIndex((step) => step.startsWith('SCAN page'))
      expect(page, plan.join('\n')).toBeGreaterThan(0)
      expect(plan[page + 1]).toContain(`SEARCH t ${keySearch[name]}`)
      expect(plan.filter((step) => step.includes('AUTOMATIC'))).toEqual([])
    },
  )

  test.each(Object.entries(queries))('%s has one step on the table', (_name, query) => {
    const steps = pagePlan(name, query).filter((step) => /^(SCAN|SEARCH) /.test(step))
    expect(steps).toHaveLength(1)
    const isIndexed = query.conditions?.includes(byOwner) === true
    const expected = isIndexed ? `SEARCH t USING INDEX ${name}_owner (owner=?)` : 'SCAN t'
    expect(steps[0]?.slice(0, expected.length)).toBe(expected)
  })

  test('a page in the order of the key is not sorted', () => {
    expect(pagePlan(name, {}).join()).not.toContain('TEMP B-TREE')
  })

  test('an item is read, updated and deleted by its key', () => {
    const conditions = collections[name].key.map((field) =>
      equal(field.name, field.name === 'line' ? 'a' : 1),
    )
    expect(pagePlan(name, { conditions })[0]).toContain(`SEARCH t ${keySearch[name]}`)
    const collection = collections[name]
    const guaranteed = new Map<never, never>()
    const shape = (returning: boolean) => ({ names: ['city'], conditions, returning })
    for (const statement of [
      updateStatement(collection, shape(true), guaranteed),
      updateStatement(collection, shape(false), guaranteed),
      deleteStatement(collection, shape(false)),
    ]) {
      expect(planOf(statement)[0]).toContain(`SEARCH ${name} ${keySearch[name]}`)
    }
  })

  test('a count reads an index alone', () => {
    const count = (query: Query): readonly string[] =>
      planOf(countStatement(collections[name], shapeOf(name, query)))
    expect(count({})).toEqual([expect.stringMatching(/^SCAN \w+ USING COVERING INDEX /)])
    expect(count({ conditions: [byOwner] })).toEqual([
      `SEARCH t USING COVERING INDEX ${name}_owner (owner=?)`,
    ])
  })
})
