import { beforeEach, describe, expect, test } from 'vitest'
import {
  connection,
  endpoint,
  restCollection,
  typed,
  type RestCollectionOptions,
} from '../../../src/entries/consume.ts'
import type { Parameters } from '../../../src/consume/parameters.ts'
import { defineCollection, integer, principal, text } from '../../../src/entries/index.ts'
import { openStage } from '../../kit/stage.ts'

interface Note {
  readonly tenant: string
  readonly id: number
  readonly title: string
}

const data = {
  key: ['tenant', 'id'],
  fields: {
    tenant: text({ required: true }),
    id: integer({ required: true }),
    title: text(),
  },
} as const

type Options = RestCollectionOptions<typeof data>

const mine: Note = { tenant: 'mine', id: 1, title: 'a' }
const ours: Note = { tenant: 'mine', id: 2, title: 'b' }
const evil: Note = { tenant: 'evil', id: 2, title: 'secret' }
let notes: readonly Note[]
let calls: string[]
beforeEach(() => {
  notes = [mine, ours, evil]
  calls = []
})

// The other service has the tenant where the request states it: in the path, the query, a header or the body.
const api = connection({
  baseUrl: 'https://notes.example.com',
  attempts: 1,
  fetch: async (target, { method = 'GET', headers, body }) => {
    const url = new URL(target)
    calls.push(`${method} ${url.pathname}${url.search}`)
    const sent = typeof body === 'string' ? (JSON.parse(body) as Partial<Note>) : {}
    const [, , inPath, , id = /^\/notes\/(\d+)$/.exec(url.pathname)?.[1]] = url.pathname.split('/')
    const scope = url.pathname.startsWith('/tenants/') ? inPath : undefined
    const tenant =
      scope ?? url.searchParams.get('tenant') ?? new Headers(headers).get('x-tenant') ?? sent.tenant
    const all = notes.filter((note) => tenant === undefined || note.tenant === tenant)
    const found = all.find((note) => note.id === Number(id))
    if (method === 'POST') {
      const added = { ...mine, ...sent, tenant: tenant ?? '' }
      notes = [...notes, added]
      return Response.json(added, { status: 201 })
    }
    if (id !== undefined && found === undefined) return Response.json(null, { status: 404 })
    if (method === 'PATCH') {
      const changed = { ...(found as Note), ...sent }
      notes = notes.map((note) => (note === found ? changed : note))
      return Response.json(changed)
    }
    if (method === 'DELETE') {
      notes = notes.filter((note) => note !== found)
      return new Response(null, { status: 204 })
    }
    if (id !== undefined) return Response.json(found)
    const from = Number(url.searchParams.get('skip') ?? 0)
    const to = from + Number(url.searchParams.get('take') ?? 20)
    const title = url.searchParams.get('title')
    const selected = all.filter((note) => title === null || note.title === title)
    return Response.json({ data: selected.slice(from, to), total: selected.length })
  },
})

type Place = 'path' | 'query' | 'header' | 'renamed'

/** The endpoints of a service whose requests have the tenant in one place. */
function optionsOf(place: Place): Options {
  const base = place === 'path' ? '/tenants/{tenant}/notes' : '/notes'
  const parts: { readonly query: Parameters; readonly headers: Parameters } = {
    query:
      place === 'query'
        ? { tenant: 'string' }
        : place === 'renamed'
          ? { org: { type: 'string', name: 'tenant' } }
          : {},
    headers: place === 'header' ? { scope: { type: 'string', name: 'x-tenant' } } : {},
  }
  const item = { path: `${base}/{id}`, parameters: { id: 'integer' }, ...parts } as const
  const body = typed<unknown>()
  const parameter = place === 'renamed' ? 'org' : 'tenant'
  const paged = { skip: 'integer', take: 'integer', title: 'string' } as const
  return {
    list: {
      endpoint: endpoint(api, {
        ...parts,
        name: 'list',
        path: base,
        query: { ...parts.query, ...paged },
      }),
      items: 'data',
      total: 'total',
      paging: { kind: 'offset', parameter: 'skip' },
      pageSize: { parameter: 'take', maximum: 20 },
      filter: { ...(place !== 'header' && { tenant: parameter }), title: 'title' },
      sort: () => ({}),
    },
    get: { endpoint: endpoint(api, { ...item, name: 'get' }) },
    insert: {
      endpoint: endpoint(api, { ...parts, name: 'insert', method: 'POST', path: base, body }),
    },
    update: {
      endpoint: endpoint(api, { ...item, name: 'update', method: 'PATCH', body } as never),
    },
    delete: { endpoint: endpoint(api, { ...item, name: 'delete', method: 'DELETE' } as never) },
    // A header has no name that a field could have, so the body states the tenant as well.
    input: () =>
      place === 'header' ? { scope: 'mine', body: { tenant: 'mine' } } : { [parameter]: 'mine' },
  }
}

function open(options: Options) {
  return openStage({ notes: defineCollection(data, { serve: restCollection(data, options) }) })
}

describe.each(['path', 'query', 'header', 'renamed'] as const)('a tenant in the %s', (place) => {
  test.each([
    ['?$limit=10', [mine, ours]],
    ['?tenant=mine&$limit=10', [mine, ours]],
    ['?tenant=evil&$limit=10', []],
    ['?tenant=evil&title=secret', []],
    ['?tenant=evil&id=2', []],
    ['?id=2', [ours]],
    ['?$q=secret', []],
    ['?tenant=', []],
  ])('the page %s has items of that tenant only', async (query, items) => {
    const { client, reports } = open(optionsOf(place))
    const page = await client.get(`/app/notes${query}${query.includes('=') ? '&' : '?'}$count=true`)
    expect(page.body).toMatchObject({ items, count: items.length })
    expect(calls.join()).not.toContain('evil')
    expect(reports).toEqual([])
  })

  test.each([true, false])('a key with another tenant is 404 (get: %s)', async (hasGet) => {
    const { get, ...options } = optionsOf(place)
    const { client, reports, service } = open(hasGet ? { ...options, get } : options)
    expect((await client.get('/app/notes/mine,2')).body.item).toEqual(ours)
    expect((await client.get('/app/notes/evil,2')).status).toBe(404)
    expect((await client.post('/app/notes/evil,2', { title: 'x' })).status).toBe(404)
    expect((await client.delete('/app/notes/evil,2')).status).toBe(404)
    const collection = service.as(principal('maria')).collection('app', 'notes')
    expect((await collection.filter({ tenant: 'evil' })).items).toEqual([])
    expect(notes).toEqual([mine, ours, evil])
    expect(calls.join()).not.toContain('evil')
    expect(reports).toEqual([])
  })

  test('items of the tenant are updated and deleted', async () => {
    const { client } = open(optionsOf(place))
    expect((await client.post('/app/notes/mine,2', { title: 'x' })).body.item).toMatchObject({
      title: 'x',
    })
    expect((await client.delete('/app/notes/mine,1')).status).toBe(200)
    expect(notes).toEqual([{ ...ours, title: 'x' }, evil])
  })

  test('an insert for another tenant fails', async () => {
    const { client, reports } = open(optionsOf(place))
    const failed = await client.post('/app/notes', { tenant: 'evil', id: 9, title: 'x' })
    expect(failed.status).toBe(400)
    expect(failed.body.validations).toMatchObject([{ severity: 'error', field: 'tenant' }])
    expect(notes).toEqual([mine, ours, evil])
    expect(calls).toEqual([])
    const added = await client.post('/app/notes', { tenant: 'mine', id: 9, title: 'x' })
    expect(added.body.item).toEqual({ tenant: 'mine', id: 9, title: 'x' })
    expect(reports).toEqual([])
  })
})

describe('members of a body', () => {
  const nested = {
    fields: { tenant: 'owner/tenant', title: 'title' },
    insert: {
      endpoint: endpoint(api, {
        name: 'insert',
        method: 'POST',
        path: '/notes',
        body: typed<unknown>(),
      }),
    },
    input: () => ({ body: { owner: { tenant: 'mine', source: 'web' } } }),
  } satisfies Options

  test('are added to what is sent', async () => {
    let received: unknown
    const echo = connection({
      baseUrl: 'https://notes.example.com',
      fetch: async (_, { body }) => {
        received = JSON.parse(String(body))
        return Response.json(received)
      },
    })
    const insert = endpoint(echo, {
      name: 'insert',
      method: 'POST',
      path: '/notes',
      body: typed<unknown>(),
    })
    const { client } = open({ ...nested, insert: { endpoint: insert } })
    const { status } = await client.post('/app/notes', { tenant: 'mine', id: 4, title: 'x' })
    expect(status).toBe(200)
    expect(received).toEqual({ owner: { tenant: 'mine', source: 'web' }, id: 4, title: 'x' })
  })

  test('make a save with another value fail on its field', async () => {
    const { client } = open(nested)
    const failed = await client.post('/app/notes', { tenant: 'evil', id: 4, title: 'x' })
    expect(failed.body.validations).toMatchObject([{ severity: 'error', field: 'tenant' }])
    expect(calls).toEqual([])
  })
})

test('a stated order, search and total are kept, and the requested ones are evaluated here', async () => {
  const options = optionsOf('query')
  const list = endpoint(api, {
    name: 'list',
    path: '/notes',
    query: {
      tenant: 'string',
      skip: 'integer',
      take: 'integer',
      order: 'string',
      q: 'string',
      total: 'boolean',
    },
  })
  const { client } = open({
    ...options,
    list: {
      ...(options.list as NonNullable<Options['list']>),
      endpoint: list,
      filter: {},
      sort: ([first]) => ({ order: first?.field }),
      search: { parameter: 'q', exact: true },
      total: { path: 'total', input: { total: true } },
    },
    input: () => ({ tenant: 'mine', order: 'age', q: '', total: false }),
  })
  const page = await client.get('/app/notes?$sort=-title&$q=B&$count=true')
  expect(page.body).toMatchObject({ items: [ours], count: 1 })
  expect(calls.every((call) => /tenant=mine&.*order=age&q=&total=false/.test(call))).toBe(true)
})

test.each([
  ['no result', undefined, 'The result of input must be an object'],
  ['undefined', { tenant: undefined }, 'The result of input has no value for tenant'],
  ['null', { tenant: null }, 'The result of input has no value for tenant'],
  ['the parameter of pages', { tenant: 'mine', skip: 4 }, 'which is set for each page'],
  ['the size of pages', { tenant: 'mine', take: 4 }, 'which is set for each page'],
])('an input that states %s is a mistake, and nothing is sent', async (_, stated, message) => {
  const { client, reports } = open({ ...optionsOf('query'), input: () => stated as never })
  expect((await client.get('/app/notes')).status).toBe(500)
  expect(String((reports[0] as { readonly error?: unknown }).error)).toContain(message)
  expect(calls).toEqual([])
})

test('a caller does not replace the query of the connection', async () => {
  const scoped = connection({
    baseUrl: 'https://notes.example.com',
    query: { tenant: 'mine' },
    fetch: async (url) => {
      calls.push(new URL(url).search)
      return Response.json([])
    },
  })
  const list = endpoint(scoped, { name: 'list', path: '/notes', query: { tenant: 'string' } })
  const { client } = open({ list: { endpoint: list, filter: { tenant: 'tenant' } } })
  expect((await client.get('/app/notes?tenant=evil')).body.items).toEqual([])
  expect(calls).toEqual(['?tenant=mine'])
})
