import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttp2Server, connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { fastify, type FastifyRequest } from 'fastify'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  AuthenticationError,
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  text,
  type Observation,
  type OwnRequest,
  type OwnRequestOptions,
  type Principal,
  type Service,
} from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { StorageError } from '../../src/entries/storage.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { startPlain } from '../kit/client-and-tls.ts'
import { releases } from '../kit/express-app.ts'
import { listen } from '../kit/fastify-app.ts'
import { nodeApp, startApp } from '../kit/hono-app.ts'
import { startTls } from '../kit/tls.ts'

const notes = defineCollection({ key: 'id', fields: { id: text() } })
const applications = { app: { collections: { notes } } }

let service: Service<typeof applications>
let key = ''
let reports: Observation[] = []
let failures: string[] = []
let requests: string[] = []

/** A limiter that rejects a client after two failures. */
function counting(counted: string[], points: number) {
  return {
    consume: (client: string) => {
      counted.push(client)
      const isOver = counted.filter((one) => one === client).length > points
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- rate-limiter-flexible does so
      return isOver ? Promise.reject({ msBeforeNext: 4_200 }) : Promise.resolve()
    },
  }
}

beforeEach(async () => {
  reports = []
  failures = []
  requests = []
  service = createService({
    applications,
    storage: memoryStorage(),
    security: apiKeys({ name: 'API Key', properties: { AllowApiKeyInQueryString: true } }),
    limits: { failures: counting(failures, 2), requests: counting(requests, 1_000) },
    report: (observation) => void reports.push(observation),
  })
  await service.users.add({ user: 'maria', roles: ['Sales'] })
  key = (await service.keys.create({ user: 'maria' })).key
})
afterEach(() => service.close())

/** What a route responds with: the caller, and the body that it has read itself. */
interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: {
    readonly user?: string | null
    readonly received?: string
    readonly message?: string
  }
}

type Authenticating = (request: OwnRequest) => Promise<Principal>

/** Starts a server whose only route authenticates, reads the body, and responds with both. */
type Start = (authenticate: Authenticating) => Promise<number>

async function answerNode(
  authenticate: Authenticating,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { user } = await authenticate(request)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const received = Buffer.concat(chunks).toString()
    response.end(JSON.stringify({ user, received }))
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error
    response.writeHead(error.status, error.headers).end(error.body)
  }
}

const servers: Readonly<Record<string, Start>> = {
  'node:http': async (authenticate) => {
    const { port, close } = await startPlain(
      (request, response) => void answerNode(authenticate, request, response),
      '127.0.0.1',
    )
    onTestFinished(close)
    return port
  },
  fastify: async (authenticate) => {
    const app = fastify({ trustProxy: '127.0.0.1' })
    app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => {
      done(null, body)
    })
    app.all('/own', async (request: FastifyRequest, reply) => {
      try {
        const { user } = await authenticate(request)
        return { user, received: request.body ?? '' }
      } catch (error) {
        if (!(error instanceof AuthenticationError)) throw error
        return reply.code(error.status).headers(error.headers).send(error.body)
      }
    })
    const { port, close } = await listen(app)
    onTestFinished(close)
    return port
  },
  'hono with the Fetch request': async (authenticate) => {
    const app = nodeApp().all('/own', async (c) => {
      try {
        const { user } = await authenticate(c.req.raw)
        return c.json({ user, received: await c.req.text() })
      } catch (error) {
        if (!(error instanceof AuthenticationError)) throw error
        return new Response(error.body, error)
      }
    })
    const { port, close } = await startApp(app)
    onTestFinished(close)
    return port
  },
  'hono with the request of Node': async (authenticate) => {
    const app = nodeApp().all('/own', async (c) => {
      try {
        const { user } = await authenticate(c.env.incoming)
        return c.json({ user, received: await c.req.text() })
      } catch (error) {
        if (!(error instanceof AuthenticationError)) throw error
        return new Response(error.body, error)
      }
    })
    const { port, close } = await startApp(app)
    onTestFinished(close)
    return port
  },
  ...Object.fromEntries(
    releases.map(({ name, express }): [string, Start] => [
      name,
      async (authenticate) => {
        const app = express().set('trust proxy', '127.0.0.1')
        app.use('/own', (request, response) => void answerNode(authenticate, request, response))
        const { port, close } = await startPlain(app, '127.0.0.1')
        onTestFinished(close)
        return port
      },
    ]),
  ),
}

/** The options that say the same as the settings for proxies above. */
const optionsOf = (name: string, request: OwnRequest): OwnRequestOptions => {
  if (name === 'node:http' || name.endsWith('of Node')) return { trustedProxies: ['127.0.0.1'] }
  if (!name.endsWith('Fetch request')) return {}
  const { headers } = request as Request
  return {
    secure: headers.get('x-forwarded-proto') === 'https',
    ...(headers.has('x-forwarded-for') && { peer: headers.get('x-forwarded-for') ?? '' }),
  }
}

const overTls = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '203.0.113.9' }

describe.each(Object.entries(servers))('a route of %s', (name, start) => {
  async function opened() {
    const port = await start((request) => service.authenticate(request, optionsOf(name, request)))
    return async (headers: Readonly<Record<string, string>>, query = ''): Promise<Answer> => {
      const response = await fetch(`http://127.0.0.1:${port}/own${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/plain', ...headers },
        body: 'the body',
      })
      const { status } = response
      return { status, headers: response.headers, body: (await response.json()) as Answer['body'] }
    }
  }

  test('has the caller of a key, and the body is not read', async () => {
    const ask = await opened()
    const expected = { status: 200, body: { user: 'maria', received: 'the body' } }
    expect(await ask({ ...overTls, 'X-API-Key': key })).toMatchObject(expected)
    expect(await ask(overTls, `?x=1&apiKey=${key}`)).toMatchObject(expected)
    expect(requests).toHaveLength(2)
    expect(reports).toEqual([])
  })

  test('has the same rejection as the service, which is counted and reported', async () => {
    const ask = await opened()
    const client = createTestClient(service, { peer: '203.0.113.9' })
    for (const headers of [{}, { 'X-API-Key': 'wrong' }]) {
      const own = await ask({ ...overTls, ...headers })
      const { status, headers: sent, body } = await client.get('/app/notes', { headers })
      expect([own.status, own.body]).toEqual([status, body])
      expect(status).toBe(401)
      for (const [header, value] of sent)
        expect([header, own.headers.get(header)]).toEqual([header, value])
    }
    const rejected = { type: 'credential-rejected', peer: '203.0.113.9' }
    expect(reports).toMatchObject([
      { ...rejected, reason: 'missing' },
      { ...rejected, reason: 'missing' },
      { ...rejected, reason: 'malformed' },
      { ...rejected, reason: 'malformed' },
    ])
    expect(failures).toEqual(['203.0.113.9', '203.0.113.9'])
    const beyond = await ask({ ...overTls, 'X-API-Key': 'wrong' })
    expect([beyond.status, beyond.headers.get('retry-after')]).toEqual([429, '5'])
    // The client is blocked for collections, too.
    expect((await client.get('/app/notes', { key })).status).toBe(429)
  })

  test('rejects a credential over plain HTTP, and two credentials', async () => {
    const ask = await opened()
    const plain = await ask({ 'X-API-Key': key })
    expect([plain.status, plain.body.message]).toEqual([403, 'HTTPS is required.'])
    expect(
      (await ask({ ...overTls, 'X-Forwarded-Proto': 'https, http', 'X-API-Key': key })).status,
    ).toBe(403)
    expect((await ask({ ...overTls, 'X-API-Key': key }, `?apiKey=${key}`)).status).toBe(400)
    expect(reports).toMatchObject([
      { type: 'credential-in-clear' },
      { type: 'credential-in-clear' },
    ])
  })

  test('has 503 while the service closes', async () => {
    const ask = await opened()
    await service.close()
    expect((await ask({ ...overTls, 'X-API-Key': key })).status).toBe(503)
  })
})

test('a route over TLS is secure without proxies, and plain HTTP without trusted proxies is not', async () => {
  const answer = (request: IncomingMessage, response: ServerResponse): void =>
    void answerNode((own) => service.authenticate(own), request, response)
  const tls = await startTls(answer)
  const plain = await startPlain(answer, '127.0.0.1')
  onTestFinished(tls.close)
  onTestFinished(plain.close)
  const { request } = await import('node:https')
  const status = await new Promise((resolve, reject) => {
    const options = { port: tls.port, ca: tls.ca, headers: { 'x-api-key': key } }
    request(options, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })
  expect(status).toBe(200)
  const headers = { ...overTls, 'X-API-Key': key }
  expect((await fetch(`http://127.0.0.1:${plain.port}/`, { headers })).status).toBe(403)
})

test('a request over HTTP/2 is authenticated', async () => {
  const server = createHttp2Server(
    (request, response) =>
      void answerNode(
        (own) => service.authenticate(own, { secure: true }),
        request as never,
        response as never,
      ),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const stream = session.request({ ':path': '/own', 'x-api-key': key })
  const status = await new Promise((resolve) => {
    stream.on('response', (headers) => resolve(headers[':status'])).resume()
  })
  expect(status).toBe(200)
})

test('the caller is the one that the service has authenticated, and never has the rights of the system', async () => {
  const request = new Request('http://localhost/own', { headers: { 'X-API-Key': key } })
  const caller = await service.authenticate(request, { secure: true })
  expect(caller).toMatchObject({
    kind: 'user',
    user: 'maria',
    roles: ['Sales'],
    provider: 'API Key',
  })
  expect((await service.as(caller).collection('app', 'notes').filter()).items).toEqual([])
  const open = createService({ applications, storage: memoryStorage(), security: openAccess() })
  onTestFinished(() => open.close())
  expect(await open.authenticate(new Request('http://localhost/'))).toMatchObject({
    kind: 'anonymous',
  })
})

test('if the store of keys is unavailable, the error is 503 and reported, with the cause and without details', async () => {
  const lost = new StorageError('unavailable')
  const memory = memoryStorage()
  const broken = createService({
    applications,
    storage: { ...memory, filter: () => Promise.reject(lost) },
    security: apiKeys({ name: 'API Key' }),
    report: (observation) => void reports.push(observation),
  })
  onTestFinished(() => broken.close())
  const request = new Request('http://localhost/own', { headers: { 'X-API-Key': key } })
  const error = await broken
    .authenticate(request, { secure: true })
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AuthenticationError)
  expect(error).toMatchObject({
    name: 'AuthenticationError',
    code: 'UNAVAILABLE',
    status: 503,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Svc-Version': '4.54',
      'Retry-After': expect.any(String) as string,
    },
  })
  expect(JSON.parse((error as AuthenticationError).body)).toMatchObject({
    status: 503,
    validations: [],
  })
  expect(reports).toMatchObject([{ type: 'storage-unavailable', place: null }])
})

test('a request as bindings pass it to the service is authenticated, too', async () => {
  let seen: Principal | undefined
  const handler = toNodeHandler(
    {
      serves: () => true,
      handle: async (request) => {
        seen = await service.authenticate(request)
        return { status: 200, headers: {}, body: '{}' }
      },
    },
    { trustedProxies: ['127.0.0.1'] },
  )
  const { port, close } = await startPlain(handler, '127.0.0.1')
  onTestFinished(close)
  await fetch(`http://127.0.0.1:${port}/`, { headers: { ...overTls, 'X-API-Key': key } })
  expect(seen).toMatchObject({ user: 'maria' })
})

test.each([undefined, null, 'request', {}, { headers: {} }, { url: '/' }, 7])(
  'a value that is not a request is a TypeError: %j',
  async (value) => {
    await expect(service.authenticate(value as never)).rejects.toThrow(TypeError)
    await expect(service.authenticate(value as never)).rejects.toThrow('authenticate: the request')
  },
)

test('unknown options, and proxies for requests that have settings of their own, are a TypeError', async () => {
  const request = new Request('http://localhost/own')
  await expect(service.authenticate(request, { secured: true } as never)).rejects.toThrow(
    'authenticate: secured is not an option; did you mean secure?',
  )
  await expect(service.authenticate(request, { trustedProxies: [] })).rejects.toThrow(
    "authenticate: trustedProxies and forwarded are for requests of Node's http module",
  )
})

test.each([
  ['/own', '/own'],
  ['/own?apiKey=secret', '/own'],
  ['/own?a=1&apiKey=secret&b=2', '/own?a=1&b=2'],
  ['/own?a=1&api%4Bey=secret', '/own?a=1'],
  ['https://host/own?apiKey=secret#part', 'https://host/own#part'],
  ['/own?APIKEY=kept', '/own?APIKEY=kept'],
])('without credentials, %s is %s', (url, clean) => {
  expect(service.withoutCredentials(url)).toBe(clean)
})
