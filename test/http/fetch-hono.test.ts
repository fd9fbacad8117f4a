import type { HttpBindings } from '@hono/node-server'
import type { Context, Next } from 'hono'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { converse, rawRequest, statusesIn } from '../kit/http-client.ts'
import { json, openDesk, path } from './desk.ts'
import { nodeApp, startApp } from '../kit/hono-app.ts'
import { startPlain, echoConnection, type Place } from '../kit/client-and-tls.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function started<Host extends Place & { close(): Promise<void> }>(
  starting: Host | Promise<Host>,
): Promise<Host> {
  const host = await starting
  ends.push(host.close)
  return host
}

function at({ port }: Place, target: string): string {
  return `http://127.0.0.1:${port}${target}`
}

function post(place: Place, target: string, body: string): Promise<Response> {
  return fetch(at(place, target), { method: 'POST', headers: json, body })
}

describe('a mount next to routes of the application', () => {
  const open = (prefix: string) => {
    const desk = openDesk()
    const rest = toFetchHandler(desk.service, { prefix, outside: 'pass' })
    const app = nodeApp()
    app.use(async (c, next) => (await rest(c.req.raw, c.env)) ?? next())
    app.get('/mine', (c) => c.text('mine'))
    app.get('/rest/v1/mine', (c) => c.text('mine, too'))
    app.notFound((c) => c.text('nothing of the host', 404))
    return { app, desk }
  }

  test.each(['', '/api', '/api/v7'])('under "%s"', async (prefix) => {
    const { app, desk } = open(prefix)
    const place = await started(startApp(app))
    expect(await (await post(place, prefix + path, '{"noteId":1}')).json()).toMatchObject({
      item: { noteId: 1, words: null },
    })
    expect((await fetch(at(place, `${prefix + path}/2`))).status).toBe(404)
    expect(
      (await fetch(at(place, `${prefix}/rest/v1/desk/none`))).headers.get('X-Svc-Version'),
    ).toBe('4.54')
    expect(await (await fetch(at(place, '/mine'))).text()).toBe('mine')
    expect(await (await fetch(at(place, '/rest/v1/mine'))).text()).toBe('mine, too')
    for (const target of ['/', `${prefix}/x`, `${prefix}/rest/v1/other/notes`]) {
      expect(await (await fetch(at(place, target))).text()).toBe('nothing of the host')
    }
    expect(desk.errors()).toEqual([])
  })

  test('can be a separate route', async () => {
    const rest = toFetchHandler(openDesk().service, { prefix: '/api' })
    const app = nodeApp()
    app.all('/api/rest/*', (c) => rest(c.req.raw))
    const place = await started(startApp(app))
    expect((await fetch(at(place, `/api${path}`))).status).toBe(200)
    expect((await fetch(at(place, '/api/rest/nothing'))).headers.get('Content-Type')).toBe(
      'application/json; charset=utf-8',
    )
    expect((await fetch(at(place, '/api'))).headers.get('Content-Type')).toMatch('text/plain')
  })

  test('keeps two services apart', async () => {
    const app = nodeApp()
    for (const prefix of ['/one', '/two']) {
      const rest = toFetchHandler(openDesk().service, { prefix, outside: 'pass' })
      app.use(async (c, next) => (await rest(c.req.raw)) ?? next())
    }
    const place = await started(startApp(app))
    await post(place, `/one${path}`, '{"noteId":1}')
    const itemsOf = async (prefix: string) =>
      ((await (await fetch(at(place, prefix + path))).json()) as { items: unknown[] }).items
    expect(await itemsOf('/one')).toHaveLength(1)
    expect(await itemsOf('/two')).toEqual([])
  })
})

describe('middleware of the application', () => {
  const withMiddleware = async (
    middleware: (c: Context, next: Next) => Promise<Response | void>,
  ) => {
    const desk = openDesk()
    const rest = toFetchHandler(desk.service)
    const app = nodeApp()
    app.use(middleware)
    app.all('/rest/*', (c) => rest(c.req.raw))
    return { place: await started(startApp(app)), desk }
  }

  test('that reads the body causes a 500, which is reported to the application', async () => {
    const { place, desk } = await withMiddleware(async (c, next) => {
      if (c.req.method === 'POST') await c.req.json()
      await next()
    })
    const answer = await post(place, path, '{"noteId":1}')
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ status: 500 })
    expect(desk.errors()).toEqual([expect.stringContaining('body was read before')])
    expect(await (await fetch(at(place, path))).json()).toMatchObject({ status: 200 })
  })

  test('may read a clone of the request', async () => {
    const read: unknown[] = []
    const { place } = await withMiddleware(async (c, next) => {
      read.push(await c.req.raw.clone().json())
      await next()
    })
    expect((await post(place, path, '{"noteId":1}')).status).toBe(200)
    expect(read).toEqual([{ noteId: 1 }])
  })

  test('may set headers on the response before, and after', async () => {
    const { place } = await withMiddleware(async (c, next) => {
      c.res.headers.set('X-Before', 'yes')
      await next()
      c.header('X-After', 'yes')
    })
    const { headers } = await fetch(at(place, path))
    expect([headers.get('X-Before'), headers.get('X-After')]).toEqual(['yes', 'yes'])
    expect(headers.get('Content-Type')).toBe('application/json; charset=utf-8')
    expect(headers.get('Content-Length')).not.toBe(null)
  })

  test('can respond to preflight requests', async () => {
    const { place } = await withMiddleware(cors({ origin: 'https://app.example' }))
    const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' }
    const answer = await fetch(at(place, path), { method: 'OPTIONS', headers })
    expect(answer.status).toBe(204)
    const page = await fetch(at(place, path), { headers })
    expect(page.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example')
  })

  test('may compress', async () => {
    const { place } = await withMiddleware(compress({ threshold: 0 }))
    const answer = await fetch(at(place, path))
    expect(answer.headers.get('Content-Encoding')).toBe('gzip')
    expect(await answer.json()).toMatchObject({ items: [] })
  })
})

describe('on the wire', () => {
  test('the responses equal the responses of Node, byte for byte', async () => {
    const nodeDesk = await started(startPlain(toNodeHandler(openDesk().service), '127.0.0.1'))
    const rest = toFetchHandler(openDesk().service)
    const fetchDesk = await started(startApp({ fetch: rest }))
    const honoDesk = await started(startApp(nodeApp().all('*', (c) => rest(c.req.raw))))
    const body = '{"noteId":1,"words":"Grüße"}'
    const insert = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
    const requests = [
      rawRequest(`GET ${path}`),
      rawRequest(`HEAD ${path}`),
      rawRequest(`OPTIONS ${path}`),
      rawRequest(`TRACE ${path}`),
      rawRequest(`GET ${path}/1`),
      rawRequest(`POST ${path}`, insert, '{"noteId":1,"words":1}    '.padEnd(body.length + 2)),
      rawRequest(`POST ${path}`, ['Content-Type: text/plain', 'Content-Length: 1'], 'x'),
      rawRequest('GET /nothing'),
    ]
    for (const request of requests) {
      const [node = '', ...others] = await Promise.all(
        [nodeDesk, fetchDesk, honoDesk].map(({ port }) => converse(port, request)),
      )
      expect(statusesIn(node)).toHaveLength(1)
      expect(others.map(comparable)).toEqual([comparable(node), comparable(node)])
    }
  })

  test('a client that leaves aborts the signal', async () => {
    let arrive: (signal: AbortSignal | undefined) => void = () => undefined
    const arrival = new Promise<AbortSignal | undefined>((resolve) => (arrive = resolve))
    const rest = toFetchHandler({
      serves: () => true,
      handle: ({ signal }) => {
        arrive(signal)
        return new Promise(() => undefined)
      },
    })
    const { port } = await started(startApp({ fetch: rest }))
    const socket = connect(port, '127.0.0.1', () => socket.write(rawRequest('GET /')))
    const signal = await arrival
    expect(signal?.aborted).toBe(false)
    const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve))
    socket.destroy()
    await aborted
    // The server's reason is a text, which would count as an error of the service.
    expect(signal?.reason).toMatchObject({ name: 'AbortError' })
  })
})

describe('the address of the client', () => {
  const ways = async (target: string) => {
    const rest = toFetchHandler<[HttpBindings?]>(echoConnection)
    const app = nodeApp()
    app.get('/alone', (c) => rest(c.req.raw))
    app.get('/with-node', (c) => rest(c.req.raw, c.env))
    const { port } = await started(startApp(app))
    const answer = await converse(port, rawRequest(`GET ${target}`, ['X-Forwarded-Proto: https']))
    return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as unknown
  }

  test('comes from the socket if Node passes it', async () => {
    for (const target of ['/with-node', 'https://evil.test/with-node']) {
      expect(await ways(target)).toEqual({ secure: false, peer: '127.0.0.1' })
    }
  })

  test('is otherwise unknown, whatever the request line contains', async () => {
    for (const target of ['/alone', 'https://evil.test/alone']) {
      expect(await ways(target)).toEqual({ secure: false })
    }
  })
})

/** A response without the headers of Node and the date. */
function comparable(received: string): readonly string[] {
  const [head = '', body = ''] = received.split('\r\n\r\n')
  const [status = '', ...headers] = head.split('\r\n')
  const kept = headers.filter((line) => !/^(date|connection|keep-alive):/i.test(line))
  return [status, ...kept.map((line) => line.toLowerCase()).sort(), body]
}
