import { searchText, type StorageAdapter } from '../storage/adapter.ts'
import { equal } from './assertion.ts'
import { equals, find, findValues, store, type ConformanceCase } from './case.ts'
import { customers, readings, samples } from './collections.ts'

/** A search, strings that contain it, and strings that do not. */
interface SearchRow {
  readonly search: string
  readonly hits: readonly string[]
  readonly misses: readonly string[]
}

const letters: readonly SearchRow[] = [
  { search: 'berl', hits: ['Berlin', 'BERLIN', 'oberLand'], misses: ['Bern', 'ber lin'] },
  { search: 'LIN', hits: ['Berlin', 'linden'], misses: ['Lün', 'l i n'] },
  { search: 'é', hits: ['café', 'CAFÉ', 'É'], misses: ['cafe', 'cafe\u0301', 'E\u0301'] },
  { search: 'e\u0301', hits: ['cafe\u0301', 'E\u0301'], misses: ['café', 'É', 'cafe'] },
  { search: 'ß', hits: ['Straße', 'STRAẞE', 'ẞ'], misses: ['STRASSE', 'strasse', 'B'] },
  { search: 'ss', hits: ['STRASSE', 'Strasse'], misses: ['Straße', 'STRAẞE', 's s'] },
  { search: 'Σ', hits: ['ΣΟΦΙΑ', 'σοφια', 'ΛΟΓΟΣ'], misses: ['λογος', 'S'] },
  { search: 'ς', hits: ['λογος'], misses: ['ΛΟΓΟΣ', 'σοφια', 's'] },
  { search: 'ΛΟΓΟΣ', hits: ['λογοσ', 'ΛΟΓΟΣ'], misses: ['λογος'] },
  { search: 'i', hits: ['Istanbul', 'izmir', 'İzmir'], misses: ['ısparta', 'j'] },
  { search: 'İ', hits: ['İzmir', 'i\u0307zmir'], misses: ['izmir', 'Istanbul', 'ısparta'] },
  { search: 'ı', hits: ['ısparta'], misses: ['Isparta', 'isparta', 'İsparta'] },
  { search: 'I', hits: ['ISPARTA', 'isparta'], misses: ['ısparta'] },
  { search: 'k', hits: ['K', 'k', '5 \u212a'], misses: ['\uff2b', 'κ'] },
  { search: '\u212a', hits: ['Kelvin', 'kelvin'], misses: ['celsius'] },
  { search: 'å', hits: ['Ångström', '\u212bngström'], misses: ['Angstrom', 'A\u030angström'] },
  { search: 'ЖУК', hits: ['жук', 'Жуки'], misses: ['жyк'] },
  { search: '\u{10400}', hits: ['\u{10428}', '\u{10400}x'], misses: ['\u{10401}', 'x'] },
  { search: '👍', hits: ['ok 👍', '👍🏽'], misses: ['👎', '?'] },
  { search: ' ', hits: ['a b', ' '], misses: ['ab', '\u00a0', '\t'] },
]

const literals: readonly SearchRow[] = [
  { search: '%', hits: ['100%', '%'], misses: ['100', 'percent'] },
  { search: '_', hits: ['a_b', '_'], misses: ['ab', 'a-b'] },
  { search: 'a_c', hits: ['xa_cx'], misses: ['abc', 'a%c'] },
  { search: 'a%c', hits: ['a%c'], misses: ['abc', 'a_c', 'ac'] },
  { search: '*', hits: ['2*3'], misses: ['23', 'x'] },
  { search: '?', hits: ['why?'], misses: ['why', 'x'] },
  { search: '[', hits: ['a[0]'], misses: ['a0', 'x'] },
  { search: ']', hits: ['a[0]'], misses: ['a0', '['] },
  { search: '[a-z]', hits: ['[A-Z]+'], misses: ['b', 'a-z'] },
  { search: '\\', hits: ['c:\\dir'], misses: ['c:/dir', 'x'] },
  { search: '\\%', hits: ['50\\%'], misses: ['50%', '50\\'] },
  { search: '\\_', hits: ['a\\_b'], misses: ['a_b', 'a\\b'] },
  { search: "'", hits: ["it's"], misses: ['its', '"'] },
  { search: "' or 1=1 --", hits: ["x' OR 1=1 --"], misses: ['x', '1=1'] },
  { search: '.', hits: ['a.b'], misses: ['ab', 'x'] },
  { search: '^', hits: ['2^3'], misses: ['23', 'x'] },
]

/** `search`: a part of the wire form, compared literally, ignoring letter case. */
export const searchCases: readonly ConformanceCase[] = [
  ...([...letters, ...literals].map((row) => ({
    name: `a search for ${JSON.stringify(row.search)} finds values that contain it, ignoring letter case`,
    run: ({ adapter }) => searchFinds(adapter, row),
  })) satisfies readonly ConformanceCase[]),
  {
    name: 'a search covers the named fields only, and one matching field is enough',
    run: async ({ adapter }) => {
      await store(adapter, customers, [
        { customerId: 'A', companyName: 'Rum & Co', region: 'north' },
        { customerId: 'B', companyName: 'Tea Trading', region: 'Rumford' },
        { customerId: 'C', companyName: 'Tea', region: null },
      ])
      const search = async (fields: readonly string[], text: string): Promise<readonly unknown[]> =>
        findValues(adapter, customers, 'customerId', { search: { fields, text } })
      equal(await search(['companyName'], 'rum'), ['A'], 'companyName')
      equal(await search(['companyName', 'region'], 'rum'), ['A', 'B'], 'companyName or region')
      equal(await search(['region'], 'tea'), [], 'region')
      equal(await search([], 'rum'), [], 'no field at all')
      equal(await search(['region'], 'null'), [], 'a field without value')
    },
  },
  {
    name: 'a search finds numbers, dates and times by their wire form',
    run: async ({ adapter }) => {
      await store(adapter, samples, [
        { id: 1, quantity: 1205, large: '9007199254740993', amount: '0.5000' },
        {
          id: 2,
          quantity: -77,
          day: '2024-05-01',
          hour: '07:08:09',
          local: '2024-05-02T10:20:30.400',
        },
        { id: 3, moment: '2024-05-03T23:59:59Z', token: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' },
        { id: 4, exact: '-12.3400000000', ratio: 0.1, flag: true, data: '{"a":"Blue"}' },
      ])
      const expected: readonly (readonly [string, string, readonly number[]])[] = [
        ['quantity', '120', [1]],
        ['quantity', '-7', [2]],
        ['large', '40993', [1]],
        ['large', '40992', []],
        ['amount', '0.5000', [1]],
        ['amount', '.50000', []],
        ['exact', '-12.34', [4]],
        ['exact', '3400000000', [4]],
        ['day', '2024-05', [2]],
        ['hour', '7:08', [2]],
        ['hour', ':7', []],
        ['local', '02t10:20:30.4', [2]],
        ['moment', '23:59:59z', [3]],
        ['moment', '59.000', []],
        ['token', 'BBBB-4CCC', [3]],
        ['ratio', '0.1', [4]],
        ['flag', 'true', [4]],
        ['data', '"BLUE"', [4]],
      ]
      for (const [field, text, ids] of expected) {
        const query = { search: { fields: [field], text: searchText(text) } }
        const found = await findValues(adapter, samples, 'id', query)
        equal(found, ids, `the rows whose ${field} contains ${text}`)
      }
    },
  },
  {
    name: 'a search does not match across two fields',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A', companyName: 'ab', region: 'cd' }])
      for (const text of ['bc', 'b c', 'b\ncd', 'abcd']) {
        const search = { fields: ['companyName', 'region'], text }
        equal(await find(adapter, customers, { search }), [], `the rows that contain ${text}`)
      }
    },
  },
  {
    name: 'a row must meet both the search and the conditions',
    run: async ({ adapter }) => {
      const rows = ['one', 'two', 'One', 'three'].map((label, id) => ({
        id,
        label,
        quantity: id % 2,
      }))
      await store(adapter, samples, rows)
      const search = { fields: ['label'], text: 'one' }
      const query = { search, conditions: equals({ quantity: 0 }) }
      equal(await findValues(adapter, samples, 'id', query), [0, 2], 'even rows that contain one')
    },
  },
  {
    name: 'a search works on a collection without key',
    run: async ({ adapter }) => {
      const stations = ['North', 'NORTH', 'south'].map((station) => ({ station }))
      await store(adapter, readings, stations)
      const found = await find(adapter, readings, { search: { fields: ['station'], text: 'nor' } })
      equal(found.length, 2, 'the number of readings that contain nor')
    },
  },
]

async function searchFinds(adapter: StorageAdapter, row: SearchRow): Promise<void> {
  const labels = [...row.hits, ...row.misses, null]
  await store(
    adapter,
    samples,
    labels.map((label, id) => ({ id, label })),
  )
  const search = { fields: ['label'], text: searchText(row.search) }
  const found = await findValues(adapter, samples, 'label', { search })
  equal(found, row.hits, `the values that contain ${JSON.stringify(row.search)}`)
}
