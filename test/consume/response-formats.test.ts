import type { OutgoingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import {
  applyRules,
  connection,
  endpoint,
  flattenElements,
  pages,
  readElements,
  readStream,
  rule,
  typed,
  type ConnectionOptions,
} from '../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  system,
  text,
} from '../../src/entries/index.ts'
import { openStorage } from '../kit/storages.ts'
import { rejection } from './calls.ts'
import { startServer } from './server.ts'

let answer: { type?: string | undefined; body: string | Buffer; headers?: OutgoingHttpHeaders } = {
  body: '',
}
let status = 200
const accepts: (string | undefined)[] = []
const server = await startServer((request, response) => {
  accepts.push(request.headers.accept)
  const { type, body, headers } = answer
  response.writeHead(status, { ...(type !== undefined && { 'content-type': type }), ...headers })
  response.end(body)
})
afterAll(() => server.close())

const to = (options: Partial<ConnectionOptions> = {}) =>
  connection({ baseUrl: server.url, allowHttp: true, allowPrivateAddresses: true, ...options })
const plain = endpoint(to(), { name: 'get', path: '/' })
const asJson = endpoint(to(), { name: 'get', path: '/', as: 'json' })
const asText = endpoint(to(), { name: 'get', path: '/', as: 'text' })
const asLines = endpoint(to(), { name: 'get', path: '/', as: 'lines' })
const lines = 'application/x-ndjson'

describe('JSON', () => {
  test.each([
    'application/vnd.api+json',
    'application/hal+json; charset=utf-8',
    'application/problem+json',
    'text/json',
    'image/x+json',
  ])('is read from the media type %s', async (type) => {
    answer = { type, body: '{"a":1}' }
    expect((await plain.call({})).body).toEqual({ a: 1 })
  })

  test.each(['text/plain', 'text/html; charset=utf-8', undefined, 'application/octet-stream'])(
    'is read from the media type %s only if the endpoint states it',
    async (type) => {
      answer = { type, body: '{"a":1}' }
      expect(await rejection(plain.call({}))).toMatchObject({ code: 'RESPONSE_NOT_JSON' })
      expect((await asJson.call({})).body).toEqual({ a: 1 })
    },
  )

  test('under text/html is an error if it is HTML', async () => {
    answer = { type: 'text/html', body: '<p>' }
    expect(await rejection(asJson.call({}))).toMatchObject({ code: 'INVALID_JSON' })
  })

  test('under text/plain is the body of an error, too', async () => {
    answer = { type: 'text/plain', body: '{"reason":"x"}' }
    status = 409
    onTestFinished(() => void (status = 200))
    expect(await rejection(asJson.call({}))).toMatchObject({ response: { body: { reason: 'x' } } })
    expect(await rejection(asText.call({}))).toMatchObject({
      response: { body: null },
      excerpt: '{"reason":"x"}',
    })
  })
})

describe('text', () => {
  test.each([
    ['text/plain; charset=utf-8', Buffer.from('ä'), 'ä'],
    ['text/csv', Buffer.from('\ufeffa;b'), 'a;b'],
    ['text/plain; charset=iso-8859-1', Buffer.from([0xe4]), 'ä'],
    [undefined, Buffer.from(''), ''],
  ])('of the media type %s', async (type, body, expected) => {
    answer = { type, body }
    const { body: found } = await asText.call({})
    expectTypeOf(found).toEqualTypeOf<string>()
    expect(found).toBe(expected)
  })

  test.each([
    ['text/plain', Buffer.from([0xe4])],
    ['text/plain; charset=klingon', Buffer.from('a')],
  ])('that is not in its charset is an error: %s', async (type, body) => {
    answer = { type, body }
    expect(await rejection(asText.call({}))).toMatchObject({ code: 'INVALID_RESPONSE' })
  })

  test('is bounded', async () => {
    answer = { type: 'text/plain', body: 'x'.repeat(11) }
    const error = await rejection(asText.call({}, { maxResponseBytes: 10 }))
    expect(error).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  })
})

describe('lines', () => {
  test('are a list', async () => {
    answer = { type: lines, body: '{"a":1}\r\n\n {"a":2}\n7' }
    const { body } = await asLines.call({})
    expectTypeOf(body).toEqualTypeOf<readonly unknown[]>()
    expect(body).toEqual([{ a: 1 }, { a: 2 }, 7])
    answer = { type: lines, body: '' }
    expect((await asLines.call({})).body).toEqual([])
  })

  test.each([
    ['{"a":1}\n{"a"', 'INVALID_JSON', 'line 2 is invalid JSON'],
    ['1\n{"a":1,"a":2}', 'INVALID_JSON', 'line 2 has an object with a duplicate name'],
    ['1\n\n \n{', 'INVALID_JSON', 'line 4 is invalid JSON'],
    ['1\n{"id":12345678901234567890}', 'INVALID_JSON', 'the value at /1/id is a number'],
    [`1\n${'['.repeat(64)}${']'.repeat(64)}`, 'RESPONSE_TOO_DEEP', 'nested deeper than'],
  ])('that are not valid are an error: %s', async (body, code, message) => {
    answer = { type: lines, body }
    const error = await rejection(asLines.call({}))
    expect(error).toMatchObject({ code })
    expect(error.message).toContain(message)
  })

  test('are read one by one from a stream, in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.json({ maxDepth: 3 }).filter((each) => !/\d{16}|e\+?\d{3}/i.test(each))),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom('\n', '\r\n', '\n\n'),
        async (values, size, end) => {
          const bytes = Buffer.from(values.join(end))
          async function* body(): AsyncGenerator<Uint8Array, void, undefined> {
            for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
          }
          const found = []
          const elements = readElements(body(), { items: null, lines: true })
          for (let next = await elements.next(); ; next = await elements.next()) {
            if (next.done === true) {
              expect(next.value).toEqual([])
              break
            }
            found.push(next.value)
          }
          expect(found).toEqual(values.map((each) => JSON.parse(each) as unknown))
        },
      ),
      { numRuns: 500 },
    )
  })

  test.each([
    [{ maxElementBytes: 5 }, '[1,2,3]', 'Line 1 of the response has more than 5 bytes'],
    [{ maxBytes: 5 }, '1\n2\n3\n4', 'The response has more than 5 bytes'],
    [{ maxElements: 2 }, '1\n2\n3', 'The response has more than 2 elements'],
    [{ maxDepth: 2 }, '[[1]]', 'is nested deeper than'],
    [{}, '1\n\n{', 'Line 3 of the response is not valid JSON'],
    [{ items: 'data' }, '1', 'items: must be null'],
  ])('of a stream have limits: %o', async (limits, body, message) => {
    async function* stream(): AsyncGenerator<Uint8Array, void, undefined> {
      yield Buffer.from(body)
    }
    const read = async () => {
      for await (const element of readElements(stream(), { items: null, lines: true, ...limits }))
        expect(element).toBeDefined()
    }
    await expect(read()).rejects.toThrow(message)
  })

  test('become items by a rule, from the list and from the stream', async () => {
    answer = {
      type: lines,
      body: gzipSync('{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n'),
      headers: { 'content-encoding': 'gzip' },
    }
    const listNotes = endpoint(to(), {
      name: 'list-notes',
      path: '/',
      as: 'lines',
      response: typed<readonly { id: number; name: string }[]>(),
    })
    const notes = defineCollection({ key: 'id', fields: { id: integer(), title: text() } })
    const service = createService({
      applications: { app: { collections: { notes } } },
      storage: openStorage(),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    const rules = [
      rule(listNotes, { into: notes, upsertBy: ['id'], set: { id: 'id', title: 'name' } }),
    ]
    const all = service.as(system)
    const { body } = await listNotes.call({})
    expect(await applyRules(all, rules, body)).toMatchObject([
      { action: 'insert' },
      { action: 'insert' },
    ])
    const roots = await readStream(listNotes, {}, async ({ body: stream }) => {
      const found = []
      for await (const { root } of flattenElements(stream, { items: null, lines: true }))
        found.push(...root.rows.map(({ values }) => values))
      return found
    })
    expect(roots).toEqual([
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
    ])
    const found = pages(listNotes, {}, { paging: { kind: 'link' } })
    expect((await found.next()).value).toMatchObject({ items: [{ id: 1 }, { id: 2 }] })
  })
})

test('the Accept header is that of the format, of the connection or of the endpoint', async () => {
  answer = { type: 'application/json', body: '[]' }
  accepts.length = 0
  await plain.call({})
  await asLines.call({})
  await asText.call({})
  const own = to({ headers: { accept: 'application/vnd.b+json' } })
  await endpoint(own, { name: 'a', path: '/' }).call({})
  await endpoint(own, { name: 'a', path: '/', accept: 'application/vnd.api+json' }).call({})
  expect(accepts).toEqual([
    'application/json',
    'application/x-ndjson, application/jsonl, application/json;q=0.5',
    'text/*, */*;q=0.8',
    'application/vnd.b+json',
    'application/vnd.api+json',
  ])
})

test('a byte order mark begins the first line only, also of lines that are read one by one', async () => {
  const read = (): Promise<unknown[]> =>
    readStream(asLines, {}, async ({ body }) => {
      const found: unknown[] = []
      for await (const each of readElements(body, { items: null, lines: true })) found.push(each)
      return found
    })
  answer = { type: lines, body: '\ufeff1\n2' }
  expect((await asLines.call({})).body).toEqual([1, 2])
  expect(await read()).toEqual([1, 2])
  answer = { type: lines, body: '\n\ufeff1' }
  expect(await rejection(asLines.call({}))).toMatchObject({ code: 'INVALID_JSON' })
  expect((await rejection(read())).message).toBe('Line 2 of the response is not valid JSON.')
})
