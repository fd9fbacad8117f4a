import { once } from 'node:events'
import {
  connect,
  createSecureServer,
  type ClientHttp2Session,
  type Http2SecureServer,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  text,
  type Service,
} from '../../src/index.ts'
import { toNodeHandler } from '../../src/http/node.ts'
import { apiKeys } from '../../src/security/index.ts'
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
