import { createServer, type IncomingHttpHeaders } from 'node:http'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import {
  attempt,
  createClient,
  RequestError,
  type ClientOptions,
} from '../../src/entries/client.ts'
import { openServer, serveDuringTest } from '../kit/server.ts'

const key = '4nHcTzYvT0m3bDq1x8Lw2g'
const page = '{"items":[{"id":1}],"count":null,"message":null,"validations":[],"status":200}'
const saved = '{"item":{"id":1},"message":null,"validations":[],"status":200}'
const busy = '{"message":"Later.","validations":[],"status":503}'

function itemsOf(options: ClientOptions) {
  return createClient(options).collection('app', 'items')
}

async function errorOf(call: Promise<unknown>): Promise<RequestError> {
  const result = await attempt(call)
  if (result.ok || !(result.error instanceof RequestError)) throw new Error('There was no error.')
  expect(inspect(result.error, { depth: 9 }) + String(result.error.stack)).not.toContain(key)
  return result.error
}

test.each<[string, Partial<ClientOptions>, IncomingHttpHeaders]>([
  ['an API key', { key }, { 'x-api-key': key }],
  ['an API key in another header', { key, keyHeader: 'X-Mine' }, { 'x-mine': key }],
  ['an API key of a function', { key: () => key }, { 'x-api-key': key }],
  ['a bearer token', { bearer: async () => 'a.b.c' }, { authorization: 'Bearer a.b.c' }],
  [
    'a user and password',
    { basic: { user: 'Zoë', password: 'pä:ss' } },
    { authorization: `Basic ${Buffer.from('Zoë:pä:ss').toString('base64')}` },
  ],
])('sends %s', async (_, options, expected) => {
  let headers: IncomingHttpHeaders = {}
  const url = await serveDuringTest((request, response) => {
    headers = request.headers
    response.end(page)
  })
  await itemsOf({ url, ...options }).filter({}, { limit: 1 })
  expect(headers).toMatchObject({ accept: 'application/json', ...expected })
})

test('calls the function of a credential for each request', async () => {
  const keys: unknown[] = []
  const url = await serveDuringTest((request, response) => {
    keys.push(request.headers['x-api-key'])
    response.end(page)
  })
  let calls = 0
  const items = itemsOf({ url, key: () => `key-${++calls}` })
  await items.exists()
  await items.exists()
  expect(keys).toEqual(['key-1', 'key-2'])
})

test.each<[string, ClientOptions, RegExp]>([
  ['an unknown option', { url: 'https://a.b', kee: 'x' } as ClientOptions, /unknown option kee/],
  ['a URL without a scheme', { url: 'example.com' }, /url must be a URL/],
  ['a URL of another scheme', { url: 'ftp://example.com' }, /https/],
  ['a URL with a password', { url: `https://x:${key}@a.b` }, /no credentials/],
  ['plain HTTP to another machine with a key', { url: 'http://a.b', key }, /insecureHttp/],
  ['two credentials', { url: 'https://a.b', key, bearer: key }, /only one/],
  ['a key with a line feed', { url: 'https://a.b', key: `${key}\n` }, /header can contain/],
  ['an empty key', { url: 'https://a.b', key: '' }, /key is empty/],
  ['a user with a colon', { url: 'https://a.b', basic: { user: 'a:b', password: key } }, /colon/],
  ['a time-out of zero', { url: 'https://a.b', timeout: 0 }, /timeout must be an integer/],
  ['a brand of capitals', { url: 'https://a.b', brand: 'Acme' }, /brand/],
])('throws for %s, without the credential in the message', (_, options, message) => {
  expect(() => createClient(options)).toThrow(message)
  try {
    createClient(options)
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    expect(inspect(error)).not.toContain(key)
  }
})

test('plain HTTP to another machine is allowed with insecureHttp, and without a credential', () => {
  createClient({ url: 'http://a.b', key, insecureHttp: true })
  createClient({ url: 'http://a.b' })
})

test.each(['a\nb', '', ' x', undefined])(
  'does not send an invalid key of a function: %j',
  async (bad) => {
    let requests = 0
    const url = await serveDuringTest((_, response) => {
      requests++
      response.end(page)
    })
    const error = await errorOf(itemsOf({ url, key: () => bad as string }).exists())
    expect([error.code, error.status, requests]).toEqual(['CREDENTIAL_FAILED', null, 0])
  },
)

test('the client does not follow a redirect: the key would be sent along', async () => {
  const requested: unknown[] = []
  const other = await serveDuringTest((request, response) => {
    requested.push(request.url)
    response.end(page)
  })
  const url = await serveDuringTest((_, response) => {
    response.writeHead(307, { Location: other }).end()
  })
  const items = itemsOf({ url, key })
  for (const call of [() => items.filter(), () => items.insert({ id: 1 }), () => items.delete(1)]) {
    expect(await errorOf(call())).toMatchObject({ code: 'REDIRECT', status: 307, envelope: null })
  }
  expect(requested).toEqual([])
})

test('an error response carries the envelope', async () => {
  const body = {
    message: 'You do not have the right to do this.',
    validations: [{ message: 'Why.', severity: 'information', field: 'id' }],
    status: 403,
  }
  const url = await serveDuringTest((_, response) => {
    response.writeHead(403).end(JSON.stringify(body))
  })
  const items = itemsOf({ url, key })
  const calls = [
    () => items.filter(),
    () => items.get(1),
    () => items.insert({}),
    () => items.update(1, {}),
    () => items.delete(1),
  ]
  for (const call of calls) {
    const error = await errorOf(call())
    expect(error).toMatchObject({ code: 'STATUS', status: 403, envelope: body })
    expect(error.message).toBe(
      'The service responded 403: You do not have the right to do this. id: Why.',
    )
    expect(error.isTemporary).toBe(false)
  }
})

test.each<[string, number, string, Partial<RequestError>]>([
  ['a page of HTML', 200, '<html>', { code: 'INVALID_RESPONSE', status: 200, isTemporary: true }],
  ['an empty response', 200, '', { code: 'INVALID_RESPONSE', status: 200 }],
  ['JSON that is not an envelope', 200, '[null]', { code: 'INVALID_RESPONSE' }],
  ['JSON null', 200, 'null', { code: 'INVALID_RESPONSE' }],
  ['a proxy’s 404', 404, '<html>', { code: 'STATUS', status: 404, envelope: null }],
  ['a proxy’s 502', 502, '<html>', { code: 'STATUS', status: 502, isTemporary: true }],
])('%s is an error, also for items', async (_, status, body, expected) => {
  const url = await serveDuringTest((_request, response) => {
    response.writeHead(status).end(body)
  })
  const items = itemsOf({ url })
  for (const call of [
    () => items.filter(),
    () => items.get(1),
    () => items.update(1, {}),
    () => items.delete(1),
  ])
    expect(await errorOf(call())).toMatchObject(expected)
})

test('a service that is not there is an error with its reason', async () => {
  const { url, close } = await openServer(createServer())
  await close()
  const error = await errorOf(itemsOf({ url, key }).exists())
  expect(error).toMatchObject({ code: 'CONNECTION_FAILED', status: null, isTemporary: true })
  expect(error.message).toMatch(/^The service could not be reached: .*ECONNREFUSED.*\.$/)
})

test('an interrupted response is an error', async () => {
  const url = await serveDuringTest((request, response) => {
    response.writeHead(200, { 'Content-Length': 1000 })
    response.write(page, () => request.socket.destroy())
  })
  expect(await errorOf(itemsOf({ url }).exists())).toMatchObject({ code: 'CONNECTION_FAILED' })
})

test('a response that does not come in time is an error, and so is one that does not end', async () => {
  const url = await serveDuringTest((request, response) => {
    if (request.method === 'POST') response.writeHead(200).write('{')
  })
  const items = itemsOf({ url, timeout: 50 })
  for (const call of [() => items.exists(), () => items.insert({ id: 1 })])
    expect(await errorOf(call())).toMatchObject({ code: 'TIMEOUT', isTemporary: true })
})

test('neither a credential nor a custom fetch that never ends blocks a call', async () => {
  const never = () => new Promise<never>(() => undefined)
  const url = 'http://127.0.0.1:1'
  for (const options of [{ key: never }, { fetch: never }])
    expect(await errorOf(itemsOf({ url, timeout: 20, ...options }).exists())).toMatchObject({
      code: 'TIMEOUT',
    })
})

test('a signal of the call or of the client aborts a request', async () => {
  const control = new AbortController()
  const url = await serveDuringTest(() => control.abort(new Error('Enough.')))
  const byCall = errorOf(itemsOf({ url }).get(1, { signal: control.signal }))
  expect(await byCall).toMatchObject({ code: 'ABORTED', cause: { message: 'Enough.' } })
  const aborted = itemsOf({ url, signal: control.signal })
  for (const call of [() => aborted.exists(), () => aborted.delete(1)])
    expect(await errorOf(call())).toMatchObject({ code: 'ABORTED', isTemporary: false })
})

test.each([429, 503])('a read that is responded to with %d is repeated', async (status) => {
  let requests = 0
  const url = await serveDuringTest((_, response) => {
    if (++requests < 3) response.writeHead(status, { 'Retry-After': '0' }).end(busy)
    else response.end(page)
  })
  expect(await itemsOf({ url }).exists()).toBe(true)
  expect(requests).toBe(3)
})

test('a read is repeated a limited number of times', async () => {
  let requests = 0
  const url = await serveDuringTest((_, response) => {
    requests++
    response.writeHead(503, { 'Retry-After': '0' }).end(busy)
  })
  const error = await errorOf(itemsOf({ url, retries: 1 }).exists())
  expect(error).toMatchObject({ code: 'STATUS', status: 503, retryAfter: 0 })
  await errorOf(itemsOf({ url, retries: 0 }).exists())
  expect(requests).toBe(3)
})

test.each([
  ['has no Retry-After', {}],
  ['has one that is over', { 'Retry-After': 'Wed, 21 Oct 2015 07:28:00 GMT' }],
  ['has an invalid one', { 'Retry-After': 'soon' }],
])('a read is repeated if the response %s', async (_, headers) => {
  let requests = 0
  const url = await serveDuringTest((_request, response) => {
    if (++requests < 2) response.writeHead(503, headers).end('busy')
    else response.end(page)
  })
  expect(await itemsOf({ url }).exists()).toBe(true)
})

test('a read is not repeated if the service needs more than 30 seconds', async () => {
  let requests = 0
  const url = await serveDuringTest((_, response) => {
    requests++
    response.writeHead(429, { 'Retry-After': '31' }).end(busy)
  })
  expect(await errorOf(itemsOf({ url }).exists())).toMatchObject({
    retryAfter: 31,
    isTemporary: true,
  })
  expect(requests).toBe(1)
})

test('the pause before a repetition ends when the call is aborted', async () => {
  const control = new AbortController()
  const url = await serveDuringTest((_, response) => {
    response.writeHead(429, { 'Retry-After': '30' }).end(busy)
    setTimeout(() => control.abort(), 20)
  })
  const call = itemsOf({ url }).get(1, { signal: control.signal })
  expect(await errorOf(call)).toMatchObject({ code: 'ABORTED' })
})

test('a write is never repeated', async () => {
  const requested: unknown[] = []
  const url = await serveDuringTest((request, response) => {
    requested.push(request.method)
    response.writeHead(requested.length % 2 ? 503 : 429, { 'Retry-After': '0' }).end(busy)
  })
  const items = itemsOf({ url })
  for (const call of [() => items.insert({}), () => items.update(1, {}), () => items.delete(1)])
    await errorOf(call())
  expect(requested).toEqual(['POST', 'POST', 'DELETE'])
})

test.each([
  ['waits', 503, {}],
  ['is limited', 429, { 'Retry-After': '0' }],
  ['is in progress', 409, { 'Retry-After': '0' }],
  ['a gateway has lost', 504, { 'Retry-After': '0' }],
])('with retryWrites, a write that %s is repeated with its key', async (_, status, headers) => {
  const keys: unknown[] = []
  const url = await serveDuringTest((request, response) => {
    keys.push(request.headers['idempotency-key'])
    if (keys.length % 2 === 1) response.writeHead(status, headers).end(busy)
    else response.end(saved)
  })
  const items = itemsOf({ url, retryWrites: true })
  await items.insert({})
  await items.delete(1)
  const [first, second, third, fourth] = keys
  expect(first).toMatch(/^\d+-\d+-\d+-\d+$/)
  expect(second).toBe(first)
  expect(third).not.toBe(first)
  expect(fourth).toBe(third)
})

test('with retryWrites, a write without a response is repeated with its key', async () => {
  const keys: unknown[] = []
  const url = await serveDuringTest((request, response) => {
    keys.push(request.headers['idempotency-key'])
    if (keys.length === 1) request.socket.destroy()
    // The second one has no response in time.
    else if (keys.length === 3) response.end(saved)
  })
  const items = itemsOf({ url, retryWrites: true, timeout: 1_000 })
  expect(await items.insert({})).toMatchObject({ rejected: false })
  expect(new Set(keys).size).toBe(1)
})

test.each([
  ['fails', 500, {}],
  ['is final', 409, {}],
  ['reused a key', 422, { 'Retry-After': '0' }],
])('with retryWrites, a write that %s is not repeated', async (_, status, headers) => {
  let requests = 0
  const url = await serveDuringTest((_request, response) => {
    requests++
    response.writeHead(status, headers).end(busy)
  })
  await errorOf(itemsOf({ url, retryWrites: true }).insert({}))
  expect(requests).toBe(1)
})

test('reads have no key', async () => {
  const keys: unknown[] = []
  const url = await serveDuringTest((request, response) => {
    keys.push(request.headers['idempotency-key'])
    response.end(page)
  })
  await itemsOf({ url, retryWrites: true }).exists()
  await itemsOf({ url }).exists()
  expect(keys).toEqual([undefined, undefined])
})

test('other errors than 429 and 503 are not repeated', async () => {
  let requests = 0
  const url = await serveDuringTest((_, response) => {
    requests++
    response.writeHead(500, { 'Retry-After': '0' }).end(busy)
  })
  await errorOf(itemsOf({ url }).exists())
  expect(requests).toBe(1)
})

test('a custom fetch replaces the global one, and is called without a receiver', async () => {
  const urls: string[] = []
  const items = itemsOf({
    url: new URL('https://example.com/prefix/'),
    fetch: async function (this: unknown, url) {
      expect(this).toBeUndefined()
      urls.push(url)
      return new Response(saved)
    },
  })
  await items.get(['a/b', 'ä,'])
  await items.get(1.5)
  expect(urls).toEqual([
    'https://example.com/prefix/rest/v1/app/items/a%2Fb,%C3%A4%2C',
    'https://example.com/prefix/rest/v1/app/items/1.5',
  ])
})

test('arguments that cannot be sent reject with a TypeError before anything is sent', async () => {
  let requests = 0
  const url = await serveDuringTest((_, response) => {
    requests++
    response.end(page)
  })
  const items = itemsOf({ url })
  const calls = [
    () => items.filter({ id: undefined }),
    () => items.filter({ id: { gt: { eq: 1 } } as never }),
    () => items.filter({ id: {} }),
    () => items.count({ id: Number.NaN }),
    () => items.get(undefined as never),
    () => items.delete([1, null] as never),
    () => items.insert({ id: Number.POSITIVE_INFINITY }),
    () => items.insert({ id: 1n } as never),
    () => items.confirm({ rejected: true }),
  ]
  for (const call of calls) await expect(call()).rejects.toThrow(TypeError)
  expect(requests).toBe(0)
})
