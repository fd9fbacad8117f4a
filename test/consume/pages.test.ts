import { afterAll, describe, expect, expectTypeOf, test } from 'vitest'
import { connection, endpoint, pages, typed, type Page } from '../../src/entries/consume.ts'
import { rejection } from './calls.ts'
import { respond, startServer } from './server.ts'

interface Row {
  readonly id: number
}
const rows: readonly Row[] = Array.from({ length: 25 }, (_, id) => ({ id }))

const server = await startServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  const at = Number(searchParams.get('offset') ?? 0)
  const number = Number(searchParams.get('page') ?? 1)
  const size = Number(searchParams.get('limit') ?? 10)
  const slice = (from: number): readonly Row[] => rows.slice(from, from + size)
  const link = (url: string) => ({ link: `<${url}>; rel="next", </first>; rel="first"` })
  switch (pathname) {
    case '/v1/offset':
      respond(response, { data: { rows: slice(at) } })
      break
    case '/v1/page':
      respond(response, slice((number - 1) * size))
      break
    case '/v1/cursor': {
      const from = Number(searchParams.get('cursor') ?? 0)
      const next = from + size < rows.length ? String(from + size) : null
      respond(response, { data: slice(from), meta: { next } })
      break
    }
    case '/v1/link':
      respond(response, slice(at), 200, at + size < rows.length ? link(`?offset=${at + size}`) : {})
      break
    case '/v1/ignored':
      respond(response, slice(0))
      break
    case '/v1/circle':
      respond(response, { data: [{ id: Math.random() }], meta: { next: 'same' } })
      break
    case '/v1/circle-link':
      respond(response, [{ id: Math.random() }], 200, link(`${server.url}/v1/circle-link`))
      break
    case '/v1/other':
      respond(response, slice(0), 200, link('https://evil.example/v1/other?offset=10'))
      break
    default:
      respond(response, { data: 'secret' })
  }
})
afterAll(() => server.close())

const to = connection({ baseUrl: `${server.url}/v1`, allowHttp: true, allowPrivateAddresses: true })
const query = { offset: 'integer', limit: 'integer', page: 'integer', cursor: 'string' } as const
const list = (path: `/${string}`) =>
  endpoint(to, { name: 'list', path, query, response: typed<readonly Row[]>() })
const wrapped = (path: `/${string}`) =>
  endpoint(to, {
    name: 'list',
    path,
    query,
    response: typed<{ data: Row[]; meta: { next: string | null } }>(),
  })

async function read<Item>(found: AsyncIterable<Page<unknown, Item>>): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const page of found) items.push(...page.items)
  return items
}

describe('all pages are read', () => {
  test('by offset, from the number of items received', async () => {
    const input = { limit: 7 }
    const paging = { kind: 'offset', parameter: 'offset' } as const
    const found = pages(wrapped('/offset'), input, { paging, items: 'data/rows' })
    expect(await read(found)).toEqual(rows)
    expect(server.received.slice(-5)).toEqual([
      'GET /v1/offset?offset=0&limit=7',
      'GET /v1/offset?offset=7&limit=7',
      'GET /v1/offset?offset=14&limit=7',
      'GET /v1/offset?offset=21&limit=7',
      'GET /v1/offset?offset=25&limit=7',
    ])
  })

  test.each([
    [{ kind: 'offset', parameter: 'offset' }, [10, 10, 5, 0]],
    [{ kind: 'page', parameter: 'page' }, [10, 10, 5, 0]],
    [{ kind: 'link' }, [10, 10, 5]],
  ] as const)('%o returns each response, also one without items', async (paging, sizes) => {
    const found: number[] = []
    const path = paging.kind === 'page' ? '/page' : '/link'
    for await (const page of pages(list(path), {}, { paging })) {
      expect(page.index).toBe(found.length)
      found.push(page.items.length)
    }
    expect(found).toEqual(sizes)
  })

  test('by page, from the page of the input', async () => {
    const paging = { kind: 'page', parameter: 'page' } as const
    expect(await read(pages(list('/page'), {}, { paging }))).toEqual(rows)
    expect(await read(pages(list('/page'), { page: 3 }, { paging }))).toEqual(rows.slice(20))
  })

  test('by cursor', async () => {
    const named = { kind: 'cursor', parameter: 'cursor', next: 'meta/next' } as const
    expect(await read(pages(wrapped('/cursor'), {}, { paging: named, items: 'data' }))).toEqual(
      rows,
    )
    const found = pages(
      wrapped('/cursor'),
      {},
      {
        paging: { kind: 'cursor', parameter: 'cursor', next: ({ meta }) => meta.next },
        items: ({ data }) => data,
      },
    )
    expectTypeOf(found).toEqualTypeOf<
      AsyncGenerator<Page<{ data: Row[]; meta: { next: string | null } }, Row>, void, undefined>
    >()
    expect(await read(found)).toEqual(rows)
  })

  test.each([
    ['cursor', { kind: 'cursor', parameter: 'cursor', next: () => false as never }],
    ['URL', { kind: 'url', next: () => false as never }],
  ] as const)('until the %s is false', async (_what, paging) => {
    const found = pages(wrapped('/cursor'), {}, { paging, items: 'data' })
    expect(await read(found)).toHaveLength(10)
  })

  test('by link, which may be relative to the page', async () => {
    const found = pages(list('/link'), {}, { paging: { kind: 'link' } })
    expect(await read(found)).toEqual(rows)
    expect(server.received.at(-1)).toBe('GET /v1/link?offset=20')
  })

  test('until the caller stops', async () => {
    const before = server.received.length
    for await (const page of pages(list('/link'), {}, { paging: { kind: 'link' } }))
      if (page.index === 1) break
    expect(server.received.length - before).toBe(2)
  })
})

describe('paging ends with an error', () => {
  const offset = { kind: 'offset', parameter: 'offset' } as const
  const cursor = { kind: 'cursor', parameter: 'cursor', next: 'meta/next' } as const

  test.each([
    ['if the service ignores the parameter', list('/ignored'), { paging: offset }, 'PAGE_CYCLE'],
    [
      'if a cursor is repeated',
      wrapped('/circle'),
      { paging: cursor, items: 'data' },
      'PAGE_CYCLE',
    ],
    ['if a link is repeated', list('/circle-link'), { paging: { kind: 'link' } }, 'PAGE_CYCLE'],
    [
      'if a cursor is true',
      wrapped('/cursor'),
      { paging: { ...cursor, next: () => true }, items: 'data' },
      'INVALID_RESPONSE',
    ],
    [
      'after maxPages',
      list('/page'),
      { paging: { kind: 'page', parameter: 'page' }, maxPages: 2 },
      'TOO_MANY_PAGES',
    ],
    [
      'if a link leads to another origin',
      list('/other'),
      { paging: { kind: 'link' } },
      'FORBIDDEN_URL',
    ],
    [
      'if the items are not an array',
      list('/else'),
      { paging: offset, items: 'data' },
      'INVALID_RESPONSE',
    ],
  ])('%s', async (_what, from, options, code) => {
    const error = await rejection(read(pages(from as never, {}, options as never)))
    expect(error).toMatchObject({ code, endpoint: 'list' })
    expect(error.message).not.toContain('secret')
  })
})

test.each([
  [{ paging: { kind: 'offset', parameter: 'ofset' } }, /did you mean offset/],
  [
    { paging: { kind: 'scroll' } },
    /pages\.paging\.kind: must be offset, page, cursor, url or link/,
  ],
  [{ paging: { kind: 'link' }, maxPage: 3 }, /did you mean maxPages/],
  [{}, /paging/],
])('the options %o are rejected', (options, message) => {
  expect(() => pages(list('/page'), {}, options as never)).toThrow(message)
})
