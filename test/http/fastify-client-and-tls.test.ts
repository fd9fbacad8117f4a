import { fastify, type FastifyServerOptions } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import type { RequestHandler } from '../../src/request/request.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { notesPath, noteService } from './express-service.ts'
import { makeCertificate } from '../kit/tls.ts'
import { ask, echoConnection, type Place } from '../kit/client-and-tls.ts'
import { listen } from '../kit/fastify-app.ts'

const proxy = '127.0.0.1'
const client = '127.0.0.2'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function telling(options: FastifyServerOptions = {}): Promise<Place> {
  const app = fastify(options)
  await app.register(rowgateFastify, { service: echoConnection, outside: 'respond' })
  const { port, close } = await listen(app)
  ends.push(close)
  return { port }
}

const spoofed = {
  'x-forwarded-proto': 'https',
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-ssl': 'on',
  forwarded: 'for=203.0.113.9;proto=https',
}

test('without trustProxy no header is trusted', async () => {
  const to = await telling()
  expect(await ask({ to, from: client, headers: spoofed })).toEqual({ secure: false, peer: client })
})

test.each([
  ['an address', proxy],
  ['a list', ['10.0.0.0/8', '127.0.0.1/32']],
  ['a function', (address: string) => address === proxy],
] as const)('with %s, only the headers of the proxy are trusted', async (_name, trustProxy) => {
  const to = await telling({ trustProxy: trustProxy as string })
  expect(await ask({ to, from: proxy, headers: spoofed })).toEqual({
    secure: true,
    peer: '203.0.113.9',
  })
  expect(await ask({ to, from: client, headers: spoofed })).toEqual({ secure: false, peer: client })
})

test('values that a client sends before the values of the proxy have no effect', async () => {
  const to = await telling({ trustProxy: proxy })
  const headers = {
    'x-forwarded-proto': 'https, http',
    'x-forwarded-for': '198.51.100.1, 203.0.113.9',
  }
  expect(await ask({ to, from: proxy, headers })).toEqual({ secure: false, peer: '203.0.113.9' })
})

test.each(['unknown', '_hidden', 'evil.test', '999.1.1.1', 'x'.repeat(500)])(
  'a client that has no address is known by the address of its proxy: %s',
  async (hop) => {
    const to = await telling({ trustProxy: proxy })
    const headers = { 'x-forwarded-for': hop }
    expect(await ask({ to, from: proxy, headers })).toEqual({ secure: false, peer: proxy })
  },
)

test('addresses are written as all bindings write them', async () => {
  const to = await telling({ trustProxy: proxy })
  for (const [hop, peer] of [
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
  ] as const) {
    const headers = { 'x-forwarded-for': hop }
    expect(await ask({ to, from: proxy, headers })).toMatchObject({ peer })
  }
})

test('over TLS', async () => {
  const { private: key, cert } = await makeCertificate()
  const app = fastify({ https: { key, cert } })
  await app.register(rowgateFastify, { service: echoConnection, outside: 'respond' })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  ends.push(async () => app.close())
  const to = { port: Number(new URL(address).port), ca: cert }
  expect(await ask({ to, from: client })).toEqual({ secure: true, peer: client })
})

test('injected requests have the same responses as others, and are not secure by default', async () => {
  const { service } = noteService()
  const app = fastify({ trustProxy: true })
  await app.register(rowgateFastify, { service })
  await app.register(rowgateFastify, {
    service: echoConnection,
    prefix: '/way',
    outside: 'respond',
  })
  ends.push(async () => app.close())
  const url = notesPath
  const inserted = await app.inject({ method: 'POST', url, payload: { title: 'Milk' } })
  expect(inserted.json()).toMatchObject({ item: { title: 'Milk' }, status: 200 })
  const { headers, body } = await app.inject({ method: 'GET', url })
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
  })
  const typed = { 'content-type': 'application/json' }
  const empty = await app.inject({ method: 'POST', url, headers: typed })
  expect(empty.json()).toMatchObject({ status: 400 })
  expect((await app.inject({ method: 'PUT', url, payload: {} })).statusCode).toBe(405)

  const told = async (options: object): Promise<unknown> => {
    const answer = await app.inject({ url: '/way/', ...options })
    return answer.json()
  }
  expect(await told({})).toEqual({ secure: false, peer: '127.0.0.1' })
  const proto = { 'x-forwarded-proto': 'https' }
  expect(await told({ headers: proto, remoteAddress: '203.0.113.9' })).toEqual({
    secure: true,
    peer: '203.0.113.9',
  })
})

test('the signal of an injected request is not aborted', async () => {
  const aborted: (boolean | undefined)[] = []
  const service: RequestHandler = {
    serves: () => true,
    handle: async (request) => {
      aborted.push(request.signal?.aborted)
      await request.body(100)
      await new Promise((resolve) => setTimeout(resolve, 5))
      aborted.push(request.signal?.aborted)
      return { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{}' }
    },
  }
  const app = fastify()
  await app.register(rowgateFastify, { service })
  await app.inject({ method: 'POST', url: notesPath, payload: { a: 1 } })
  expect(aborted).toEqual([false, false])
})
