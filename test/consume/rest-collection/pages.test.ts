import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import {
  restCollection,
  type ListMapping,
  type Paging,
  type RestCollectionOptions,
} from '../../../src/entries/consume.ts'
import { defineCollection, integer, system, text } from '../../../src/entries/index.ts'
import { openStage } from '../../kit/stage.ts'
import { visitor } from '../../kit/visitors.ts'
import { data, endpointsOf, pagings, startTracker, type Issue, type Tracker } from './tracker.ts'

const fields = { author: 'author/login' } as const

function listOf(tracker: Tracker, changes: Partial<ListMapping<typeof data>> = {}) {
  const { list } = endpointsOf(tracker)
  return {
    endpoint: list,
    items: 'data',
    total: 'meta/total',
    paging: pagings[0],
    pageSize: { parameter: 'limit', maximum: 50 },
    filter: { state: 'state', author: { parameter: 'author', exact: false } },
    sort: {
      fields: ['number', 'rank'],
      input: (field, descending) =>
        descending && field !== 'number'
          ? undefined
          : { order: `${descending ? '-' : ''}${field}` },
      thenByKey: true,
    },
    search: { parameter: 'q' },
    ...changes,
  } satisfies ListMapping<typeof data>
}

function open(options: RestCollectionOptions<typeof data>) {
  return openStage({
    issues: defineCollection(data, { serve: restCollection(data, { fields, ...options }) }),
  })
}

function issues(count: number): readonly Issue[] {
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    title: `Issue ${index + 1}`,
    state: index % 3 === 0 ? 'done' : 'open',
    rank: index % 4 === 0 ? null : (index * 7) % 5,
    author: { login: [null, 'ada', 'Ada', 'bo'][index % 4] ?? null },
  }))
}

const texts = fc.constantFrom('', 'a', 'A', 'ada', 'Ada')
const rows = fc.uniqueArray(
  fc.record({
    number: fc.integer({ min: 1, max: 60 }),
    title: texts,
    state: fc.constantFrom('open', 'done', 'Open'),
    rank: fc.option(fc.integer({ min: 0, max: 3 }), { nil: null }),
    author: fc.record({ login: fc.option(texts, { nil: null }) }),
  }),
  { selector: ({ number }) => number, maxLength: 40 },
)
const queries = fc.record(
  {
    state: fc.constantFrom('open', 'done', 'Open', ''),
    author: texts,
    rank: fc.constantFrom('', '0', '2'),
    number: fc.constantFrom('5', '20'),
    $q: fc.constantFrom('a', 'ad', '2', ''),
    $sort: fc.constantFrom('number', '-number', 'rank', '-rank', 'rank,-number', 'author,rank'),
    $limit: fc.integer({ min: 0, max: 12 }),
    $offset: fc.integer({ min: 0, max: 30 }),
    $count: fc.boolean(),
  },
  { requiredKeys: [] },
)
const ways: readonly (readonly [string, Paging | undefined])[] = [
  ...pagings.map((paging) => [paging.kind, paging] as const),
  ['one response', undefined],
]

test.each(ways)(
  'paging by %s gives the rows and counts that memory storage gives',
  async (_name, paging) => {
    const tracker = await startTracker()
    const list = listOf(tracker, { paging, ...(paging === undefined && { pageSize: undefined }) })
    const served = defineCollection(data, { serve: restCollection(data, { fields, list }) })
    // Counts come from the total in the one, and from reading all items in the other.
    const uncounted = { ...list, total: undefined }
    const counted = defineCollection(data, {
      serve: restCollection(data, { fields, list: uncounted }),
    })
    const stored = defineCollection({ ...data, fields: { ...data.fields, number: integer() } })
    const { service, client, reports } = openStage({ stored, served, counted })
    const own = service.as(system).collection('app', 'stored')
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.array(queries, { minLength: 4, maxLength: 6 }),
        fc.constantFrom(3, 7, 50),
        async (given, asked, maximum) => {
          // Page numbers need pages of the requested size.
          tracker.maximum = paging === undefined ? 1000 : paging.kind === 'page' ? 50 : maximum
          tracker.issues.clear()
          for (const { number } of (await own.filter()).items) await own.delete(number)
          for (const issue of given) {
            tracker.issues.set(issue.number, issue)
            await own.insert({ ...issue, author: issue.author.login })
          }
          for (const query of asked) {
            const expected = await client.get('/app/stored', { query })
            expect(expected.status).toBe(200)
            for (const name of ['served', 'counted'])
              expect((await client.get(`/app/${name}`, { query })).body).toEqual(expected.body)
          }
        },
      ),
      { numRuns: 25 },
    )
    expect(reports).toEqual([])
  },
  60_000,
)

let tracker: Tracker
beforeEach(async () => {
  tracker = await startTracker(issues(120))
})

test('a page is passed on in one call if the other service can make it', async () => {
  const { client } = open({ list: listOf(tracker) })
  const query = { state: 'open', $sort: 'rank', $limit: 5, $offset: 10, $count: true }
  const { body } = await client.get('/app/issues', { query })
  expect(body.items).toHaveLength(5)
  expect(body.count).toBe(80)
  expect(tracker.received).toEqual(['GET /issues?limit=5&offset=10&order=rank&state=open'])
})

test('reading ends when the page is complete, if items arrive in order and are not counted', async () => {
  const list = listOf(tracker, { pageSize: { parameter: 'limit', maximum: 10 } })
  const { client } = open({ list })
  const { body } = await client.get('/app/issues?rank=2&$limit=3')
  expect(body.items?.map(({ number }) => number)).toEqual([2, 7, 12])
  expect(tracker.received).toHaveLength(2)
})

test.each(pagings.slice(0, 2))(
  'a page beyond the end has the count of its own response with %o',
  async (paging) => {
    const { client } = open({ list: listOf(tracker, { paging }) })
    const { body } = await client.get('/app/issues?$limit=10&$offset=500&$count=true')
    expect([body.items, body.count]).toEqual([[], 120])
    expect(tracker.received).toHaveLength(1)
  },
)

test('a request that needs too many rows responds 400 and names the conditions that would help', async () => {
  const guarded = {
    ...data,
    fields: { ...data.fields, author: text({ readableBy: ['staff'] }) },
  } as const
  const complete = { rows: 100 }
  const serve = restCollection(guarded, { fields, list: { ...listOf(tracker), complete } })
  const { client, reports } = openStage({ issues: defineCollection(guarded, { serve }) })
  const guest = await client.get('/app/issues?$sort=title')
  expect([guest.status, guest.body.message]).toEqual([
    400,
    'The request needs more than 100 items of the other service. Add a condition on state.',
  ])
  const staff = await client.get('/app/issues?$sort=title', {
    headers: visitor('ada', { roles: 'staff' }),
  })
  expect(staff.body.message).toMatch(/Add a condition on state or author\.$/)
  const narrowed = await client.get('/app/issues?$sort=title&state=open')
  expect(narrowed.status).toBe(200)
  expect(reports).toEqual([])
})

test('a request without narrowing conditions left says what to request instead', async () => {
  const list = listOf(tracker, { complete: { rows: 10 }, filter: {} })
  const { client } = open({ list })
  const { status, body } = await client.get('/app/issues?$q=issue')
  expect(status).toBe(400)
  expect(body.message).toMatch(/Request fewer items, without a search, another order or a count\.$/)
})

test('a cursor is followed within the same limit', async () => {
  const list = listOf(tracker, { paging: pagings[2], complete: { rows: 50 } })
  const { client } = open({ list })
  expect((await client.get('/app/issues?$offset=40&$limit=5')).body.items).toHaveLength(5)
  expect((await client.get('/app/issues?$offset=110&$limit=5')).status).toBe(400)
})

test('more pages than allowed respond 400', async () => {
  tracker.maximum = 1
  const { client } = open({ list: listOf(tracker, { complete: { pages: 5 } }) })
  expect((await client.get('/app/issues?$sort=title')).status).toBe(400)
  expect(tracker.received).toHaveLength(5)
})

test('pages that are shorter than requested are detected when pages were skipped', async () => {
  tracker.maximum = 20
  const { client, reports } = open({ list: listOf(tracker, { paging: pagings[1] }) })
  expect((await client.get('/app/issues?$limit=30&$offset=60')).status).toBe(503)
  expect(String(reports[0] && 'error' in reports[0] && reports[0].error)).toContain(
    'the maximum of pageSize is wrong',
  )
})

test('a condition that fills a path parameter is required', async () => {
  const { get } = endpointsOf(tracker)
  const list = { endpoint: get, filter: { number: 'number' } } as const
  const { client } = open({ list })
  const { status, body } = await client.get('/app/issues')
  expect([status, body.message]).toEqual([
    400,
    'The request needs a condition on number that the other service accepts.',
  ])
  expect((await client.get('/app/issues?number=999')).body.items).toEqual([])
  expect(tracker.received).toEqual(['GET /issues/999'])
})

test('an item is read with the list if there is no endpoint for items', async () => {
  const { client } = open({ list: listOf(tracker) })
  expect((await client.get('/app/issues/7')).body.item).toMatchObject({ number: 7 })
  expect((await client.get('/app/issues/700')).status).toBe(404)
})
