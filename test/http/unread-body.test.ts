import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectHttp2, createSecureServer, createServer } from 'node:http2'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { getRequestListener } from '@hono/node-server'
import { fastify, type FastifyPluginAsync } from 'fastify'
import { rowgateFastify, type FastifyOptions } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import type { RequestHandler } from '../../src/entries/index.ts'
import { nodeApp } from '../kit/hono-app.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { noteService, notesPath } from './express-service.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { startPlain } from '../kit/client-and-tls.ts'
import { openLine, requestBytes } from '../kit/host-line.ts'
import { openHttp2Line } from '../kit/http2-line.ts'
import { makeCertificate } from '../kit/tls.ts'

test('a client that continues sending after a rejection is disconnected', async () => {
  const { port, close } = await startPlain(toNodeHandler(noteService().service), '127.0.0.1')
  onTestFinished(close)
  const begun = performance.now()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(`PUT ${notesPath} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n`)
  socket.on('error', () => undefined).resume()
  const drip = setInterval(() => socket.write(' '), 50)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(drip)
  expect(performance.now() - begun).toBeLessThan(15_000)
})

test('a short body may arrive after the rest of its request', async () => {
  const { port, close } = await startPlain(toNodeHandler(noteService().service), '127.0.0.1')
  onTestFinished(close)
  const line = await openLine(port)
  line.write(requestBytes(`PUT ${notesPath}`, ['Content-Length: 4']))
  await pause(30)
  line.write('GET ')
  line.write(requestBytes(`GET ${notesPath}`))
  expect((await line.take(2)).map(({ status }) => status)).toEqual([405, 200])
  line.write(requestBytes(`PUT ${notesPath}`, ['Content-Length: 16384']))
  expect((await line.ended()).map(({ status }) => status)).toEqual([405])
})

test('over HTTP/2 the stream of a body that is too large is closed, and the session continues', async () => {
  const { service } = noteService({ bodyLimit: 1_000 })
  const server = createServer(toNodeHandler(service))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const json = { 'content-type': 'application/json' }
  const stream = session.request({ ':method': 'POST', ':path': notesPath, ...json })
  stream.on('error', () => undefined).resume()
  const gone = once(stream, 'close')
  let sent = 0
  const send = (): void => {
    if (stream.destroyed || stream.closed) return
    sent += 10_000
    stream.write(' '.repeat(10_000), () => setImmediate(send))
  }
  send()
  const [headers] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>]
  expect(headers).toMatchObject({ ':status': 413 })
  expect(headers).not.toHaveProperty('connection')
  await gone
  expect(sent).toBeLessThan(1_000_000)
  const next = session.request({ ':path': notesPath })
  const [answer] = (await once(next, 'response')) as [Readonly<Record<string, unknown>>]
  expect(answer).toMatchObject({ ':status': 200 })
})

const hasCurl = spawnSync('curl', ['--version']).stdout.includes('HTTP2')

describe.each(['cleartext', 'TLS'] as const)('over HTTP/2 in %s', (how) => {
  /** Starts a server whose service rejects bodies of more than 1,000 bytes, and opens a session. */
  async function opened() {
    const { service } = noteService({ bodyLimit: 1_000, security: apiKeys({ name: 'k' }) })
    await service.users.add({ user: 'maria' })
    const { key } = await service.keys.create({ user: 'maria' })
    const { private: secret, cert } = await makeCertificate()
    const handler = toNodeHandler(service, { trustedProxies: ['127.0.0.1'] })
    const server =
      how === 'TLS' ? createSecureServer({ key: secret, cert }, handler) : createServer(handler)
    // A session over TLS may outlive a client that has left in the middle of a body.
    const ofServer: { destroy(): void }[] = []
    for (const event of ['connection', 'secureConnection', 'session'])
      server.on(event, (one: { destroy(): void }) => ofServer.push(one))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const url = how === 'TLS' ? `https://localhost:${port}` : `http://127.0.0.1:${port}`
    const session = connectHttp2(url, { ca: cert })
    onTestFinished(() => {
      session.destroy()
      for (const one of ofServer) one.destroy()
      server.close()
    })
    return { session, url, port, key, ca: how === 'TLS' ? cert : undefined }
  }

  test.each([
    [401, {}, ''],
    [401, {}, 'x'.repeat(2_000)],
    [413, { 'x-api-key': 'valid', 'content-type': 'application/json' }, 'x'.repeat(2_000)],
    [415, { 'x-api-key': 'valid', 'content-type': 'text/plain' }, 'x'],
  ])('a body that is not read may arrive after the response: %i', async (_status, more, first) => {
    const { port, ca, key } = await opened()
    const line = await openHttp2Line(port, ca === undefined ? {} : { ca })
    onTestFinished(() => void line.socket.destroy())
    line.read()
    for (let round = 1; round <= 5; round++) {
      const credential = 'x-api-key' in more && { 'x-api-key': key }
      const headers = { 'x-forwarded-proto': 'https', ...more, ...credential }
      const stream = line.request(notesPath, { method: 'POST', headers, more: true })
      line.data(stream, first, false)
      await expect.poll(() => line.received().ended).toBe(round)
      for (let piece = 0; piece < 5; piece++) {
        await pause(10)
        line.data(stream, 'x'.repeat(1_000), piece === 4)
      }
    }
    await pause(20)
    expect(line.received()).toMatchObject({ ended: 5, reset: 0 })
  })

  test('a client that stops sending has two seconds for the rest of its body', async () => {
    const { session } = await opened()
    const begun = performance.now()
    const stream = session.request({ ':method': 'POST', ':path': notesPath })
    stream.on('error', () => undefined).resume()
    stream.write('{')
    const [headers] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>]
    expect(headers).toMatchObject({ ':status': 401 })
    await once(stream, 'close')
    const elapsed = performance.now() - begun
    expect(elapsed).toBeGreaterThan(1_000)
    expect(elapsed).toBeLessThan(15_000)
  })

  test.runIf(hasCurl)(
    'curl receives each response to a body of 3 MB that is not read',
    async () => {
      const { url, key } = await opened()
      const body = ' '.repeat(3_000_000)
      const headers = ['content-type: application/json', 'x-forwarded-proto: https']
      for (const credential of ['x-none: 1', `x-api-key: ${key}`]) {
        const expected = credential.startsWith('x-none') ? '401' : '413'
        for (let round = 0; round < 6; round++) {
          const words = [...headers, credential].flatMap((header) => ['-H', header])
          expect(await curl([...words, '--data-binary', '@-', url + notesPath], body)).toBe(
            expected,
          )
        }
      }
    },
    60_000,
  )
})

test.runIf(hasCurl).each(['fastify', 'hono'] as const)(
  'curl receives each response of %s over HTTP/2 to a body that is not read',
  async (name) => {
    const { service } = noteService({ bodyLimit: 1_000 })
    const { port, close } = await starts[name](service)
    onTestFinished(close)
    const body = ' '.repeat(3_000_000)
    for (const [type, expected] of [
      ['text/plain', '415'],
      ['application/json', '413'],
    ] as const) {
      for (let round = 0; round < 8; round++) {
        const words = ['-H', `content-type: ${type}`, '--data-binary', '@-']
        expect(await curl([...words, `http://127.0.0.1:${port}${notesPath}`], body)).toBe(expected)
      }
    }
  },
  60_000,
)

const starts = {
  fastify: async (service: RequestHandler) => {
    const app = fastify({ http2: true })
    await app.register(rowgateFastify as FastifyPluginAsync<FastifyOptions>, { service })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    return { port, close: async () => app.close() }
  },
  hono: async (service: RequestHandler) => {
    const rest = toFetchHandler(service)
    const app = nodeApp().all('*', (c) => rest(c.req.raw, c.env))
    const server = createServer(getRequestListener(app.fetch) as never)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
  },
}

/** Sends a request over HTTP/2, and returns the status of its response. */
async function curl(words: readonly string[], body: string): Promise<string> {
  const version = words.at(-1)?.startsWith('https') ? '--http2' : '--http2-prior-knowledge'
  const given = ['-s', '-k', '-o', '/dev/null', '-w', '%{http_code}', version, ...words]
  const child = spawn('curl', given, { stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.on('error', () => undefined).end(body)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  await once(child, 'close')
  return output
}

test.each([
  ['{"title":"\u00e4"'],
  ['{"title":', '"\u00e4"}'],
  ['{"title":"ab', 'cdefghijklmnopqrstu"}'],
])('a body that other code reads as text: %s%s', async (...pieces) => {
  const { service } = noteService({ bodyLimit: 30 })
  const handler = toNodeHandler(service)
  const { port, close } = await startPlain((request, response) => {
    request.setEncoding('utf8')
    handler(request, response)
  }, '127.0.0.1')
  onTestFinished(close)
  const line = await openLine(port)
  const length = Buffer.byteLength(pieces.join(''))
  const headers = ['Content-Type: application/json', `Content-Length: ${length}`]
  line.write(requestBytes(`POST ${notesPath}`, headers))
  for (const piece of pieces) {
    await pause(30)
    line.write(piece)
  }
  const [response] = await line.take(1)
  const expected = pieces.length === 1 ? 400 : length > 30 ? 413 : 200
  expect(response?.status).toBe(expected)
})
