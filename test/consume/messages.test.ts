import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import {
  applyRules,
  connection,
  endpoint,
  file,
  pages,
  rule,
  send,
  sendTogether,
  typed,
  type PagesOptions,
  type EndpointOptions,
} from '../../src/entries/consume.ts'
import {
  bigint,
  createService,
  defineCollection,
  integer,
  openAccess,
  system,
  text,
} from '../../src/entries/index.ts'
import { openStorage } from '../kit/storages.ts'
import { rejection } from './calls.ts'

let sent = 0
let answer: () => Response = () => Response.json({})
const api = connection({
  baseUrl: 'https://api.example.com',
  attempts: 1,
  fetch: async (_url, { body }) => {
    if (body instanceof ReadableStream) for await (const chunk of body) expect(chunk).toBeDefined()
    sent++
    return answer()
  },
})
const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data'

function post(bodyType: string, encoding?: EndpointOptions['encoding']) {
  const common = { name: 'post', method: 'POST', path: '/' } as const
  return endpoint(api, { ...common, body: typed<unknown>(), bodyType, encoding })
}

describe('the message names the member and the reason where a body cannot be sent', () => {
  const cycle: Record<string, unknown> = {}
  cycle['own'] = cycle
  const noDate = new Date(NaN)
  const lossy = (n: unknown) => ({ a: { lines: [{ n: 1 }, { n }] } })
  test.each<[string, EndpointOptions['encoding'], unknown, string]>([
    [form, undefined, { a: [1, null] }, 'body/a is a list with null in it'],
    [
      form,
      'comma',
      { tags: ['x,y'] },
      'body/tags has a value with the separator of the style comma',
    ],
    [form, undefined, { a: NaN }, 'body/a has a value that is not a boolean, a finite number or'],
    [
      form,
      undefined,
      { a: '\ud800' },
      'body/a has a value that is not a boolean, a finite number or',
    ],
    [form, undefined, { '\ud800': 1 }, 'body/* has a name with a lone surrogate'],
    [form, undefined, { a: cycle }, 'body/a has no JSON'],
    [form, 'brackets', { a: cycle }, 'body/a is nested deeper than 64 levels'],
    [form, undefined, [], 'body must be an object'],
    [multipart, undefined, 'x', 'body must be an object'],
    [multipart, undefined, { a: 5n }, 'body/a has a value that is not a boolean'],
    [multipart, undefined, { a: Buffer.from('x') }, 'body/a is bytes: give file(bytes, { name })'],
    [multipart, undefined, { a: { b: file('x') } }, 'body/a has a file in an object: only members'],
    [multipart, undefined, { a: [file('x'), 1] }, 'body/a is a list with files and other values'],
    ['application/pdf', undefined, 5, 'body must be a string, bytes or a file'],
    ['application/json', undefined, cycle, 'body has no JSON'],
    ['application/json', undefined, lossy(NaN), 'body has, at /a/lines/1/n, a number that is not'],
    [
      'application/json',
      undefined,
      lossy(noDate),
      'body has, at /a/lines/1/n, a number that is not',
    ],
    ['application/a+json', undefined, lossy(-Infinity), 'body has, at /a/lines/1/n, a number that'],
    [form, 'json', lossy(NaN), 'body/a has, at /lines/1/n, a number that is not finite or an'],
    [form, 'brackets', lossy(noDate), 'body/a has an invalid date'],
    [form, 'comma', { a: [noDate] }, 'body/a has an invalid date'],
    [form, undefined, { a: noDate }, 'body/a has an invalid date'],
    [form, undefined, { a: [noDate] }, 'body/a has an invalid date'],
    [
      multipart,
      undefined,
      lossy(Infinity),
      'body/a has, at /lines/1/n, a number that is not finite',
    ],
    [multipart, undefined, { a: noDate }, 'body/a has an invalid date'],
    ['application/json', undefined, NaN, 'body is a number that is not finite'],
    [multipart, { a: { contentType: 'application/json' } }, { a: NaN }, 'body/a is a number that'],
  ])('in %s with the style %s: %o', async (type, encoding, body, message) => {
    sent = 0
    const error = await rejection(post(type, encoding).call({ body }))
    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    expect(error.message).toContain(`the input is not valid: ${message}`)
    expect(sent).toBe(0)
  })

  test('of a schema', async () => {
    const body = z.object({ lines: z.array(z.object({ sku: z.string() })) })
    const create = endpoint(api, { name: 'create', method: 'POST', path: '/', body })
    const error = await rejection(create.call({ body: { lines: [{ sku: 5 as never }] } }))
    expect(error.message).toBe(
      'The call of create failed: the input is not valid: body/lines/0/sku.',
    )
  })

  test('of a part that is a Blob', async () => {
    const call = post(multipart).call({ body: { a: new Blob(['x']) } })
    await expect(call).rejects.toThrow(
      'The body, apart from file(...), must be JSON of plain objects',
    )
  })
})

test.each<[string, () => unknown, string]>([
  ['a string', () => 'abc', 'is a function that returned no stream'],
  [
    'a promise',
    async () => Readable.from([Buffer.from('a')]),
    'is a function that returned no stream',
  ],
  ['a stream of strings', () => Readable.from(['abc']), 'is a stream of other chunks than bytes'],
  [
    'a stream with an encoding',
    () => Readable.from([Buffer.from('a')]).setEncoding('utf8'),
    'is a stream of other chunks than bytes',
  ],
])(
  'a file whose function returns %s is rejected with the reason',
  async (_what, content, reason) => {
    const error = await rejection(post(multipart).call({ body: { a: file(content as never) } }))
    expect(error).toMatchObject({ code: 'FILE_FAILED' })
    expect(error.message).toContain(`a file of the request ${reason}`)
  },
)

describe('the message of a page names the place', () => {
  const list = endpoint(api, { name: 'list', path: '/', query: { after: 'string' } })
  const search = endpoint(api, {
    ...{ name: 'search', method: 'POST', path: '/', body: typed<object>() },
  })
  const read = async (options: PagesOptions, input = list) => {
    for await (const { items } of pages(input, {}, options)) expect(items).toBeDefined()
  }
  const cursor = { kind: 'cursor', parameter: 'after', next: 'meta/next' } as const

  test.each<[object, PagesOptions, string]>([
    [{ rows: [] }, { paging: cursor, items: 'data' }, 'are not an array at /data.'],
    [{ data: [] }, { paging: cursor }, 'are not an array; state where they are as items.'],
    [
      { data: [], meta: { next: true } },
      { paging: cursor, items: 'data' },
      'a string at /meta/next.',
    ],
    [{ data: [], next: 5 }, { paging: { kind: 'url', next: 'next' }, items: 'data' }, 'at /next.'],
  ])('of %o', async (body, options, message) => {
    answer = () => Response.json(body)
    const error = await rejection(read(options))
    expect(error).toMatchObject({ code: 'INVALID_RESPONSE' })
    expect(error.message).toContain(message)
  })

  test('of a parameter that is in the body, or would be', async () => {
    const paging = { ...cursor, parameter: 'start' }
    await expect(read({ paging }, search as never)).rejects.toThrow(
      'is not in the query; there are no parameters of the query; a member of the body is body/start',
    )
    await expect(read({ paging: { ...cursor, parameter: 'body/start' } })).rejects.toThrow(
      'pages.paging.parameter: is in the body, and the endpoint has none',
    )
  })
})

describe('the message of a token that cannot be obtained has the status, and nothing of the response', () => {
  const withToken = (status: number, body: unknown, clientSecret: () => string = () => 's') =>
    rejection(
      endpoint(
        connection({
          baseUrl: 'https://api.example.com',
          attempts: 1,
          fetch: async () => Response.json(body, { status }),
          authentication: {
            ...{ kind: 'clientCredentials', tokenUrl: 'https://login.example.com/token' },
            ...{ clientId: 'shop', clientSecret },
          },
        }),
        { name: 'get', path: '/' },
      ).call({}),
    )

  test.each<[number, unknown, string]>([
    [
      400,
      { error: 'invalid_client', error_description: 'secret' },
      'responded 400 (invalid_client).',
    ],
    [400, { error: 'secret' }, 'responded 400.'],
    [401, {}, 'responded 401.'],
    [503, 'secret', 'responded 503.'],
    [302, {}, 'responded 302.'],
    [200, { access_token: 5 }, 'responded 200 without a token that can be used (OAUTH_INVALID'],
  ])('of the status %i and %o', async (status, body, message) => {
    const error = await withToken(status, body)
    expect(error).toMatchObject({ code: 'AUTHENTICATION_FAILED', status: null })
    expect(error.message).toContain(
      `no credentials could be obtained: the token endpoint ${message}`,
    )
    expect(error.message).not.toContain('secret')
  })

  test('of a credential that is empty', async () => {
    const error = await withToken(200, {}, () => '')
    expect(error.message).toContain('no credentials could be obtained: a credential is empty.')
    const other = await withToken(200, {}, () => undefined as never)
    expect(other.message).toContain(
      'no credentials could be obtained: a credential is not a string.',
    )
  })
})

describe('the message of a rule names the field', () => {
  const lines = defineCollection({
    key: ['orderId', 'no'],
    fields: { orderId: bigint(), no: integer(), sku: text() },
  })
  const order = endpoint(api, { name: 'order', path: '/' })
  const set = { orderId: { root: 'id' }, no: 'no', sku: 'sku' } as const
  const common = { from: 'lines', into: lines, upsertBy: ['orderId', 'no'], set } as const
  const service = () => {
    const own = createService({
      applications: { app: { collections: { lines } } },
      storage: openStorage(),
      security: openAccess(),
    })
    onTestFinished(() => own.close())
    return own.as(system)
  }

  test.each([
    ['12345678901234567890', 1, 'orderId'],
    ['abc', 1, 'orderId'],
    [true, 1, 'orderId'],
    ['1', '1', 'no'],
    ['1', 1.5, 'no'],
  ])('of a key that its field does not have: %o, %o', async (id, no, field) => {
    for (const rows of [[{ no }], [{ no: 7 }, { no }]]) {
      const stored = applyRules(service(), [rule(order, common)], { id, lines: rows })
      const error = await rejection(stored)
      expect(error.message).toContain(`the item was rejected (${field})`)
      expect(error).toMatchObject({ validations: [{ field, severity: 'error' }] })
    }
  })

  test.each([
    [undefined, 'the row has none'],
    ['abc', 'that of the row does not fit it'],
    [1.5, 'that of the row does not fit it'],
  ])('of a row above whose items cannot be found: %o', async (id, reason) => {
    const replacing = rule(order, { ...common, replace: 'children' })
    const stored = applyRules(service(), [replacing], { id, lines: [] })
    const error = await rejection(stored)
    expect(error.message).toContain(`replace needs a value of orderId, and ${reason}`)
  })
})

describe('nothing is sent and no transaction is opened', () => {
  const user = { transaction: () => Promise.reject(new Error('opened')) }
  const rows = [{ id: 1 }]
  const create = post('application/json')

  test.each<[unknown, string]>([
    [{}, 'The rules must be a list, such as [rule(...)].'],
    [[{}], 'Rule 0 of the list is not a rule, as rule(...) returns it.'],
    [[undefined], 'Rule 0 of the list is not a rule'],
  ])('with the rules %o', async (rules, message) => {
    sent = 0
    const given = { rules: rules as never, input: () => ({ body: {} }) }
    await expect(applyRules(user, rules as never, {})).rejects.toThrow(message)
    await expect(send(user, create, { ...given, rows })).rejects.toThrow(message)
    await expect(sendTogether(user, create, { ...given, rows })).rejects.toThrow(message)
    expect(sent).toBe(0)
  })

  test.each([{}, { by: 'pos' }, { by: { column: 'id' } }, 'position'])(
    'with the match %o',
    async (match) => {
      sent = 0
      const given = { rows, match: match as never, input: () => ({ body: {} }) }
      await expect(sendTogether(user, create, given)).rejects.toThrow(
        "match.by must be 'position' or { column, field }",
      )
      expect(sent).toBe(0)
    },
  )
})

test('the message names the path parameter that is not valid', async () => {
  const read = endpoint(api, { name: 'read', path: '/a/{one}/b/{two}' })
  for (const two of ['', '.', '..']) {
    const error = await rejection(read.call({ one: 'x', two }))
    expect(error.message).toBe('The call of read failed: the input is not valid: two.')
  }
})
