import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  bigint,
  boolean,
  dateTime,
  decimal,
  defineCollection,
  double,
  integer,
  json,
  system,
  text,
  type Item,
} from '../../src/entries/index.ts'
import { openStage } from '../kit/stage.ts'

const data = {
  key: 'id',
  fields: {
    id: integer(),
    name: text(),
    amount: decimal({ precision: 8, scale: 2 }),
    huge: bigint(),
    share: double(),
    active: boolean(),
    seen: dateTime(),
    extra: json(),
    hidden: text({ includeByDefault: false, search: false }),
  },
} as const

const stored = defineCollection(data)
type Row = Item<typeof stored>

const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
// Lower and upper case, surrogates, and a code point that sorts differently as UTF-16 units.
const texts = fc.constantFrom('', 'a', 'A', 'b', 'ab', 'Ä', 'ß', 'Σ', '😀', '￿', 'a b')
const rows = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 1, max: 30 }),
    name: nullable(texts),
    amount: nullable(fc.constantFrom('-1.50', '0.00', '10.00', '9.99')),
    huge: nullable(fc.constantFrom('9007199254740993', '9007199254740992', '-1')),
    share: nullable(fc.constantFrom(-0.5, 0, 1e300)),
    active: nullable(fc.boolean()),
    seen: nullable(fc.constantFrom('2026-01-01T00:00:00', '2026-01-01T00:00:00.500')),
    extra: nullable(fc.constantFrom<Row['extra']>({ a: [1] }, 'text', 3)),
    hidden: nullable(texts),
  }),
  { selector: ({ id }) => id, maxLength: 12 },
)

const sortable = ['id', 'name', 'amount', 'huge', 'share', 'active', 'seen', 'hidden']
const sorts = fc
  .uniqueArray(fc.constantFrom(...sortable), { maxLength: 3 })
  .chain((names) => fc.tuple(...names.map((name) => fc.constantFrom(name, `-${name}`))))
const conditions = fc.constantFrom(
  {},
  { name: 'a' },
  { name: '' },
  { amount: '10.00' },
  { huge: '9007199254740993' },
  { share: '0' },
  { active: 'true', name: 'A' },
  { seen: '2026-01-01T00:00:00.500' },
  { seen: '' },
  { id: '7' },
)
const queries = fc.record({
  conditions,
  $q: fc.option(fc.constantFrom('a', 'σ', 'Ä', '😀', '10', '90071', 'text'), { nil: undefined }),
  $sort: sorts,
  $limit: fc.integer({ min: 0, max: 5 }),
  $offset: fc.integer({ min: 0, max: 4 }),
  $fields: fc.constantFrom(undefined, '*', 'name,id', 'hidden'),
})

test('a list that a function returns is filtered, searched, sorted, counted and cut as memory storage does', async () => {
  let list: readonly Row[] = []
  const served = defineCollection(data, { serve: { filter: () => list } })
  const { service, client, reports } = openStage({ stored, served })
  const own = service.as(system).collection('app', 'stored')
  await fc.assert(
    fc.asyncProperty(rows, fc.array(queries, { maxLength: 6 }), async (given, asked) => {
      for (const { id } of (await own.filter()).items) await own.delete(id)
      for (const row of given) await own.insert(row)
      list = given
      for (const { conditions: where, $q, $sort, $fields, ...page } of asked) {
        const query = {
          ...where,
          ...page,
          $count: true,
          ...($q !== undefined && { $q }),
          ...($sort.length > 0 && { $sort: $sort.join(',') }),
          ...($fields !== undefined && { $fields }),
        }
        const expected = await client.get('/app/stored', { query })
        expect(expected.status).toBe(200)
        expect((await client.get('/app/served', { query })).body).toEqual(expected.body)
      }
      for (const { id } of given) {
        const expected = await client.get(`/app/stored/${id}`)
        expect((await client.get(`/app/served/${id}`)).body).toEqual(expected.body)
      }
      expect((await client.get('/app/served/99')).status).toBe(404)
    }),
    { numRuns: 60 },
  )
  expect(reports).toEqual([])
}, 60_000)

test('in process, all items are returned unless a limit is given', async () => {
  const list = Array.from({ length: 250 }, (_, id) => ({ id, name: null }))
  const many = defineCollection(
    { key: 'id', fields: { id: integer(), name: text() } },
    { serve: { filter: () => list } },
  )
  const { service } = openStage({ many })
  const access = service.as(system).collection('app', 'many')
  const { items, count } = await access.filter({}, { count: true })
  expect([items.length, count]).toEqual([250, 250])
  expect((await access.filter({}, { sort: ['-id'], limit: 1 })).items).toEqual([list[249]])
  expect(await access.get(7)).toEqual({ id: 7, name: null })
  expect(await access.get(250)).toBeUndefined()
})

test('a collection without key has pages and no items', async () => {
  const lines = defineCollection(
    { fields: { text: text(), extra: json() } },
    {
      serve: {
        filter: () => [
          { text: 'b', extra: 1 },
          { text: 'a', extra: null },
        ],
      },
    },
  )
  const { client } = openStage({ lines })
  const { body } = await client.get('/app/lines?$limit=1')
  expect(body.items).toEqual([{ text: 'a', extra: null }])
  expect((await client.get('/app/lines/a')).status).toBe(404)
})
