import { once } from 'node:events'
import {
  connect,
  constants,
  createSecureServer,
  type ClientHttp2Session,
  type Http2SecureServer,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  principal,
  text,
  type Observation,
  type Principal,
  type Service,
} from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { apiKeys, type SecurityProvider } from '../../src/entries/security.ts'
import { makeCertificate } from '../kit/tls.ts'

const notes = defineCollection({ key: 'id', fields: { id: integer(), line: text() } })
const applications = { app: { collections: { notes } } }

let service: Service<typeof applications>
let server: Http2SecureServer
let session: ClientHttp2Session
let key = ''

beforeAll(async () => {
  const storage = memoryStorage()
  service = createService({
    applications,
    storage,
    security: apiKeys({ name: 'k' }),
    bodyLimit: 500,
  })
  await service.users.add({ user: 'maria' })
  key = (await service.keys.create({ user: 'maria' })).key
  const { private: secret, cert } = await makeCertificate()
  server = createSecureServer({ key: secret, cert, allowHTTP1: true }, toNodeHandler(service))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  session = connect(`https://localhost:${(server.address() as AddressInfo).port}`, { ca: cert })
})

afterAll(async () => {
  session.destroy()
  await new Promise((resolve) => server.close(resolve))
  await service.close()
})

async function ask(headers: Readonly<Record<string, string>>, body?: string) {
  const stream = session.request({ 'x-api-key': key, ...headers })
  let received = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => (received += chunk))
  stream.end(body)
  const [answer] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>]
  await once(stream, 'end')
  return { headers: answer, body: received }
}

const path = '/rest/v1/app/notes'

test('a service responds over HTTP/2 as over HTTP/1', async () => {
  const json = { 'content-type': 'application/json' }
  const inserted = await ask({ ':method': 'POST', ':path': path, ...json }, '{"id":1,"line":"ä"}')
  expect(JSON.parse(inserted.body)).toMatchObject({ item: { id: 1, line: 'ä' }, status: 200 })
  const page = await ask({ ':path': `${path}?$count=true` })
  expect(page.body).toBe(
    '{"items":[{"id":1,"line":"ä"}],"count":1,"message":null,"validations":[],"status":200}',
  )
  expect(page.headers).toMatchObject({
    ':status': 200,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(page.body)),
    'cache-control': 'no-store',
    'x-svc-version': '4.54',
  })
  expect(page.headers).not.toHaveProperty('connection')
})

test('error responses come over HTTP/2 as well', async () => {
  const statusOf = async (headers: Readonly<Record<string, string>>, body?: string) =>
    (await ask(headers, body)).headers[':status']
  expect(await statusOf({ ':path': path, 'x-api-key': 'wrong' })).toBe(401)
  expect(await statusOf({ ':path': '/rest/v1/app/nothing' })).toBe(404)
  expect(await statusOf({ ':path': path, ':method': 'PUT' })).toBe(405)
  const large = { ':path': path, ':method': 'POST', 'content-type': 'application/json' }
  expect(await statusOf(large, `{"line":"${'x'.repeat(2000)}"}`)).toBe(413)
})

describe('a client that resets its stream while its credential is checked', () => {
  test('has a failure that counts for its address, and a signal that is aborted', async () => {
    const clients: string[] = []
    let settle: (principal: Principal | undefined) => void = () => undefined
    let begin: () => void = () => undefined
    const aborted: boolean[] = []
    const reports: Observation[] = []
    const slow: SecurityProvider = {
      name: 'slow',
      priority: 1,
      challenge: 'Slow',
      find: () => ({ place: 'header', value: 'x' }),
      identify: () => {
        begin()
        return new Promise((resolve) => {
          settle = resolve
        })
      },
    }
    const memory = memoryStorage()
    const limited = createService({
      applications,
      storage: {
        ...memory,
        filter: (collection, query, context) => {
          if (context !== undefined) aborted.push(context.signal()?.aborted === true)
          return memory.filter(collection, query)
        },
      },
      security: slow,
      limits: {
        failures: {
          consume: (client) => {
            clients.push(client)
            return Promise.resolve()
          },
        },
      },
      report: (observation) => reports.push(observation),
    })
    const { private: secret, cert } = await makeCertificate()
    const own = createSecureServer({ key: secret, cert }, toNodeHandler(limited))
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
    const address = `https://localhost:${(own.address() as AddressInfo).port}`
    const other = connect(address, { ca: cert })
    const reset = async (
      headers: Readonly<Record<string, string>>,
      result: Principal | undefined,
    ): Promise<void> => {
      const begun = new Promise<void>((resolve) => (begin = resolve))
      const serverStream = new Promise<ServerHttp2Stream>((resolve) => own.once('stream', resolve))
      const stream = other.request(headers)
      stream.on('error', () => undefined)
      stream.end(headers[':method'] === 'POST' ? '{"id":1}' : undefined)
      await begun
      const closed = once(await serverStream, 'close')
      stream.close(constants.NGHTTP2_CANCEL)
      await closed
      settle(result)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const maria = principal('maria')
    await reset({ ':path': path }, undefined)
    expect(clients).toEqual(['127.0.0.1'])
    expect(reports).toMatchObject([{ type: 'credential-rejected', peer: '127.0.0.1' }])
    await reset({ ':path': path }, maria)
    expect(aborted).toEqual([true])
    const json = { 'content-type': 'application/json' }
    await reset({ ':path': path, ':method': 'POST', ...json }, maria)
    expect(reports).toHaveLength(1)
    other.destroy()
    await new Promise((resolve) => own.close(resolve))
    await limited.close()
  })
})

test('a client that disconnects in the middle of a body has no effect on others', async () => {
  const stream = session.request({
    ':path': path,
    ':method': 'POST',
    'x-api-key': key,
    'content-type': 'application/json',
  })
  stream.on('error', () => undefined)
  stream.write('{"id":')
  await new Promise((resolve) => setTimeout(resolve, 30))
  stream.close()
  await once(stream, 'close')
  expect(JSON.parse((await ask({ ':path': path })).body)).toMatchObject({ status: 200 })
})
