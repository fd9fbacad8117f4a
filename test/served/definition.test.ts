import { describe, expect, test } from 'vitest'
import { definitionData } from '../../src/deployment/package/definition-data.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  readApplications,
  system,
  text,
  withCode,
  type ApplicationDefinitions,
  type Serve,
} from '../../src/entries/index.ts'
import { sqliteSchema } from '../../src/entries/sqlite.ts'
import { openStage } from '../kit/stage.ts'

const fields = { id: integer(), title: text() } as const
const data = { key: 'id', fields } as const
const item = { id: 1, title: 'a' }

function serving(applications: ApplicationDefinitions) {
  return () =>
    createService({ applications, storage: memoryStorage(), security: openAccess(), report: false })
}

describe('the published events', () => {
  const functions = {
    filter: () => [item],
    get: () => item,
    insert: () => item,
    update: () => item,
    delete: () => true,
  }
  type Name = keyof typeof functions
  test.each<[readonly Name[], string, string]>([
    [['filter'], 'GET', 'GET'],
    [['get'], '', 'GET'],
    [['filter', 'insert'], 'GET, POST', 'GET'],
    [['insert'], 'POST', ''],
    [['get', 'insert'], 'POST', 'GET'],
    [['get', 'update'], '', 'GET, POST'],
    [['filter', 'delete'], 'GET', 'GET, DELETE'],
    [['filter', 'get', 'insert', 'update', 'delete'], 'GET, POST', 'GET, POST, DELETE'],
  ])('of %j are those that have a function', async (names, collection, one) => {
    const serve = Object.fromEntries(names.map((name) => [name, functions[name]]))
    const { client } = openStage({ things: defineCollection(data, { serve }) })
    for (const [path, allowed] of [
      ['/app/things', collection],
      ['/app/things/1', one],
    ] as const) {
      const methods = allowed.split(', ')
      const replies = {
        GET: await client.get(path),
        POST: await client.post(path, path === '/app/things' ? item : { title: 'a' }),
        DELETE: await client.delete(path),
      }
      for (const [method, { status, headers }] of Object.entries(replies)) {
        if (methods.includes(method)) expect([method, status]).toEqual([method, 200])
        else expect([method, status, headers.get('Allow')]).toEqual([method, 405, allowed])
      }
    }
  })

  test('are limited further by publishes', async () => {
    const things = defineCollection({ ...data, publishes: ['Filter'] }, { serve: functions })
    const { client, service } = openStage({ things })
    expect((await client.post('/app/things', item)).status).toBe(405)
    const saved = await service.as(system).collection('app', 'things').insert(item)
    expect(saved).toMatchObject({ rejected: false, item })
  })

  test('are the only ones in process, too', async () => {
    const reads = defineCollection(data, { serve: { get: () => item } })
    const { service } = openStage({ reads })
    const access = service.as(system).collection('app', 'reads')
    expect(await access.get(1)).toEqual(item)
    await expect(access.insert(item)).rejects.toThrow('app/reads has no function insert')
    await expect(access.update(1, item)).rejects.toThrow('app/reads has no function update')
    await expect(access.delete(1)).rejects.toThrow('app/reads has no function delete')
    await expect(access.filter()).rejects.toThrow('app/reads has no function filter')
  })
})

describe('an insert', () => {
  test('needs no value of a field that the function supplies', async () => {
    const things = defineCollection(
      {
        key: 'id',
        fields: { id: text({ readOnly: true }), at: text({ readOnly: true, required: true }) },
      },
      { serve: { insert: () => ({ id: 'x', at: 'now' }) } },
    )
    const { client } = openStage({ things })
    expect((await client.post('/app/things', {})).body.item).toEqual({ id: 'x', at: 'now' })
    expect((await client.post('/app/things', { id: 'y' })).status).toBe(400)
  })

  test('of a stored collection needs every required value', async () => {
    const things = defineCollection({
      key: 'id',
      fields: { id: integer(), at: text({ readOnly: true, required: true }) },
    })
    const { client } = openStage({ things })
    expect((await client.post('/app/things', { id: 1 })).status).toBe(400)
  })
})

test.each<[string, string, object]>([
  ['serve', 'add a function', { serve: {} }],
  ['serve.list', 'is not an option', { serve: { list: () => [] } }],
  ['serve.filter', 'must be', { serve: { filter: [] } }],
  ['serve.timeout', 'must be', { serve: { filter: () => [], timeout: 0 } }],
  ['serve.update', 'needs get or filter', { serve: { update: () => item } }],
  ['serve.delete', 'needs get or filter', { serve: { delete: () => true } }],
  ['serve.get', 'needs a key', { key: undefined, serve: { get: () => item } }],
  [
    'serve.filter',
    'a singleton is served by get alone',
    { key: undefined, singleton: true, serve: { filter: () => [] } },
  ],
  [
    'publishes',
    'serve has no function for Insert',
    { publishes: ['Insert'], serve: { get: () => item } },
  ],
  [
    'eventRoles.Delete',
    'does not publish',
    { eventRoles: { Delete: ['x'] }, serve: { get: () => item } },
  ],
  ['table', 'has no table', { table: 'x', serve: { get: () => item } }],
  ['search', 'has no index', { search: 'indexed', serve: { get: () => item } }],
  ['sharesTable', 'has no table', { sharesTable: true, serve: { get: () => item } }],
  ['unmanaged', 'has no table', { unmanaged: {}, serve: { get: () => item } }],
  ['renamedFrom', 'has no table', { renamedFrom: 'x', serve: { get: () => item } }],
  [
    'fields.id.column',
    'has no columns',
    { fields: { ...fields, id: integer({ column: 'x' }) }, serve: { get: () => item } },
  ],
])('%s is a mistake at start: %s', (place, advice, wrong) => {
  const things = { ...data, ...wrong } as never
  const start = serving({ app: { collections: { things } } })
  expect(start).toThrow(`applications.app.collections.things.${place}: `)
  expect(start).toThrow(advice)
})

test('a served collection shares its name with a table of another application', () => {
  const things = defineCollection(data, { serve: { get: () => item } })
  const stored = defineCollection(data)
  expect(
    serving({ one: { collections: { things } }, other: { collections: { things: stored } } }),
  ).not.toThrow()
})

test('functions that are replaced after the start have no effect', async () => {
  const serve: { get: NonNullable<Serve<typeof data>['get']> } = { get: () => item }
  const { client } = openStage({ things: defineCollection(data, { serve }) })
  serve.get = () => ({ id: 1, title: 'replaced' })
  expect((await client.get('/app/things/1')).body.item).toEqual(item)
})

describe('a definition that was exported without its functions', () => {
  const served = defineCollection(data, { serve: { filter: () => [item], insert: () => item } })
  const exported = readApplications(definitionData({ app: { collections: { things: served } } }))
  const place = 'applications.app.collections.things'

  test('names them, has no table, and is not served', () => {
    expect(exported['app']?.collections['things']?.omittedCode).toEqual([
      'serve.filter',
      'serve.insert',
    ])
    expect(sqliteSchema(exported)).not.toContain('things')
    expect(serving(exported)).toThrow(`${place}: the definition was exported without code`)
    expect(serving(exported)).toThrow('serve.filter, serve.insert')
  })

  test('is served by the functions that withCode supplies', async () => {
    const applications = withCode(exported, {
      app: { things: { serve: { filter: () => [item] }, without: ['serve.insert'] } },
    })
    const service = serving(applications)()
    const access = service.as(system).collection('app', 'things') as never as {
      readonly get: (key: number) => Promise<unknown>
      readonly insert: (values: object) => Promise<unknown>
    }
    expect(await access.get(1)).toEqual(item)
    await expect(access.insert(item)).rejects.toThrow('no function insert')
    await service.close()
  })

  test('cannot become a stored collection', () => {
    expect(() =>
      withCode(exported, { app: { things: { without: ['serve.filter', 'serve.insert'] } } }),
    ).toThrow('code.app.things.without: a collection that was served by functions needs')
    expect(() =>
      withCode(
        { app: { collections: { things: served } } },
        {
          app: { things: { serve: { filter: () => [] } } },
        },
      ),
    ).toThrow('code.app.things.serve.filter: the definition has this code already')
  })
})
