import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  system,
  text,
  type ServiceReply,
} from '../../src/entries/index.ts'
import type { StorageQuery } from '../../src/entries/storage.ts'
import { newKey, plainKeys } from '../kit/keys.ts'
import { memory, openStorage, storages } from '../kit/storages.ts'

const notes = defineCollection({
  key: 'id',
  fields: {
    id: text(),
    owner: text(),
    size: integer(),
    secret: text({ readableBy: ['Boss'] }),
  },
  rows: { equal: { owner: { principal: 'user' } }, exceptRoles: ['Boss'] },
  roles: ['Reader', 'Boss'],
})

type Headers = Readonly<Record<string, string>>

/** A service with notes of three users, and a function that sends it a request of one of them. */
async function open(storage = openStorage(memory)) {
  const properties = { AllowInsecureHttp: true, AllowApiKeyInQueryString: true }
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage,
    security: plainKeys({ properties }),
    // Each request is planned and read.
    cache: false,
  })
  onTestFinished(() => service.close())
  const keys = new Map<string, string>()
  for (const user of ['ann', 'bob', 'boss', 'nobody']) {
    const role = { boss: ['Boss'], nobody: [] }[user] ?? ['Reader']
    await service.users.add({ user, roles: role })
    keys.set(user, (await newKey(service, { user })).key)
    await service
      .as(system)
      .collection('app', 'notes')
      .insert({ id: user, owner: user, size: user.length, secret: `of ${user}` })
  }
  const send = async (user: string | undefined, path: string, headers: Headers = {}) => {
    const given: Headers = { 'x-api-key': keys.get(user ?? '') ?? '', ...headers }
    const { status, body }: ServiceReply = await service.handle({
      method: headers['method'] ?? 'GET',
      target: `/rest/v1/app${path}`,
      header: (name) => (name === 'x-api-key' && user === undefined ? undefined : given[name]),
      secure: false,
      peer: undefined,
      signal: undefined,
      body: () => Promise.resolve(new TextEncoder().encode('{}')),
    })
    return { status, body }
  }
  return { service, send, keys }
}

const users = ['ann', 'bob', 'boss', 'nobody'] as const
const parameter = fc.constantFrom(
  ...['$limit=1', '$limit=x', '$offset=1', '$sort=-size', '$sort=secret', '$fields=id,owner'],
  ...['$fields=secret', '$fields=*', '$q=an', '$count=true', 'owner=bob', 'size=3', 'size=a'],
  ...['secret=of%20bob', 'id=', '%zz', 'other=1'],
)
const path = fc.constantFrom(
  '/notes',
  '/notes/ann',
  '/notes/bob',
  '/notes/%zz',
  '/other',
  '/notes/',
)
const target = fc
  .tuple(path, fc.array(parameter, { maxLength: 3 }))
  .map(([start, parameters]) => start + (parameters.length > 0 ? `?${parameters.join('&')}` : ''))

test.each(storages)(
  'on $name, a repeated read has the same response for each caller',
  async (on) => {
    const { send } = await open(openStorage(on))
    const first = new Map<string, object>()
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(target, fc.constantFrom(...users))), async (requests) => {
        for (const [where, user] of [...requests, ...requests, ...requests]) {
          const reply = await send(user, where)
          const earlier = first.get(`${user} ${where}`)
          if (earlier !== undefined) expect(reply).toEqual(earlier)
          first.set(`${user} ${where}`, reply)
        }
      }),
      { numRuns: 60 },
    )
  },
)

test('a target that comes again is not planned again', async () => {
  const storage = openStorage(memory)
  const queries: StorageQuery[] = []
  const { send } = await open({
    ...storage,
    filter: (collection, query, context) => {
      if (collection.name === 'notes') queries.push(query)
      return storage.filter(collection, query, context)
    },
  })
  for (let round = 0; round < 4; round++) await send('boss', '/notes?$limit=2')
  const [first, second, third, fourth] = queries
  expect(second).not.toBe(first)
  expect(third).toBe(fourth)
})

test('the row rule and the fields of each caller apply to a target that others have read', async () => {
  const { send } = await open()
  const idsOf = async (user: string) => {
    const { body } = await send(user, '/notes?$fields=*')
    return (JSON.parse(body) as { items: { id: string; secret?: string }[] }).items
  }
  for (let round = 0; round < 4; round++) {
    expect(await idsOf('ann')).toEqual([{ id: 'ann', owner: 'ann', size: 3 }])
    expect(await idsOf('bob')).toEqual([{ id: 'bob', owner: 'bob', size: 3 }])
    expect((await idsOf('boss')).map(({ secret }) => secret)).toHaveLength(4)
    expect((await send('nobody', '/notes?$fields=*')).status).toBe(403)
    expect((await send('bob', '/notes/ann')).status).toBe(404)
    expect((await send('ann', '/notes/ann')).status).toBe(200)
  }
})

test('the checks of a repeated read keep their order', async () => {
  const { service, send } = await open()
  for (let round = 0; round < 3; round++) expect((await send('ann', '/notes/ann')).status).toBe(200)
  const html = { accept: 'text/html' }
  const badHeader = { 'x-svc-ignore-warnings': 'x' }
  expect((await send(undefined, '/notes/ann', html)).status).toBe(401)
  expect((await send('nobody', '/notes/ann', html)).status).toBe(403)
  expect((await send('ann', '/notes/ann', { ...html, ...badHeader })).status).toBe(406)
  expect((await send('ann', '/notes/ann', badHeader)).status).toBe(400)
  expect((await send('ann', '/notes/ann', { method: 'PUT' })).status).toBe(405)
  await service.close()
  expect((await send(undefined, '/notes/ann', html)).status).toBe(503)
})

test('a target that contains a key has the response of one that does not', async () => {
  const { send, keys } = await open()
  for (let round = 0; round < 3; round++) {
    for (const user of ['ann', 'bob']) {
      const { body } = await send(undefined, `/notes?apiKey=${keys.get(user) ?? ''}&$fields=id`)
      expect(body).toContain(`"items":[{"id":"${user}"}]`)
    }
  }
})
