import { describe, expect, onTestFinished, test } from 'vitest'
import {
  applyRules,
  connection,
  endpoint,
  readAs,
  rule,
  sendTogether,
  typed,
  type Rule,
} from '../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  double,
  openAccess,
  system,
  text,
  type CollectionShape,
} from '../../src/entries/index.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { openStorage, sqlite } from '../kit/storages.ts'

const api = connection({ baseUrl: 'https://api.example' })

function responding<Response>() {
  return endpoint(api, { name: 'get', path: '/', response: typed<Response>() })
}

/** Items of all shapes: what they are, what they belong to, and a number. */
const items = defineCollection({
  key: ['name', 'of'],
  fields: { name: text(), of: text(), size: double(), note: text() },
})
const into = items
const upsertBy = ['name', 'of'] as const

interface Line {
  readonly sku: string
  readonly count: number
}
interface Orders {
  readonly Order: { readonly no: string; readonly Line?: Line | readonly Line[] | null }
}
const orderLines = rule(readAs(responding<Orders>(), { arrays: ['Order/Line'] }), {
  from: 'Order/Line',
  into,
  upsertBy,
  replace: 'children',
  set: { name: 'sku', of: { root: 'Order/no' }, size: 'count' },
})

const rates = rule(readAs(responding<Record<string, { bid: number }>>(), { entries: [''] }), {
  into,
  upsertBy,
  set: { name: { key: true }, of: { value: 'rates' }, size: 'bid' },
})
const inner = rule(
  readAs(responding<{ base: string; rates: { EUR: number; GBP: number } }>(), {
    entries: ['rates'],
  }),
  {
    from: 'rates',
    into,
    upsertBy,
    set: { name: { key: true }, of: { root: 'base' }, size: 'value' },
  },
)

interface Forecast {
  readonly place: string
  readonly hourly: {
    readonly time: readonly string[]
    readonly temperature: readonly (number | null)[]
    readonly unit?: string
  }
}
const hours = rule(readAs(responding<Forecast>(), { zip: ['hourly'] }), {
  from: 'hourly',
  into,
  upsertBy,
  replace: { children: ['of'] },
  set: {
    name: 'time',
    of: { root: 'place' },
    size: 'temperature',
    note: { root: 'hourly/unit' },
  },
})

interface Article {
  readonly id: string
  readonly attributes: { readonly title: string }
  readonly relationships: {
    readonly author: { readonly data: { readonly id: string; readonly type: string } | null }
  }
}
interface JsonApi {
  readonly data: readonly Article[]
  readonly included?: readonly {
    readonly id: string
    readonly type: string
    readonly attributes: { readonly name: string }
  }[]
}
const articles = rule(responding<JsonApi>(), {
  from: 'data',
  into,
  upsertBy,
  join: {
    table: 'included',
    on: { id: 'relationships/author/data/id', type: { value: 'people' } },
  },
  set: {
    name: 'attributes/title',
    of: { value: 'articles' },
    note: { joined: 'attributes/name' },
    size: ({ joined }) => joined?.['attributes/name'].length,
  },
})

interface Parcels {
  readonly id: string
  readonly parcels?: readonly { readonly no: string; readonly grams?: number }[]
}
const parcels = rule(responding<readonly Parcels[]>(), {
  from: 'parcels',
  into,
  upsertBy,
  replace: { children: ['of'] },
  set: { name: 'no', of: { parent: 'id' }, size: 'grams' },
})
const tags = rule(responding<{ id: string; tags: readonly (string | null)[] }>(), {
  from: 'tags',
  into,
  upsertBy,
  where: ({ row }) => row.value !== null,
  set: { name: 'value', of: { root: 'id' }, size: ({ index }) => index },
})
const points = rule(responding<{ id: string; grid: readonly (readonly number[])[] }>(), {
  from: 'grid/value',
  into,
  upsertBy,
  set: {
    name: ({ index, row }) => `${index}-${row.value}`,
    of: { root: 'id' },
    size: 'value',
  },
})

const author = (id: string, type = 'people') => ({ id, type, attributes: { name: `Name ${id}` } })
const article = (title: string, id: string | null): Article => ({
  id: title,
  attributes: { title },
  relationships: { author: { data: id === null ? null : { id, type: 'people' } } },
})
const order = (line?: unknown) => ({
  Order: { no: 'O', ...(line !== undefined && { Line: line }) },
})
const two = [
  { sku: 'a', count: 1 },
  { sku: 'b', count: 2 },
]

/** The shape, the rule, the responses that are stored one after the other, and the rows as `name of size note`. */
const shapes: readonly (readonly [string, Rule, readonly unknown[], string[]])[] = [
  ['several elements as an array', orderLines, [order(two)], ['a O 1 -', 'b O 2 -']],
  ['one element as an object', orderLines, [order(two[0])], ['a O 1 -']],
  ['no element', orderLines, [order(null)], []],
  ['an array that has lost an element', orderLines, [order(two), order(two[1])], ['b O 2 -']],
  ['an array that has become empty', orderLines, [order(two), order([])], []],
  ['an array that is absent later', orderLines, [order(two), order()], ['a O 1 -', 'b O 2 -']],
  [
    'children of several parents',
    parcels,
    [
      [
        { id: 'p', parcels: [{ no: '1' }, { no: '2' }] },
        { id: 'q', parcels: [{ no: '1' }, { no: '3' }] },
        { id: 'r', parcels: [{ no: '1' }] },
      ],
      [
        { id: 'p', parcels: [{ no: '2', grams: 5 }, { no: '4' }] },
        { id: 'q', parcels: [] },
      ],
    ],
    ['1 r - -', '2 p 5 -', '4 p - -'],
  ],
  [
    'a dictionary',
    rates,
    [{ EUR: { bid: 1.5 }, 'a/b': { bid: 2 } }],
    ['EUR rates 1.5 -', 'a/b rates 2 -'],
  ],
  ['an empty dictionary', rates, [{}], []],
  [
    'a dictionary in an object',
    inner,
    [{ base: 'USD', rates: { EUR: 1, GBP: 2 } }],
    ['EUR USD 1 -', 'GBP USD 2 -'],
  ],
  [
    'parallel arrays',
    hours,
    [{ place: 'Oslo', hourly: { time: ['00', '01'], temperature: [3.5, null], unit: 'C' } }],
    ['00 Oslo 3.5 C', '01 Oslo - C'],
  ],
  [
    'parallel arrays that have become empty',
    hours,
    [
      { place: 'Oslo', hourly: { time: ['00'], temperature: [3.5] } },
      { place: 'Rome', hourly: { time: ['00'], temperature: [9] } },
      { place: 'Rome', hourly: { unit: 'C' } },
      { place: 'Oslo', hourly: { time: [], temperature: [] } },
    ],
    ['00 Rome 9 -'],
  ],
  [
    'rows of a sibling table',
    articles,
    [
      {
        data: [article('x', '1'), article('y', '2'), article('z', null)],
        included: [author('1', 'robots'), author('1'), author('3')],
      },
    ],
    ['x articles 6 Name 1', 'y articles - -', 'z articles - -'],
  ],
  ['scalars in an array', tags, [{ id: 'i', tags: ['s', null, 't'] }], ['s i 0 -', 't i 2 -']],
  [
    'arrays in an array',
    points,
    [{ id: 'g', grid: [[5, 6], [7]] }],
    ['0-5 g 5 -', '0-7 g 7 -', '1-6 g 6 -'],
  ],
]

function openUser(storage: Parameters<typeof openStorage>[0], into: CollectionShape = items) {
  const service = createService({
    applications: { app: { collections: { items: into as typeof items } } },
    storage: openStorage(storage),
    security: openAccess(),
    report: false,
  })
  onTestFinished(() => service.close())
  return service.as(system)
}

const servers = serverStorages.filter(({ name }) => name === 'postgres')

describe.each([sqlite, ...servers])('on $name', (storage) => {
  test.each(shapes)('%s', async (_shape, own, responses, rows) => {
    const user = openUser(storage)
    for (const response of responses) await applyRules(user, [own as never], response as never)
    const { items: stored } = await user.collection('app', 'items').filter({}, { sort: ['name'] })
    const shown = stored.map(({ name, of, size, note }) =>
      [name, of, size ?? '-', note ?? '-'].join(' '),
    )
    expect(shown.sort()).toEqual(rows.toSorted())
  })
})

describe('replaced children', () => {
  test('are deleted by the event Delete, in the same transaction', async () => {
    const deleted: string[] = []
    const watched = defineCollection(
      { key: ['name', 'of'], fields: items.fields },
      {
        events: {
          Delete: {
            before: ({ stored, error }) => {
              deleted.push(stored.name)
              if (stored.note === 'kept') error('It is kept.', 'note')
            },
          },
        },
      },
    )
    const lines = rule(responding<Parcels>(), {
      from: 'parcels',
      into: watched,
      upsertBy,
      replace: 'children',
      set: { name: 'no', of: { root: 'id' } },
    })
    const user = openUser(sqlite, watched)
    const own = user.collection('app', 'items')
    await own.insertMany([
      { name: '1', of: 'p' },
      { name: '2', of: 'p', note: 'kept' },
      { name: '3', of: 'q' },
    ])
    const response = { id: 'p', parcels: [{ no: '5' }] }
    await expect(applyRules(user, [lines], response)).rejects.toMatchObject({
      name: 'RuleError',
      table: 'get',
      pointer: '',
      message:
        "The rule get/parcels failed at row 1 of get (the response): an item that the response no longer has can't be deleted (note).",
      validations: [{ field: 'note', message: 'It is kept.' }],
    })
    expect(await own.count({})).toBe(3)
    await own.update(['2', 'p'], { note: null })
    expect(await applyRules(user, [lines], response, { dryRun: true })).toMatchObject([
      { action: 'insert' },
      { action: 'delete', values: { name: '1', of: 'p' } },
      { action: 'delete', values: { name: '2', of: 'p' } },
    ])
    expect(await own.count({})).toBe(3)
    deleted.length = 0
    await applyRules(user, [lines], response)
    expect(deleted).toEqual(['1', '2'])
    expect((await own.filter({})).items.map(({ name }) => name)).toEqual(['3', '5'])
  })

  const keys = async (user: ReturnType<typeof openUser>) => {
    const { items: stored } = await user.collection('app', 'items').filter({}, { sort: ['name'] })
    return stored.map(({ name, of }) => `${name} ${of}`).sort()
  }
  interface Shop {
    readonly shop: string
    readonly orders: readonly {
      readonly id: string
      readonly lines?: readonly { readonly no: string }[]
    }[]
  }
  const ofShop = rule(responding<Shop>(), {
    from: 'orders/lines',
    into,
    upsertBy,
    replace: { children: ['note'] },
    set: { name: 'no', of: ({ parent }) => parent.id, note: { root: 'shop' } },
  })

  test.each([
    ['also with items of other rows', [{ id: 'o', lines: [{ no: '2' }] }], ['2 o', '9 t']],
    [
      'unless another row with the same values is without the array',
      [{ id: 'o', lines: [{ no: '2' }] }, { id: 'p' }],
      ['1 o', '1 p', '2 o', '9 t'],
    ],
  ])('are those with the values of a row further above, %s', async (_what, orders, rows) => {
    const user = openUser(sqlite)
    await user.collection('app', 'items').insertMany([
      { name: '1', of: 'o', note: 's' },
      { name: '1', of: 'p', note: 's' },
      { name: '9', of: 't', note: 't' },
    ])
    await applyRules(user, [ofShop], { shop: 's', orders })
    expect(await keys(user)).toEqual(rows)
  })

  test('have the values of the key that come from the row that was sent, or are constant', async () => {
    const user = openUser(sqlite)
    const own = user.collection('app', 'items')
    await own.insertMany([
      { name: '1', of: 'a' },
      { name: '1', of: 'b' },
      { name: '8', of: 'constant', note: 's' },
      { name: '9', of: 'other', note: 's' },
    ])
    const ofCaller = rule(responding<Parcels>(), {
      from: 'parcels',
      into,
      upsertBy,
      replace: 'children',
      set: { name: 'no', of: { caller: 'id' } },
    })
    await applyRules(user, [ofCaller], { id: '', parcels: [] }, { row: { id: 'a' } })
    expect(await keys(user)).toEqual(['1 b', '8 constant', '9 other'])
    await expect(applyRules(user, [ofCaller], { id: '', parcels: [] })).rejects.toThrow(
      'replace needs a value of of, and the row has none',
    )
    const ofConstant = rule(responding<Parcels>(), {
      from: 'parcels',
      into,
      upsertBy,
      replace: { children: ['note'] },
      set: { name: 'no', of: { value: 'constant' }, note: { root: 'id' } },
    })
    await applyRules(user, [ofConstant], { id: 's', parcels: [] })
    expect(await keys(user)).toEqual(['1 b', '9 other'])
  })

  test('of a row in several parts of a response are those of all parts', async () => {
    const user = openUser(sqlite)
    await user.collection('app', 'items').insert({ name: '1', of: 'p' })
    const body = [
      { id: 'p', parcels: [{ no: '2' }] },
      { id: 'p', parcels: [{ no: '3' }] },
    ]
    const list = endpoint(
      connection({ baseUrl: 'https://api.example', fetch: async () => Response.json(body) }),
      { name: 'get', path: '/', response: typed<readonly Parcels[]>() },
    )
    await sendTogether(user, list, {
      rows: [{}, {}],
      input: () => ({}),
      match: { by: 'position' },
      rules: [parcels],
    })
    expect(await keys(user)).toEqual(['2 p', '3 p'])
  })

  test('are deleted before a new item takes their unique value', async () => {
    const unique = defineCollection({
      key: ['name', 'of'],
      fields: items.fields,
      unique: [['note']],
    })
    const lines = rule(
      responding<{ id: string; parcels: readonly { no: string; note: string }[] }>(),
      {
        from: 'parcels',
        into: unique,
        upsertBy,
        replace: 'children',
        set: { name: 'no', of: { root: 'id' }, note: 'note' },
      },
    )
    for (const open of [sqlite, ...servers]) {
      const user = openUser(open, unique)
      await applyRules(user, [lines], { id: 'p', parcels: [{ no: '1', note: 'a' }] })
      const results = await applyRules(user, [lines], {
        id: 'p',
        parcels: [{ no: '2', note: 'a' }],
      })
      expect(results.map(({ action }) => action)).toEqual(['insert', 'delete'])
      expect(await keys(user)).toEqual(['2 p'])
    }
  })

  test('of a collection that refers to itself are deleted after the others have changed', async () => {
    const fields = { name: text(), of: text(), note: text(), next: text() }
    const next = { fields: ['next'], collection: 'items' } as const
    const tree = defineCollection({ key: 'name', fields, references: [next] })
    const cascading = defineCollection({
      key: 'name',
      fields,
      references: [{ ...next, onDelete: 'cascade' }],
    })
    const nodes = (into: typeof tree) =>
      rule(responding<{ id: string; parcels: readonly { no: string; next: string | null }[] }>(), {
        from: 'parcels',
        into,
        upsertBy: ['name'],
        replace: { children: ['of'] },
        set: { name: 'no', of: { root: 'id' }, next: 'next' },
      })
    const first = [
      { no: '1', next: null },
      { no: '2', next: '1' },
      { no: '3', next: '2' },
    ]
    const second = [{ no: '2', next: null }]
    for (const open of [sqlite, ...servers]) {
      for (const into of [tree, cascading]) {
        const user = openUser(open, into)
        const own = user.collection('app', 'items')
        const apply = async (parcels: typeof first) =>
          (await applyRules(user, [nodes(into)], { id: 'p', parcels })).map(({ action }) => action)
        await apply(first)
        await own.update('2' as never, { note: 'kept' })
        expect(await apply(second)).toEqual(['update', 'delete', 'delete'])
        expect((await own.filter({})).items).toEqual([
          { name: '2', of: 'p', note: 'kept', next: null },
        ])
        await apply(first)
        expect(await apply([])).toEqual(['delete', 'delete', 'delete'])
        expect(await own.count({})).toBe(0)
      }
    }
  })

  test('are deleted once, after the others, if a handler runs with each delete', async () => {
    const kept = defineCollection(
      { key: ['name', 'of'], fields: items.fields },
      {
        events: {
          Delete: {
            after: async ({ collection }) => {
              if ((await collection('items').count()) === 0) throw new Error('none is left')
            },
          },
        },
      },
    )
    const lines = rule(responding<Parcels>(), {
      from: 'parcels',
      into: kept,
      upsertBy,
      replace: 'children',
      set: { name: 'no', of: { root: 'id' } },
    })
    const user = openUser(sqlite, kept)
    await applyRules(user, [lines], { id: 'p', parcels: [{ no: '1' }] })
    await applyRules(user, [lines], { id: 'p', parcels: [{ no: '2' }] })
    expect(await keys(user)).toEqual(['2 p'])
    await expect(applyRules(user, [lines], { id: 'p', parcels: [] })).rejects.toThrow(
      'its other items were not deleted',
    )
    expect(await keys(user)).toEqual(['2 p'])
  })

  test('are replaced if a handler changes their keys', async () => {
    const upper = defineCollection(
      { key: ['name', 'of'], fields: items.fields },
      {
        events: {
          Insert: { before: ({ item }) => void (item.name = String(item.name).toUpperCase()) },
        },
      },
    )
    const lines = rule(responding<Parcels>(), {
      from: 'parcels',
      into: upper,
      upsertBy,
      replace: 'children',
      set: { name: 'no', of: { root: 'id' } },
    })
    const user = openUser(sqlite, upper)
    for (const no of ['a', 'a', 'b']) {
      await applyRules(user, [lines], { id: 'p', parcels: [{ no }] })
      expect(await keys(user)).toEqual([`${no.toUpperCase()} p`])
    }
  })

  test('of a row without a value to find them by are an error', async () => {
    const user = openUser(sqlite)
    const response = [{ parcels: [] }] as never
    await expect(applyRules(user, [parcels], response)).rejects.toThrow(
      'The rule get/parcels failed at row 1 of get (/0): replace needs a value of of, and the row has none.',
    )
  })
})

test('two rows of a joined table that match are an error that names them', async () => {
  const response = { data: [article('x', '1')], included: [author('1'), author('1')] }
  await expect(applyRules(openUser(sqlite), [articles], response)).rejects.toThrow(
    'The rule get/data failed at row 2 of get/data (/data/0): rows 3 and 4 of included both match its join.',
  )
})

test('a function that reads the row of such a join has the same error', async () => {
  const own = rule(responding<JsonApi>(), {
    from: 'data',
    into,
    join: { table: 'included', on: { id: 'relationships/author/data/id' } },
    set: { name: 'id', of: ({ joined }) => joined?.['attributes/name'] },
  })
  const response = { data: [article('x', '1')], included: [author('1'), author('1')] }
  await expect(applyRules(openUser(sqlite), [own], response)).rejects.toThrow(
    'rows 3 and 4 of included both match its join.',
  )
})

test('rules that read one response in different ways are an error', async () => {
  const other = rule(responding<Orders>(), { into, set: { name: 'Order/no', of: { value: 'x' } } })
  await expect(
    applyRules(openUser(sqlite), [orderLines, other], order(two) as never),
  ).rejects.toThrow('The rules get/Order/Line and get read one response in different ways')
})

describe('mistakes are reported at start', () => {
  const set = { name: 'no', of: { parent: 'id' }, note: { parent: 'id' } } as const
  const list = responding<readonly Parcels[]>()

  test.each([
    ['replace without a key', { set, replace: 'children' }, 'replace: needs upsertBy'],
    [
      'several fields that come from above',
      { set, upsertBy, replace: 'children' },
      "must name the fields that identify the row above, such as { children: ['of'] }: of, note come from rows above",
    ],
    [
      'a field that does not come from above',
      { set, upsertBy, replace: { children: ['name'] } },
      'name is not set from parent, root, of or caller',
    ],
    [
      'a field that several rows above may share',
      { set: { name: 'no', of: 'no', note: { parent: 'id' } }, upsertBy, replace: 'children' },
      "such as { children: ['note'] }: note is neither in the key nor a reference",
    ],
    [
      'no field that comes from above',
      { set: { name: 'no', of: 'no' }, upsertBy, replace: 'children' },
      'needs a field that is set from parent, root, of or caller',
    ],
    ['joined without join', { set: { ...set, note: { joined: 'x' } } }, 'set.note: needs join'],
    ['a join without a column', { set, join: { table: 'x', on: {} } }, 'must name a column'],
  ])('%s', (_what, options, message) => {
    expect(() => rule(list, { from: 'parcels', into, ...options } as never)).toThrow(message)
  })

  test('readAs of what readAs returned', () => {
    expect(() => readAs(readAs(list, { arrays: ['parcels'] }), {})).toThrow(
      'readAs get: has an endpoint that readAs returned: give all options to one readAs',
    )
  })

  test('a path in two options of readAs', () => {
    expect(() => readAs(list, { arrays: ['parcels'], zip: ['parcels'] })).toThrow(
      'readAs get.zip: has parcels, which is in arrays',
    )
  })
})

test('wrong names are compile errors', () => {
  const orders = responding<Orders>()
  // @ts-expect-error -- There is no such path.
  readAs(orders, { arrays: ['Order/Lines'] })
  const read = readAs(orders, { arrays: ['Order/Line'] })
  rule(read, {
    from: 'Order/Line',
    into,
    // @ts-expect-error -- The table has no such column.
    set: { name: 'skus', of: { root: 'Order/no' } },
  })
  rule(responding<JsonApi>(), {
    from: 'data',
    into,
    // @ts-expect-error -- The table has no such column.
    join: { table: 'included', on: { ids: 'id' } },
    set: { name: 'id', of: { value: '' } },
  })
  expect(read.name).toBe('get')
})
