import fc from 'fast-check'
import { expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { rowOf, samples } from '../../../src/conformance/collections.ts'
import type { StoredValue } from '../../../src/definition/field-type.ts'
import { defineCollection, integer, json, text } from '../../../src/entries/index.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import { runStatements } from './raw.ts'

const amount = fc
  .tuple(fc.boolean(), fc.nat(1200), fc.nat(9999))
  .map(([negative, whole, fraction]) => {
    const digits = `${whole}.${String(fraction).padStart(4, '0')}`
    return negative && /[1-9]/.test(digits) ? `-${digits}` : digits
  })
const moment = fc.constantFrom(
  '2024-01-05T10:00:00Z',
  '2024-01-05T10:00:00.001Z',
  '2024-01-05T10:00:00.500Z',
  '2024-01-05T10:00:01Z',
  '2023-12-31T23:59:59.999Z',
)
const values = {
  amount,
  moment,
  local: moment.map((text) => text.slice(0, -1)),
  large: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  label: fc.string({ unit: fc.constantFrom('a', 'A', 'ä', '\uffff', '😀', ' ', 'Z') }),
  flag: fc.boolean(),
  ratio: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
} as const

test.each(Object.keys(values) as (keyof typeof values)[])(
  '%s is ordered by value',
  async (name) => {
    const storage = sqliteStorage(':memory:', { ensureSchema: true })
    await storage.open([samples])
    const compare = samples.byName.get(name)?.kind.compare as (
      left: StoredValue,
      right: StoredValue,
    ) => number
    const value: fc.Arbitrary<StoredValue> = fc.oneof(values[name], fc.constant(null))
    const property = fc.asyncProperty(fc.array(value, { maxLength: 20 }), async (given) => {
      const expected = given.toSorted((left, right) => {
        if (left === null || right === null) return Number(left !== null) - Number(right !== null)
        return compare(left, right)
      })
      const undo = new Error('undo')
      const run = storage.transaction({ mode: 'write', brief: true }, async (open) => {
        for (const [id, one] of given.entries()) {
          await open.insert(samples, rowOf(samples, { id, [name]: one }))
        }
        for (const descending of [false, true]) {
          const sort = [{ field: name, descending }]
          const page = await open.filter(samples, queryOf(samples, { sort, select: [name] }))
          const wanted = descending ? expected.toReversed() : expected
          expect(page.rows.map((row) => row[name])).toEqual(wanted)
        }
        throw undo
      })
      await expect(run).rejects.toBe(undo)
    })
    await fc.assert(property, { numRuns: 60 })
    await storage.close()
  },
)

test('a page with a large offset equals one that skips rows one by one', async () => {
  const storage = sqliteStorage(':memory:', { ensureSchema: true })
  await storage.open([samples])
  await storage.transaction({ mode: 'write', brief: true }, async (open) => {
    for (let id = 0; id < 1500; id++) {
      const label = id % 7 === 0 ? null : `x${id % 13}`
      await open.insert(samples, rowOf(samples, { id, label, quantity: id % 3 }))
    }
  })
  const sort = [
    { field: 'label', descending: true },
    { field: 'quantity', descending: false },
  ]
  const shared = { sort, select: ['id', 'label'] as const, count: true }
  const whole = await storage.filter(samples, queryOf(samples, { ...shared, limit: 1500 }))
  const far = await storage.filter(
    samples,
    queryOf(samples, { ...shared, offset: 1400, limit: 50 }),
  )
  expect(far.rows).toEqual(whole.rows.slice(1400, 1450))
  expect(far.count).toBe(1500)
  const text = await storage.filterText?.(
    samples,
    queryOf(samples, { ...shared, offset: 1490, limit: 50 }),
  )
  expect(text).toEqual({
    items: whole.rows.slice(1490).map((row) => JSON.stringify(row)),
    count: 1500,
  })
  await storage.close()
})

test.each([
  ['a table', 'create table t (topic text, level integer, detail text)', 't'],
  [
    'a table whose columns hide the numbers of its rows',
    'create table t (topic text, level integer, detail text, rowid text, _rowid_ text, oid text)',
    't',
  ],
  [
    'a table without numbers of rows',
    'create table t (topic text, level integer, detail text, n text default (hex(randomblob(8))), m integer default 1, primary key (m, n)) without rowid',
    't',
  ],
  [
    'a view',
    'create table own (topic text, level integer, detail text); create view t as select * from own',
    'own',
  ],
])('pages of %s without key have each row once', async (_what, statements, table) => {
  const file = `${temporaryFolder()}/data.db`
  runStatements(
    file,
    `${statements}; create index by_level on ${table} (level, topic);
     insert into ${table} (topic, level, detail) with recursive n(i) as (select 0 union all select i + 1 from n where i < 99)
       select 'a', i % 2, json_object('at', (i * 37) % 90) from n`,
  )
  const fields = { topic: text(), level: integer(), detail: json() }
  const rows = publishCollection(
    'app',
    'rows',
    defineCollection({ table: 't', fields, publishes: ['Filter'] }),
  )
  const storage = sqliteStorage(file)
  await storage.open([rows])
  for (const descending of [false, true]) {
    const query = { sort: [{ field: 'level', descending }] }
    const all = (await storage.filter(rows, queryOf(rows, query))).rows
    for (const limit of [1, 7, 30]) {
      const seen: unknown[] = []
      for (let offset = 0; offset < 100; offset += limit) {
        const page = { ...query, limit, offset, count: offset % 2 === 0 }
        seen.push(...(await storage.filter(rows, queryOf(rows, page))).rows)
      }
      expect(seen).toEqual(all)
    }
  }
  await storage.close()
})
