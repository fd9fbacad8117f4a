import { createServer, type RequestListener, type Server } from 'node:http'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  connection,
  endpoint,
  readStream,
  typed,
  type ConnectionOptions,
} from '../../src/entries/consume.ts'
import { openServer } from '../kit/server.ts'
import { rejection } from './calls.ts'

async function start(listener: RequestListener, options: Partial<ConnectionOptions> = {}) {
  const server = createServer(listener)
  const { url, close } = await openServer(server)
  onTestFinished(close)
  const private_ = { allowHttp: true, allowPrivateAddresses: true }
  const to = connection({ baseUrl: url, ...private_, attempts: 1, timeout: 5_000, ...options })
  return { server, to, get: endpoint(to, { name: 'get', path: '/' }) }
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
}

const json = '{"text":"äöü"}'
const two = (bytes: Uint8Array): Uint8Array => gzipSync(deflateRawSync(bytes))

describe('a body is decoded', () => {
  test.each<readonly [string, Uint8Array]>([
    ['gzip', gzipSync(json)],
    ['X-GZIP', gzipSync(json)],
    ['br', brotliCompressSync(json)],
    ['deflate', deflateSync(json)],
    ['deflate', deflateRawSync(json)],
    ['deflate', deflateSync(json, { strategy: constants.Z_FIXED, level: 1 })],
    ['identity', Buffer.from(json)],
    ['', Buffer.from(json)],
    ['deflate, gzip', two(Buffer.from(json))],
    ['gzip, br, deflate', deflateSync(brotliCompressSync(gzipSync(json)))],
    ['deflate,deflate', deflateRawSync(deflateRawSync(json))],
    ['gzip,gzip,gzip,gzip,gzip', [1, 2, 3, 4].reduce((bytes) => gzipSync(bytes), gzipSync(json))],
  ])('of the content codings %s', async (codings, bytes) => {
    const { get } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': codings })
      // In pieces, so that a decoder starts with one byte.
      response.write(bytes.subarray(0, 1))
      setTimeout(() => response.end(bytes.subarray(1)), 10)
    })
    expect((await get.call({})).body).toEqual({ text: 'äöü' })
  })
})

describe('compressed data whose end is missing', () => {
  const lines = Array.from({ length: 2000 }, (_, id) => `${JSON.stringify({ id })}\n`).join('')
  const compressions = {
    gzip: gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
    'deflate, gzip': two,
  }
  /** Sends the first bytes of a compressed body, and ends it like a whole one. */
  const startCut = (codings: string, type: string, body: string, missing: number) => {
    const bytes = compressions[codings as keyof typeof compressions](Buffer.from(body))
    return start((_request, response) => {
      response.writeHead(200, { 'content-type': type, 'content-encoding': codings })
      response.end(bytes.subarray(0, bytes.length - missing))
    })
  }

  describe.each(Object.keys(compressions))('of %s', (codings) => {
    test.each(['text', 'lines'] as const)(
      'is an error of %s, which may end anywhere',
      async (as) => {
        for (const missing of [1, 4, 500]) {
          const { to } = await startCut(codings, 'application/x-ndjson', lines, missing)
          const list = endpoint(to, { name: 'list', path: '/', as })
          const damaged = {
            code: 'RESPONSE_NOT_JSON',
            message: expect.stringContaining('damaged') as string,
          }
          expect(await rejection(list.call({}))).toMatchObject(damaged)
          const read = readStream(list, {}, async ({ body }) => {
            let count = 0
            for await (const chunk of body) count += chunk.byteLength
            return count
          })
          expect(await rejection(read)).toMatchObject(damaged)
        }
      },
    )

    test('is no error of JSON that is whole', async () => {
      const { get } = await startCut(codings, 'application/json', lines.slice(0, 9), 1)
      expect((await get.call({})).body).toEqual({ id: 0 })
    })
  })

  test('is no error of a body without any data', async () => {
    const { to } = await start((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end()
    })
    expect((await endpoint(to, { name: 'read', path: '/', as: 'text' }).call({})).body).toBe('')
  })
})

test.each(['gzip, gzip, gzip, gzip, gzip, gzip', ', , , , , gzip', 'zstd', 'gzip, other'])(
  'the content codings %s are rejected without decoding',
  async (codings) => {
    const { get, server } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': codings })
      response.write('{}')
    })
    expect(await rejection(get.call({}))).toMatchObject({
      code: 'RESPONSE_NOT_JSON',
      message: expect.stringContaining('compression') as string,
    })
    await expect.poll(() => openConnections(server)).toBe(0)
  },
)

test('calls one after the other share a connection, and idle ones are closed', async () => {
  let opened = 0
  const { to, get, server } = await start((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(json)
  })
  server.on('connection', () => opened++)
  for (let count = 0; count < 5; count++) await get.call({})
  expect(opened).toBe(1)
  await to.close()
  await expect.poll(() => openConnections(server)).toBe(0)
  await get.call({})
  expect(opened).toBe(2)
})

test('close lets a call in progress end', async () => {
  const { to, get, server } = await start((_request, response) => {
    setTimeout(() => {
      response.setHeader('content-type', 'application/json')
      response.end(json)
    }, 100)
  })
  const call = get.call({})
  await expect.poll(() => openConnections(server)).toBe(1)
  await to.close()
  expect((await call).body).toEqual({ text: 'äöü' })
})

test('a response before the request was sent is read, and its connection is closed', async () => {
  const { to, server } = await start((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(json)
  })
  server.on('connection', (socket) => socket.on('data', () => socket.pause()))
  const post = endpoint(to, { name: 'post', method: 'POST', path: '/', body: typed<string>() })
  expect((await post.call({ body: 'x'.repeat(20_000_000) })).body).toEqual({ text: 'äöü' })
})

test('a request has a length, also without a body, and the codings that are decoded', async () => {
  const { to } = await start((request, response) => {
    const { 'content-length': length, 'accept-encoding': codings } = request.headers
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ length, codings }))
  })
  const codings = 'gzip, deflate, br'
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const empty = endpoint(to, { name: 'empty', method, path: '/' })
    expect((await empty.call({})).body).toEqual({ length: '0', codings })
  }
  const post = endpoint(to, { name: 'post', method: 'POST', path: '/', body: typed<string>() })
  expect((await post.call({ body: 'ä' })).body).toEqual({ length: '4', codings })
  expect((await endpoint(to, { name: 'get', path: '/' }).call({})).body).toEqual({ codings })
})

describe('the signal of a fetch is not aborted after the call has ended', () => {
  const signals: (AbortSignal | null | undefined)[] = []
  const to = connection({
    baseUrl: 'https://api.example.com',
    authentication: {
      kind: 'clientCredentials',
      tokenUrl: 'https://login.example.com',
      clientId: 'a',
      clientSecret: 'b',
    },
    attempts: 1,
    fetch: async (url, { signal }) => {
      signals.push(signal)
      if (!url.includes('api')) return Response.json({ access_token: 'a', token_type: 'bearer' })
      if (url.includes('fails')) throw new TypeError('failed')
      return Response.json({ url })
    },
  })
  const one = endpoint(to, { name: 'one', path: '/one' })
  const fails = endpoint(to, { name: 'fails', path: '/fails' })

  test.each<readonly [string, () => Promise<unknown>]>([
    ['with a response', () => one.call({})],
    ['with an error', () => rejection(fails.call({}))],
    ['with a stream that was not read', () => readStream(one, {}, async () => 1)],
  ])('%s', async (_what, call) => {
    await call()
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(signals.length).toBeGreaterThan(0)
    expect(signals.filter((signal) => signal?.aborted !== false)).toEqual([])
  })
})

test('a stream that is left in the middle is cancelled', async () => {
  let cancelled = 0
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => {
        cancelled++
      },
    })
  const to = connection({
    baseUrl: 'https://api.example.com',
    fetch: async () => new Response(body(), { headers: { 'content-type': 'application/json' } }),
  })
  const get = endpoint(to, { name: 'get', path: '/' })
  await readStream(get, {}, async () => undefined)
  await readStream(get, {}, async (response) => {
    await response.body[Symbol.asyncIterator]().next()
  })
  await readStream(get, {}, async (response) => {
    for await (const _ of response.body) break
  })
  expect(cancelled).toBe(3)
})

test.each(['content-length', 'transfer-encoding'])(
  'the body of a 205 that never ends (%s) keeps no connection open',
  async (header) => {
    const { get, server } = await start((request) => {
      const value = header === 'content-length' ? '66560' : 'chunked'
      request.socket.write(`HTTP/1.1 205 Reset Content\r\n${header}: ${value}\r\n\r\n`)
    })
    expect((await get.call({})).body).toBe(null)
    await expect.poll(() => openConnections(server), { timeout: 10_000 }).toBe(0)
  },
)
