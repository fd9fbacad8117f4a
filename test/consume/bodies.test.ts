import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import {
  connection,
  createOutbox,
  endpoint,
  file,
  typed,
  type ConnectionOptions,
  type EndpointOptions,
  type FilePart,
} from '../../src/entries/consume.ts'
import { formPairs } from '../../src/consume/body/form.ts'
import { rejection } from './calls.ts'
import { respond, startServer } from './server.ts'

interface Received {
  readonly type: string | undefined
  readonly length: string | undefined
  readonly text: string
}

let received: Received[] = []
let statuses: number[] = []
let isReading = true
beforeEach(() => {
  received = []
  statuses = []
  isReading = true
})
const server = await startServer((request, response) => {
  // Without reading, what the client sends fills the buffers of the connection.
  if (!isReading) return
  void textOf(request).then(
    (text) => {
      const { 'content-type': type, 'content-length': length } = request.headers
      received.push({ type, length, text })
      respond(response, { ok: true }, statuses.shift() ?? 200)
    },
    () => undefined,
  )
})
afterAll(() => server.close())

const local = { baseUrl: server.url, allowHttp: true, allowPrivateAddresses: true } as const

function post(
  bodyType: string,
  encoding?: EndpointOptions['encoding'],
  options: Partial<ConnectionOptions> = {},
) {
  return endpoint(connection({ ...local, ...options }), {
    ...{ name: 'post', method: 'POST', path: '/' },
    body: typed<unknown>(),
    bodyType,
    encoding,
  })
}

const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data'

describe('a form', () => {
  test.each([
    [undefined, { a: 1, b: [true, 'x y'], c: { d: 1 } }, 'a=1&b=true&b=x y&c={"d":1}'],
    ['comma', { a: [1, 2], b: { x: 1, y: 'z' }, c: [] }, 'a=1,2&b=x,1,y,z'],
    ['space', { a: ['b', 'c'] }, 'a=b c'],
    ['pipe', { a: ['b', 'c'] }, 'a=b|c'],
    ['brackets', { a: ['b', 'c'], d: { e: { f: 1 } } }, 'a[]=b&a[]=c&d[e][f]=1'],
    ['indices', { items: [{ price: 'p', tags: ['x'] }] }, 'items[0][price]=p&items[0][tags][0]=x'],
    ['members', { color: { R: 100, G: 200 }, list: [1, 2] }, 'R=100&G=200&list=1&list=2'],
    ['json', { a: [1, { b: null }] }, 'a=[1,{"b":null}]'],
    [{ a: 'comma', b: { style: 'brackets' } }, { a: [1, 2], b: [3], c: [4] }, 'a=1,2&b[]=3&c=4'],
    [
      'brackets',
      { day: new Date(0), none: null, gone: undefined, e: { f: null } },
      `day=${new Date(0).toISOString()}`,
    ],
  ] as const)('of the style %o', async (encoding, body, expected) => {
    await post(form, encoding).call({ body })
    expect(received[0]?.type).toBe(form)
    const pairs = [...new URLSearchParams(received[0]?.text)]
    expect(pairs.map(([name, value]) => `${name}=${value}`).join('&')).toBe(expected)
  })

  test('is read as it was sent by a server that knows brackets, for any names and values', () => {
    const name = fc.string().filter((each) => each !== '' && each !== '__proto__')
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean())
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(value, fc.dictionary(name, tie('node'), { minKeys: 1, maxKeys: 3 })),
    })).node
    fc.assert(
      fc.property(name, tree, (root, given) => {
        const pairs = formPairs(root, given, 'brackets')
        const again = new URLSearchParams(
          pairs.map(([key, text]): [string, string] => [key, text]),
        ).toString()
        expect([...new URLSearchParams(again)]).toEqual(pairs.map((pair) => [...pair]))
        const leaves: unknown[] = []
        JSON.stringify(given, (_key, each: unknown) => {
          if (typeof each !== 'object') leaves.push(String(each))
          return each
        })
        expect(pairs.map(([, text]) => text)).toEqual(leaves)
      }),
      { numRuns: 500 },
    )
  })

  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  test.each([
    ['a string instead of members', undefined, 'text'],
    ['a separator inside a value', 'comma', { a: ['b,c'] }],
    ['a list that contains null', 'repeated', { a: [null] }],
    ['a number that is not finite', undefined, { a: Infinity }],
    ['half of a surrogate pair', undefined, { a: '\ud800' }],
    ['a cycle', 'brackets', circular],
    ['a file', undefined, { a: file('x') }],
  ] as const)('with %s is rejected', async (_what, encoding, body) => {
    const error = await rejection(post(form, encoding).call({ body }))
    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    expect(received).toEqual([])
  })
})

/** Reads a multipart body by another implementation. */
async function partsOf({ type = '', text }: Received): Promise<(readonly [string, unknown])[]> {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- The text is small, and that of this test.
  const data = await new Response(text, { headers: { 'content-type': type } }).formData()
  return Promise.all(
    Array.from(data, async ([name, value]) => {
      if (typeof value === 'string') return [name, value] as const
      return [name, { name: value.name, type: value.type, text: await value.text() }] as const
    }),
  )
}

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of texts) yield Buffer.from(text)
}

describe('a multipart form', () => {
  test('has texts, lists, objects and files', async () => {
    const body = {
      title: 'ä"b',
      tags: ['x', 'y'],
      meta: { a: [1] },
      none: null,
      report: file(chunks('one ', 'two'), { name: 'r.csv', type: 'text/csv' }),
      pictures: [file(Buffer.from('p'), { name: 'p.png', type: 'image/png' }), file('q')],
      blob: file(new File(['z'], 'z.txt', { type: 'text/plain' })),
    }
    await post(multipart).call({ body })
    expect(received[0]?.length).toBeUndefined()
    expect(await partsOf(received[0] as Received)).toEqual([
      ['title', 'ä"b'],
      ['tags', 'x'],
      ['tags', 'y'],
      ['meta', '{"a":[1]}'],
      ['report', { name: 'r.csv', type: 'text/csv', text: 'one two' }],
      ['pictures', { name: 'p.png', type: 'image/png', text: 'p' }],
      ['pictures', { name: 'file', type: 'application/octet-stream', text: 'q' }],
      ['blob', { name: 'z.txt', type: 'text/plain', text: 'z' }],
    ])
    expect(received[0]?.text).toContain('name="meta"\r\nContent-Type: application/json\r\n')
  })

  test('has the styles and media types of its encoding', async () => {
    const encoding = {
      filter: 'brackets',
      xml: { contentType: 'text/xml' },
      photo: { contentType: 'image/webp' },
    } as const
    await post(multipart, encoding).call({
      body: { filter: { a: ['b'] }, xml: '<a/>', photo: file('x') },
    })
    const [{ text } = { text: '' }] = received
    expect(text).toContain('name="filter[a][]"\r\n\r\nb\r\n')
    expect(text).toContain('name="xml"\r\nContent-Type: text/xml\r\n\r\n<a/>\r\n')
    expect(text).toContain('Content-Type: image/webp')
  })

  test('states its length if the sizes of all files are known', async () => {
    const body = { a: file(chunks('abc'), { size: 3 }), b: file(new Blob(['d'])) }
    await post(multipart).call({ body })
    expect(received[0]?.length).toBe(String(Buffer.byteLength(received[0]?.text ?? '')))
  })

  test('no name adds a header, for any names', async () => {
    const hostile = fc.string({
      unit: fc.constantFrom('"', '\r', '\n', '\0', ';', '\\', ':', 'a', 'é', '\r\n\r\n', '--'),
      minLength: 1,
    })
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (name, fileName) => {
        received = []
        await post(multipart).call({
          body: { [name]: file('x', { name: fileName }), [`${name}2`]: 'y' },
        })
        const parts = await partsOf(received[0] as Received)
        expect(parts.length).toBe(2)
        const heads = received[0]?.text.split('\r\n').filter((line) => /^[\w-]+:/.test(line))
        expect(heads?.map((line) => line.split(':')[0])).toEqual([
          'Content-Disposition',
          'Content-Type',
          'Content-Disposition',
        ])
      }),
      { numRuns: 100 },
    )
    expect(() => file('x', { type: 'text/plain\r\nX-Evil: 1' })).toThrow('must be a media type')
  })
})

describe('a file', () => {
  test('is the whole body of another media type', async () => {
    const upload = post('application/octet-stream')
    await upload.call({ body: file(chunks('a', 'b'), { size: 2 }) })
    await upload.call({ body: Buffer.from('bytes') })
    expect(received).toEqual([
      { type: 'application/octet-stream', length: '2', text: 'ab' },
      { type: 'application/octet-stream', length: '5', text: 'bytes' },
    ])
  })

  test('is read no faster than it is sent, and ended if the call is aborted', async () => {
    const state = { read: 0, ended: false }
    async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        for (;;) {
          state.read++
          yield Buffer.alloc(64 * 1024)
        }
      } finally {
        state.ended = true
      }
    }
    isReading = false
    const control = new AbortController()
    const call = post('application/octet-stream').call(
      { body: file(endless(), { maxBytes: 1e12 }) },
      { signal: control.signal },
    )
    const failed = rejection(call)
    let before = -1
    while (state.read === 0 || before !== state.read) {
      before = state.read
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    // What the sockets of both sides hold.
    expect(state.read).toBeLessThan(500)
    control.abort(new Error('enough'))
    expect((await failed).message).toBe('enough')
    while (!state.ended) await new Promise((resolve) => setTimeout(resolve, 10))
  })

  test('that has no bytes yet does not delay a status for the headers', async () => {
    const early = await startServer((_request, response) => {
      respond(response, {}, 413)
    })
    const to = connection({ ...local, baseUrl: early.url })
    const upload = endpoint(to, {
      ...{ name: 'up', method: 'POST', path: '/', body: typed<unknown>(), bodyType: 'text/plain' },
    })
    const body = file(new ReadableStream({ pull: () => new Promise(() => undefined) }))
    expect(await rejection(upload.call({ body }))).toMatchObject({ code: 'STATUS', status: 413 })
    await early.close()
  })

  test.each([
    [
      'a stream of the web',
      (closed: () => void) =>
        new ReadableStream<Uint8Array>({
          pull: () => new Promise(() => undefined),
          cancel: closed,
        }),
    ],
    [
      'a stream of Node',
      (closed: () => void) =>
        new Readable({
          read: () => undefined,
          destroy(error, done) {
            closed()
            done(error)
          },
        }),
    ],
  ])('closes %s whose bytes it awaits when the call is aborted', async (_what, open) => {
    const control = new AbortController()
    let body: FilePart | undefined
    const closed = new Promise<void>((resolve) => {
      body = file(open(resolve))
    })
    const call = post('application/octet-stream').call({ body }, { signal: control.signal })
    const failed = rejection(call)
    await new Promise((resolve) => setTimeout(resolve, 50))
    control.abort(new Error('enough'))
    expect((await failed).message).toBe('enough')
    await closed
  })

  test.each([
    ['has more bytes than maxBytes', { maxBytes: 2 }, 'has more than 2 bytes'],
    ['has more bytes than its size', { size: 2 }, 'has more bytes than its size states'],
    ['has fewer bytes than its size', { size: 5 }, 'has fewer bytes than its size states'],
  ])('that %s ends the request', async (_what, options, message) => {
    const body = file(chunks('ab', 'c'), options)
    const error = await rejection(post('application/octet-stream').call({ body }))
    expect(error).toMatchObject({ code: 'FILE_FAILED' })
    expect(error.message).toContain(`a file of the request ${message}`)
    expect(received).toEqual([])
  })

  test('that cannot be read ends the request, with the error as the cause', async () => {
    async function* broken(): AsyncGenerator<Uint8Array, void, undefined> {
      yield Buffer.from('a')
      throw new Error('The disk is gone.')
    }
    for (const options of [{}, { fetch }]) {
      const call = post('application/octet-stream', undefined, options).call({
        body: file(broken()),
      })
      expect(await rejection(call)).toMatchObject({
        code: 'FILE_FAILED',
        cause: { message: 'The disk is gone.' },
      })
    }
  })

  test('is no part of a delivery of an outbox', () => {
    const outbox = createOutbox({ endpoints: { post: { endpoint: post(multipart) } }, workers: 0 })
    const input = { body: { a: file('x') } }
    expect(() => void outbox.enqueue({}, 'post', input)).toThrow('must be a JSON value')
    expect(() => JSON.stringify(input)).toThrow('A file has no JSON')
  })

  test.each([
    [{ size: 3 }, 'the content has 1 bytes, not 3'],
    [{ maxBytes: 0 }, 'maxBytes'],
    [{ typ: 'a/b' }, 'did you mean type'],
  ])('with the options %o is a TypeError', (options, message) => {
    expect(() => file('x', options as never)).toThrow(message)
  })

  test('with a stream cannot be sent by a second call', async () => {
    const body = file(chunks('ab'))
    await post('application/octet-stream').call({ body })
    expect(await rejection(post('application/octet-stream').call({ body }))).toMatchObject({
      code: 'FILE_FAILED',
      message: expect.stringContaining('a stream that was sent before; give a function') as string,
    })
    expect(received).toHaveLength(1)
  })

  test.each([
    'text/plain\r\n\r\n;a=b',
    'text/plain;\na=b',
    'text/plain;a="\r\n"',
    // Takes long if there are several ways to match it.
    `a/b${';x=""'.repeat(10_000)}!`,
  ])('with a media type that is not valid is a TypeError (%#)', (type) => {
    expect(() => file('x', { type })).toThrow('must be a media type')
  })

  test('can have a media type with quoted parameters', () => {
    const type = 'text/plain; charset="utf-8" ;name="a; \\"b\\" \\\\"'
    expect(file('x', { type }).type).toBe(type)
  })

  test.each([
    ['application/json', { a: [{ b: file('x') }] }],
    ['application/vnd.api+json', file('x')],
    [form, { a: file('x') }],
    ['text/plain', { a: file('x') }],
  ])('in a body of the type %s is named in the error', async (type, body) => {
    const error = await rejection(post(type).call({ body }))
    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    expect(error.message).toContain(`body has a file, which ${type} cannot have`)
    expect(received).toEqual([])
  })

  test('beside a string in one list of a multipart form is rejected, without advice to use one', async () => {
    const error = await rejection(post(multipart).call({ body: { a: [file('x'), 'x'] } }))
    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    expect(error.message).toMatch(/valid: body\/a is a list with files and other values\.$/)
  })

  test('that is too large is a TypeError', () => {
    expect(() => file('abc', { maxBytes: 2 })).toThrow('the content has more than 2 bytes')
    expect(() => file(7 as never)).toThrow('the content must be')
  })
})

describe('after a status that may pass, a request', () => {
  const put = (body: FilePart | string) => {
    statuses = [503, 503]
    const to = connection({ ...local, attempts: 3 })
    const options = { body: typed<unknown>(), bodyType: 'text/plain' }
    return endpoint(to, { name: 'put', method: 'PUT', path: '/', ...options }).call({ body })
  }

  test.each([
    ['a string', 'abc'],
    ['bytes', file(Buffer.from('abc'))],
    ['a Blob', file(new Blob(['abc']))],
    ['a function', file(() => chunks('a', 'bc'))],
  ])('is repeated with %s', async (_what, body) => {
    expect((await put(body)).status).toBe(200)
    expect(received.map(({ text }) => text)).toEqual(['abc', 'abc', 'abc'])
  })

  test('is not repeated with a stream that was read', async () => {
    expect(await rejection(put(file(chunks('abc'))))).toMatchObject({ code: 'STATUS', status: 503 })
    expect(received).toHaveLength(1)
  })

  test('is not repeated with a stream after a token is rejected', async () => {
    statuses = [401, 200]
    const tokens = connection({
      ...local,
      authentication: {
        kind: 'clientCredentials',
        ...{ tokenUrl: `${local.baseUrl}/token`, clientId: 'a', clientSecret: 'b' },
      },
      fetch: async (url, init) =>
        url.endsWith('/token')
          ? Response.json({ access_token: 'x', token_type: 'bearer' })
          : fetch(url, init),
    })
    const upload = endpoint(tokens, {
      ...{ name: 'up', method: 'POST', path: '/', body: typed<unknown>(), bodyType: 'text/plain' },
    })
    const error = await rejection(upload.call({ body: file(chunks('a')) }))
    expect(error).toMatchObject({ code: 'STATUS', status: 401 })
    expect(received).toHaveLength(1)
  })
})

describe('JSON and text', () => {
  test.each([
    ['application/merge-patch+json', { a: null }, '{"a":null}'],
    [
      'application/json-patch+json',
      [{ op: 'remove', path: '/a' }],
      '[{"op":"remove","path":"/a"}]',
    ],
    ['application/vnd.api+json', { data: {} }, '{"data":{}}'],
    ['application/json; charset=utf-8', 7, '7'],
    ['text/xml; charset=utf-8', '<ä/>', '<ä/>'],
  ])('of the type %s', async (type, body, text) => {
    await post(type).call({ body })
    expect(received).toMatchObject([{ type, text }])
  })

  test('of the type text/plain states that it is UTF-8', async () => {
    await post('text/plain').call({ body: 'ä' })
    expect(received).toMatchObject([{ type: 'text/plain; charset=utf-8', text: 'ä' }])
    const error = await rejection(post('text/plain').call({ body: { a: 1 } }))
    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
  })
})

test.each([
  [{ bodyType: 'a' }, 'endpoint.bodyType: must be a media type'],
  [{ bodyType: 'text/*' }, 'endpoint.bodyType: must be a media type'],
  [{ bodyType: 'text/plain\r\nx: y' }, 'endpoint.bodyType: must be a media type'],
  [{ bodyType: 'multipart/mixed' }, 'endpoint.bodyType: must be multipart/form-data'],
  [{ encoding: 'brackets' }, 'endpoint.encoding: is only possible in a form'],
  [{ bodyType: form, encoding: { a: 'bracket' } }, 'endpoint.encoding'],
  [{ bodyType: form, encoding: { a: { contentType: 'text/xml' } } }, 'a.contentType: is only'],
  [{ bodyType: form, body: undefined }, 'endpoint.body: is missing'],
  [{ accept: 'a\nb' }, 'endpoint.accept: must be media types'],
  [{ accept: 'text/csv', headers: { Accept: 'string' } }, 'is also the header of endpoint.accept'],
])('the options %o of an endpoint are a mistake', (options, message) => {
  const given = { name: 'a', method: 'POST', path: '/', body: typed<unknown>(), ...options }
  expect(() => endpoint(connection(local), given as never)).toThrow(message)
})
