import fc from 'fast-check'
import type { Asked } from '../kit/stage.ts'
import { visitor } from '../kit/visitors.ts'

/** One item, or one body, by field name. */
export type Values = Readonly<Record<string, unknown>>

/** The caller of every script. */
export const asking = visitor('nora', { region: 'north' })

/** Texts that meet each other in values, conditions and search terms, and at the ends of an order. */
const words = ['', 'a', 'A', 'ab', 'zebra', '5', 'north', 'south', ' ', '0', '\u{10ffff}', 'true']

const word = fc.option(fc.constantFrom(...words), { freq: 4 })
const size = fc.option(fc.constantFrom(5, 0, -1, 55, 9007199254740991, -9007199254740991), {
  freq: 4,
})

/** Values of the fields that the caller may read and write. */
export const openValues = fc.record({ name: word, size, note: word })

/** Values of the fields that the caller cannot see. */
export const hiddenValues = fc.record({
  secret: word,
  score: size,
  file: fc.constantFrom(null, 'a', ['zebra'], { north: 5 }),
  pin: word,
  state: word,
})

const open = ['id', 'region', 'name', 'size', 'note']
const closed = ['secret', 'score', 'file', 'pin', 'state', 'nothing']

const anyName = fc.oneof(
  { weight: 14, arbitrary: fc.constantFrom(...open) },
  { weight: 1, arbitrary: fc.constantFrom(...closed) },
)
const names = fc.uniqueArray(anyName, { minLength: 1, maxLength: 3 })
const text = fc.oneof(fc.constantFrom(...words), fc.constantFrom('5', '-1', '1', '12', '101'))
const collection = fc.constantFrom('things', 'watched', 'loose')
const keyed = fc.constantFrom('things', 'watched')
/** Items of the script, items that it never sees, and items that do not exist. */
const id = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 5 }) },
  { weight: 2, arbitrary: fc.integer({ min: 11, max: 20 }) },
  { weight: 1, arbitrary: fc.integer({ min: 101, max: 106 }) },
)

const maybe = (arbitrary: fc.Arbitrary<string>) => fc.option(arbitrary, { freq: 2, nil: undefined })

const condition = fc
  .oneof(
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom('name', 'note', 'region'), text) },
    { weight: 2, arbitrary: fc.tuple(fc.constant('size'), fc.constantFrom('5', '0', '-1', '')) },
    { weight: 1, arbitrary: fc.tuple(anyName, text) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...closed), text) },
  )
  .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)

const list = fc
  .tuple(
    collection,
    maybe(fc.oneof(fc.constant('*'), names.map(String)).map((given) => `$fields=${given}`)),
    maybe(
      fc
        .tuple(names, fc.array(fc.constantFrom('', '-'), { minLength: 3, maxLength: 3 }))
        .map(
          ([given, signs]) =>
            `$sort=${given.map((name, at) => `${signs[at] ?? ''}${name}`).join(',')}`,
        ),
    ),
    maybe(text.map((value) => `$q=${encodeURIComponent(value)}`)),
    fc.option(condition, { freq: 2, nil: undefined }),
    fc.tuple(
      maybe(fc.constantFrom('$count=true', '$count=false')),
      maybe(
        fc.constantFrom('$limit=0', '$limit=1', '$limit=2', '$limit=3', '$limit=100', '$limit=x'),
      ),
      maybe(fc.constantFrom('$offset=0', '$offset=1', '$offset=3')),
    ),
  )
  .map(([name, fields, sort, q, equal, page]) => {
    const query = [fields, sort, q, equal, ...page].filter((part) => part !== undefined)
    return get(`/${name}?${query.join('&')}`)
  })

const one = fc
  .tuple(keyed, id, fc.option(condition, { freq: 2, nil: undefined }))
  .map(([name, key, query]) => get(`/${name}/${key}${query === undefined ? '' : `?${query}`}`))

const odd = fc.constantFrom<Values>(
  {},
  {},
  {},
  {},
  { region: 'north' },
  { region: 'south' },
  { region: null },
  { pin: 'zebra' },
  { pin: 'x'.repeat(9) },
  { secret: 'zebra' },
  { score: 5 },
  { file: 'a' },
  { state: 'new' },
  { nothing: 1 },
  { name: 'x'.repeat(9) },
  { size: 'x' },
)
const body = fc
  .tuple(openValues, fc.subarray(['name', 'size', 'note'] as const), odd)
  .map(([values, given, more]) => ({
    ...Object.fromEntries(given.map((name) => [name, values[name]])),
    ...more,
  }))

const update = fc
  .tuple(keyed, id, body)
  .map(([name, key, values]) => post(`/${name}/${key}`, values))
const remove = fc
  .tuple(keyed, id)
  .map(([name, key]): Asked => ({ who: asking, method: 'DELETE', path: `/${name}/${key}` }))
const insert = fc
  .tuple(collection, fc.integer({ min: 101, max: 106 }), body)
  .map(([name, key, values]) =>
    post(`/${name}`, name === 'loose' ? values : { id: key, ...values }),
  )

/** Reads of pages and items. */
export const readings = fc.array(fc.oneof({ weight: 3, arbitrary: list }, one), {
  minLength: 20,
  maxLength: 26,
  size: 'max',
})

/** Requests of every kind, of one caller. */
export const scripts = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: list },
      { weight: 4, arbitrary: one },
      { weight: 5, arbitrary: update },
      { weight: 2, arbitrary: insert },
      { weight: 2, arbitrary: remove },
    ),
    { minLength: 20, maxLength: 26, size: 'max' },
  )
  .map((script) => [
    ...script,
    ...['things', 'watched', 'loose'].map((name) => get(`/${name}?$fields=*&$count=true`)),
  ])

function get(path: string): Asked {
  return { who: asking, method: 'GET', path }
}

function post(path: string, values: Values): Asked {
  return { who: asking, method: 'POST', path, body: values }
}

/** What scripts have to ask for with success, or they prove nothing about it. */
const spellings = [
  '$fields=',
  '$sort=',
  '$q=',
  '$count=true',
  '$limit=',
  '$offset=',
  'name=',
  'size=',
]

/** Counts successful requests by method and by what their query says. */
export function counter() {
  const counts = new Map<string, number>()
  const add = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  return {
    count: ({ method, path }: Asked, status: number): void => {
      add(String(status))
      if (status !== 200) return
      add(method)
      for (const spelling of spellings) if (path.includes(spelling)) add(spelling)
    },
    /** The smallest count of the successful requests with any spelling, and of these names. */
    least: (names: readonly string[]): number =>
      Math.min(...[...spellings, ...names].map((name) => counts.get(name) ?? 0)),
  }
}
