import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  json,
  openAccess,
  text,
  type ApplicationDefinitions,
  type Field,
} from '../../../src/entries/index.ts'
import type { StorageAdapter, StorageProblem } from '../../../src/entries/storage.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

const customers = defineCollection({
  key: 'id',
  fields: { id: text(), email: text({ unique: true }), data: json() },
})
const orders = defineCollection({
  key: 'id',
  fields: { id: integer(), customer: text({ references: 'customers' }), size: integer() },
})
const applications = { shop: { collections: { customers, orders } } }

/** A database of a server whose tables are inspected. */
export interface InspectedDatabase {
  /** Creates a storage of the database. */
  storage(): StorageAdapter
  /** Runs statements. A backslash in a string is one character. */
  run(statements: readonly string[]): Promise<unknown>
  /** Removes every table and view. */
  empty(): Promise<void>
  drop(): Promise<void>
}

/** A column, its field, and literals of SQL, some of which are not values of the field. */
export type OddColumn = readonly [declared: string, field: Field, ...literals: readonly string[]]

/** What differs between databases. */
export interface InspectionCases {
  open(): Promise<InspectedDatabase>
  /** The type of a text that may be a key, and that ignores case where the database allows it. */
  readonly textType: string
  readonly jsonType: string
  /** The expression of the integers from 1 to n, and what follows FROM. */
  numbers(n: number): readonly [number: string, from: string]
  /** Updates what the server knows of the number of rows of a table. */
  analyze(table: string): string
  /** The statements of a table `items`, and the problems of its rows, each with its fields and its count. */
  readonly known: {
    readonly statements: readonly string[]
    readonly fields: Readonly<Record<string, Field>>
    readonly problems: readonly string[]
  }
  readonly columns: Readonly<Record<string, OddColumn>>
}

/** JSON that every database accepts in a column of JSON, and that is not always a value of a field. */
export const oddJson: readonly string[] = [
  ...['1', '"a"', 'null', ' {"a": [1, 2.5e-300], "a": {}} ', '1e308', '1e309', '-1e999', '1e-999'],
  ...['"\\u0000"', '{"\\u0000": 1}', '"\\ud800"', '"\\udfff\\ud800"', '"\\ud83d\\ude00"'],
  ...['"\\\\ud800"', '"\\\\\\ud800"', `1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`],
  ...[31, 32, 33, 34].flatMap((depth) => [
    `${'['.repeat(depth)}${']'.repeat(depth)}`,
    `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    JSON.stringify('['.repeat(depth)),
  ]),
].map((text) => `'${text}'`)

/** Tests that a server finds the problems of its rows with statements. */
export function testInspection(cases: InspectionCases): void {
  const { textType, jsonType, known, columns } = cases
  let database: InspectedDatabase
  beforeAll(async () => {
    database = await cases.open()
  })
  afterEach(() => database.empty())
  afterAll(() => database.drop())

  async function problemsOf(
    storage: StorageAdapter,
    definitions: ApplicationDefinitions = applications,
    progress?: (rows: number, total: number) => void,
  ): Promise<readonly StorageProblem[]> {
    const service = createService({ applications: definitions, storage, security: openAccess() })
    try {
      return await service.inspect((_, rows, total) => progress?.(rows, total))
    } finally {
      await service.close()
    }
  }

  /** Returns the problems that statements find, and those that reading all rows finds. */
  async function bothWays(
    definitions: ApplicationDefinitions,
  ): Promise<readonly (readonly StorageProblem[])[]> {
    const storage = database.storage()
    expect(storage.inspect).toBeDefined()
    const { inspect: _, ...plain } = database.storage()
    return [await problemsOf(storage, definitions), await problemsOf(plain, definitions)]
  }

  test('have the same problems as tables of SQLite', async () => {
    const statements = (id: string, data: string): readonly string[] => [
      `create table customers (id ${id} not null, email ${id}, data ${data}, primary key (id))`,
      `create table orders (id bigint, customer ${id}, size bigint)`,
      `insert into customers values ('a', 'x', '{}'), ('b', 'x', '["\\u00e9"]'), ('c', 'x', 'null'), ('d', 'y', '1e9'), ('é''', 'Y', null)`,
      `insert into orders values (1, 'a', 9007199254740991), (2, 'z', 9007199254740992), (3, null, -9007199254740993), (4, 'zz', null),
        (4, 'A', 1), (7, 'é''', 1)`,
    ]
    const handle = openHandle(drivers[0] as (typeof drivers)[number], ':memory:')
    handle.exec(statements('text', 'text').join(';'))
    await database.run(statements(textType, jsonType))
    const rowsOf = (problems: readonly StorageProblem[]): readonly StorageProblem[] =>
      problems.filter(({ kind }) => kind !== 'table')
    const found = rowsOf(await problemsOf(database.storage()))
    expect(found).toEqual(rowsOf(await problemsOf(sqliteStorage(handle))))
    expect(
      found.map(({ kind, fields, count, examples }) => [kind, ...fields, count, examples]),
    ).toEqual([
      ['duplicate', 'email', 2, [`'x': 3 items`]],
      ['unfit', 'size', 2, ['2: 9007199254740992', '3: -9007199254740993']],
      ['duplicate', 'id', 1, ['4: 2 items']],
      ['reference', 'customer', 3, [`2: 'z'`, `4: 'zz'`, `4: 'A'`]],
    ])
  })

  test('have the same problems as if all of them are read', async () => {
    await database.run([...known.statements, 'create view seen as select * from items'])
    const read = defineCollection({
      key: 'id',
      publishes: ['Filter'],
      table: 'seen',
      fields: known.fields,
    })
    const brief = (problems: readonly StorageProblem[]) =>
      problems.map(({ kind, fields, count }) => [kind, fields.join(), count].join(' ')).toSorted()
    const [own, plain] = await bothWays({ shop: { collections: { read } } })
    expect(brief(own ?? [])).toEqual(brief(plain ?? []))
    expect(brief(own ?? [])).toEqual(known.problems)
  })

  test('have the same problems with the same examples: random values', async () => {
    const declared = Object.entries(columns).map(([name, [type]]) => `${name} ${type}`)
    const fields = Object.fromEntries(
      Object.entries(columns).map(([name, [, field]]) => [name, field]),
    )
    const items = defineCollection({ key: 'id', fields: { id: integer(), ...fields } })
    const values = fc.tuple(
      ...Object.values(columns).map(([, , ...literals]) => fc.constantFrom('NULL', ...literals)),
    )
    const keyOf = (example: string): string =>
      /^(\d+):|, item (\d+):/.exec(example)?.slice(1).join('') ?? ''
    const brief = (problems: readonly StorageProblem[]) =>
      problems.map(({ kind, fields: own, count, examples, message }) => [
        ...[kind, own.join(), count, message],
        examples.map(keyOf),
      ])
    const seen = new Set<string>()
    const property = fc.asyncProperty(
      fc.array(values, { minLength: 100, maxLength: 100 }),
      async (rows) => {
        await database.empty()
        const written = rows.map((row, index) => `(${[index + 1, ...row].join()})`)
        await database.run([
          `create table items (id bigint not null primary key, ${declared.join()})`,
          `insert into items values ${written.join()}`,
        ])
        const [own = [], plain = []] = await bothWays({ shop: { collections: { items } } })
        for (const {
          fields: [name = ''],
        } of own)
          seen.add(name)
        const inOrder = Object.keys(fields)
        const byField = plain.toSorted(
          (one, other) =>
            inOrder.indexOf(one.fields[0] ?? '') - inOrder.indexOf(other.fields[0] ?? ''),
        )
        expect(brief(own)).toEqual(brief(byField))
      },
    )
    await fc.assert(property, { numRuns: 6 })
    expect([...seen].toSorted()).toEqual(
      Object.keys(columns)
        .filter((name) => !name.startsWith('any'))
        .toSorted(),
    )
  }, 60_000)

  test('have the same duplicates and broken references: random keys', async () => {
    const publishes = ['Filter'] as const
    const parents = defineCollection({
      key: ['one', 'two'],
      publishes,
      table: 'seen_parents',
      fields: { one: text(), two: integer() },
    })
    const children = defineCollection({
      key: 'id',
      publishes,
      table: 'seen_children',
      fields: { id: integer(), one: text(), two: integer() },
      unique: [['one', 'two']],
      references: [{ fields: ['one', 'two'], collection: 'parents' }],
    })
    const one = fc.constantFrom(`'a'`, `'A'`, `'a '`, `'é'`, `'e'`, `''`, `'\u{1f600}'`)
    const two = fc.constantFrom('0', '1', '-1')
    const parent = fc.tuple(one, two)
    const orNull = (literal: fc.Arbitrary<string>): fc.Arbitrary<string> =>
      fc.oneof({ weight: 5, arbitrary: literal }, fc.constant('NULL'))
    const child = fc.tuple(fc.integer({ min: 1, max: 30 }).map(String), orNull(one), orNull(two))
    const brief = (problems: readonly StorageProblem[]) =>
      problems
        .map(({ kind, collection, fields, count, message }) =>
          [kind, collection, fields.join(), count, message].join(' '),
        )
        .toSorted()
    const property = fc.asyncProperty(
      fc.array(parent, { maxLength: 12 }),
      fc.array(child, { maxLength: 20 }),
      async (some, others) => {
        await database.empty()
        const insert = (table: string, rows: readonly (readonly string[])[]): readonly string[] =>
          rows.length === 0
            ? []
            : [`insert into ${table} values ${rows.map((row) => `(${row.join()})`).join()}`]
        await database.run([
          `create table parents (one ${textType}, two int)`,
          `create table children (id int, one ${textType}, two int)`,
          'create view seen_parents as select * from parents',
          'create view seen_children as select * from children',
          ...insert('parents', some),
          ...insert('children', others),
        ])
        const [own = [], plain = []] = await bothWays({
          shop: { collections: { parents, children } },
        })
        expect(brief(own)).toEqual(brief(plain))
      },
    )
    await fc.assert(property, { numRuns: 25 })
  }, 60_000)

  test('of a large table are inspected in parts, with progress', async () => {
    const [number, from] = cases.numbers(300_000)
    await database.run([
      `create table customers (id ${textType} not null primary key, email ${textType} unique, data ${jsonType})`,
      `create table orders (id bigint not null primary key, customer ${textType}, size bigint)`,
      `insert into orders select ${number}, null, case when ${number} % 100000 = 0 then 9007199254740993 end ${from}`,
      cases.analyze('orders'),
    ])
    const seen: (readonly number[])[] = []
    const problems = await problemsOf(database.storage(), applications, (...rows) => {
      seen.push(rows)
    })
    const found = problems.filter(({ kind }) => kind !== 'condition')
    expect(found).toMatchObject([{ fields: ['size'], count: 3 }])
    expect(seen.length).toBe(21)
    expect(seen.at(-1)).toEqual([300_000, 300_000])
  }, 60_000)

  test('are inspected where tables or columns are missing', async () => {
    await database.run([
      'create table orders (id bigint not null primary key, size bigint)',
      'insert into orders values (1, 9007199254740993)',
    ])
    const problems = await problemsOf(database.storage())
    expect(problems.map(({ kind, collection, fields }) => [kind, collection, ...fields])).toEqual([
      ['table', 'shop/customers'],
      ['table', 'shop/orders'],
      ['unfit', 'shop/orders', 'size'],
    ])
  })

  test('are inspected if the items of another collection cannot be read', async () => {
    await database.run([
      'create table amounts (id bigint not null primary key, size bigint)',
      'insert into amounts values (1, 1), (2, 9007199254740993)',
      'create view broken as select id, (select b.size from amounts b) as size from amounts',
    ])
    const fields = { id: integer(), size: integer() }
    const broken = defineCollection({ publishes: ['Filter'], fields })
    const amounts = defineCollection({ key: 'id', fields })
    const problems = await problemsOf(database.storage(), {
      shop: { collections: { broken, amounts } },
    })
    expect(problems).toMatchObject([
      { kind: 'table', collection: 'shop/broken', fields: [] },
      { kind: 'unfit', collection: 'shop/amounts', fields: ['size'] },
    ])
    expect(problems[0]?.message).toMatch(/^its rows can't be read: .*more than (?:one|1) row/)
  })
}
