import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { ServerResponse } from 'node:http'
import { afterAll, describe, expect, expectTypeOf, test } from 'vitest'
import { connection, endpoint, ignoredBody, type CallErrorCode } from '../../src/entries/consume.ts'
import { rejection } from './calls.ts'
import { startServer } from './server.ts'

const json = { 'content-type': 'application/json' }
const gzipped = { ...json, 'content-encoding': 'gzip' }
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const text =
  (body: string | Uint8Array, headers: Readonly<Record<string, string>> = json) =>
  (response: ServerResponse): void => {
    response.writeHead(200, headers)
    response.end(body)
  }

const cases: Readonly<Record<string, (response: ServerResponse) => void>> = {
  hang: () => undefined,
  hangInBody: (response) => {
    response.writeHead(200, json)
    response.write('{"secret":')
  },
  closeAtOnce: (response) => response.destroy(),
  closeInBody: (response) => {
    response.writeHead(200, { ...json, 'content-length': '100' })
    response.write('{"secret":')
    setTimeout(() => response.destroy(), 20)
  },
  closeWithoutLength: (response) => {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { ...json, connection: 'close' })
    response.end('{"secret":')
  },
  drip: (response) => {
    response.writeHead(200, json)
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => {
      clearInterval(timer)
    })
  },
  gzipBomb: text(gzipSync(Buffer.alloc(20_000_000, ' ')), gzipped),
  doubleGzipBomb: text(gzipSync(gzipSync(Buffer.alloc(20_000_000, ' '))), {
    ...json,
    'content-encoding': 'gzip, gzip',
  }),
  truncatedGzip: text(
    gzipSync(JSON.stringify({ secret: 'x'.repeat(1000) })).subarray(0, 30),
    gzipped,
  ),
  damagedGzip: text('secret', gzipped),
  unknownEncoding: text('{}', { ...json, 'content-encoding': 'secret' }),
  large: text(JSON.stringify('x'.repeat(100_000))),
  deep: text(deep(65)),
  hugelyDeep: text('[1,' + '{"a":['.repeat(4000)),
  html: text('<html>secret</html>', { 'content-type': 'text/html' }),
  noType: text('{}', {}),
  latin1: text('{}', { 'content-type': 'application/json; charset=latin1' }),
  invalidUtf8: text(Buffer.from([0x22, 0xff, 0x22])),
  invalidJson: text('{"secret": }'),
  duplicateName: text('{"a": {"secret": 1, "secret": 2}}'),
  unsafeInteger: text('{"id": 12345678901234567890}'),
  infinite: text('[1e999]'),
  manyHeaders: text('{}', { ...json, secret: 'x'.repeat(20_000) }),
}

const server = await startServer((request, response) => {
  cases[(request.url ?? '').slice(1)]?.(response)
})
afterAll(() => server.close())

const to = connection({
  baseUrl: server.url,
  allowHttp: true,
  allowPrivateAddresses: ['127.0.0.0/8'],
  attempts: 1,
  timeout: 10_000,
  maxResponseBytes: 50_000,
})
afterAll(() => to.close())

const expected: Readonly<Record<keyof typeof cases, CallErrorCode>> = {
  hang: 'TIMEOUT',
  hangInBody: 'TIMEOUT',
  closeAtOnce: 'CONNECTION_FAILED',
  closeInBody: 'CONNECTION_FAILED',
  closeWithoutLength: 'INVALID_JSON',
  drip: 'TIMEOUT',
  gzipBomb: 'RESPONSE_TOO_LARGE',
  doubleGzipBomb: 'RESPONSE_TOO_LARGE',
  truncatedGzip: 'INVALID_JSON',
  damagedGzip: 'RESPONSE_NOT_JSON',
  unknownEncoding: 'RESPONSE_NOT_JSON',
  large: 'RESPONSE_TOO_LARGE',
  deep: 'RESPONSE_TOO_DEEP',
  hugelyDeep: 'RESPONSE_TOO_DEEP',
  html: 'RESPONSE_NOT_JSON',
  noType: 'RESPONSE_NOT_JSON',
  latin1: 'RESPONSE_NOT_JSON',
  invalidUtf8: 'INVALID_JSON',
  invalidJson: 'INVALID_JSON',
  duplicateName: 'INVALID_JSON',
  unsafeInteger: 'INVALID_JSON',
  infinite: 'INVALID_JSON',
  manyHeaders: 'CONNECTION_FAILED',
}

test.each(Object.entries(expected))('the response %s rejects with %s', async (name, code) => {
  const get = endpoint(to, { name: 'bad', path: `/${name}` })
  const error = await rejection(get.call({}, code === 'TIMEOUT' ? { timeout: 400 } : {}))
  expect(error).toMatchObject({ name: 'CallError', code, endpoint: 'bad' })
  expect(String(error)).toMatch(/^CallError: The call of bad failed: .*\.$/)
  expect(`${String(error)} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain('secret')
})

test('the error of a duplicate name says so, without the name', async () => {
  const get = endpoint(to, { name: 'bad', path: '/duplicateName' })
  expect((await rejection(get.call({}))).message).toBe(
    'The call of bad failed: the response has an object with a duplicate name.',
  )
  const lines = endpoint(to, { name: 'bad', path: '/duplicateName', as: 'lines' })
  expect((await rejection(lines.call({}))).message).toBe(
    'The call of bad failed: line 1 has an object with a duplicate name.',
  )
})

test('a body that the endpoint ignores is not read', async () => {
  for (const path of [
    '/html',
    '/invalidJson',
    '/large',
    '/hangInBody',
    '/unknownEncoding',
  ] as const) {
    const get = endpoint(to, { name: 'x', path, response: ignoredBody() })
    const { status, body } = await get.call({})
    expectTypeOf(body).toBeNull()
    expect({ status, body }).toEqual({ status: 200, body: null })
  }
})

describe('a valid response', () => {
  const responses = {
    deepest: text(deep(64)),
    compressed: text(brotliCompressSync('{"a": 1}'), { ...json, 'content-encoding': 'br' }),
    problem: text('{"a": 1}', { 'content-type': 'application/problem+json; charset="UTF-8"' }),
    byteOrderMark: text('\ufeff{"a": 1}'),
    numbers: text(
      '{"id": 12345678901234567890, "all": [1e999, -9007199254740993, 1.5, 9007199254740991]}',
    ),
    none: (response: ServerResponse) => response.writeHead(204).end(),
  }
  const valid = startServer((request, response) => {
    responses[(request.url ?? '').slice(1) as keyof typeof responses](response)
  })
  afterAll(async () => (await valid).close())

  async function read(name: keyof typeof responses, largeNumbers?: 'string'): Promise<unknown> {
    const { url } = await valid
    const local = connection({ baseUrl: url, allowHttp: true, allowPrivateAddresses: true })
    const { body } = await endpoint(local, { name: 'x', path: `/${name}`, largeNumbers }).call({})
    return body
  }

  test('has at most 64 levels', async () => {
    expect(JSON.stringify(await read('deepest'))).toBe(deep(64))
  })

  test('may be compressed', async () => {
    expect(await read('compressed')).toEqual({ a: 1 })
  })

  test('may have a media type that ends with +json', async () => {
    expect(await read('problem')).toEqual({ a: 1 })
  })

  test('may begin with a byte order mark', async () => {
    expect(await read('byteOrderMark')).toEqual({ a: 1 })
  })

  test('has large numbers as strings if the endpoint declares it', async () => {
    expect(await read('numbers', 'string')).toEqual({
      id: '12345678901234567890',
      all: ['1e999', '-9007199254740993', 1.5, 9007199254740991],
    })
  })

  test('without a body is null', async () => {
    expect(await read('none')).toBeNull()
  })
})
