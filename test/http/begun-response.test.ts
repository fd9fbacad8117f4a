import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { fastify, type FastifyReply } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import {
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  text,
  type Observation,
} from '../../src/entries/index.ts'
import { openapi } from '../../src/entries/openapi.ts'
import { explorer } from '../../src/entries/explorer.ts'
import { startPlain } from '../kit/client-and-tls.ts'
import { releases } from '../kit/express-app.ts'
import { listen } from '../kit/fastify-app.ts'
import { nodeApp, startApp } from '../kit/hono-app.ts'

const notes = defineCollection({ key: 'title', fields: { title: text() } })

/** A service whose reads wait for a function that a test can set, and what it has reported. */
function slowService() {
  const reports: Observation[] = []
  let handled = 0
  let whenRead: () => unknown = () => undefined
  const storage = memoryStorage()
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: {
      ...storage,
      filter: async (collection, query) => {
        handled++
        await whenRead()
        return storage.filter(collection, query)
      },
    },
    security: openAccess(),
    pages: { openapi: openapi({ title: 'Desk' }), explorer: explorer({ document: 'openapi' }) },
    report: (observation) => void reports.push(observation),
  })
  onTestFinished(() => service.close())
  return {
    service,
    reports,
    handled: () => handled,
    during: (action: () => unknown) => (whenRead = action),
  }
}

type Slow = ReturnType<typeof slowService>

/** What other code does with the response of Node. */
type Act = (response: ServerResponse) => void

const begin: Act = (response) => {
  response.writeHead(200, { 'Content-Type': 'text/plain' })
  response.write('begun')
}
const announce: Act = (response) => {
  response.writeHead(200, { 'Content-Length': '100' }).flushHeaders()
}

/** Starts a server on which `act` is called before the service, or while it reads from storage. */
type Start = (slow: Slow, act: Act, when: 'before' | 'during') => Promise<number>

const called =
  (slow: Slow, act: Act, when: 'before' | 'during') =>
  (response: ServerResponse): void => {
    if (when === 'before') act(response)
    else slow.during(() => act(response))
  }

const bindings: Readonly<Record<string, Start>> = {
  'node:http': async (slow, act, when) => {
    const rest = toNodeHandler(slow.service)
    const run = called(slow, act, when)
    const { port, close } = await startPlain((request: IncomingMessage, response) => {
      run(response)
      rest(request, response)
    })
    onTestFinished(close)
    return port
  },
  fastify: async (slow, act, when) => {
    const run = called(slow, act, when)
    const app = fastify()
    app.addHook('preHandler', (_request, reply, next) => {
      run(reply.raw)
      next()
    })
    await app.register(rowgateFastify, { service: slow.service, closeService: false })
    const { port, close } = await listen(app)
    onTestFinished(close)
    return port
  },
  hono: async (slow, act, when) => {
    const rest = toFetchHandler(slow.service)
    const run = called(slow, act, when)
    const app = nodeApp().all('*', (c) => {
      run(c.env.outgoing)
      return rest(c.req.raw, c.env)
    })
    const { port, close } = await startApp(app)
    onTestFinished(close)
    return port
  },
  ...Object.fromEntries(
    releases.map(({ name, express }): [string, Start] => [
      name,
      async (slow, act, when) => {
        const run = called(slow, act, when)
        const app = express()
        app.use((_request, response, next) => {
          run(response)
          next()
        }, toExpressHandler(slow.service))
        const { port, close } = await startPlain(app)
        onTestFinished(close)
        return port
      },
    ]),
  ),
}

const message = /other code has begun the response/

/** How a request ends: its text, or `failed` if its response is cut off. */
async function endOf(port: number, path: string, init?: RequestInit): Promise<string> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/rest/v1${path}`, {
      ...init,
      signal: AbortSignal.timeout(5_000),
    })
    return await response.text()
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') return 'hangs'
    return 'failed'
  }
}

for (const [name, start] of Object.entries(bindings)) {
  test.each([
    ['with a part of a body', begin],
    ['with a Content-Length', announce],
  ])(
    `${name}: a response that was begun before the service, %s, is ended and reported`,
    async (_, act) => {
      const slow = slowService()
      const port = await start(slow, act, 'before')
      expect(await endOf(port, '/desk/notes')).toBe('failed')
      expect(slow.reports).toEqual([
        {
          type: 'request-failed',
          place: { application: 'desk', collection: 'notes', event: 'Filter' },
          error: expect.objectContaining({
            message: expect.stringMatching(message) as string,
          }) as Error,
        },
      ])
      expect(slow.handled()).toBe(0)
    },
  )

  test(`${name}: a response that is begun while the service reads is ended and reported`, async () => {
    const slow = slowService()
    const port = await start(slow, begin, 'during')
    expect(await endOf(port, '/desk/notes')).toBe('failed')
    expect(slow.reports).toMatchObject([{ type: 'request-failed' }])
  })

  test(`${name}: a save whose response was begun before is not run`, async () => {
    const slow = slowService()
    const port = await start(slow, begin, 'before')
    const headers = { 'Content-Type': 'application/json' }
    const body = '{"title":"a"}'
    expect(await endOf(port, '/desk/notes', { method: 'POST', headers, body })).toBe('failed')
    const { items } = await slow.service
      .as(openAccess().anyone)
      .collection('desk', 'notes')
      .filter()
    expect(items).toEqual([])
  })

  test.each(['/openapi.json', '/explorer', '/explorer/explorer.js', '/nothing.json'])(
    `${name}: so is that of a page: %s`,
    async (path) => {
      const slow = slowService()
      const port = await start(slow, begin, 'before')
      const isPage = path !== '/nothing.json'
      // The frameworks respond to other paths themselves.
      if (!isPage && name !== 'node:http' && name !== 'hono') return
      expect(await endOf(port, path)).toBe('failed')
      expect(slow.reports).toMatchObject([{ type: 'request-failed', place: null }])
    },
  )

  test(`${name}: a response that other code completes meanwhile is sent, and not reported`, async () => {
    const slow = slowService()
    const port = await start(slow, (response) => response.writeHead(503).end('mine'), 'during')
    expect(await endOf(port, '/desk/notes')).toBe('mine')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(slow.reports).toEqual([])
  })

  test(`${name}: a complete response is sent, and a request that is passed on nevertheless is reported`, async () => {
    const slow = slowService()
    const port = await start(slow, (response) => response.writeHead(200).end('mine'), 'before')
    expect(await endOf(port, '/desk/notes')).toBe('mine')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(slow.handled()).toBe(0)
  })
}

test('fastify: a reply that is hijacked and not ended is ended and reported', async () => {
  const slow = slowService()
  let reply: FastifyReply | undefined
  slow.during(() => reply?.hijack())
  const app = fastify()
  app.addHook('preHandler', (_request, given, next) => {
    reply = given
    next()
  })
  await app.register(rowgateFastify, { service: slow.service, closeService: false })
  const { port, close } = await listen(app)
  onTestFinished(close)
  expect(await endOf(port, '/desk/notes')).toBe('failed')
  expect(slow.reports).toMatchObject([{ type: 'request-failed' }])
})

test('over HTTP/2 a response that was begun is ended and reported', async () => {
  const slow = slowService()
  const rest = toNodeHandler(slow.service)
  const server = createHttp2Server((request, response) => {
    response.writeHead(200)
    response.write('begun')
    rest(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const stream = session.request({ ':path': '/rest/v1/desk/notes' })
  stream.on('error', () => undefined).resume()
  await new Promise((resolve) => stream.once('close', resolve))
  expect(stream.rstCode).not.toBe(0)
  expect(slow.reports).toMatchObject([{ type: 'request-failed' }])
})

test('a wrapper around handle that fails is reported', async () => {
  const slow = slowService()
  const error = new Error('wrapper')
  const service = { ...slow.service, handle: () => Promise.reject(error) }
  const { port, close } = await startPlain(
    createServer(toNodeHandler(service)).listeners('request')[0] as never,
  )
  onTestFinished(close)
  expect(await endOf(port, '/desk/notes')).toBe('failed')
  expect(slow.reports).toMatchObject([{ type: 'request-failed', error }])
})
