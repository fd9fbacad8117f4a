import { afterAll, describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  connection,
  endpoint,
  isCallError,
  jsonSchema,
  sample,
  typed,
  type Endpoint,
  type Schema,
} from '../../src/entries/consume.ts'
import { rejection } from './calls.ts'
import { readJson, respond, startServer } from './server.ts'

const server = await startServer((request, response) => {
  void (async () => {
    const body = request.method === 'POST' ? await readJson(request) : null
    respond(response, { url: request.url, body, trace: request.headers['x-trace'] ?? null })
  })()
})
afterAll(() => server.close())

const local = connection({
  baseUrl: `${server.url}/v1/`,
  allowHttp: true,
  allowPrivateAddresses: true,
})
const echo = z.object({ url: z.string(), body: z.unknown(), trace: z.string().nullable() })

const find = endpoint(local, {
  name: 'find-orders',
  path: '/customers/{customer}/orders/{number}',
  parameters: { number: 'integer' },
  query: {
    state: { type: 'string', values: ['open', 'closed'], required: true },
    tags: { type: 'string', list: 'repeated', name: 'tag' },
    fields: { type: 'string', list: 'comma' },
    all: 'boolean',
  },
  headers: { trace: { type: 'string', name: 'X-Trace' } },
  response: echo,
})

test('a call fills the path, the query and the headers from its input', async () => {
  const { status, body } = await find.call({
    customer: 'a/b c',
    number: 7,
    state: 'open',
    tags: ['x', 'y&z'],
    fields: ['id', 'name'],
    all: null,
    trace: 'on',
  })
  expect(status).toBe(200)
  expect(body).toEqual({
    url: '/v1/customers/a%2Fb%20c/orders/7?state=open&tag=x&tag=y%26z&fields=id%2Cname',
    body: null,
    trace: 'on',
  })
})

test('a body is sent as JSON and typed by its schema', async () => {
  const create = endpoint(local, {
    name: 'create-order',
    method: 'POST',
    path: '/orders',
    body: z.object({ reference: z.string(), lines: z.array(z.int()).default([]) }),
    response: typed<{ readonly body: { readonly reference: string } }>(),
  })
  const { body } = await create.call({ body: { reference: 'A1' } })
  expect(body.body).toEqual({ reference: 'A1', lines: [] })
  expectTypeOf(body.body.reference).toBeString()
})

test('the type of a response follows from a sample', async () => {
  const sampled = endpoint(local, {
    name: 'sampled',
    path: '/x',
    response: sample({ url: '/x', lines: [{ sku: 'A' }], trace: null }),
  })
  expectTypeOf(sampled).toExtend<
    Endpoint<object, { url: string; lines: { sku: string }[]; trace: null }>
  >()
  expect((await sampled.call({})).body.url).toBe('/v1/x')
})

test('a response that does not match its schema rejects with INVALID_RESPONSE', async () => {
  for (const response of [
    z.object({ url: z.number() }),
    jsonSchema({ type: 'object', properties: { url: { type: 'number' } } }),
  ]) {
    const wrong = endpoint(local, { name: 'wrong', path: '/secret', response })
    const error = await wrong.call({}).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'INVALID_RESPONSE', endpoint: 'wrong', status: 200 })
    expect(String(error)).not.toContain('secret')
  }
})

// Zod runs an asynchronous check twice, and leaves the first rejection unhandled.
function schemaOf(validate: () => Promise<never>): Schema {
  return { '~standard': { version: 1, vendor: 'own', validate } }
}

test.each([
  ['throws', z.unknown().transform(() => new Date(Number.NaN).toISOString())],
  ['rejects', schemaOf(() => Promise.reject(new RangeError('not a date')))],
])('a response whose schema %s rejects with INVALID_RESPONSE', async (_how, response) => {
  const wrong = endpoint(local, { name: 'wrong', path: '/secret', response })
  const error = await rejection(wrong.call({}))
  expect(error).toMatchObject({ code: 'INVALID_RESPONSE', endpoint: 'wrong', status: 200 })
  expect(error.cause).toBeInstanceOf(RangeError)
  expect(error.excerpt).toContain('/v1/secret')
})

describe('an invalid input', () => {
  const valid = { customer: 'a', number: 1, state: 'open' } as const

  test.each([
    ['a missing path parameter', { ...valid, customer: undefined }],
    ['an empty path parameter', { ...valid, customer: '' }],
    ['a path parameter that is two dots', { ...valid, customer: '..' }],
    ['a path parameter with a lone surrogate', { ...valid, customer: '\ud800' }],
    ['a fraction for an integer', { ...valid, number: 1.5 }],
    ['a missing query parameter', { ...valid, state: undefined }],
    ['a value that is not allowed', { ...valid, state: 'secret' }],
    ['a single value for a list', { ...valid, tags: 'secret' }],
    ['a comma in a list with commas', { ...valid, fields: ['secret,b'] }],
    ['a line break in a header', { ...valid, trace: 'secret\r\nX: y' }],
  ])('with %s rejects and sends nothing', async (_what, input) => {
    const before = server.received.length
    const error = await find.call(input as never).catch((thrown: unknown) => thrown)
    expect(isCallError(error)).toBe(true)
    expect(error).toMatchObject({ code: 'INVALID_INPUT', endpoint: 'find-orders', status: null })
    expect(String(error)).not.toContain('secret')
    expect(server.received.length).toBe(before)
  })
})

test('the input is typed by the path, the query, the headers and the body', () => {
  expectTypeOf(find.call).parameter(0).toEqualTypeOf<{
    customer: string
    number: number
    state: 'open' | 'closed'
    tags?: readonly string[] | null | undefined
    fields?: readonly string[] | null | undefined
    all?: boolean | null | undefined
    trace?: string | null | undefined
  }>()
})

test('the type of a parameter that is not in the path does not compile', () => {
  const define = () =>
    endpoint(local, {
      name: 'x',
      path: '/{id}',
      parameters: {
        // @ts-expect-error -- The path has no parameter of this name.
        ide: 'string',
      },
    })
  expect(define).toThrow('did you mean id?')
})

describe('a definition is rejected', () => {
  test.each([
    ['a path without a slash', { path: 'orders' }, /must start with a slash/],
    ['a path with a query', { path: '/orders?x=1' }, /must not contain/],
    ['a path with dots', { path: '/a/../b' }, /segment/],
    [
      'an unknown path parameter',
      { path: '/{id}', parameters: { ide: 'string' } },
      /did you mean id/,
    ],
    ['a name that is used twice', { path: '/{id}', query: { id: 'string' } }, /another part/],
    ['a body of a GET request', { path: '/', body: typed() }, /GET request has no body/],
    ['a header of the connection', { path: '/', headers: { host: 'string' } }, /set for each/],
    ['an unknown option', { path: '/', metod: 'GET' }, /did you mean method/],
    ['an invalid schema', { path: '/', response: {} }, /must be a schema/],
  ])('with %s', (_what, options, message) => {
    expect(() => endpoint(local, { name: 'x', ...options } as never)).toThrow(message)
  })
})
