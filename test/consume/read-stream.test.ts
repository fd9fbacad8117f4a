import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { connection, endpoint, readElements, readStream } from '../../src/entries/consume.ts'
import { rejection } from './calls.ts'
import { startServer } from './server.ts'

const rows = Array.from({ length: 5000 }, (_, id) => ({ id, name: `row ${id}` }))
let failures = 0
const server = await startServer((request, response) => {
  const type = request.url === '/html' ? 'text/html' : 'application/json'
  response.writeHead(failures-- > 0 ? 503 : 200, {
    'content-type': type,
    'content-encoding': 'gzip',
  })
  if (request.url === '/close') {
    response.write(gzipSync('{"data": [1,').subarray(0, 15))
    setTimeout(() => response.destroy(), 30)
  } else if (request.url === '/hang') response.write(gzipSync('{"data": [1,').subarray(0, 15))
  else response.end(gzipSync(JSON.stringify({ data: rows })))
})
afterAll(() => server.close())

const to = connection({
  baseUrl: server.url,
  allowHttp: true,
  allowPrivateAddresses: ['127.0.0.1'],
  maxResponseBytes: 1000,
})
const at = (path: `/${string}`) => endpoint(to, { name: 'rows', path })

async function count(body: AsyncIterable<Uint8Array>): Promise<number> {
  let length = 0
  for await (const chunk of body) length += chunk.length
  return length
}

test('a stream is read element by element, after retries', async () => {
  failures = 1
  const ids: unknown[] = []
  const status = await readStream(
    at('/rows'),
    {},
    async ({ status, body }) => {
      for await (const element of readElements(body, { items: 'data' }))
        ids.push((element as { readonly id: number }).id)
      return status
    },
    { maxResponseBytes: 10_000_000 },
  )
  expect(status).toBe(200)
  expect(ids).toEqual(rows.map(({ id }) => id))
})

test.each([
  ['of more bytes than allowed', '/rows', 'RESPONSE_TOO_LARGE'],
  ['of another media type', '/html', 'RESPONSE_NOT_JSON'],
  ['whose connection is closed', '/close', 'CONNECTION_FAILED'],
  ['that hangs', '/hang', 'TIMEOUT'],
] as const)('a stream %s is rejected', async (_what, path, code) => {
  const timeout = code === 'TIMEOUT' ? 500 : 10_000
  const reading = readStream(at(path), {}, ({ body }) => count(body), { timeout })
  expect(await rejection(reading)).toMatchObject({ code, endpoint: 'rows' })
})

test('an error of the reader ends the call', async () => {
  const reason = new Error('Enough.')
  const reading = readStream(at('/rows'), {}, async () => {
    throw reason
  })
  expect(await rejection(reading)).toBe(reason)
})

test('a reader that never ends is stopped by the time of the call', async () => {
  const reading = readStream(at('/rows'), {}, () => new Promise(() => undefined), { timeout: 100 })
  expect(await rejection(reading)).toMatchObject({ code: 'TIMEOUT' })
})

test('a body that is not read releases its connection', async () => {
  for (let call = 0; call < 20; call++)
    expect(await readStream(at('/rows'), {}, async ({ status }) => status)).toBe(200)
})
