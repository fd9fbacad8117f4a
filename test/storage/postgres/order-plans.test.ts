import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'
import { positionFields, rangesAfter } from '../../../src/request/keyset.ts'
import type { Condition, SortField } from '../../../src/request/query.ts'
import { readTables } from '../../../src/schema/postgres/catalogue.ts'
import type { TextRow } from '../../../src/storage/pool/connection.ts'
import { connections } from '../../../src/storage/postgres/connection.ts'
import { joinedReads } from '../../../src/storage/postgres/joined.ts'
import { completePostgres } from '../../../src/storage/postgres/options.ts'
import { raw, sql } from '../../../src/storage/sql/fragments.ts'
import { pageStatement } from '../../../src/storage/sql/statements.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()

const people = publishCollection(
  'app',
  'people',
  defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      name: text(),
      city: text(),
      rank: integer(),
      state: text({ required: true }),
      score: integer(),
      age: integer(),
    },
  }),
)

const towns = publishCollection(
  'app',
  'towns',
  defineCollection({ key: 'id', fields: { id: integer(), state: text() } }),
)

const jobs = publishCollection(
  'app',
  'jobs',
  defineCollection({ key: 'id', fields: { id: integer(), state: text() } }),
)

const tasks = publishCollection(
  'app',
  'tasks',
  defineCollection({ key: 'id', fields: { id: integer(), owner: integer(), kind: text() } }),
)

interface Plan {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

/** Returns how many rows a plan has read from tables. */
function rowsRead({ Plans: inner = [], ...plan }: Plan): number {
  const own = /^(Seq|Index|Bitmap Heap)/.test(plan['Node Type'])
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0
  return inner.reduce((sum, each) => sum + rowsRead(each), own)
}

// The rows of a page, and those of a tenth of the table that are skipped before them.
const few = 1_500

const up = (field: string): SortField => ({ field, descending: false })
const down = (field: string): SortField => ({ field, descending: true })

const usual = ['set plan_cache_mode = auto']
const anyValues = ['set plan_cache_mode = force_generic_plan']
// Then the rows of an index are expected to be far from each other, so that many of them cost more than a sort of all.
const littleMemory = [...anyValues, "set effective_cache_size = '8kB'"]

describe.skipIf(missing !== undefined)('a page of PostgreSQL with ordinary indexes', () => {
  let schema: TestSchema
  beforeAll(async () => {
    schema = await testSchema()
    await schema.run(`create table people (id bigint primary key, name text collate "POSIX", city text collate "und-x-icu",
        rank bigint, state text collate "C" not null, score bigint, age bigint);
      insert into people select n, case when n % 10 > 0 then 'n' || n end, case when n % 7 > 0 then 'c' || n % 300 end,
        case when n % 3 > 0 then n * 7919 % 20000 end, 's' || n % 4, case when n % 5 > 0 then n * 31 % 5000 end, n % 90
      from generate_series(1, 20000) as n;
      create index on people (name); create index on people (city); create index on people (city collate "C", id); create index on people (rank desc);
      create index on people (state, score, id);
      analyze people;
      create table towns (id bigint primary key, state text collate "C", notes text);
      insert into towns select n, 's' || n % 200, repeat('x', 150) from generate_series(1, 2000) as n;
      create index on towns (state);
      create table jobs (id bigint primary key, state text collate "C");
      insert into jobs select n, case when n % 5000 = 7 then 'rare' else 'usual' end from generate_series(1, 20000) as n;
      create index on jobs (state);
      analyze jobs;
      create table tasks (id bigint primary key, owner bigint, kind text collate "C");
      create index on tasks (owner, id); create index on tasks (owner, kind);
      analyze towns`)
  })
  afterAll(() => schema.drop())

  /** Returns the number of rows that the statement of a page reads. */
  async function read(
    given: PartialQuery,
    { joined = 0, collection = people, settings = usual } = {},
  ): Promise<number> {
    const own = connections(schema.pool, completePostgres({}))
    const [[text] = []] = await own.use(async (connection) => {
      const query = queryOf(collection, { limit: 10, ...given })
      const page = pageStatement(await readTables(connection, [collection]), collection, query)
      const read = joined === 0 ? page : joinedReads(Array.from({ length: joined }, () => page))
      await connection.command(...settings)
      const explained = sql`${raw('explain (analyze, format json)')} ${read.sql}`
      const plan = await connection.rows({ ...read, sql: explained })
      await connection.command('reset plan_cache_mode', 'reset effective_cache_size')
      return plan
    })
    await own.close()
    const [{ Plan: plan }] = JSON.parse(text as string) as [{ readonly Plan: Plan }]
    return rowsRead(plan)
  }

  const inState: Condition = { field: 'state', is: 'equal', value: 's1' }

  describe.each<readonly [string, readonly SortField[], readonly Condition[]]>([
    ['the key', [], []],
    ['the key in the other direction', [down('id')], []],
    ['a nullable column', [up('name')], []],
    ['a nullable column in the other direction', [down('name')], []],
    ['a column and the key of its index', [up('city')], []],
    ['both in the other direction', [down('city'), down('id')], []],
    ['a descending index', [up('rank')], []],
    ['a descending index in its direction', [down('rank')], []],
    ['two columns', [up('name'), down('rank')], []],
    ['a column after one with one value', [up('score')], [inState]],
    [
      'a column after one with one value, which is part of the order',
      [up('state'), down('score')],
      [inState],
    ],
    [
      'a column with a condition on another one',
      [down('name')],
      [{ field: 'age', is: 'gte', value: 40 }],
    ],
    [
      'a column of which a range is read',
      [down('name')],
      [{ field: 'name', is: 'gt', value: 'n5' }],
    ],
    ['a column that is null', [up('city')], [{ field: 'city', is: 'equal', value: null }]],
    [
      'a column that is not null',
      [down('city')],
      [{ is: 'not', condition: { field: 'city', is: 'equal', value: null } }],
    ],
  ])('in the order of %s', (_, sort, conditions) => {
    test.each<readonly [string, PartialQuery]>([
      ['first', {}],
      ['further', { offset: 10 }],
    ])('reads few rows for the %s page', async (__, page) => {
      expect(await read({ sort, conditions, ...page })).toBeLessThan(few)
      expect(await read({ sort, conditions, ...page }, { joined: 3 })).toBeLessThan(3 * few)
    })

    test.each<readonly [string, PartialQuery]>([
      ['first', {}],
      ['further', { offset: 10 }],
    ])('reads few rows for the %s page by a plan for any values', async (__, page) => {
      const query = { sort, conditions, ...page }
      expect(await read(query, { settings: anyValues })).toBeLessThan(few)
      expect(await read(query, { settings: anyValues, joined: 3 })).toBeLessThan(3 * few)
    })

    test('reads few rows of a table that does not fit into memory', async () => {
      const query = { sort, conditions }
      // Rows that are equal in the first column, and are then sorted, may be a tenth of the table.
      expect(await read(query, { settings: littleMemory })).toBeLessThan(3_000)
      expect(await read(query, { settings: littleMemory, joined: 3 })).toBeLessThan(9_000)
    })

    // The position of a field with one value bounds no range of the next one.
    if (sort[0]?.field === 'state') return
    test('reads few rows for a page after a cursor', async () => {
      const { sort: complete } = queryOf(people, { sort })
      // A position has the value that a condition demands.
      const isFree = (one: Condition): boolean =>
        'field' in one && sort.every(({ field }) => field !== one.field)
      const fields = positionFields(people, complete)
      const bound = { id: 7_000, name: 'n7', city: 'c7', rank: 7_000, state: 's1', score: 100 }
      for (const value of [true, false]) {
        const values = fields.map(({ field: { name, inKey } }) =>
          value || inKey ? bound[name as keyof typeof bound] : null,
        )
        for (const range of rangesAfter(fields, values)) {
          const all = [...conditions.filter(isFree), ...range]
          expect(await read({ sort, conditions: all })).toBeLessThan(few)
        }
      }
    })
  })

  /** Returns how often the statements of a page, alone and with others, are planned for any values and for their own. */
  async function planned(given: PartialQuery, collection = people): Promise<readonly TextRow[]> {
    const own = connections(schema.pool, completePostgres({}))
    const found = await own.use(async (connection) => {
      const tables = await readTables(connection, [collection])
      const page = pageStatement(tables, collection, queryOf(collection, { limit: 10, ...given }))
      const [[since] = []] = await connection.rows({
        sql: raw('select clock_timestamp()'),
        values: [],
      })
      for (let run = 0; run < 12; run++) {
        await connection.rows(page)
        // Another number of reads is the same statement.
        await connection.rows(joinedReads(Array.from({ length: 2 + (run % 3) }, () => page)))
      }
      const plans = `select generic_plans, custom_plans from pg_prepared_statements where prepare_time >= '${since}'`
      return connection.rows({ sql: raw(plans), values: [] })
    })
    await own.close()
    return found
  }

  const item: PartialQuery = { conditions: [{ field: 'id', is: 'equal', value: 7 }], limit: 1 }
  test.each<readonly [string, PartialQuery]>([
    ['an item', item],
    [
      'an item with a further condition',
      { ...item, conditions: [...(item.conditions ?? []), inState] },
    ],
    ['the first page', {}],
    ['a further page', { offset: 10, limit: 7 }],
    ['a page in the order of a nullable column', { sort: [up('name')], offset: 10 }],
    [
      'a page with a condition without index',
      { conditions: [{ field: 'age', is: 'gte', value: 40 }] },
    ],
    [
      'a page with a condition on the field of its order',
      { sort: [up('rank')], conditions: [{ field: 'rank', is: 'gt', value: 7 }] },
    ],
    [
      'a page whose index has its condition and its order',
      { sort: [up('score')], conditions: [inState], offset: 10 },
    ],
    ['a page with a count', { count: true, offset: 10 }],
  ])('plans the statement of %s once, however often it runs', async (_, given) => {
    // The server plans for the values of the first five runs, to see whether that pays.
    expect(await planned(given)).toEqual([
      ['6', '5'],
      ['6', '5'],
    ])
  })

  test.each<readonly [string, PartialQuery]>([
    ['a page with a condition whose index has another order', { conditions: [inState] }],
    [
      'a page with such a condition beside others',
      { conditions: [{ is: 'and', conditions: [inState, { field: 'age', is: 'gt', value: 1 }] }] },
    ],
    [
      'a page with two conditions, each with an index',
      { sort: [up('score')], conditions: [inState, { field: 'name', is: 'equal', value: 'n7' }] },
    ],
    [
      'a page whose index has its order, but another collation than its condition',
      { conditions: [{ field: 'city', is: 'equal', value: 'c7' }] },
    ],
    ['the count of a condition', { sort: [up('score')], conditions: [inState], count: true }],
  ])('plans the statement of %s for its values each time', async (_, given) => {
    expect(await planned(given)).toEqual([])
  })

  test('knows that an index finds a value after another one', async () => {
    const owned: Condition = { field: 'owner', is: 'equal', value: 7 }
    const inKind: Condition = { field: 'kind', is: 'equal', value: 'a' }
    const onTasks = (conditions: readonly Condition[]) => planned({ conditions }, tasks)
    expect(await onTasks([owned])).toHaveLength(2)
    expect(await onTasks([inKind])).toHaveLength(2)
    expect(await onTasks([owned, inKind])).toEqual([])
  })

  test('reads few rows for a rare value and for a frequent one, alone and in one statement', async () => {
    const uneven = (state: string): PartialQuery => ({
      conditions: [{ field: 'state', is: 'equal', value: state }],
    })
    for (const state of ['rare', 'usual', 'none']) {
      expect(await read(uneven(state), { collection: jobs })).toBeLessThan(few)
      expect(await read(uneven(state), { collection: jobs, joined: 3 })).toBeLessThan(3 * few)
    }
  })

  test('counts rows, but sorts none', async () => {
    const sort = [up('name')]
    expect(await read({ sort, count: true })).toBeLessThan(20_000 + few)
    expect(await read({ sort, count: true, offset: 10 })).toBeLessThan(20_000 + few)
  })

  test('reads few rows of a small table, also by a plan for any values', async () => {
    const conditions: readonly Condition[] = [{ field: 'state', is: 'equal', value: 's7' }]
    const generic = { collection: towns, settings: anyValues }
    expect(await read({ conditions }, generic)).toBeLessThan(30)
    expect(await read({ conditions }, { ...generic, joined: 3 })).toBeLessThan(90)
    expect(await read({ conditions, offset: 5 }, generic)).toBeLessThan(30)
  })
})
