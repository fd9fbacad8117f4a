import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestClient, type TestClient } from '../../src/entries/testing.ts'
import {
  boolean,
  createService,
  defineCollection,
  integer,
  openAccess,
  principal,
  text,
} from '../../src/entries/index.ts'
import { memory, storages } from '../kit/storages.ts'

const reports = defineCollection(
  {
    key: 'id',
    defaultSort: ['-year', 'title'],
    requiredFilters: ['team'],
    fields: {
      id: integer(),
      team: text(),
      year: integer(),
      title: text({ includeByDefault: false }),
      scan: text({ itemOnly: true }),
      accepted: boolean({ default: true }),
    },
  },
  {
    events: {
      Insert: {
        after: (event) => {
          if (event.item.title === 'blank') event.fail('The scan is blank.')
        },
      },
    },
  },
)

const rows = [
  { id: 1, team: 'x', year: 2020, title: 'b', scan: 'first' },
  { id: 2, team: 'x', year: 2021, title: 'c', scan: 'second' },
  { id: 3, team: 'x', year: 2021, title: 'a', scan: 'third' },
]

describe.each(storages)('$name', ({ open }) => {
  let client: TestClient
  let stop: () => Promise<void>

  beforeEach(async () => {
    const { storage, remove } = open()
    const service = createService({
      applications: { office: { collections: { reports } } },
      storage,
      security: openAccess(),
    })
    for (const row of rows) {
      await service.as(principal('clerk')).collection('office', 'reports').insert(row)
    }
    client = createTestClient(service)
    stop = async () => {
      await service.close()
      await remove()
    }
  })

  afterEach(() => stop())

  const idsOf = async (query: string): Promise<readonly unknown[] | undefined> => {
    const { body } = await client.get('/office/reports', { query })
    return body.items?.map(({ id }) => id)
  }

  test('a page without a required condition is rejected, an item is not', async () => {
    const { status, body } = await client.get('/office/reports')
    expect([status, body.message]).toEqual([400, 'The parameter team is required.'])
    expect((await client.get('/office/reports/1')).status).toBe(200)
  })

  test('the default order applies unless the request has another', async () => {
    expect(await idsOf('team=x')).toEqual([3, 2, 1])
    expect(await idsOf('team=x&$sort=id')).toEqual([1, 2, 3])
    expect(await idsOf('team=x&$limit=1&$offset=1')).toEqual([2])
  })

  test('a field for single items is in no page, whatever the query', async () => {
    const first = { id: 3, team: 'x', year: 2021, accepted: true }
    const page = await client.get('/office/reports', { query: 'team=x&$limit=1' })
    expect(page.body.items).toEqual([first])
    const whole = await client.get('/office/reports', { query: 'team=x&$limit=1&$fields=*' })
    expect(whole.body.items).toEqual([{ ...first, title: 'a' }])
    for (const query of ['$fields=scan', '$sort=scan', 'scan=third']) {
      expect((await client.get('/office/reports', { query: `team=x&${query}` })).status).toBe(400)
    }
    expect(await idsOf('team=x&$q=third')).toEqual([])
    expect((await client.get('/office/reports/3')).body.item).toMatchObject({ scan: 'third' })
    expect((await client.get('/office/reports/3?scan=third')).status).toBe(400)
  })

  test('an item that was stored and failed is kept, and the response is 400', async () => {
    const blank = { id: 4, team: 'x', year: 2022, title: 'blank', scan: null, accepted: true }
    const { status, body } = await client.post('/office/reports', blank)
    expect(status).toBe(400)
    expect(body).toEqual({
      item: blank,
      message: 'The scan is blank.',
      validations: [],
      status: 400,
    })
    expect(await idsOf('team=x&$limit=1')).toEqual([4])
  })
})

describe('a singleton', () => {
  const weather = defineCollection({
    singleton: true,
    fields: { place: text(), degrees: integer({ includeByDefault: false }) },
  })

  const started = (found: readonly { readonly place: string; readonly degrees: number }[]) => {
    const service = createService({
      applications: { office: { collections: { weather } } },
      storage: {
        name: 'sky',
        supports: { textPages: false, durable: false, generatedNumbers: false },
        open: () => undefined,
        filter: () => ({ rows: found, count: null }),
        transaction: () => Promise.reject(new Error('nothing is written')),
        close: () => undefined,
      },
      security: openAccess(),
    })
    return createTestClient(service)
  }

  test('its path responds with the item and all its fields', async () => {
    const client = started([{ place: 'Bergen', degrees: 7 }])
    const { status, body } = await client.get('/office/weather')
    expect(status).toBe(200)
    expect(body).toEqual({
      item: { place: 'Bergen', degrees: 7 },
      message: null,
      validations: [],
      status: 200,
    })
    expect((await client.get('/office/weather?$limit=1')).status).toBe(400)
    expect((await client.get('/office/weather/Bergen')).status).toBe(404)
    const saved = await client.post('/office/weather', { place: 'Oslo' })
    expect([saved.status, saved.headers.get('Allow')]).toEqual([405, 'GET'])
  })

  test('no item is 404', async () => {
    expect((await started([]).get('/office/weather')).status).toBe(404)
  })
})

test.each([
  [{ defaultSort: ['nothing'] }, 'defaultSort', 'nothing is not a field'],
  [{ defaultSort: ['id', '-id'] }, 'defaultSort', 'must list distinct field names'],
  [{ defaultSort: ['scan'] }, 'defaultSort', 'scan cannot be used here'],
  [{ requiredFilters: ['nothing'] }, 'requiredFilters', 'nothing is not a field'],
  [{ requiredFilters: ['scan'] }, 'requiredFilters', 'scan cannot be used here'],
  [{ singleton: true }, 'key', 'leave it out'],
  [{ singleton: true, key: undefined, publishes: ['Insert'] }, 'publishes', "can't publish Insert"],
  [{ key: 'scan' }, 'fields.scan.itemOnly', 'leave it out'],
] as const)('start-up names the mistake in %j', (wrong, place, advice) => {
  const fields = { id: integer(), scan: text({ itemOnly: true }) }
  const wronged = { key: 'id', fields, ...wrong }
  const start = () =>
    createService({
      applications: { office: { collections: { wronged: wronged as never } } },
      storage: memory.open().storage,
      security: openAccess(),
    })
  expect(start).toThrow(`applications.office.collections.wronged.${place}`)
  expect(start).toThrow(advice)
})
