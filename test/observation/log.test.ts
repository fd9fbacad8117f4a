import { afterEach, expect, test, vi } from 'vitest'
import type { RequestTrace } from '../../src/entries/index.ts'
import type { SecurityProvider } from '../../src/entries/security.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { newKey } from '../kit/keys.ts'
import { address, openDesk } from '../http/desk.ts'
import { listen } from '../kit/listen.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

type Also = (entry: Readonly<RequestTrace>) => unknown

function openLogged(security: readonly SecurityProvider[], also: Also = () => undefined) {
  const entries: Readonly<RequestTrace>[] = []
  const log = (entry: Readonly<RequestTrace>): unknown => {
    entries.push(entry)
    return also(entry)
  }
  const { service, errors } = openDesk({
    log,
    ...(security.length > 0 && { security }),
  })
  ends.push(() => service.close())
  return { service, entries, errors }
}

const inQuery = (name: string, parameter: string, priority: number) =>
  apiKeys({
    name,
    priority,
    properties: {
      AllowApiKeyInQueryString: true,
      QueryStringParameterName: parameter,
      HttpHeaderName: `X-${name}`,
    },
  })

test('an entry has all that is known of a request', async () => {
  const { service, entries } = openLogged([apiKeys({ name: 'keys' })])
  const { key, keyId } = await newKey(service)
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const client = createTestClient(service, { key, peer: '192.0.2.7', headers: { traceparent } })
  await client.post('/desk/notes', { noteId: 1, words: 'one' })
  await client.get('/desk/notes', { query: '$fields=words' })
  await createTestClient(service, { secure: false }).get('/desk/notes')
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string
  const asked = { secure: true, peer: '192.0.2.7', traceparent }
  const known = { application: 'desk', collection: 'notes' }
  const caller = { provider: 'keys', user: 'maria', keyId }
  const ended = { time, cached: false, milliseconds: expect.any(Number) as number }
  expect(entries).toStrictEqual([
    {
      ...{ method: 'POST', path: '/rest/v1/desk/notes', query: '', ...asked },
      ...{ ...known, event: 'Insert', ...caller, status: 200, code: null, ...ended },
    },
    {
      ...{ method: 'GET', path: '/rest/v1/desk/notes', query: '$fields=words', ...asked },
      ...{ ...known, event: 'Filter', ...caller, status: 200, code: null, ...ended },
    },
    {
      ...{ method: 'GET', path: '/rest/v1/desk/notes', query: '' },
      ...{ secure: false, peer: null, traceparent: null },
      ...{ ...known, event: 'Filter', provider: null, user: null, keyId: null },
      ...{ status: 401, code: 'UNAUTHENTICATED', ...ended },
    },
  ])
})

test.each([
  ['apiKey=KEY', 'apiKey=***'],
  ['$limit=1&apiKey=KEY&words=a', '$limit=1&apiKey=***&words=a'],
  ['%61piKey=KEY', '%61piKey=***'],
  ['api%4bey=KEY&apiKey=KEY', 'api%4bey=***&apiKey=***'],
  ['apiKey=KEY=KEY', 'apiKey=***'],
  ['apiKey=%zz&apiKey', 'apiKey=***&apiKey'],
  ['apiKey=KEY&token=KEY', 'apiKey=***&token=***'],
  [
    'apikey=KEY&APIKEY=KEY&api_key=KEY&Api-Key=KEY',
    'apikey=***&APIKEY=***&api_key=***&Api-Key=***',
  ],
  ['x-api-key=KEY&Access_Token=KEY&key=KEY', 'x-api-key=***&Access_Token=***&key=***'],
  ['%41PI%4bEY=KEY&+apikey=KEY&apikey[]=KEY', '%41PI%4bEY=***&+apikey=***&apikey[]=***'],
  [
    'api%zzKey=KEY&apikey%3DKEY&words=a;apikey=KEY',
    'api%zzKey=***&apikey%3D***&words=a;apikey=***',
  ],
  ['monkey=a&keys=b&words=key', 'monkey=a&keys=b&words=key'],
  ['token=KEY\n&words=KEY-not', 'token=***&words=KEY-not'],
  ['words=a%20b&apis=a', 'words=a%20b&apis=a'],
])('of the query %s the log has %s', async (query, logged) => {
  const { service, entries } = openLogged([inQuery('one', 'apiKey', 1), inQuery('two', 'token', 2)])
  await createTestClient(service).get('/desk/notes', { query })
  expect(entries.map((entry) => entry.query)).toEqual([logged])
})

test('the log hides a key in a query parameter named like its header, in any letter case', async () => {
  const properties = { HttpHeaderName: 'X-Desk-Pass', QueryStringParameterName: 'deskPass' }
  const { service, entries } = openLogged([apiKeys({ name: 'keys', properties })])
  await createTestClient(service).get('/desk/notes', { query: 'x-desk-pass=KEY&DESKPASS=KEY' })
  expect(entries.map((entry) => entry.query)).toEqual(['x-desk-pass=***&DESKPASS=***'])
})

test('each logger receives its own copy of an entry', async () => {
  const { service, entries } = openLogged([], (entry) => {
    Object.assign(entry, { status: 1, path: 'changed' })
  })
  const { ended } = listen('request')
  expect((await createTestClient(service).get('/desk/notes')).status).toBe(200)
  expect(entries).toMatchObject([{ status: 1, path: 'changed' }])
  expect(ended('request')).toMatchObject([{ status: 200, path: '/rest/v1/desk/notes' }])
})

test.each<[string, Also]>([
  [
    'throws',
    () => {
      throw new Error('The disk is full.')
    },
  ],
  ['rejects', () => Promise.reject(new Error('The disk is full.'))],
  [
    'is a thenable that rejects',
    () => ({
      then: (_done: unknown, fail: (error: Error) => void) => {
        fail(new Error('The disk is full.'))
      },
    }),
  ],
])('a log that %s does not affect requests', async (_what, also) => {
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  const { service, entries, errors } = openLogged([], also)
  expect((await createTestClient(service).get('/desk/notes')).status).toBe(200)
  await new Promise((resolve) => setTimeout(resolve, 20))
  process.off('unhandledRejection', unhandled)
  expect(entries).toHaveLength(1)
  expect(errors()).toEqual([])
  expect(unhandled).not.toHaveBeenCalled()
})

test.each([false, true])(
  'code for the client that throws does not affect requests that do not need it, traced: %s',
  async (isTraced) => {
    const { service, entries, errors } = openLogged([])
    const traces = isTraced ? listen('request', 'security') : undefined
    const fail = () => {
      throw new Error('no client')
    }
    const handle = toFetchHandler(service, { secure: fail, peer: fail })
    expect((await handle(new Request(address))).status).toBe(200)
    const client = { secure: false, peer: null }
    expect(entries).toMatchObject([{ ...client, status: 200 }])
    const heard = traces && [...traces.ended('request'), ...traces.ended('security')]
    expect(heard ?? [client, client]).toMatchObject([client, client])
    expect(errors()).toEqual([])
  },
)

test('code for the client that throws is a 500 if authentication needs it', async () => {
  const { service, entries, errors } = openLogged([apiKeys({ name: 'keys' })])
  const fail = () => {
    throw new Error('no client')
  }
  const handle = toFetchHandler(service, { secure: fail, peer: fail })
  const headers = { 'X-API-Key': 'x'.repeat(22) }
  expect((await handle(new Request(address, { headers }))).status).toBe(500)
  expect(entries).toMatchObject([{ secure: false, peer: null, status: 500, code: 'INTERNAL' }])
  expect(errors()).toEqual(['Error: no client'])
})

test('the time of an entry is the arrival of the request on the clock of the service, in UTC', async () => {
  const entries: Readonly<RequestTrace>[] = []
  const times = ['2026-01-02T03:04:05.060+02:00', 'not a time']
  const { service } = openDesk({
    log: (entry) => entries.push(entry),
    now: () => new Date(times[entries.length] ?? 'not a time'),
  })
  ends.push(() => service.close())
  const began = Date.now()
  const client = createTestClient(service)
  await client.get('/desk/notes')
  await client.get('/desk/notes')
  expect(entries[0]?.time).toBe('2026-01-02T01:04:05.060Z')
  // A clock that fails does not fail the request.
  expect(Date.parse(entries[1]?.time ?? '')).toBeGreaterThanOrEqual(began)
})
