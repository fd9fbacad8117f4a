import { expect, test } from 'vitest'
import {
  applyRules,
  connection,
  createOutbox,
  endpoint,
  nest,
  pages,
  readStream,
  restCollection,
  send,
  sendTogether,
  typed,
} from '../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
} from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { oddObjects } from '../kit/odd-objects.ts'
import { openStage } from '../kit/stage.ts'

let sent: unknown[] = []
const api = connection({
  baseUrl: 'https://example.com',
  fetch: async (...request) => {
    sent.push(request)
    return new Response('{"data":[]}', { headers: { 'content-type': 'application/json' } })
  },
})
const list = endpoint(api, {
  name: 'list',
  path: '/notes',
  query: { page: 'integer', tenant: 'string', title: 'string' },
  response: typed<{ data: unknown[] }>(),
})
const create = endpoint(api, {
  name: 'create',
  method: 'POST',
  path: '/notes',
  body: typed<unknown>(),
})
const outbox = createOutbox({ endpoints: { create: { endpoint: create } }, workers: 0 })
const service = createService({
  applications: { app: { collections: {} } },
  storage: memoryStorage(),
  security: openAccess(),
  outbox,
})
const user = service.as(principal('maria'))
const client = createTestClient(service)
const input = () => ({})

/** What a rest collection asks the other service for, with a mapping whose function returns an odd object. */
function readMapped(list_: object, rest: object = {}): Promise<unknown> {
  const data = { key: 'id', fields: { id: integer(), title: text() } } as const
  const serve = restCollection(data, {
    list: { endpoint: list, items: 'data', ...list_ },
    ...rest,
  })
  const { service: own, reports } = openStage({ notes: defineCollection(data, { serve }) })
  const filter = own
    .as(principal('maria'))
    .collection('app', 'notes')
    .filter({}, { sort: ['id'] })
  return filter.catch(() => {
    throw (reports[0] as { readonly error?: unknown }).error
  })
}

/** Every call of the consuming side that application code hands objects to. */
const doors: Readonly<Record<string, (given: never) => unknown>> = {
  'endpoint.call(input)': (given) => list.call(given),
  'endpoint.call(_, options)': (given) => list.call({}, given),
  'readStream(_, input)': (given) => readStream(list, given, async () => 1),
  'readStream(_, _, _, options)': (given) => readStream(list, {}, async () => 1, given),
  'pages(_, input)': (given) => pages(list, given, { paging: { kind: 'link' } } as never).next(),
  'send(_, _, options)': (given) => send(user, list, given),
  'send, a row': (given) => send(user, list, { rows: [given], input }),
  'send, the input': (given) => send(user, list, { rows: [{}], input: () => given }),
  'send, the options of a call': (given) =>
    send(user, list, { rows: [{}], input, call: () => given, onFailure: () => undefined }),
  'sendTogether(_, _, options)': (given) => sendTogether(user, list, given),
  'sendTogether, a row': (given) => sendTogether(user, list, { rows: [given], input }),
  'sendTogether, the input': (given) =>
    sendTogether(user, list, { rows: [{}], input: () => given, onFailure: () => undefined }),
  'sendTogether, the options of the call': (given) =>
    sendTogether(user, list, { rows: [{}], input, call: given, onFailure: () => undefined }),
  'applyRules, the row': (row) => applyRules(user, [], {}, { row }),
  'nest, the options': (given) => nest(given),
  'nest, a row': (row) => nest({ row, set: {} }),
  'nest, a row of many': (row) => nest({ rows: [row], set: {} }),
  'nest, a row below': (row) =>
    nest({ row: {}, set: {}, nest: { lines: { rows: [row], on: {}, set: {} } } } as never),
  'restCollection, input': (given) => readMapped({}, { input: () => given }),
  'restCollection, select': (given) => readMapped({ select: () => given }),
  'restCollection, sort': (given) => readMapped({ sort: () => given }),
  'restCollection, sort.input': (given) =>
    readMapped({ sort: { fields: ['id'], input: () => given } }),
}

/** Calls whose body is sent as JSON. */
const bodies: Readonly<Record<string, (given: unknown) => unknown>> = {
  'endpoint.call({ body })': (body) => create.call({ body }),
  'outbox.enqueue': (body) =>
    user.transaction(async (within) => outbox.enqueue(within, 'create', { body })),
  'outbox.enqueue({ row })': (row) =>
    user.transaction(async (within) =>
      outbox.enqueue(within, 'create', { body: 1 }, { row: { row } }),
    ),
  'post of a test client': (given) => client.post('/app/notes', given),
}

async function failureOf(call: () => unknown): Promise<unknown> {
  sent = []
  try {
    await call()
    return undefined
  } catch (error) {
    return error
  }
}

test.each(Object.entries(doors))(
  '%s takes plain objects only, and sends nothing',
  async (name, call) => {
    for (const [what, given, found] of oddObjects) {
      // Rows may be promises: they are awaited.
      if (name === 'send, a row' && found.includes('Promise')) continue
      const failure = await failureOf(() => call(given as never))
      expect(failure, `${name} of ${what}`).toBeInstanceOf(TypeError)
      expect(String(failure), `${name} of ${what}`).toContain(found.replace(/\.$/, ''))
      expect(sent).toEqual([])
    }
  },
)

test.each(Object.entries(bodies))(
  '%s takes no object that JSON shows without members',
  async (name, call) => {
    for (const [what, given, found] of oddObjects) {
      // JSON has accessors, and leaves out functions, symbols and hidden members of any object.
      if (/symbol|not enumerable|accessor|can be awaited|Date|URL/.test(what)) continue
      // Bytes are a body of the test client.
      if (name.startsWith('post') && what === 'a typed array') continue
      for (const wrapped of [given, { inner: given }, [1, { inner: [given] }]]) {
        const failure = await failureOf(() => call(wrapped))
        expect(failure, `${name} of ${what}`).toBeInstanceOf(TypeError)
        expect(String(failure)).toContain(found.replace(/\.$/, ''))
        expect(sent).toEqual([])
      }
    }
  },
)

test('a body may have dates and other objects with a JSON form of their own', async () => {
  await create.call({ body: { at: new Date(0), link: new URL('https://example.com') } })
  const [[, { body }]] = sent.slice(-1) as [[string, { readonly body: unknown }]]
  expect(body).toBe('{"at":"1970-01-01T00:00:00.000Z","link":"https://example.com/"}')
})

test('a cycle is not sent, and has a message of its own', async () => {
  const body: Record<string, unknown> = {}
  body['self'] = [body]
  await expect(create.call({ body })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
