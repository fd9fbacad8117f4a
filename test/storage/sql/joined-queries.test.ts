import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rowOf, samples } from '../../../src/conformance/collections.ts'
import type { Condition, Row, StorageAdapter, StorageQuery } from '../../../src/entries/storage.ts'
import { memoryStorage } from '../../../src/entries/index.ts'
import { exactCollation } from '../../kit/mysql.ts'
import { pooledServers, type PooledServer } from './pooled-servers.ts'

const texts = ['', 'a', 'A', 'a ', 'ab', '"{,}\\\\', "o'c", 'null', '{a}', '\u{1F600}', 'ä', '%_|']
const values = {
  id: [1, 2, 3, 9, -1],
  label: texts,
  quantity: [0, -1, 7, Number.MAX_SAFE_INTEGER],
  large: ['0', '9007199254740993', '-9223372036854775808'],
  amount: ['0.0000', '1.5000', '-9999999999999999.9999'],
  ratio: [0, 0.1, -1e300, 1e-7],
  flag: [true, false],
  day: ['2024-02-29', '0001-01-01'],
  hour: ['00:00:00', '23:59:59'],
  local: ['2024-02-29T12:00:00', '2024-02-29T12:00:00.123'],
  moment: ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.123Z'],
  token: ['00000000-0000-4000-8000-000000000000', 'ffffffff-ffff-4fff-8fff-ffffffffffff'],
} as const
type Name = keyof typeof values
const names = Object.keys(values) as Name[]

const rows = fc
  .sample(
    fc.record(
      Object.fromEntries(
        names
          .slice(1)
          .map((name) => [name, fc.option(fc.constantFrom<Row[string]>(...values[name]))]),
      ),
    ),
    { numRuns: 25, seed: 7 },
  )
  .map((row, id) => rowOf(samples, { ...row, id, data: JSON.stringify({ id }) }))

/** The part of a query that determines its statement, with places for values. */
interface Shape {
  readonly conditions: readonly {
    readonly name: Name
    readonly is: 'equal' | 'lt' | 'gte' | 'in' | 'not' | 'or' | 'absent' | 'present'
  }[]
  readonly contains: 'contains' | 'startsWith' | undefined
  readonly hasSearch: boolean
  readonly sort: readonly { readonly field: Name; readonly descending: boolean }[]
  readonly isReversed: boolean
  readonly limit: number | undefined
  readonly select: readonly string[]
  readonly count: boolean
}

const shapes = fc.record<Shape>({
  conditions: fc.array(
    fc.record({
      name: fc.constantFrom(...names),
      is: fc.constantFrom('equal', 'lt', 'gte', 'in', 'not', 'or', 'absent', 'present'),
    }),
    { maxLength: 2 },
  ),
  contains: fc.constantFrom('contains', 'startsWith', undefined, undefined),
  hasSearch: fc.boolean(),
  sort: fc.uniqueArray(
    fc.record({ field: fc.constantFrom(...names.slice(1)), descending: fc.boolean() }),
    {
      maxLength: 2,
      selector: ({ field }) => field,
    },
  ),
  isReversed: fc.boolean(),
  limit: fc.constantFrom(10, undefined, undefined),
  select: fc.subarray(samples.allNames.slice()),
  count: fc.boolean(),
})

function pick<Value>(list: readonly Value[], seed: number): Value {
  return list[seed % list.length] as Value
}

function queryOf(shape: Shape, seeds: readonly number[]): StorageQuery {
  let at = 0
  const next = (): number => seeds[at++ % seeds.length] ?? 0
  const conditions: Condition[] = shape.conditions.map(({ name, is }) => {
    const value = (): NonNullable<Row[string]> =>
      pick<NonNullable<Row[string]>>(values[name], next())
    const equal = (): Condition => ({ field: name, is: 'equal', value: value() })
    const absent: Condition = { field: name, is: 'equal', value: null }
    if (is === 'absent') return absent
    if (is === 'present') return { is: 'not', condition: absent }
    if (is === 'in') return { field: name, is, values: [value(), value(), value()] }
    if (is === 'not') return { is, condition: equal() }
    if (is === 'or') return { is, conditions: [equal(), { field: name, is: 'empty' }] }
    return { field: name, is, value: value() }
  })
  if (shape.contains !== undefined)
    conditions.push({ field: 'label', is: shape.contains, text: pick(texts, next()) })
  const search = shape.hasSearch
    ? {
        fields: ['label', 'large', 'day', 'flag'],
        text: pick(['a', '1', 'true', '2024', '"', '\\\\'], next()),
      }
    : null
  const sort = [...shape.sort, { field: 'id', descending: shape.isReversed }]
  return {
    conditions,
    search,
    sort,
    limit: shape.limit ?? next() % 6,
    offset: next() % 4,
    select: shape.select,
    count: shape.count,
  }
}

describe.each(pooledServers)('joined reads of $name', ({ name, missing, start }) => {
  if (missing !== undefined) return
  const expected = memoryStorage()
  let server: PooledServer
  let storage: StorageAdapter
  const sent: string[] = []

  beforeAll(async () => {
    server = await start()
    storage = server.open(1, { ensureSchema: true }, (text) => sent.push(text))
    // Ordinary indexes, in which nulls of PostgreSQL are not where pages have them.
    const creating = server.open(1, { ensureSchema: true })
    await creating.open([samples])
    await creating.close()
    const { table } = samples
    await server.run(
      `create index s1 on ${table} (quantity)`,
      `create index s2 on ${table} (amount, id)`,
      `create index s3 on ${table} (day desc, quantity)`,
      `create index s4 on ${table} (flag, moment, id desc)`,
      ...(name === 'PostgreSQL'
        ? [
            `alter table ${table} alter column label type text collate "POSIX"`,
            `create index s5 on ${table} (label)`,
          ]
        : [
            `alter table ${table} modify column label varchar(40) collate utf8mb4_general_ci,
              add column label_order varchar(40) collate ${exactCollation()} generated always as (label) virtual`,
            `create index s5 on ${table} (label_order)`,
          ]),
    )
    for (const one of [storage, expected]) {
      await one.open([samples])
      await one.transaction({ mode: 'write', brief: true }, async (on) => {
        for (const row of rows) await on.insert(samples, row)
      })
    }
  })
  afterAll(async () => {
    await storage.close()
    await server.drop()
  })

  test('have the rows that each has alone, for any query', { timeout: 120_000 }, async () => {
    let requested = 0
    sent.length = 0
    const seeds = fc.array(fc.array(fc.nat(), { minLength: 8, maxLength: 8 }), {
      minLength: 2,
      maxLength: 20,
    })
    await fc.assert(
      fc.asyncProperty(shapes, seeds, async (shape, each) => {
        const queries = each.map((own) => queryOf(shape, own))
        requested += queries.length
        const found = await Promise.all(
          queries.map(async (query) => storage.filter(samples, query)),
        )
        const own = await Promise.all(queries.map(async (query) => expected.filter(samples, query)))
        for (const [index, page] of found.entries()) {
          const { rows: wanted = [], count } = own[index] ?? {}
          const selected = wanted.map((row) =>
            Object.fromEntries(shape.select.map((name) => [name, row[name]])),
          )
          expect(page).toEqual({ rows: selected, count })
        }
      }),
      { numRuns: Number(process.env['JOINED_RUNS'] ?? 150) },
    )
    expect(sent.length).toBeLessThan(requested / 2)
  })
})
