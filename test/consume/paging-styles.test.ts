import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  applyRules,
  connection,
  endpoint,
  pages,
  restCollection,
  rule,
  typed,
  type Endpoint,
  type Paging,
} from '../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  principal,
  system,
  text,
} from '../../src/entries/index.ts'
import { openStage } from '../kit/stage.ts'
import { openStorage } from '../kit/storages.ts'
import { rejection } from './calls.ts'
import { readJson, respond, startServer } from './server.ts'

interface Row {
  readonly id: number
  readonly state: string
  readonly tenant: string
}

const size = 5
const rows: readonly Row[] = Array.from({ length: 23 }, (_, id) => ({
  ...{ id, state: id % 2 === 0 ? 'open' : 'done', tenant: id < 20 ? 'mine' : 'other' },
}))

interface Sent {
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
}

const cut = (from: number) => rows.slice(from, from + size)
const nextOf = (from: number) => (from + size < rows.length ? from + size : null)
const numberOf = (value: unknown) => Number(value ?? 0)
type Respond = (
  sent: Sent,
) => readonly [body: unknown, status?: number, headers?: Record<string, string> | undefined]

/** What the service responds to each style of paging, by the last part of the path. */
const styles: Readonly<Record<string, Respond>> = {
  offset: ({ query }) => [cut(numberOf(query.get('offset')))],
  page: ({ query }) => [cut((Number(query.get('page')) - 1) * size)],
  pageZero: ({ query }) => [cut(Number(query.get('page')) * size)],
  cursor: ({ query }) => {
    const from = numberOf(query.get('cursor'))
    const next = nextOf(from)
    return [{ data: cut(from), meta: { next: next === null ? '' : String(next) } }]
  },
  numberCursor: ({ query }) => {
    const from = numberOf(query.get('cursor'))
    return [{ data: cut(from), next: nextOf(from) }]
  },
  lastId: ({ query }) => {
    const after = query.get('cursor')
    const from = after === null ? 0 : Number(after) + 1
    return [{ data: cut(from), has_more: nextOf(from) !== null }]
  },
  link: ({ query }) => {
    const next = nextOf(numberOf(query.get('offset')))
    const link = next === null ? undefined : { link: `<?offset=${next}>; rel="next"` }
    return [cut(numberOf(query.get('offset'))), 200, link]
  },
  odata: ({ query }) => {
    const from = numberOf(query.get('$skiptoken'))
    const url = `${server.url}/odata?$skiptoken=${nextOf(from) ?? ''}`
    return [{ value: cut(from), ...(nextOf(from) !== null && { '@odata.nextLink': url }) }]
  },
  links: ({ query }) => {
    const from = numberOf(query.get('page[offset]'))
    const next = nextOf(from) === null ? null : `/links?page[offset]=${nextOf(from) ?? ''}`
    return [{ data: cut(from), links: { next } }]
  },
  hal: ({ query }) => {
    const from = numberOf(query.get('offset'))
    const next = nextOf(from) === null ? {} : { next: { href: `?offset=${nextOf(from) ?? ''}` } }
    return [{ _embedded: { items: cut(from) }, _links: next }]
  },
  linkObject: ({ query }) => styles['hal']?.({ query, body: {} }) ?? [null],
  bodyCursor: ({ body }) => {
    const from = numberOf(body['start_cursor'])
    const next = nextOf(from)
    return [{ results: cut(from), next_cursor: next === null ? null : String(next) }]
  },
  searchAfter: ({ body }) => {
    const [after = -1] = (body['search_after'] ?? []) as readonly number[]
    const hits = cut(after + 1).map((row) => ({ _source: row, sort: [row.id, 'x'] }))
    return [{ hits: { hits } }]
  },
  bodyOffset: ({ body }) => [{ items: cut(numberOf((body['page'] as { from?: number }).from)) }],
  bodyPage: ({ body }) => [{ items: cut((Number(body['page']) - 1) * size) }],
  missingPage: ({ query }) => {
    const found = cut((Number(query.get('page')) - 1) * size)
    return found.length === 0 ? [{ error: 'no such page' }, 404] : [found]
  },
  lastPage: ({ query }) => {
    const page = Math.min(Number(query.get('page')), 5)
    return [{ data: cut((page - 1) * size), last: page === 5 }]
  },
  total: ({ query }) => {
    const from = Math.min(numberOf(query.get('offset')), 20)
    return [{ data: cut(from), total: rows.length }]
  },
}

const server = await startServer((request, response) => {
  void (async () => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const body = request.method === 'POST' ? await readJson(request) : {}
    const style = styles[pathname.slice(1)] ?? special(pathname)
    respond(response, ...style({ query: searchParams, body: body as Sent['body'] }))
  })()
})
afterAll(() => server.close())

let count = 0
function special(pathname: string): Respond {
  const item = { id: ++count }
  if (pathname === '/circle') return () => [{ data: [item], next: '/circle?page=2' }]
  if (pathname === '/evil') return () => [{ data: [item], next: 'https://evil.example/x' }]
  if (pathname === '/number') return () => [{ data: [item], next: 7 }]
  if (pathname === '/same') return () => [{ data: [item], next: { after: ['a', 1] } }]
  // A search that filters, sorts and cuts by its body.
  return ({ body }) => {
    const {
      filter = {},
      page = {},
      order,
    } = body as {
      readonly filter?: Partial<Row>
      readonly page?: { readonly from?: number; readonly size?: number }
      readonly order?: string
    }
    searches.push(body)
    const found = rows.filter((row) =>
      Object.entries(filter).every(([name, value]) => row[name as keyof Row] === value),
    )
    if (order === '-id') found.reverse()
    const { from = 0, size: length = 100 } = page
    return [{ items: found.slice(from, from + length), total: found.length }]
  }
}
const searches: unknown[] = []

const to = connection({ baseUrl: server.url, allowHttp: true, allowPrivateAddresses: true })
const query = { offset: 'integer', page: 'integer', cursor: 'string' } as const
const get = (style: string) =>
  endpoint(to, { name: style, path: `/${style}`, query }) as Endpoint<object>
const numberGet = endpoint(to, {
  ...{ name: 'numberCursor', path: '/numberCursor', query: { cursor: 'integer' } },
}) as Endpoint<object>
const post = (style: string) =>
  endpoint(to, {
    name: style,
    method: 'POST',
    path: `/${style}`,
    body: typed<object>(),
  }) as Endpoint<object>

type AnyPaging = Paging<unknown>
const at = (
  body: unknown,
): { readonly hits: { readonly hits: readonly { sort: unknown[]; _source: Row }[] } } =>
  body as never
const found: readonly (readonly [
  name: string,
  endpoint: Endpoint<object>,
  paging: AnyPaging,
  items?: string | ((body: unknown) => readonly unknown[]),
  total?: string,
])[] = [
  ['offset', get('offset'), { kind: 'offset', parameter: 'offset' }],
  ['page', get('page'), { kind: 'page', parameter: 'page' }],
  ['pageZero', get('pageZero'), { kind: 'page', parameter: 'page', first: 0 }],
  ['cursor', get('cursor'), { kind: 'cursor', parameter: 'cursor', next: 'meta/next' }, 'data'],
  ['numberCursor', numberGet, { kind: 'cursor', parameter: 'cursor', next: 'next' }, 'data'],
  [
    'lastId',
    get('lastId'),
    {
      kind: 'cursor',
      parameter: 'cursor',
      next: (body) => {
        const { data, has_more: hasMore } = body as { data: readonly Row[]; has_more: boolean }
        return hasMore ? String(data.at(-1)?.id) : null
      },
    },
    'data',
  ],
  ['link', get('link'), { kind: 'link' }],
  ['odata', get('odata'), { kind: 'url', next: '@odata.nextLink' }, 'value'],
  ['links', get('links'), { kind: 'url', next: 'links/next' }, 'data'],
  ['hal', get('hal'), { kind: 'url', next: '_links/next/href' }, '_embedded/items'],
  ['linkObject', get('hal'), { kind: 'url', next: '_links/next' }, '_embedded/items'],
  [
    'bodyCursor',
    post('bodyCursor'),
    { kind: 'cursor', parameter: 'body/start_cursor', next: 'next_cursor' },
    'results',
  ],
  [
    'searchAfter',
    post('searchAfter'),
    {
      kind: 'cursor',
      parameter: 'body/search_after',
      next: (body) => at(body).hits.hits.at(-1)?.sort,
    },
    (body) => at(body).hits.hits.map(({ _source }) => _source),
  ],
  ['bodyOffset', post('bodyOffset'), { kind: 'offset', parameter: 'body/page/from' }, 'items'],
  ['bodyPage', post('bodyPage'), { kind: 'page', parameter: 'body/page' }, 'items'],
  ['missingPage', get('missingPage'), { kind: 'page', parameter: 'page', endStatuses: [404] }],
  [
    'lastPage',
    get('lastPage'),
    { kind: 'page', parameter: 'page', end: ({ body }) => (body as { last: boolean }).last },
    'data',
  ],
  ['total', get('total'), { kind: 'offset', parameter: 'offset' }, 'data', 'total'],
]

test('there are at least 14 styles', () => {
  expect(found.map(([name]) => name)).toEqual(Object.keys(styles))
  expect(found.length).toBeGreaterThanOrEqual(14)
})

test('paths may be JSON Pointers', async () => {
  const read: unknown[] = []
  const byUrl = { paging: { kind: 'url', next: '/links/next' }, items: '/data' } as const
  for await (const { items } of pages(get('links'), {}, byUrl)) read.push(...items)
  expect(read).toEqual(rows)
  const byOffset = { paging: { kind: 'offset', parameter: 'offset' }, total: '/total' } as const
  let last: unknown
  for await (const page of pages(get('total'), {}, { ...byOffset, items: '/data' })) last = page
  // With the total, no empty page is requested.
  expect(last).toMatchObject({ index: 4, items: rows.slice(20) })
})

test.each(found.map(([name, ...options]) => [name, options] as const))(
  'a list of 23 items that is read by %s becomes 23 rows',
  async (_name, [list, paging, items, total]) => {
    const notes = defineCollection({
      key: 'id',
      fields: { id: integer(), state: text(), tenant: text() },
    })
    const service = createService({
      applications: { app: { collections: { notes } } },
      storage: openStorage(),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    const item = endpoint(to, { name: 'item', path: '/', response: typed<readonly Row[]>() })
    const set = { id: 'id', state: 'state', tenant: 'tenant' } as const
    const rules = [rule(item, { into: notes, set })]
    const all = service.as(system)
    const input = list.method === 'POST' ? { body: { limit: size } } : {}
    for await (const page of pages(list, input, { paging, items, total }))
      await applyRules(all, rules, page.items as readonly Row[])
    const { items: stored } = await all.collection('app', 'notes').filter({}, { limit: 100 })
    expect(stored).toEqual(rows)
  },
)

describe('a list ends with an error', () => {
  const url = { kind: 'url', next: 'next' } as const
  const read = async (list: Endpoint<object>, paging: AnyPaging, input: object = {}) => {
    for await (const page of pages(list, input, { paging, items: 'data' }))
      expect(page.items).toHaveLength(1)
  }

  test('whose next URL is repeated', async () => {
    expect(await rejection(read(get('circle'), url))).toMatchObject({ code: 'PAGE_CYCLE' })
  })

  test('whose next URL has another origin', async () => {
    expect(await rejection(read(get('evil'), url))).toMatchObject({ code: 'FORBIDDEN_URL' })
  })

  test('whose next URL is not a string', async () => {
    expect(await rejection(read(get('number'), url))).toMatchObject({ code: 'INVALID_RESPONSE' })
  })

  test('whose cursor in the body is repeated', async () => {
    const paging = { kind: 'cursor', parameter: 'body/after', next: 'next' } as const
    const call = read(post('same'), paging, { body: {} })
    expect(await rejection(call)).toMatchObject({ code: 'PAGE_CYCLE' })
  })

  test('whose cursor in the query is an object', async () => {
    const paging = { kind: 'cursor', parameter: 'cursor', next: 'next' } as const
    expect(await rejection(read(get('same'), paging))).toMatchObject({ code: 'INVALID_RESPONSE' })
  })

  test('that pages in a body which the endpoint does not have', () => {
    const paging = { kind: 'page', parameter: 'body/page' } as const
    expect(() => pages(get('page'), {}, { paging })).toThrow('pages.paging.parameter')
  })
})

describe('a collection that is listed by POST', () => {
  const data = {
    key: 'id',
    fields: { id: integer(), state: text(), tenant: text() },
  } as const
  const open = (input?: { readonly body: object }) =>
    openStage({
      notes: defineCollection(data, {
        serve: restCollection(data, {
          list: {
            endpoint: post('search'),
            items: 'items',
            total: 'total',
            paging: { kind: 'offset', parameter: 'body/page/from' },
            pageSize: { parameter: 'body/page/size', maximum: 4 },
            filter: { state: 'body/filter/state', tenant: 'body/filter/tenant' },
            sort: {
              fields: ['id'],
              input: (_field, descending) => (descending ? { 'body/order': '-id' } : {}),
            },
          },
          ...(input !== undefined && { input: () => input }),
        }),
      }),
    })
  const read = async (
    stage: ReturnType<typeof open>,
    where: { readonly state?: string; readonly tenant?: string },
    options: {
      readonly sort?: readonly ['-id']
      readonly limit?: number
      readonly offset?: number
    },
  ) => {
    searches.length = 0
    const notes = stage.service.as(principal('maria')).collection('app', 'notes')
    const { items, count: total } = await notes.filter(where, { ...options, count: true })
    return { ids: items.map(({ id }) => id), total, searches: [...searches] }
  }

  test('passes conditions, orders and pages on in the body', async () => {
    expect(await read(open(), { state: 'open' }, { sort: ['-id'], limit: 2, offset: 2 })).toEqual({
      ids: [18, 16],
      total: 12,
      searches: [{ filter: { state: 'open' }, order: '-id', page: { size: 2, from: 2 } }],
    })
  })

  test('has the body that the service states, whatever a client requests', async () => {
    const stage = open({ body: { filter: { tenant: 'mine' } } })
    expect(await read(stage, { state: 'open' }, { limit: 2 })).toMatchObject({
      ids: [0, 2],
      total: 10,
      searches: [{ filter: { tenant: 'mine', state: 'open' }, page: { size: 2, from: 0 } }],
    })
    const other = await read(stage, { tenant: 'other' }, { limit: 2 })
    expect(other).toMatchObject({ ids: [], total: 0 })
    expect(JSON.stringify(other.searches)).not.toContain('other')
  })

  test('cannot have a page that the service states', async () => {
    const stage = open({ body: { page: { from: 0 } } })
    await expect(read(stage, {}, { limit: 2 })).rejects.toThrow()
  })

  test('needs a body for its parameters', () => {
    const list = { endpoint: get('search'), filter: { state: 'body/filter/state' } }
    expect(() => restCollection(data, { list })).toThrow(
      'restCollection.list.filter.state: is not a parameter of the endpoint',
    )
  })
})
