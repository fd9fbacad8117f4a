import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  mount,
  openAccess,
  principal,
  text,
  type ApplicationDefinition,
  type ApplicationDefinitions,
  type RequestTrace,
  type Service,
  type ServiceOptions,
  type ServiceReply,
} from '../../src/entries/index.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { listen } from '../kit/listen.ts'
import { newKey, plainKeys } from '../kit/keys.ts'
import { openStorage, storages, temporaryFolder } from '../kit/storages.ts'

const fields = { id: integer(), title: text(), owner: text() }
const notes = defineCollection({ key: 'id', fields, pageSize: { maximum: 100 } })
const maria = principal('maria')

type Options = Partial<ServiceOptions<ApplicationDefinitions>>

function open(
  options: Options = {},
  collections: ApplicationDefinition['collections'] = { notes },
) {
  const service = createService({
    applications: { app: { collections } },
    storage: memoryStorage(),
    security: openAccess(),
    ...options,
  })
  onTestFinished(() => service.close())
  const client = createTestClient(service)
  const insert = (id: number, title: string, owner = 'maria') =>
    service.as(maria).collection('app', 'notes').insert({ id, title, owner })
  return { service, client, insert, ...counting(service) }
}

function counting(service: Pick<Service<unknown>, 'statistics'>) {
  const hits = (): number => service.statistics().cache?.hits ?? -1
  /** Returns what `ask` resolves with, and whether the cache responded. */
  const cached = async (ask: () => Promise<unknown>): Promise<boolean> => {
    const before = hits()
    await ask()
    return hits() > before
  }
  return { hits, cached }
}

describe.each(storages)('on $name', (on) => {
  test('the third response of a target comes from the cache, with the same bytes', async () => {
    const { service, insert, hits } = open({ storage: openStorage(on) })
    await insert(1, 'Grüße')
    const ask = async (target: string): Promise<ServiceReply> =>
      service.handle({
        method: 'GET',
        target: `/rest/v1/app${target}`,
        header: () => undefined,
        secure: true,
        peer: undefined,
        signal: undefined,
        body: () => Promise.reject(new Error('A GET has no body.')),
      })
    for (const target of ['/notes?$sort=-title&$count=true', '/notes/1']) {
      const before = hits()
      const replies = [await ask(target), await ask(target), await ask(target), await ask(target)]
      const [first] = replies
      expect(replies).toEqual([first, first, first, first])
      expect(hits() - before).toBe(2)
      expect(replies.map(({ bytes }) => bytes !== undefined)).toEqual([false, false, true, true])
      expect(new TextDecoder().decode(replies[3]?.bytes)).toBe(first?.body)
      expect(Object.keys({ ...replies[3] })).toEqual(['status', 'headers', 'body'])
    }
  })

  test('a write of this process is seen at once', async () => {
    const { client, insert, hits } = open({ storage: openStorage(on) })
    for (let id = 1; id <= 5; id++) {
      await insert(id, `note ${id}`)
      for (let round = 0; round < 4; round++) {
        const { body } = await client.get('/app/notes', { query: { $count: true } })
        expect(body.count).toBe(id)
      }
    }
    expect(hits()).toBe(2 + 4 * 3)
  })

  test('after a change, a response that was used before is kept at once, and one that was not is not', async () => {
    const { client, insert, cached } = open({ storage: openStorage(on) })
    const used = () => client.get('/app/notes')
    const unused = () => client.get('/app/notes', { query: { $count: true } })
    for (const ask of [used, used, used, unused, unused]) await ask()

    await insert(1, 'a')
    expect(await cached(used)).toBe(false)
    expect(await cached(unused)).toBe(false)
    expect(await cached(used)).toBe(true)
    expect(await cached(unused)).toBe(false)
    expect(await cached(unused)).toBe(true)

    // Kept, but not used in this version.
    await insert(2, 'b')
    expect(await cached(used)).toBe(false)
    await insert(3, 'c')
    expect(await cached(used)).toBe(false)
    expect(await cached(used)).toBe(false)
    expect(await cached(used)).toBe(true)
    expect((await used()).body).toMatchObject({ items: [{ id: 1 }, { id: 2 }, { id: 3 }] })
  })

  test('counts hits, misses, entries and bytes', async () => {
    const { service, client } = open({ storage: openStorage(on), cache: { maxBytes: 100_000 } })
    await service.ready()
    for (let round = 0; round < 5; round++) await client.get('/app/notes')
    await client.get('/app/notes?title=x')
    expect(service.statistics()).toEqual({
      cache: {
        hits: 3,
        misses: 3,
        entries: 1,
        bytes: expect.any(Number) as number,
        maxBytes: 100_000,
      },
      connections: on.isRemote === true ? [expect.objectContaining({ pending: 0 })] : [],
    })
  })
})

test('the size of a response includes its cursor', async () => {
  const sizeOf = async (length: number): Promise<number> => {
    const listed = defineCollection({ key: 'id', fields, cursor: true })
    const { service, client } = open({}, { notes: listed })
    for (const id of [1, 2]) {
      await service
        .as(maria)
        .collection('app', 'notes')
        .insert({ id, title: 'x'.repeat(length) })
    }
    for (let round = 0; round < 3; round++)
      await client.get('/app/notes?$sort=title&$fields=id&$limit=1')
    expect(service.statistics().cache).toMatchObject({ entries: 1, hits: 1 })
    return service.statistics().cache?.bytes ?? 0
  }
  expect((await sizeOf(1_000)) - (await sizeOf(10))).toBeGreaterThan(990)
})

test('a request that is not plain, or has no place in the cache, never comes from it', async () => {
  const handled = defineCollection(
    { key: 'id', fields },
    { events: { Filter: { before: () => undefined } } },
  )
  const off = defineCollection({ key: 'id', fields, cache: false })
  const security = plainKeys({
    properties: { AllowApiKeyInQueryString: true, QueryStringParameterName: 'apiKey' },
  })
  const { service, cached } = open({ security }, { notes, handled, off })
  const { key } = await newKey(service)
  const client = createTestClient(service, { key })
  const ask = async (path: string, headers = {}, by = client) => {
    for (let round = 0; round < 3; round++) await by.get(path, { headers })
    return cached(() => by.get(path, { headers }))
  }
  expect(await ask('/app/notes')).toBe(true)
  expect(await ask('/app/notes', { 'X-Svc-Ignore-Warnings': 'a' })).toBe(false)
  expect(await ask(`/app/notes?apiKey=${key}`, {}, createTestClient(service))).toBe(false)
  expect(await ask('/app/notes/7')).toBe(false)
  expect(await ask('/app/notes?nope=1')).toBe(false)
  expect(await ask('/app/handled')).toBe(false)
  expect(await ask('/app/off')).toBe(false)
})

test('checks of a request are the same on a hit', async () => {
  const { service, client } = open({ security: plainKeys() })
  const { key, keyId } = await newKey(service)
  for (let round = 0; round < 3; round++) await client.get('/app/notes', { key })
  const statusOf = async (given: string, headers = {}) =>
    (await client.get('/app/notes', { key: given, headers })).status
  expect(await statusOf(key)).toBe(200)
  expect(await statusOf('wrong')).toBe(401)
  expect(await statusOf(key, { Accept: 'text/html' })).toBe(406)
  expect(await statusOf(key, { 'X-Svc-Ignore-Warnings': '"' })).toBe(400)
  await service.keys.revoke(keyId)
  expect(await statusOf(key)).toBe(401)
  await service.close()
  expect(await statusOf(key)).toBe(503)
})

test('a caller never gets the response of another one', async () => {
  const owned = defineCollection({
    key: 'id',
    fields: { ...fields, secret: text({ readableBy: ['boss'] }) },
    rows: { equal: { owner: { principal: 'user' } }, exceptRoles: ['boss'] },
  })
  const { service, hits } = open({ security: plainKeys() }, { notes: owned })
  const people = ['anna', 'bert', 'carl', 'boss']
  const clients = new Map<string, ReturnType<typeof createTestClient>>()
  for (const [id, user] of people.entries()) {
    const { key } = await newKey(service, { user })
    if (user === 'boss') await service.users.change(user, { roles: ['boss'] })
    clients.set(user, createTestClient(service, { key }))
    await service
      .as(principal('boss', { roles: ['boss'] }))
      .collection('app', 'notes')
      .insert({ id, title: `of ${user}`, owner: user, secret: `s ${user}` })
  }
  const seen = async (user: string) => {
    const { body } = (await clients.get(user)?.get('/app/notes')) ?? {}
    return body?.items
  }
  const before = new Map<string, unknown>()
  for (const user of people) before.set(user, await seen(user))
  expect(before.get('anna')).toEqual([{ id: 0, title: 'of anna', owner: 'anna' }])
  expect(before.get('boss')).toHaveLength(4)
  for (let round = 0; round < 3; round++)
    for (const user of people) expect(await seen(user)).toEqual(before.get(user))
  expect(hits()).toBeGreaterThanOrEqual(8)
  // A changed role applies to the next response.
  await service.users.change('anna', { roles: ['boss'] })
  expect(await seen('anna')).toEqual(before.get('boss'))
})

test.each(drivers)('%s: an open handle and :memory: are not cached', async (driver) => {
  const handle = openHandle(driver, ':memory:')
  for (const storage of [
    sqliteStorage(handle, { ensureSchema: true }),
    sqliteStorage(':memory:', { ensureSchema: true, driver }),
  ]) {
    const { service, client } = open({ storage })
    for (let round = 0; round < 4; round++) await client.get('/app/notes')
    expect(service.statistics().cache).toMatchObject({ hits: 0, misses: 0, entries: 0 })
    await service.close()
  }
  handle.close()
})

test('a mount is cached where its storage has a version', async () => {
  const { version: _version, ...plain } = memoryStorage()
  const others = defineCollection({ key: 'id', fields })
  const storage = mount({ 'app/notes': memoryStorage(), 'app/others': plain })
  const { client, cached } = open({ storage }, { notes, others })
  for (const name of ['notes', 'others'])
    for (let round = 0; round < 3; round++) await client.get(`/app/${name}`)
  expect(await cached(() => client.get('/app/notes'))).toBe(true)
  expect(await cached(() => client.get('/app/others'))).toBe(false)
})

test('a response larger than an eighth of the cache is not kept', async () => {
  const { service, client, insert } = open({ cache: { maxBytes: 16_384 } })
  await insert(1, 'x'.repeat(5_000))
  for (let round = 0; round < 4; round++) await client.get('/app/notes')
  expect(service.statistics().cache).toMatchObject({ hits: 0, entries: 0, bytes: 0 })
  for (let round = 0; round < 4; round++) await client.get('/app/notes?title=none')
  expect(service.statistics().cache).toMatchObject({ hits: 2, entries: 1 })
})

test('cache: false keeps nothing, and has no statistics', async () => {
  const { service, client } = open({ cache: false })
  for (let round = 0; round < 4; round++) await client.get('/app/notes')
  expect(service.statistics()).toEqual({ cache: null, connections: [] })
})

test('the log and the trace of an event say that the response comes from the cache', async () => {
  const entries: RequestTrace[] = []
  const { client } = open({ log: (entry) => entries.push(entry) })
  const { ended } = listen('event', 'storage')
  for (let round = 0; round < 3; round++) await client.get('/app/notes')
  const seen = { application: 'app', collection: 'notes', event: 'Filter' }
  expect(entries).toMatchObject([
    { ...seen, status: 200, cached: false },
    { ...seen, status: 200, cached: false },
    { ...seen, status: 200, cached: true },
  ])
  const event = { ...seen, user: null, nested: false, outcome: 'page' }
  expect(ended('event')).toEqual([
    { ...event, cached: false },
    { ...event, cached: false },
    { ...event, cached: true },
  ])
  expect(ended('storage')).toHaveLength(2)
})

test('another connection is seen within the stated bound', async () => {
  const file = `${temporaryFolder()}/data.db`
  const { client, insert, hits } = open({
    storage: sqliteStorage(file, { ensureSchema: true, maxStaleness: 0 }),
  })
  await insert(1, 'one')
  const other = openHandle(drivers[0] ?? 'better-sqlite3', file)
  for (let id = 2; id < 6; id++) {
    for (let round = 0; round < 3; round++) await client.get('/app/notes')
    other.exec(`INSERT INTO notes VALUES (${id}, 'note', 'x')`)
    const { body } = await client.get('/app/notes', { query: '$count=true' })
    expect(body.count).toBe(id)
  }
  expect(hits()).toBe(1 + 3 * 2)
  other.close()
})
