import { describe, expect, test } from 'vitest'
import {
  connection,
  endpoint,
  typed,
  type Authentication,
  type ConnectionOptions,
} from '../../src/entries/consume.ts'

const baseUrl = 'https://shop.example.com'
const key: Authentication = { kind: 'apiKey', key: 'k', header: 'X-Key' }
const client = {
  kind: 'clientCredentials',
  tokenUrl: 'https://login.example.com/token',
  clientId: 'a',
  clientSecret: 'b',
} as const

describe('an option that would be replaced is a mistake at start', () => {
  test.each<[string, Omit<ConnectionOptions, 'baseUrl'>, string]>([
    [
      'the media type of the body',
      { headers: { 'Content-Type': 'application/vnd.shop+json' } },
      'connection.headers.Content-Type: is a header that is set for each request: leave it out',
    ],
    ['the length of the body', { headers: { 'content-length': '1' } }, 'content-length: is a'],
    ['the host', { headers: { Host: 'other.example.com' } }, 'connection.headers.Host: is a'],
    ['the connection', { headers: { connection: 'close' } }, 'connection.headers.connection: is a'],
    [
      'the header of the credentials',
      { authentication: { kind: 'bearer', token: 't' }, headers: { Authorization: 'Basic x' } },
      'connection.headers.Authorization: is also the header of connection.authentication: leave one of them out',
    ],
    [
      'the header of the API key',
      { authentication: key, headers: { 'x-key': 'other' } },
      'connection.headers.x-key: is also the header of connection.authentication.header',
    ],
    [
      'the header of the idempotency key',
      { headers: { 'Idempotency-Key': 'same' } },
      'connection.headers.Idempotency-Key: is the header of the idempotency key of a call: give the key with idempotencyKey, or name another header in connection.idempotency.header',
    ],
    [
      'the header of the idempotency key that was named',
      { idempotency: { header: 'X-Key' }, headers: { 'x-key': 'same' } },
      'connection.headers.x-key: is also the header of connection.idempotency.header: leave one of them out',
    ],
    [
      'an API key as the idempotency key',
      { authentication: { ...key, header: 'Idempotency-Key' } },
      'connection.authentication.header: is the header of the idempotency key of a call',
    ],
    [
      'the same header in another case',
      { headers: { 'X-Tenant': 'a', 'x-tenant': 'b' } },
      'connection.headers.x-tenant: is also the header of connection.headers.X-Tenant',
    ],
    [
      'an API key as the media type',
      { authentication: { ...key, header: 'content-type' } },
      'connection.authentication.header: is a header that is set for each request',
    ],
    [
      'an idempotency key as the host',
      { idempotency: { header: 'Host' } },
      'connection.idempotency.header: is a header that is set for each request',
    ],
    [
      'an idempotency key as the API key',
      { authentication: key, idempotency: { header: 'X-KEY' } },
      'connection.idempotency.header: is also the header of connection.authentication.header',
    ],
    [
      'the query parameter of the API key',
      { authentication: { kind: 'apiKey', key: 'k', query: 'key' }, query: { key: 'other' } },
      'connection.query.key: is also the parameter of connection.authentication',
    ],
    [
      'the grant of a token request',
      { authentication: { ...client, parameters: { grant_type: 'password' } } },
      'connection.authentication.parameters.grant_type: is set by the token request',
    ],
    [
      'the scope of a token request',
      { authentication: { ...client, scope: 'a', parameters: { scope: 'b' } } },
      'connection.authentication.parameters.scope: is set by the token request',
    ],
    [
      'the client of a token request with the secret in its body',
      {
        authentication: { ...client, clientAuthentication: 'body', parameters: { client_id: 'b' } },
      },
      'connection.authentication.parameters.client_id: is set by the token request',
    ],
  ])('%s', (_what, options, message) => {
    expect(() => connection({ baseUrl, ...options })).toThrow(message)
  })

  test('two parameters of an endpoint that are the same header', () => {
    const to = connection({ baseUrl })
    const headers = { a: { type: 'string', name: 'X-A' }, 'x-a': 'string' } as const
    expect(() => endpoint(to, { name: 'get', path: '/', headers })).toThrow(
      'endpoint.headers.x-a: is also the header of endpoint.headers.a: leave one of them out',
    )
  })
})

test('other headers of a connection are sent, also those that have a default', async () => {
  let sent = new Headers()
  const to = connection({
    baseUrl,
    headers: {
      Accept: 'application/vnd.shop+json',
      'Accept-Encoding': 'identity',
      'X-Tenant': 'a',
    },
    authentication: { ...client, parameters: { audience: 'shop', scope: 'all' } },
    fetch: async (url, { headers }) => {
      if (url === client.tokenUrl)
        return Response.json({ access_token: 't', token_type: 'bearer', expires_in: 60 })
      sent = new Headers(headers)
      return Response.json({})
    },
  })
  const create = endpoint(to, { name: 'create', method: 'POST', path: '/', body: typed<object>() })
  await create.call({ body: {} }, { idempotencyKey: 'k' })
  expect(Object.fromEntries(sent)).toEqual({
    accept: 'application/vnd.shop+json',
    'accept-encoding': 'identity',
    authorization: 'Bearer t',
    'content-type': 'application/json',
    'idempotency-key': 'k',
    'x-tenant': 'a',
  })
})

test.each([' ', ' a', 'a '])(
  'the idempotency key %j would lose a space, so it is rejected',
  async (idempotencyKey) => {
    const to = connection({ baseUrl, fetch: async () => Response.json({}) })
    const create = endpoint(to, { name: 'create', method: 'POST', path: '/' })
    await expect(create.call({}, { idempotencyKey })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    await create.call({}, { idempotencyKey: 'a b' })
  },
)
