import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import express from 'express'
import fastify from 'fastify'
import { afterEach, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  text,
  type Page,
  type Service,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { pageSource, type PageFile, type PageHost } from '../../src/pages/page.ts'
import { openServer } from '../kit/server.ts'

const notes = defineCollection({ key: 'id', fields: { id: text() } })
const applications = { app: { collections: { notes } } }

const pageOf = (open: (host: PageHost) => Readonly<Record<string, PageFile>>): Page => ({
  [pageSource]: { open },
})
/** Its text is the path at which the service is mounted. */
const place: PageFile = {
  access: 'public',
  content: ({ prefix }) => ({ mediaType: 'text/plain', text: `at ${prefix}` }),
}

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function serviceWith(
  options: Partial<ServiceOptions<typeof applications>>,
): Service<typeof applications> {
  const service = createService({
    applications,
    storage: memoryStorage(),
    security: openAccess(),
    ...options,
  })
  ends.push(() => service.close())
  return service
}

const withHelp = () => serviceWith({ pages: { help: pageOf(() => ({ '': place })) } })

test('a page has the prefix of node:http', async () => {
  const handler = toNodeHandler(withHelp(), { prefix: '/api' })
  const { url, close } = await openServer(createServer(handler))
  ends.push(close)
  expect(await (await fetch(`${url}/api/rest/v1/help`)).text()).toBe('at /api')
})

test('a page has the path of all mounts of Express, and other paths belong to the app', async () => {
  const app = express()
  app.use('/deep', express.Router().use('/api', toExpressHandler(withHelp())))
  app.use((_request, response) => void response.send('the app'))
  const { url, close } = await openServer(createServer(app))
  ends.push(close)
  const at = async (path: string) => (await fetch(`${url}/deep/api/rest/v1/${path}`)).text()
  expect(await at('help')).toBe('at /deep/api')
  expect(await at('help/other')).toContain('Not found.')
  expect(await at('help.json')).toBe('the app')
  expect(await at('other')).toBe('the app')
})

test('a page has the prefix of Fastify, and other paths belong to the app', async () => {
  const app = fastify()
  ends.push(() => app.close())
  await app.register(rowgateFastify, { service: withHelp(), prefix: '/api' })
  const at = async (url: string) => (await app.inject({ url: `/api/rest/v1/${url}` })).body
  expect(await at('help')).toBe('at /api')
  expect(await at('other')).toContain('Route GET:/api/rest/v1/other not found')
})

test('a page has the prefix of a fetch handler, and other paths belong to the app', async () => {
  const handler = toFetchHandler(withHelp(), { prefix: '/api', outside: 'pass' })
  const at = (path: string) => handler(new Request(`http://localhost/api/rest/v1/${path}`))
  expect(await (await at('help'))?.text()).toBe('at /api')
  expect(await at('other')).toBeUndefined()
})

test('a page is served over HTTP/2', async () => {
  const server = createHttp2Server(toNodeHandler(withHelp()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  ends.push(async () => {
    session.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const ask = async (headers: Readonly<Record<string, string>>) => {
    const stream = session.request({ ':path': '/rest/v1/help', ...headers })
    const [answer] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>]
    return { answer, body: await textOf(stream) }
  }
  const { answer, body } = await ask({})
  expect(body).toBe('at ')
  const head = await ask({ ':method': 'HEAD' })
  expect(head).toMatchObject({ answer: { ':status': 200, 'content-length': '3' }, body: '' })
  const kept = await ask({ 'if-none-match': String(answer['etag']) })
  expect(kept).toMatchObject({ answer: { ':status': 304 }, body: '' })
})

test('a page of a service that closes responds 503', async () => {
  const service = withHelp()
  await service.close()
  const handler = toFetchHandler(service)
  const { status } = await handler(new Request('http://localhost/rest/v1/help'))
  expect(status).toBe(503)
})

test('a page whose code throws responds 500, and the error is reported', async () => {
  const seen: unknown[] = []
  const broken = pageOf(() => ({
    '': {
      access: 'caller',
      content: () => {
        throw new Error('broken')
      },
    },
  }))
  const service = serviceWith({ pages: { broken }, report: (each) => void seen.push(each) })
  const reply = await toFetchHandler(service)(new Request('http://localhost/rest/v1/broken'))
  expect([reply.status, await reply.text()]).toEqual([500, expect.not.stringContaining('broken')])
  expect(seen).toEqual([{ type: 'request-failed', place: null, error: new Error('broken') }])
})

test('a page can use the applications and options of its service', () => {
  const hosts: PageHost[] = []
  const help = pageOf((host) => {
    hosts.push(host)
    return {}
  })
  serviceWith({ pages: { help }, brand: 'acme' })
  const [{ name, pages, collections, options }] = hosts as [PageHost]
  expect([name, Object.keys(pages), collections.map((each) => each.name)]).toEqual([
    'help',
    ['help'],
    ['notes'],
  ])
  expect(options).toMatchObject({ brand: 'acme', bodyStatus: 'contract', serviceVersion: '4.54' })
})

test.each([
  [
    'a name of an application',
    { app: pageOf(() => ({})) },
    'options.pages.app: /rest/v1/app belongs to an application: choose another name',
  ],
  [
    'a file below an application',
    { ap: pageOf(() => ({ 'p/x': place })) },
    'options.pages.ap: /rest/v1/app/x belongs to an application: choose another name',
  ],
  [
    'a file of another page',
    { a: pageOf(() => ({ '.x': place })), 'a.x': pageOf(() => ({ '': place })) },
    'options.pages.a.x: /rest/v1/a.x belongs to another page: choose another name',
  ],
  [
    'a name that no path has',
    { 'a b': pageOf(() => ({})) },
    'options.pages.a b: the name must consist of letters, digits and . _ ~ -',
  ],
  [
    'another value',
    { a: {} as Page },
    'options.pages.a: must be a page, for instance openapi() of rowgate/openapi',
  ],
  [
    'a mistake of a page',
    {
      a: pageOf(() => {
        throw new TypeError('is wrong')
      }),
    },
    'options.pages.a: is wrong',
  ],
])('createService rejects %s', (_what, pages, message) => {
  expect(() => serviceWith({ pages })).toThrow(message)
})
