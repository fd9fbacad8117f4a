import { expect, test } from 'vitest'
import { createClient, type ClientOptions } from '../../src/entries/client.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import {
  computed,
  defineCollection,
  integer,
  principal,
  text,
  type CollectionData,
  type ServiceOptions,
  type ApplicationDefinitions,
} from '../../src/entries/index.ts'
import { serveDuringTest } from '../kit/server.ts'
import { openStage } from '../kit/stage.ts'

const fields = { id: integer(), title: text(), long: text({ itemOnly: true }) }

interface Scene {
  readonly rows?: number
  readonly data?: Pick<CollectionData, 'cursor' | 'pageSize'>
  readonly service?: Partial<ServiceOptions<ApplicationDefinitions>>
  readonly client?: Partial<ClientOptions>
}

/** A service with rows, a client of it, and the paging parameters of the requests. */
async function openNotes({ rows = 25, data = {}, service: options = {}, client = {} }: Scene = {}) {
  const notes = defineCollection(
    { ...data, key: 'id', fields },
    {
      computed: { label: computed(text(), ['title'], ({ title }) => `<${String(title)}>`) },
      events: {
        Filter: {
          before(event) {
            event.information('Read.')
          },
        },
      },
    },
  )
  const { service } = openStage({ notes }, options as object)
  const inside = service.as(principal('maria')).collection('app', 'notes')
  const ids = Array.from({ length: rows }, (_, at) => at + 1)
  await inside.insertMany(ids.map((id) => ({ id, title: `t${id % 3}` })))
  const queries: string[] = []
  const handler = toNodeHandler(service)
  const url = await serveDuringTest((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x')
    const shown = ['$limit', '$offset', '$after', '$count'].flatMap((name) => {
      const value = searchParams.get(name)
      return value === null ? [] : name === '$after' ? 'after' : `${name.slice(1)} ${value}`
    })
    queries.push(shown.join(', '))
    handler(request, response)
  })
  const outside = createClient<typeof service>({ url, ...client })
  return { ids, inside, queries, notes: outside.collection('app', 'notes') }
}

/** As a browser shows responses of another origin that exposes no headers. */
const withoutHeaders: ClientOptions['fetch'] = async (url, request) => {
  const response = await fetch(url, request)
  return new Response(await response.text(), { status: response.status })
}

async function idsOf(pages: AsyncIterable<{ readonly id: number }>): Promise<readonly number[]> {
  const ids: number[] = []
  for await (const { id } of pages) ids.push(id)
  return ids
}

test('a list that fits in one page is one request', async () => {
  const { notes, ids, queries } = await openNotes()
  const { items, count, validations } = await notes.filter()
  expect(items.map(({ id }) => id)).toEqual(ids)
  expect([count, validations]).toEqual([null, [{ message: 'Read.', severity: 'information' }]])
  expect(queries).toEqual(['limit 100, offset 0, count true'])
})

test.each<[string, Scene, readonly string[]]>([
  [
    'by offset',
    { client: { pageSize: 10 } },
    ['limit 10, offset 0, count true', 'limit 10, offset 10', 'limit 10, offset 20'],
  ],
  [
    'by offset, with the smaller pages of the collection',
    { data: { pageSize: { maximum: 10 } } },
    ['limit 100, offset 0, count true', 'limit 10, offset 10', 'limit 10, offset 20'],
  ],
  [
    'by cursor',
    { data: { cursor: true }, client: { pageSize: 10 } },
    ['limit 10, offset 0, count true', 'limit 10, after', 'limit 10, after'],
  ],
  [
    'by cursor, with the smaller pages of the collection',
    { data: { cursor: true, pageSize: { maximum: 10 } } },
    ['limit 100, offset 0, count true', 'limit 100, after', 'limit 100, after'],
  ],
  [
    'until an empty page, if the last one is full',
    { rows: 20, data: { pageSize: { maximum: 10 } } },
    ['limit 100, offset 0, count true', 'limit 10, offset 10', 'limit 10, offset 20'],
  ],
  [
    'by offset without the headers, which a browser may hide',
    { data: { cursor: true, pageSize: { maximum: 10 } }, client: { fetch: withoutHeaders } },
    ['limit 100, offset 0, count true', 'limit 10, offset 10', 'limit 10, offset 20'],
  ],
  [
    'and not only the first page without the headers',
    { rows: 3, client: { fetch: withoutHeaders } },
    ['limit 100, offset 0, count true', 'limit 3, offset 3'],
  ],
])('reads all items %s', async (_, scene, expected) => {
  const { notes, ids, queries } = await openNotes(scene)
  const { items, validations, next } = await notes.filter()
  expect(items.map(({ id }) => id)).toEqual(ids)
  expect([validations, next]).toEqual([[{ message: 'Read.', severity: 'information' }], undefined])
  expect(queries).toEqual(expected)
})

test.each<[string, Scene]>([
  ['by offset', {}],
  ['by cursor', { data: { cursor: true } }],
  ['by the smallest pages', { data: { pageSize: { default: 1, maximum: 1 } } }],
])('limit and offset select the same items as in process, %s', async (_, scene) => {
  const { notes, inside } = await openNotes({ ...scene, client: { pageSize: 10 } })
  for (const limit of [0, 1, 9, 10, 11, 20, 25, 26, undefined])
    for (const offset of [0, 1, 15, 25, 30]) {
      const options = { ...(limit !== undefined && { limit }), offset, sort: ['-id'] as const }
      const [outer, inner] = [notes.filter({}, options), inside.filter({}, options)]
      const { items, ...rest } = await outer
      const labels = items.map((item) => (item as { readonly label?: string }).label)
      expect(labels).toEqual(items.map(({ title }) => `<${String(title)}>`))
      const { items: expected, ...others } = await inner
      expect(items).toMatchObject(expected.map(({ id, title }) => ({ id, title })))
      expect({ ...rest, next: 0 }).toEqual({ ...others, next: 0 })
    }
})

test('next continues a page, and is absent after the last one', async () => {
  const { notes } = await openNotes({ data: { cursor: true } })
  const first = await notes.filter({}, { limit: 20, count: true })
  expect([first.items.length, first.count]).toEqual([20, 25])
  const second = await notes.filter({}, { limit: 20, after: String(first.next) })
  expect(second.items.map(({ id }) => id)).toEqual([21, 22, 23, 24, 25])
  expect(second).not.toHaveProperty('next')
})

test('pages and items read as the loop continues, and the first page has the count', async () => {
  const { notes, ids, queries } = await openNotes({ client: { pageSize: 10 } })
  expect(await idsOf(notes.items())).toEqual(ids)
  const counts: unknown[] = []
  for await (const { count } of notes.pages({ title: 't1' }, { count: true, limit: 15 }))
    counts.push(count)
  expect(counts).toEqual([9])
  queries.splice(0)
  for await (const { id } of notes.items()) if (id === 10) break
  expect(queries).toEqual(['limit 10, offset 0'])
})

test('a list that does not count its items reads until a shorter page', async () => {
  const { notes, ids, queries } = await openNotes({ rows: 3 })
  expect(await idsOf(notes.items())).toEqual(ids)
  expect(queries).toEqual(['limit 100, offset 0', 'limit 3, offset 3'])
})

test('fields selects the fields, also computed ones, and the default is all', async () => {
  const { notes, inside } = await openNotes({ rows: 1 })
  const { items } = await notes.filter({}, { fields: ['title'] })
  expect((await notes.filter({}, { fields: [] })).items).toEqual((await notes.filter()).items)
  expect(items).toEqual([{ title: 't1' }])
  expect((await notes.filter()).items).toEqual([{ id: 1, title: 't1', label: '<t1>' }])
  expect((await inside.filter()).items).toEqual([{ id: 1, title: 't1', long: null }])
  expect(await notes.get(1)).toEqual({ id: 1, title: 't1', long: null, label: '<t1>' })
})

test('count and exists read no items', async () => {
  const { notes, queries } = await openNotes()
  expect(await notes.count({ title: 't1' })).toBe(9)
  expect(await notes.exists({ title: 't9' })).toBe(false)
  expect(queries).toEqual(['limit 0, offset 0, count true', 'limit 1, offset 0'])
})

test('pageSize satisfies a service that rejects larger pages', async () => {
  const service = { limitExcess: 'reject', maxPageSize: 10 } as const
  const large = await openNotes({ service })
  await expect(large.notes.filter()).rejects.toMatchObject({ status: 400 })
  const small = await openNotes({ service, client: { pageSize: 10 } })
  expect((await small.notes.filter()).items).toHaveLength(25)
})
