import { afterAll, describe, expect, test } from 'vitest'
import {
  connection,
  endpoint,
  pages,
  restCollection,
  typed,
  type EndpointResponse,
  type ListMapping,
  type CallError,
  type Paging,
} from '../../src/entries/consume.ts'
import { defineCollection, integer, text } from '../../src/entries/index.ts'
import { openStage } from '../kit/stage.ts'
import { rejection } from './calls.ts'
import { respond, startServer } from './server.ts'

interface Row {
  readonly id: number
  readonly name: string
}
interface Body {
  readonly rows: readonly Row[]
  readonly total?: number
  readonly isLast: boolean
}

const size = 10
const rows: readonly Row[] = Array.from({ length: 25 }, (_, id) => ({ id, name: `row ${id}` }))

// How a service responds beyond the end of a list, or in its middle.
const behaviours = ['missing', 'rejected', 'empty', 'nothing', 'repeated', 'hidden'] as const
type Behaviour = (typeof behaviours)[number]

const server = await startServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  const [, behaviour, totals] = pathname.split('/') as [string, Behaviour, string]
  const given = searchParams.get('page')
  const at = given === null ? Number(searchParams.get('offset') ?? 0) : (Number(given) - 1) * size
  const isBeyond = at >= rows.length
  if (isBeyond && behaviour === 'missing') respond(response, { error: 'no such page' }, 404)
  else if (isBeyond && behaviour === 'rejected') respond(response, { error: 'bad page' }, 400)
  else if (isBeyond && behaviour === 'nothing') response.writeHead(204).end()
  else {
    const from = isBeyond && behaviour === 'repeated' ? 20 : at
    const page = rows.slice(from, from + size)
    // Rows that the caller may not see are counted, and leave an empty page in the middle.
    const visible =
      behaviour === 'hidden' ? page.filter(({ id }) => id < size || id >= 2 * size) : page
    const total = { counted: rows.length, zero: 0 }[totals]
    const isLast = from + size >= rows.length
    respond(response, { rows: visible, ...(total !== undefined && { total }), isLast })
  }
})
afterAll(() => server.close())

const to = connection({ baseUrl: server.url, allowHttp: true, allowPrivateAddresses: true })
const listOf = (behaviour: Behaviour, totals = 'uncounted') =>
  endpoint(to, {
    name: 'list',
    path: `/${behaviour}/${totals}`,
    query: { offset: 'integer', page: 'integer' },
    response: typed<Body>(),
  })
const kinds = [
  { kind: 'offset', parameter: 'offset' },
  { kind: 'page', parameter: 'page' },
] as const satisfies readonly Paging[]
const expected = (behaviour: Behaviour): readonly number[] =>
  rows.map(({ id }) => id).filter((id) => behaviour !== 'hidden' || id < 10 || id >= 20)
const isLast = ({ body }: EndpointResponse<Body>): boolean => body.isLast

async function read(
  from: ReturnType<typeof listOf>,
  options: { readonly paging: Paging<Body>; readonly total?: string },
  input = {},
): Promise<readonly number[]> {
  const found: number[] = []
  for await (const page of pages(from, input, { ...options, items: ({ rows: all }) => all }))
    found.push(...page.items.map(({ id }) => id))
  return found
}

describe.each(kinds)('paging by $kind', (kind) => {
  test.each(behaviours)(
    'ends at the total of a service whose next page is %s',
    async (behaviour) => {
      const before = server.received.length
      const found = await read(listOf(behaviour, 'counted'), { paging: kind, total: 'total' })
      expect(found).toEqual(expected(behaviour))
      // Where rows are hidden, the total is never reached.
      if (behaviour !== 'hidden') expect(server.received).toHaveLength(before + 3)
    },
  )

  test.each(behaviours)('ends where end says so, and the next page is %s', async (behaviour) => {
    const found = await read(listOf(behaviour), { paging: { ...kind, end: isLast } })
    expect(found).toEqual(expected(behaviour))
  })

  test.each([
    ['missing', 404],
    ['rejected', 400],
    ['nothing', 204],
  ] as const)('ends at a page that is %s with the status %i', async (behaviour, status) => {
    const paging: Paging<Body> = { ...kind, endStatuses: [status] }
    expect(await read(listOf(behaviour), { paging })).toEqual(expected(behaviour))
  })

  test('reads on after a total of 0 that is none', async () => {
    const found = await read(listOf('empty', 'zero'), { paging: kind, total: 'total' })
    expect(found).toEqual(expected('empty'))
  })

  test('ends with an empty page if nothing else is stated', async () => {
    expect(await read(listOf('hidden'), { paging: kind })).toEqual(expected('hidden').slice(0, 10))
  })
})

test('reading from a later page ends at the total as well', async () => {
  const before = server.received.length
  const paging = { kind: 'offset', parameter: 'offset' } as const
  const options = { paging, total: 'total' }
  expect(await read(listOf('missing', 'counted'), options, { offset: 15 })).toEqual(
    expected('missing').slice(15),
  )
  expect(server.received).toHaveLength(before + 1)
})

test.each(['missing', 'nothing'] as const)(
  'a list that begins beyond the end is empty if its status says so (%s)',
  async (behaviour) => {
    const paging: Paging<Body> = { ...kinds[1], endStatuses: [204, 404] }
    expect(await read(listOf(behaviour), { paging }, { page: 9 })).toEqual([])
  },
)

describe('an error stays one', () => {
  const failing = (status: number) =>
    endpoint(
      connection({
        baseUrl: 'https://shop.example.com',
        fetch: async () => Response.json({ secret: 'secret' }, { status }),
      }),
      { name: 'list', path: '/', query: { page: 'integer' } },
    )
  const first = (status: number, endStatuses: readonly number[]) =>
    pages(failing(status), {}, { paging: { ...kinds[1], endStatuses } }).next()

  test('on the first page, because the request may be wrong, unless it is 404 or 410', async () => {
    expect(await rejection(first(400, [400]))).toMatchObject({ code: 'STATUS', status: 400 })
    expect(await rejection(first(404, [400]))).toMatchObject({ code: 'STATUS', status: 404 })
    expect(await first(404, [400, 404])).toEqual({ value: undefined, done: true })
    expect(await first(410, [410])).toEqual({ value: undefined, done: true })
  })

  test.each([
    ['missing', 'STATUS', 'it responded 404 after 3 pages; if that is the end, add the status'],
    ['rejected', 'STATUS', 'it responded 400 after 3 pages; if that is the end, add the status'],
    ['repeated', 'PAGE_CYCLE', 'if that is the end, state where the total is, or paging.end'],
  ] as const)(
    'on a later page that is %s, and says what to state',
    async (behaviour, code, hint) => {
      const error = await rejection(read(listOf(behaviour), { paging: kinds[1] }))
      expect(error).toMatchObject({ code, endpoint: 'list' })
      expect(error.message).toContain(hint)
    },
  )

  test('on a later page, with the text of the response', async () => {
    const error = await rejection(read(listOf('missing'), { paging: kinds[1] }))
    expect(error.excerpt).not.toBeNull()
    expect(error.excerpt).toBe((error.cause as CallError).excerpt)
  })

  test('if end returns a promise, which would be true for each page', async () => {
    const end = (async () => false) as unknown as () => boolean
    const error = await rejection(read(listOf('empty'), { paging: { ...kinds[1], end } }))
    expect(error.message).toBe('The result of paging.end must be true or false.')
  })

  test.each([200, 302, 401, 429, 503])('the status %i cannot be an end', (status) => {
    const paging = { ...kinds[1], endStatuses: [status] }
    expect(() => pages(listOf('empty'), {}, { paging })).toThrow('endStatuses')
  })
})

const data = { key: 'id', fields: { id: integer(), name: text() } } as const

function open(behaviour: Behaviour, list: Partial<ListMapping<typeof data>>, totals?: string) {
  const mapping: ListMapping<typeof data> = {
    endpoint: listOf(behaviour, totals),
    items: 'rows',
    ...list,
  }
  const serve = restCollection(data, { list: mapping })
  return openStage({ rows: defineCollection(data, { serve }) })
}

describe('a collection of another service that is completed here', () => {
  // Pages have the size that the service chooses.
  const endpointWithSize = (behaviour: Behaviour, totals?: string) =>
    endpoint(to, {
      name: 'list',
      path: `/${behaviour}/${totals ?? 'uncounted'}`,
      query: { offset: 'integer', page: 'integer', size: 'integer' },
    })
  const sized = { pageSize: { parameter: 'size', maximum: size } }
  const names = (behaviour: Behaviour): readonly string[] =>
    expected(behaviour)
      .map((id) => `row ${id}`)
      .sort()

  test.each(
    kinds.flatMap((kind) => behaviours.map((behaviour) => [kind.kind, behaviour, kind] as const)),
  )('by %s has all items, and the next page is %s', async (_name, behaviour, kind) => {
    const ways: readonly [Partial<ListMapping<typeof data>>, string?][] = [
      [
        { paging: kind, total: 'total', endpoint: endpointWithSize(behaviour, 'counted') },
        'counted',
      ],
      [{ paging: { ...kind, end: isLast }, endpoint: endpointWithSize(behaviour) }],
    ]
    for (const [list, totals] of ways) {
      const { client, reports } = open(behaviour, { ...sized, ...list }, totals)
      const { status, body } = await client.get('/app/rows?$sort=name&$limit=100')
      expect([status, body.items?.map(({ name }) => name)]).toEqual([200, names(behaviour)])
      expect(reports).toEqual([])
    }
  })

  test.each([
    ['missing', 404],
    ['rejected', 400],
    ['nothing', 204],
  ] as const)('ends at a page that is %s with the status %i', async (behaviour, status) => {
    const paging: Paging = { ...kinds[0], endStatuses: [status] }
    const { client, reports } = open(behaviour, { paging })
    const found = await client.get('/app/rows?name=row+7')
    expect([found.status, found.body.items]).toEqual([200, [{ id: 7, name: 'row 7' }]])
    const beyond = await client.get('/app/rows?$sort=id&$offset=100&$limit=5')
    expect([beyond.status, beyond.body.items]).toEqual([200, []])
    expect(reports).toEqual([])
  })

  test('a later page that is missing is a failure, also where the path depends on a condition', async () => {
    const byName = endpoint(to, {
      name: 'list',
      path: '/{name}/uncounted',
      query: { offset: 'integer' },
    })
    const list: Partial<ListMapping<typeof data>> = {
      endpoint: byName,
      paging: kinds[0],
      filter: { name: { parameter: 'name', exact: false } },
    }
    const { client, reports } = open('missing', list)
    expect((await client.get('/app/rows?name=missing')).status).toBe(503)
    expect(reports).toHaveLength(1)
  })
})
