import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { connection, endpoint, type Authentication } from '../../src/entries/consume.ts'
import { rejection } from './calls.ts'
import { respond, startServer } from './server.ts'

interface TokenRequest {
  readonly authorization: string | undefined
  readonly body: string
}

const none = { issued: 0, response: {} as object, status: 200, type: 'application/json' }
const tokens = { ...none, requests: [] as TokenRequest[], failures: [] as number[] }
let valid: string | undefined
beforeEach(() => {
  Object.assign(tokens, { ...none, requests: [], failures: [] })
  valid = undefined
})

const server = await startServer((request, response) => {
  const { authorization } = request.headers
  if (request.url !== '/token') {
    const isAccepted = valid === undefined || authorization === `Bearer ${valid}`
    if (!isAccepted) respond(response, {}, 401)
    else respond(response, { url: request.url, authorization, key: request.headers['x-key'] })
    return
  }
  let body = ''
  request.on('data', (chunk: Buffer) => void (body += chunk.toString()))
  request.on('end', () => {
    tokens.requests.push({ authorization, body })
    const access_token = `token-${++tokens.issued}`
    const status = tokens.failures.shift() ?? tokens.status
    if (status === 0) {
      request.socket.destroy()
      return
    }
    const token = { access_token, token_type: 'Bearer', expires_in: 3600, ...tokens.response }
    respond(response, token, status, { 'content-type': tokens.type })
  })
})
afterAll(() => server.close())

function getWith(authentication: Authentication, path = '/') {
  const to = connection({
    baseUrl: server.url,
    allowHttp: true,
    allowPrivateAddresses: true,
    authentication,
  })
  return endpoint(to, { name: 'get', path })
}

test('basic authentication sends the user and the password', async () => {
  const get = getWith({ kind: 'basic', user: 'maria', password: () => 'pä:ss' })
  const { body } = await get.call({})
  const expected = Buffer.from('maria:pä:ss').toString('base64')
  expect(body).toMatchObject({ authorization: `Basic ${expected}` })
})

test('a bearer token is read at each call', async () => {
  let count = 0
  const get = getWith({ kind: 'bearer', token: async () => `t${++count}` })
  expect((await get.call({})).body).toMatchObject({ authorization: 'Bearer t1' })
  expect((await get.call({})).body).toMatchObject({ authorization: 'Bearer t2' })
})

test('an API key is sent in a header or in the query', async () => {
  const inHeader = getWith({ kind: 'apiKey', key: 'k', header: 'X-Key' })
  expect((await inHeader.call({})).body).toMatchObject({ key: 'k', url: '/' })
  const inQuery = getWith({ kind: 'apiKey', key: () => 'k&', query: 'key' })
  expect((await inQuery.call({})).body).toMatchObject({ url: '/?key=k%26' })
})

test.each([
  [
    'throws',
    () => {
      throw new Error('secret')
    },
  ],
  ['is empty', () => ''],
  ['is not a string', () => 7 as never],
  ['cannot be a header', () => 'secret\n'],
])('a secret that %s rejects with AUTHENTICATION_FAILED', async (_what, token) => {
  const error = await rejection(getWith({ kind: 'bearer', token }).call({}))
  expect(error).toMatchObject({ code: 'AUTHENTICATION_FAILED', endpoint: 'get' })
  expect(`${error.message} ${String(error.cause)}`).not.toContain('secret')
})

test.each([
  [{ kind: 'apiKey', key: 'k' }, /either header or query/],
  [{ kind: 'apiKey', key: 'k', header: 'a', query: 'b' }, /either header or query/],
  [{ kind: 'basic', user: 'a:b', password: 'c' }, /colon/],
  [{ kind: 'bearer', tokn: 'c' }, /did you mean token/],
  [{ kind: 'digest' }, /authentication/],
  [{ kind: 'clientCredentials', tokenUrl: 'x', clientId: 'a', clientSecret: 'b' }, /tokenUrl/],
])('the authentication %o is rejected', (authentication, message) => {
  expect(() => getWith(authentication as never)).toThrow(message)
})

describe('client credentials', () => {
  const options = {
    kind: 'clientCredentials',
    tokenUrl: `${server.url}/token`,
    clientId: 'me',
    clientSecret: () => 'a:b c',
  } as const

  test('obtain a token once for many calls', async () => {
    const get = getWith({ ...options, scope: 'read', parameters: { audience: 'x' } })
    const responses = await Promise.all([get.call({}), get.call({}), get.call({})])
    await get.call({})
    expect(responses.map(({ body }) => body)).toMatchObject(
      Array(3).fill({ authorization: 'Bearer token-1' }),
    )
    expect(tokens.requests).toHaveLength(1)
    const [{ authorization, body } = {}] = tokens.requests as readonly Partial<TokenRequest>[]
    expect(authorization).toBe(`Basic ${Buffer.from('me:a%3Ab+c').toString('base64')}`)
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'read',
      audience: 'x',
    })
  })

  test('are sent in the body if declared', async () => {
    await getWith({ ...options, clientAuthentication: 'body' }).call({})
    expect(tokens.requests[0]?.authorization).toBeUndefined()
    expect(tokens.requests[0]?.body).toContain('client_secret=')
  })

  test('obtain another token once if the first is rejected', async () => {
    const get = getWith(options)
    await get.call({})
    valid = 'token-2'
    expect((await get.call({})).status).toBe(200)
    expect(tokens.issued).toBe(2)
    valid = 'never'
    expect(await rejection(get.call({}))).toMatchObject({ code: 'STATUS', status: 401 })
    expect(tokens.issued).toBe(3)
  })

  test('obtain another token before it expires', async () => {
    tokens.response = { expires_in: 0 }
    const get = getWith(options)
    await get.call({})
    await get.call({})
    expect(tokens.issued).toBe(2)
  })

  test.each([
    ['an error', { error: 'invalid_client', error_description: 'secret' }, 401],
    ['no token', { access_token: undefined }, 200],
    ['null for the token', { access_token: null }, 200],
    ['a token of another type', { token_type: 'secret' }, 200],
    ['a huge token', { access_token: 'x'.repeat(100_000) }, 200],
    ['a redirect', {}, 302],
  ])('reject with AUTHENTICATION_FAILED for %s', async (_what, response, status) => {
    Object.assign(tokens, { response, status })
    const error = await rejection(getWith(options).call({}))
    expect(error).toMatchObject({ code: 'AUTHENTICATION_FAILED', endpoint: 'get' })
    expect(`${error.message} ${String(error.cause)}`).not.toContain('secret')
    expect(error.message).toMatch(/no credentials could be obtained/)
    // A response that can't be accepted is not requested again.
    expect(tokens.requests).toHaveLength(1)
  })

  test.each<[string, Partial<typeof none>]>([
    [
      'null for what is absent',
      { response: { expires_in: null, scope: null, refresh_token: null } },
    ],
    ['a lifetime in a string', { response: { expires_in: '3600' } }],
    ['no type of the token', { response: { token_type: undefined } }],
    ['JSON that has the type of other text', { type: 'text/plain;charset=UTF-8' }],
  ])('are accepted from a response with %s', async (_what, odd) => {
    Object.assign(tokens, odd)
    const get = getWith(options)
    await get.call({})
    expect((await get.call({})).body).toMatchObject({ authorization: 'Bearer token-1' })
  })

  test('are accepted from a response with the status 201', async () => {
    tokens.status = 201
    expect((await getWith(options).call({})).body).toMatchObject({
      authorization: 'Bearer token-1',
    })
  })

  test.each([
    ['the status 503', 503],
    ['the status 429', 429],
    ['a connection error', 0],
  ])('are requested again after %s', async (_what, status) => {
    tokens.failures = [status, status]
    const get = getWith(options)
    const [one, other] = await Promise.all([get.call({}), get.call({})])
    expect([one.body, other.body]).toMatchObject(Array(2).fill({ authorization: 'Bearer token-3' }))
    expect(tokens.requests).toHaveLength(3)
  })

  test('are requested as often as the connection states, and once after a status that stays', async () => {
    tokens.failures = Array<number>(9).fill(503)
    expect(await rejection(getWith(options).call({}))).toMatchObject({
      code: 'AUTHENTICATION_FAILED',
    })
    expect(tokens.requests).toHaveLength(3)
    tokens.failures = [400]
    expect(await rejection(getWith(options).call({}))).toMatchObject({
      code: 'AUTHENTICATION_FAILED',
    })
    expect(tokens.requests).toHaveLength(4)
  })

  test('are only sent to a private address that is allowed', async () => {
    const to = connection({
      baseUrl: 'https://api.example.com',
      allowHttp: true,
      authentication: options,
    })
    const error = await rejection(endpoint(to, { name: 'get', path: '/' }).call({}))
    expect(error).toMatchObject({ code: 'AUTHENTICATION_FAILED' })
    expect(error.message).toContain('(ROWGATE_PRIVATE_ADDRESS)')
    expect(tokens.requests).toEqual([])
  })
})
