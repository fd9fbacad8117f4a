import { createServer } from 'node:http'
import { connect, createSecureServer, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { fastify, type FastifyPluginAsync } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify, type FastifyOptions } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { serve, toNodeHandler } from '../../src/entries/node.ts'
import {
  createService,
  defineCollection,
  memoryStorage,
  principal,
  text,
  type RequestHandler,
} from '../../src/entries/index.ts'
import { apiKeys, type SecurityProvider } from '../../src/entries/security.ts'
import { openLine, requestBytes } from '../kit/host-line.ts'
import { releases } from '../kit/express-app.ts'
import { nodeApp } from '../kit/hono-app.ts'
import { makeCertificate } from '../kit/tls.ts'

const notes = defineCollection({ key: 'id', fields: { id: text() } })
const path = '/rest/v1/app/notes'

/** A service with sessions, and what its provider has read of each request. */
async function sessionService() {
  const read: (string | undefined)[] = []
  const sessions: SecurityProvider = {
    name: 'Session',
    priority: 2,
    challenge: 'Cookie',
    allowInsecureHttp: true,
    find(request) {
      read.push(request.header('cookie'), request.header('x-list'))
      const value = /(?:^|; )session=([\w-]+)(?:;|$)/.exec(request.header('cookie') ?? '')?.[1]
      return value === undefined ? undefined : { place: 'cookie session', value }
    },
    identify: ({ value }) => (value === 'valid' ? principal('maria') : undefined),
  }
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: memoryStorage(),
    security: [sessions, apiKeys({ name: 'k', properties: { AllowInsecureHttp: true } })],
  })
  onTestFinished(() => service.close())
  await service.users.add({ user: 'maria' })
  const { key } = await service.keys.create({ user: 'maria' })
  return { service, read, key }
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function fastifyPort(service: RequestHandler, http2: boolean): Promise<number> {
  const app = fastify(http2 ? ({ http2: true } as object) : {})
  await app.register(rowgateFastify as FastifyPluginAsync<FastifyOptions>, {
    service,
    closeService: false,
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => app.close())
  return (app.server.address() as AddressInfo).port
}

const honoListener = (service: RequestHandler) => {
  const rest = toFetchHandler(service)
  return getRequestListener(nodeApp().all('*', (c) => rest(c.req.raw, c.env)).fetch)
}

type Start = (service: RequestHandler) => Promise<number>

const overHttp1: Readonly<Record<string, Start>> = {
  'node:http': (service) => listening(createServer(toNodeHandler(service))),
  serve: async (service) => {
    const served = { ...service, ready: async () => undefined, close: async () => undefined }
    const { port, close } = await serve(served, { port: 0 })
    onTestFinished(close)
    return port
  },
  fastify: (service) => fastifyPort(service, false),
  hono: (service) => {
    const listener = honoListener(service)
    return listening(createServer((request, response) => void listener(request, response)))
  },
  ...Object.fromEntries(
    releases.map(({ name, express }): [string, Start] => [
      name,
      (service) => {
        const app = express().use(toExpressHandler(service))
        return listening(createServer((request, response) => void app(request, response)))
      },
    ]),
  ),
}

const overHttp2: Readonly<Record<string, Start>> = {
  'node:http2': (service) => listening(createHttp2Server(toNodeHandler(service))),
  fastify: (service) => fastifyPort(service, true),
  hono: (service) => listening(createHttp2Server(honoListener(service) as never)),
}

test.each(Object.entries(overHttp1))(
  'over HTTP/1.1, %s joins cookies with a semicolon and other headers with a comma',
  async (_name, start) => {
    const { service, read, key } = await sessionService()
    const line = await openLine(await start(service))
    const cookies = ['Cookie: a=1; b=2', 'COOKIE: session=valid', 'cookie: c=3']
    line.write(requestBytes(`GET ${path}`, [...cookies, 'X-List: 1', 'x-list: 2, 3']))
    expect((await line.next()).status).toBe(200)
    expect(read).toEqual(['a=1; b=2; session=valid; c=3', '1, 2, 3'])
    line.write(requestBytes(`GET ${path}`, [`X-API-Key: ${key}`, `X-API-Key: ${key}`]))
    expect((await line.next()).status).toBe(400)
    line.finish()
  },
)

async function statusOver(url: string, headers: object, ca?: string): Promise<unknown> {
  const session = connect(url, ca === undefined ? {} : { ca })
  const stream = session.request({ ':path': path, ...headers })
  const status = await new Promise((resolve, reject) => {
    stream.on('response', (received) => resolve(received[':status'])).on('error', reject)
    stream.resume()
  })
  session.destroy()
  return status
}

const crumbs = {
  cookie: ['a=1', 'session=valid', 'c=3'],
  'x-list': ['1', '2, 3'],
}

test.each(Object.entries(overHttp2))(
  'over HTTP/2, %s joins cookies with a semicolon and other headers with a comma',
  async (_name, start) => {
    const { service, read, key } = await sessionService()
    const url = `http://127.0.0.1:${await start(service)}`
    expect(await statusOver(url, crumbs)).toBe(200)
    expect(read).toEqual(['a=1; session=valid; c=3', '1, 2, 3'])
    expect(await statusOver(url, { cookie: ['a=1', 'session=wrong'] })).toBe(401)
    expect(await statusOver(url, { 'x-api-key': [key, key] })).toBe(400)
  },
)

test('over HTTP/2 in TLS cookies are joined with a semicolon', async () => {
  const { service, read } = await sessionService()
  const { private: key, cert } = await makeCertificate()
  const port = await listening(createSecureServer({ key, cert }, toNodeHandler(service)))
  expect(await statusOver(`https://localhost:${port}`, crumbs, cert)).toBe(200)
  expect(read[0]).toBe('a=1; session=valid; c=3')
})

test('in a Fetch request cookies are joined with a semicolon', async () => {
  const { service, read } = await sessionService()
  const headers: [string, string][] = [
    ['Cookie', 'a=1'],
    ['cookie', 'session=valid'],
    ['X-List', '1'],
    ['x-list', '2'],
  ]
  const response = await toFetchHandler(service)(
    new Request(`http://localhost${path}`, { headers }),
  )
  expect(response.status).toBe(200)
  expect(read).toEqual(['a=1; session=valid', '1, 2'])
})
