import { expect, test } from 'vitest'
import {
  boolean,
  computed,
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  bigint,
  instant,
  integer,
  json,
  text,
  time,
  uuid,
  type OperatorName,
} from '../../src/entries/index.ts'
import { send } from '../kit/service.ts'
import { describeOnStorages, openStage } from '../kit/stage.ts'

const fields = {
  id: integer(),
  name: text(),
  price: decimal({ precision: 9, scale: 2 }),
  size: integer(),
  far: bigint(),
  ratio: double(),
  isNew: boolean(),
  day: date(),
  hour: time(),
  local: dateTime(),
  at: instant(),
  token: uuid(),
  extra: json(),
  long: text({ itemOnly: true }),
} as const
const things = defineCollection(
  { key: 'id', fields, operators: true, pageSize: { default: 100 } },
  { computed: { upper: computed(text(), ['name'], ({ name }) => String(name)) } },
)
const plain = defineCollection(
  { key: 'id', fields, table: 'things', pageSize: { default: 100 } },
  { computed: { upper: computed(text(), ['name'], ({ name }) => String(name)) } },
)
const uuids = ['1c0f7f3e-0000-4000-8000-000000000000', 'ffffffff-0000-4000-8000-000000000000']
const rows = [
  { id: 1, name: 'a,b', price: '9.50', size: 9, isNew: true, day: '2024-02-29' },
  { id: 2, name: '100%', price: '10.00', size: 10, isNew: false, day: '2024-03-01' },
  { id: 3, name: 'it\'s "q" \\ _', price: '100.00', size: -1, token: uuids[0] },
  { id: 4, name: '', far: '9007199254740993', ratio: 0.1, hour: '10:00:00' },
  { id: 5, at: '2024-02-29T10:11:12Z', local: '2024-02-29T10:11:12', token: uuids[1] },
]

/** The ids that each query finds, on every storage. */
const found: readonly (readonly [query: string, ids: readonly number[]])[] = [
  ['price.gte=10.00', [2, 3]],
  ['price.gt=10.00', [3]],
  ['price.lt=10.00', [1]],
  ['price.lte=10.00', [1, 2]],
  ['price.gte=9.50&price.lt=100.00', [1, 2]],
  ['size.gte=-1&size.lt=10&price.gt=9.50', [3]],
  ['size.ne=9', [2, 3, 4, 5]],
  ['size.ne=', [1, 2, 3]],
  ['size.in=9&size.in=-1', [1, 3]],
  ['size.in=9&size.in=9', [1]],
  ['size.in=9&size.in=', [1, 4, 5]],
  ['size.in=', [4, 5]],
  ['size.notIn=9&size.notIn=10', [3, 4, 5]],
  ['size.notIn=9&size.notIn=', [2, 3]],
  ['size.isNull=true', [4, 5]],
  ['size.isNull=false', [1, 2, 3]],
  ['name.isNull=true', [5]],
  ['name=', [4, 5]],
  ['name.in=', [4, 5]],
  ['name.in=a,b', [1]],
  ['name.in=a%2Cb&name.in=100%25', [1, 2]],
  ['name.contains=,', [1]],
  ['name.contains=%25', [2]],
  ['name.contains=_', [3]],
  ['name.contains=%5C', [3]],
  ['name.contains=%22', [3]],
  ["name.startsWith=it's", [3]],
  ['name.startsWith=IT', []],
  ['name.startsWith=%25', []],
  ['name.startsWith=', [1, 2, 3, 4]],
  ['name.contains=', [1, 2, 3, 4]],
  ['name.gte=a', [1, 3]],
  ['name.lt=', []],
  ['name.ne=', [1, 2, 3]],
  ['far.gt=9007199254740992', [4]],
  ['far.lte=9007199254740992', []],
  ['ratio.lt=1e-1', []],
  ['ratio.lte=0.1', [4]],
  ['isNew.ne=true', [2, 3, 4, 5]],
  ['isNew.in=true&isNew.in=false', [1, 2]],
  ['isNew.isNull=false', [1, 2]],
  ['day.gt=2024-02-29', [2]],
  ['hour.lt=10:00:01', [4]],
  ['local.gte=2024-02-29T10:11:12', [5]],
  ['at.lt=2024-02-29T10:11:12.001Z', [5]],
  [`token.in=${uuids.map((one) => one.toUpperCase()).join('&token.in=')}`, [3, 5]],
  [`token.gt=${uuids[0] as string}`, [5]],
  ['id.in=1&id.in=2&id.notIn=2', [1]],
  ['id=1&id.gte=1', [1]],
  ['id=1&id.gte=2', []],
  ['%70rice%2Egte=10.00', [2, 3]],
  ['size.in=%31&size%2Ein=9', [1]],
  ['$q=a&size.gte=0', [1]],
]

describeOnStorages('conditions with operators', (on) => {
  on('find what they say, and count it', async (open) => {
    const { ask, service } = open({ things })
    for (const row of rows) await ask('POST', '/things', row)
    for (const [query, ids] of found) {
      const { status, body } = await ask('GET', `/things?$sort=id&$count=true&${query}`)
      const page = [query, status, body.items?.map(({ id }) => id), body.count]
      expect(page).toEqual([query, 200, ids, ids.length])
    }
    const first = await ask('GET', '/things/1?size.lt=10')
    expect(first.body.item).toMatchObject({ id: 1 })
    expect((await ask('GET', '/things/1?size.lt=9')).status).toBe(404)
    expect(service.as).toBeDefined()
  })

  on('accept a list of 100 values beside other parameters', async (open) => {
    const { ask } = open({ things })
    for (const row of rows) await ask('POST', '/things', row)
    const list = Array.from({ length: 100 }, (_, index) => `id.in=${index + 3}`).join('&')
    const { body } = await ask('GET', `/things?${list}&$sort=id&$limit=9&$count=true`)
    expect([body.items?.map(({ id }) => id), body.count]).toEqual([[3, 4, 5], 3])
  })
})

const list = (name: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${name}=${index}`).join('&')

const inexact = ', in canonical form.'

test.each<[query: string, message: string]>([
  ['price.gte=10', 'The parameter price.gte must be a decimal number'],
  ['size.gte=abc', 'The parameter size.gte must be an integer'],
  ['size.gte=05', inexact],
  ['size.gte=%2B5', inexact],
  ['size.gte=', inexact],
  ['size.in=1&size.in=x', 'The parameter size.in must be an integer'],
  ['size.in=1,2', inexact],
  ['isNew.ne=1', 'The parameter isNew.ne must be'],
  ['day.lt=2023-02-29', 'The parameter day.lt must be'],
  ['size.isNull=', 'The parameter size.isNull must be true or false.'],
  ['size.isNull=TRUE', 'The parameter size.isNull must be true or false.'],
  ['name.contains=%00', 'The parameter name.contains must be'],
  ['name.in=a&name.in=%00', 'The parameter name.in must be'],
  ['name.startsWith=%ED%A0%80', 'The query is not valid percent-encoded UTF-8.'],
  ['name.gte=%ED%A0%80', 'The query is not valid percent-encoded UTF-8.'],
  ['size.gte=1&size.gte=2', 'Repeated query parameter: size.gte.'],
  ['size.isNull=true&size.isNull=true', 'Repeated query parameter: size.isNull.'],
  ['name.contains=a&name.contains=b', 'Repeated query parameter: name.contains.'],
  [list('size.in', 101), 'The parameter size.in has more than 100 values.'],
  [list('size.notIn', 300), 'The parameter size.notIn has more than 100 values.'],
  [`name.contains=${'a'.repeat(201)}`, 'The parameter name.contains must have at most 200 char'],
  [`name.startsWith=${'a'.repeat(8_000)}`, 'The parameter name.startsWith must have at most 200'],
  [
    Array.from('abcdefghijklmnopqrstuvwxyz')
      .map((letter) => `${letter}=1`)
      .join('&'),
    'Unknown query parameter: a.',
  ],
  [`${list('x', 50)}&size.in=1`, 'Repeated query parameter: x.'],
])('%s is rejected', async (query, message) => {
  const { client } = openStage({ things })
  const { status, body } = await client.get(`/app/things?${query}`)
  expect([status, body.message]).toEqual([400, expect.stringContaining(message)])
})

test('at most 20 conditions have an operator, whatever equalities there are', async () => {
  const names = ['size', 'far', 'ratio', 'id'].flatMap((name) =>
    ['lt', 'lte', 'gt', 'gte', 'ne'].map((operator) => `${name}.${operator}=5`),
  )
  const { client } = openStage({ things })
  const query = names.join('&')
  expect((await client.get(`/app/things?${query}&name=a&size=1`)).status).toBe(200)
  const { status, body } = await client.get(`/app/things?${query}&name.in=a`)
  const message = 'The query has more than 20 conditions with operators.'
  expect([status, body.message]).toEqual([400, message])
})

test('a list counts as one parameter, and there are at most 100', async () => {
  const { client } = openStage({ things })
  const others = Array.from({ length: 100 }, (_, index) => `x${index}=1`).join('&')
  const { body } = await client.get(`/app/things?${list('size.in', 3)}&${others}`)
  expect(body.message).toBe('Unknown query parameter: x0.')
  const more = await client.get(`/app/things?${list('size.in', 3)}&${others}&y=1`)
  expect(more.body.message).toBe('The query has more than 100 parameters.')
})

/** Names that are parameters of no collection, or of `things` only. */
const operators: readonly OperatorName[] = ['ne', 'in', 'notIn', 'isNull', 'lt', 'lte', 'gt', 'gte']
const unknown = [
  ...[
    'eq',
    'GTE',
    'Gte',
    'gte ',
    'like',
    'nin',
    'not',
    'or',
    'and',
    '',
    'constructor',
    '__proto__',
  ],
  ...['toString', 'gte.gte', 'in.0', 'contains', 'startsWith'],
].map((operator) => `size.${operator}`)
const never = [
  ...unknown,
  ...operators.flatMap((operator) => [
    `extra.${operator}`,
    `upper.${operator}`,
    `long.${operator}`,
  ]),
  ...['__proto__.gte', 'constructor.in', 'nosuch.in', '.gte', 'gte', 'id.price.gte', 'size[gte]'],
  ...['size%5Bgte%5D', 'isNew.gte', 'isNew.contains', 'price.contains', '$expand', '$or.1.size'],
]

test.each(never)('%s is unknown with every value', async (name) => {
  const { client, storageCalls } = openStage({ things })
  for (const value of ['5', 'abc', '', '%00', 'x'.repeat(300)]) {
    const { status, body } = await client.get(`/app/things?${name}=${value}`)
    const shown = decodeURIComponent(name)
    expect([status, body.message]).toEqual([400, `Unknown query parameter: ${shown}.`])
  }
  expect(storageCalls).toEqual([])
})

test('a collection without operators responds as before, byte for byte', async () => {
  const { service, storageCalls } = openStage({ things: plain })
  const get = (query: string) => send(service, { method: 'GET', path: `/things?${query}` })
  const message = (text: string): string => `{"message":"${text}","validations":[],"status":400}`
  for (const [query] of found) {
    const [name = ''] = decodeURIComponent(query)
      .split('&')
      .map((pair) => pair.split('=')[0])
      .filter((one) => one?.includes('.'))
    if (name === '') continue
    const isRepeated = query.split(`${name}=`).length > 2
    const expected = isRepeated ? `Repeated query parameter: ${name}.` : undefined
    const { text } = await get(query)
    if (expected === undefined) expect(text).toMatch(/^\{"message":"(Unknown|Repeated) query para/)
    else expect(text).toBe(message(expected))
  }
  for (const name of operators) {
    const { text } = await get(`price.${name}=abc`)
    expect(text).toBe(message(`Unknown query parameter: price.${name}.`))
  }
  expect((await get(list('size.in', 101))).text).toBe(
    message('The query has more than 100 parameters.'),
  )
  expect(storageCalls).toEqual([])
})

test('operators are parameters of pages and items, and not of writes', async () => {
  const { service } = openStage({ things })
  const post = await send(service, { method: 'POST', path: '/things?size.gte=1', body: { id: 1 } })
  const { message } = post.body
  expect([post.status, message]).toEqual([400, 'Unknown query parameter: size.gte.'])
})
