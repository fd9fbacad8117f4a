import { expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  system,
  text,
  type ApplicationDefinition,
} from '../../src/entries/index.ts'
import { send, type RequestHeaders } from '../kit/service.ts'
import { visitor, visitors } from '../kit/visitors.ts'
import { header, itemsOf, readToEnd } from './reading.ts'

const fields = {
  id: integer(),
  region: text(),
  title: text(),
  secret: text({ readableBy: ['Auditor'] }),
  note: text({ includeByDefault: false }),
}
const notes = defineCollection({
  key: 'id',
  cursor: true,
  fields,
  rows: { equal: { region: { attribute: 'region' } }, exceptRoles: ['Auditor'] },
})
const plain = defineCollection({ key: 'id', fields: { id: integer() } })

function serve(collections: ApplicationDefinition['collections']) {
  const service = createService({
    applications: { app: { collections } },
    security: visitors,
    storage: memoryStorage(),
    report: false,
  })
  onTestFinished(() => service.close())
  return service
}

const maria = visitor('maria', { region: 'north' })
const noah = visitor('noah', { region: 'north' })
const auditor = visitor('ada', { roles: 'Auditor' })

async function stage() {
  const service = serve({ notes, plain })
  const own = service.as(system)
  for (let id = 1; id <= 9; id++) {
    const region = id % 3 === 0 ? 'south' : 'north'
    const values = { id, region, title: `t${id % 2}`, secret: `s${id}`, note: `n${id}` }
    await own.collection('app', 'notes').insert(values)
    await own.collection('app', 'plain').insert({ id })
  }
  const get = (path: string, headers: RequestHeaders = maria) =>
    send(service, { method: 'GET', path, headers })
  const cursorOf = async (path: string, headers?: RequestHeaders): Promise<string> => {
    const page = await get(path, headers)
    expect(page.status).toBe(200)
    return page.headers[header] as string
  }
  const idsOf = async (path: string, headers?: RequestHeaders) => {
    const { status, body } = await get(path, headers)
    return [status, body.items?.map(({ id }) => id) ?? body.message]
  }
  return { service, get, cursorOf, idsOf }
}

const mismatch =
  'The parameter $after must be the cursor of a page with the same filters, search and order, for the same caller.'

test('the last page has no cursor, however many items it has', async () => {
  const { get } = await stage()
  for (const [path, hasNext] of [
    ['/notes?$limit=5', true],
    ['/notes?$limit=6', false],
    ['/notes?$limit=7', false],
    ['/notes?$limit=2&$offset=3', true],
    ['/notes?$limit=2&$offset=4', false],
    ['/notes?$limit=0&$count=true', false],
    ['/notes?title=none', false],
    ['/notes/1', false],
  ] as const) {
    const { status, headers } = await get(path)
    expect([path, status, header in headers]).toEqual([path, 200, hasNext])
  }
})

test('a page has the same body with and without cursors', async () => {
  const { get, cursorOf } = await stage()
  const cursor = await cursorOf('/notes?$limit=2')
  const [page, same] = [
    await get(`/notes?$limit=2&$after=${cursor}`),
    await get('/notes?$limit=2&$offset=2'),
  ]
  expect(page.text).toBe(same.text)
})

test('a cursor continues with another limit, other fields and a count of all items', async () => {
  const { get, cursorOf } = await stage()
  const cursor = await cursorOf('/notes?$limit=2&$sort=title&$fields=note')
  const page = await get(`/notes?$after=${cursor}&$limit=3&$sort=title&$fields=id&$count=true`)
  expect(page.body).toMatchObject({ items: [{ id: 8 }, { id: 1 }, { id: 5 }], count: 6 })
  const empty = await get(`/notes?$after=${cursor}&$limit=0&$sort=title&$count=true`)
  expect([empty.body.items, empty.body.count, empty.headers[header]]).toEqual([[], 6, undefined])
})

test('a cursor is rejected with another query or caller', async () => {
  const { cursorOf, idsOf } = await stage()
  const cursor = await cursorOf('/notes?$limit=2&title=t1&$q=t')
  expect(await idsOf(`/notes?$limit=2&title=t1&$q=t&$after=${cursor}`)).toEqual([200, [7]])
  expect(await idsOf(`/notes?$q=T&$after=${cursor}&title=t1`)).toEqual([200, [7]])
  for (const query of [
    'title=t0&$q=t',
    '$q=t',
    'title=t1',
    'title=t1&$q=t1',
    'title=t1&$q=t&id=7',
    'title=t1&$q=t&$sort=-id',
    'title=t1&$q=t&$sort=title',
  ]) {
    expect([query, await idsOf(`/notes?${query}&$after=${cursor}`)]).toEqual([
      query,
      [400, mismatch],
    ])
  }
  const own = `/notes?$limit=2&title=t1&$q=t&$after=${cursor}`
  expect(await idsOf(own, noah)).toEqual([400, mismatch])
  expect(await idsOf(own, auditor)).toEqual([400, mismatch])
})

test('a cursor of another collection is rejected', async () => {
  const service = serve({ notes, others: { ...notes, table: 'notes', sharesTable: true } })
  for (let id = 1; id < 4; id++) {
    await service.as(system).collection('app', 'notes').insert({ id, region: 'north' })
  }
  const ask = (path: string) => send(service, { method: 'GET', path, headers: maria })
  const { headers } = await ask('/notes?$limit=1')
  expect(await ask(`/others?$after=${headers[header] ?? ''}`)).toMatchObject({ status: 400 })
})

test('a request has the rights of its caller, whoever received the cursor', async () => {
  const { cursorOf, idsOf } = await stage()
  const cursor = await cursorOf('/notes?$limit=1&$sort=secret', auditor)
  const sorted = `/notes?$sort=secret&$after=${cursor}`
  expect(await idsOf(sorted, auditor)).toEqual([200, [2, 3, 4, 5, 6, 7, 8, 9]])
  // The same user with fewer rights.
  const without = visitor('ada', { region: 'south' })
  expect(await idsOf(sorted, without)).toEqual([400, 'Unknown field in $sort: secret.'])
  const byKey = await cursorOf('/notes?$limit=1', auditor)
  expect(await idsOf(`/notes?$after=${byKey}`, without)).toEqual([200, [3, 6, 9]])
})

test('a cursor that was changed or invented is rejected', async () => {
  const { cursorOf, idsOf } = await stage()
  const cursor = await cursorOf('/notes?$limit=2')
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
  const invented = (...values: readonly unknown[]) =>
    Buffer.from(JSON.stringify(values)).toString('base64url')
  const [digest, value] = parts
  expect(invented(digest, value)).toBe(cursor)
  for (const text of [
    '',
    'x',
    'too_long',
    '1',
    cursor.slice(1),
    `${cursor}A`,
    `${cursor}%3D`,
    invented(digest, 3),
    invented(digest, '2'),
    invented(digest, null),
    invented(digest, 2.5),
    invented(digest),
    invented(digest, 2, 2),
    invented('', 2),
    invented(2),
    invented([digest, 2]),
    'A'.repeat(4_000),
  ]) {
    expect([text, await idsOf(`/notes?$after=${text}`)]).toEqual([text, [400, mismatch]])
  }
})

test('$after excludes $offset and a second $after', async () => {
  const { cursorOf, idsOf } = await stage()
  const cursor = await cursorOf('/notes?$limit=2')
  expect(await idsOf(`/notes?$after=${cursor}&$offset=0`)).toEqual([
    400,
    'The parameters $after and $offset exclude each other.',
  ])
  expect(await idsOf(`/notes?$after=${cursor}&$after=${cursor}`)).toEqual([
    400,
    'Repeated query parameter: $after.',
  ])
})

test('collections without cursors, and items, do not know $after', async () => {
  const { get, cursorOf, idsOf } = await stage()
  const cursor = await cursorOf('/notes?$limit=2')
  expect(await idsOf(`/plain?$after=${cursor}`)).toEqual([400, 'Unknown query parameter: $after.'])
  expect((await get(`/notes/1?$after=${cursor}`)).status).toBe(400)
  expect(header in (await get('/plain?$limit=2')).headers).toBe(false)
})

test('callers whose responses are equal have different cursors, also from the cache', async () => {
  const { service, get, idsOf } = await stage()
  const path = '/notes?$limit=2'
  const before = service.statistics().cache?.hits ?? 0
  const cursors = new Map<RequestHeaders, Set<string>>()
  for (let round = 0; round < 4; round++) {
    for (const caller of [maria, noah]) {
      const own = cursors.get(caller) ?? new Set()
      cursors.set(caller, own.add((await get(path, caller)).headers[header] as string))
    }
  }
  expect(service.statistics().cache?.hits).toBeGreaterThan(before)
  const [ofMaria = [], ofNoah = []] = [...cursors.values()].map((all) => [...all])
  expect([ofMaria.length, ofNoah.length]).toEqual([1, 1])
  for (let round = 0; round < 3; round++) {
    expect(await idsOf(`${path}&$after=${ofMaria[0] ?? ''}`, maria)).toEqual([200, [4, 5]])
    expect(await idsOf(`${path}&$after=${ofMaria[0] ?? ''}`, noah)).toEqual([400, mismatch])
    expect(await idsOf(`${path}&$after=${ofNoah[0] ?? ''}`, noah)).toEqual([200, [4, 5]])
  }
})

test('a position that is too long for a cursor is marked, and cannot be continued', async () => {
  const { service, get, idsOf } = await stage()
  const long = { region: 'north', title: 'x'.repeat(3_000) }
  await service
    .as(system)
    .collection('app', 'notes')
    .insert({ id: 10, ...long })
  await service
    .as(system)
    .collection('app', 'notes')
    .insert({ id: 11, ...long })
  const page = await get('/notes?$sort=title&$limit=7')
  expect([page.status, page.headers[header]]).toEqual([200, 'too-long'])
  expect(await idsOf('/notes?$sort=title&$after=too-long')).toEqual([
    400,
    'The values by which the page is sorted are too long for a cursor. Use an offset, or sort by other fields.',
  ])
  expect((await get('/notes?$sort=title&$limit=8')).headers[header]).toBeUndefined()
  expect((await get('/notes?$limit=7')).headers[header]).not.toBe('too-long')
})

test('the header has the brand prefix of the service', async () => {
  const service = createService({
    applications: { app: { collections: { plain: { ...plain, cursor: true } } } },
    security: openAccess(),
    storage: memoryStorage(),
    brand: 'acme',
  })
  onTestFinished(() => service.close())
  await service
    .as(system)
    .collection('app', 'plain')
    .insertMany([{ id: 1 }, { id: 2 }])
  const { headers } = await send(service, { method: 'GET', path: '/plain?$limit=1' })
  expect(Object.keys(headers)).toContain('X-Acme-Next-Cursor')
})

test('a handler may narrow the pages of a cursor', async () => {
  const odd = { before: (event: { where(given: object): void }) => event.where({ title: 't1' }) }
  const service = serve({
    notes: defineCollection({ key: 'id', cursor: true, fields }, { events: { Filter: odd } }),
  })
  for (let id = 1; id <= 9; id++) {
    await service
      .as(system)
      .collection('app', 'notes')
      .insert({ id, title: `t${id % 2}` })
  }
  const ids = (pages: Awaited<ReturnType<typeof readToEnd>>) => itemsOf(pages).map(({ id }) => id)
  const ask = { handle: (request: never) => service.handle(request) }
  const pages = await readToEnd(ask, '/notes?$sort=-id&$limit=2&$count=true', undefined, maria)
  expect(ids(pages)).toEqual([9, 7, 5, 3, 1])
  expect(pages.map(({ body }) => body.count)).toEqual([5, 5, 5])
})

test.each([
  [{ fields }, 'cursor: needs a key'],
  [{ fields, singleton: true }, 'cursor: needs a key'],
  [
    { key: 'id', fields, events: { Filter: { after: () => undefined } } },
    'cursor: cannot be used with events.Filter.after',
  ],
  [{ key: 'id', fields, cursor: 'yes' }, 'cursor: must be'],
])('the start rejects cursors where they cannot be (%#)', (given, message) => {
  const collections = { notes: { cursor: true, ...given } } as never
  expect(() => serve(collections)).toThrow(message)
})
