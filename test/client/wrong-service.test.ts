import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createClient, RequestError, type ClientOptions } from '../../src/entries/client.ts'
import { openServer, serveDuringTest } from '../kit/server.ts'

const rows = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, id) => ({ id }))

function pageWith(members: object): string {
  return JSON.stringify({
    items: [],
    count: null,
    message: null,
    validations: [],
    status: 200,
    ...members,
  })
}

/** Returns a client of a service that responds in this manner, and the number of requests so far. */
async function clientOf(
  respond: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  options: Partial<ClientOptions> = {},
) {
  let count = 0
  const url = await serveDuringTest((request, response) => {
    request.resume()
    respond(request, response, ++count)
  })
  const client = createClient({ url, timeout: 5_000, ...options })
  return { client, items: client.collection('app', 'items'), requests: () => count }
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(RequestError)
  return error
}

async function readAll(pages: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const _ of pages) count++
  return count
}

describe('a list that does not end rejects with TOO_MANY_PAGES', () => {
  test('by cursors', async () => {
    const { items, requests } = await clientOf(
      (_request, response, count) => {
        response.setHeader('X-Svc-Next-Cursor', `cursor-${count}`)
        response.end(pageWith({ items: rows(10) }))
      },
      { pageSize: 10, maxPages: 5 },
    )
    for (const call of [
      () => items.filter(),
      () => readAll(items.pages()),
      () => readAll(items.items()),
    ])
      expect(await errorOf(call())).toMatchObject({
        code: 'TOO_MANY_PAGES',
        message: 'There are more than 5 pages. Request less, or raise pageSize or maxPages.',
        isTemporary: false,
      })
    expect(requests()).toBe(15)
  })

  test('by offsets, with a count that grows', async () => {
    const { items, requests } = await clientOf(
      (_request, response, count) =>
        response.end(pageWith({ items: rows(10), count: count * 1000 })),
      { pageSize: 10, maxPages: 3 },
    )
    expect(await errorOf(items.filter())).toMatchObject({ code: 'TOO_MANY_PAGES' })
    expect(requests()).toBe(3)
  })

  test('of releases', async () => {
    const { client, requests } = await clientOf(
      (_request, response, count) =>
        response.end(pageWith({ items: [{ releaseId: `r${count}` }] })),
      { maxPages: 4 },
    )
    expect(await errorOf(client.releases.list('shop'))).toMatchObject({ code: 'TOO_MANY_PAGES' })
    expect(requests()).toBe(4)
  })

  test('after 10,000 pages by default', async () => {
    let requests = 0
    const items = createClient({
      url: 'http://localhost',
      fetch: async () => {
        const headers = { 'X-Svc-Next-Cursor': `cursor-${++requests}` }
        return new Response(pageWith({ items: rows(1) }), { headers })
      },
    }).collection('app', 'items')
    expect(await errorOf(items.filter())).toMatchObject({ code: 'TOO_MANY_PAGES' })
    expect(requests).toBe(10_000)
  }, 60_000)
})

test('exactly as many pages as allowed are read', async () => {
  const { items } = await clientOf(
    (_request, response, count) => {
      if (count < 3) response.setHeader('X-Svc-Next-Cursor', `cursor-${count}`)
      response.end(pageWith({ items: rows(10) }))
    },
    { pageSize: 10, maxPages: 3 },
  )
  expect((await items.filter()).items).toHaveLength(30)
})

describe('a repeated cursor rejects with PAGE_CYCLE', () => {
  test.each([
    ['at once', ['a', 'a'], 2],
    ['that the caller gave', ['given'], 1],
    ['after others', ['a', 'b', 'c', 'd', 'e', 'c', 'd', 'e', 'c', 'd', 'e'], 11],
  ])('%s', async (_what, cursors, atMost) => {
    const { items, requests } = await clientOf((_request, response, count) => {
      response.setHeader('X-Svc-Next-Cursor', cursors[count - 1] ?? 'later')
      response.end(pageWith({ items: rows(1) }))
    })
    const options = { after: 'given' }
    expect(await errorOf(readAll(items.pages({}, options)))).toMatchObject({ code: 'PAGE_CYCLE' })
    expect(requests()).toBeLessThanOrEqual(atMost)
  })
})

describe('a save that always has further warnings rejects with TOO_MANY_CONFIRMATIONS', () => {
  const warnings = (count: number, size = 1): string =>
    pageWith({
      items: undefined,
      status: 400,
      message: 'The item was not saved.',
      validations: Array.from({ length: size }, (_, index) => ({
        validationId: `w${count}-${index}`,
        message: 'Is that right?',
        severity: 'warning',
      })),
    })

  test.each([
    ['ten times by default', {}, 1, 11],
    ['as often as maxConfirmations allows', { maxConfirmations: 2 }, 1, 3],
    ['once a request would confirm more than 100', {}, 60, 2],
  ])('%s', async (_what, options, size, expected) => {
    const { items, requests } = await clientOf((_request, response, count) => {
      response.writeHead(400).end(warnings(count, size))
    }, options)
    const error = await errorOf(items.insert({ id: 1 }, { ignoreWarnings: 'all' }))
    expect(error).toMatchObject({ code: 'TOO_MANY_CONFIRMATIONS', status: 400, isTemporary: false })
    expect((error as RequestError).envelope?.validations).toHaveLength(size)
    expect(requests()).toBe(expected)
  })
})

describe('a response of more bytes than maxResponseBytes rejects with RESPONSE_TOO_LARGE', () => {
  const large = JSON.stringify({ items: ['x'.repeat(200_000)], validations: [] })
  test.each<readonly [string, (response: ServerResponse) => void]>([
    ['with a length', (response) => response.end(large)],
    [
      'in chunks that never end',
      (response) => {
        const timer = setInterval(() => response.write('x'.repeat(10_000)), 1)
        response.on('close', () => clearInterval(timer))
      },
    ],
    [
      'after decompression',
      (response) => {
        response.setHeader('Content-Encoding', 'gzip')
        response.end(gzipSync(Buffer.alloc(20_000_000, ' ')))
      },
    ],
    ['with an error status', (response) => response.writeHead(500).end(large)],
  ])('%s', async (_what, respond) => {
    const { items, client } = await clientOf((_request, response) => respond(response), {
      maxResponseBytes: 100_000,
    })
    for (const call of [
      () => items.get(1),
      () => items.filter(),
      () => items.insert({ id: 1 }),
      () => client.releases.state('1'),
    ]) {
      expect(await errorOf(call())).toMatchObject({
        code: 'RESPONSE_TOO_LARGE',
        message:
          'The response has more than 100000 bytes. Raise maxResponseBytes, or request less.',
        isTemporary: false,
      })
    }
  })

  test('of 10 MiB by default, but not for a package', async () => {
    const file = 'x'.repeat(11 * 2 ** 20)
    const { items, client } = await clientOf((_request, response) => {
      const item = { releaseId: '1', status: 'built', file }
      response.end(pageWith({ items: undefined, item }))
    })
    expect(await errorOf(items.get(1))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    expect((await client.releases.get('1')).file).toHaveLength(file.length)
  })

  test('its connection is closed', async () => {
    const server = createServer((_request, response) => {
      response.write('x'.repeat(1_000_000))
    })
    const { url, close } = await openServer(server)
    const items = createClient({ url, maxResponseBytes: 1000 }).collection('app', 'items')
    await errorOf(items.get(1))
    const connections = () =>
      new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
    // Undici opens another one, and closes it when it is idle.
    await expect.poll(connections, { timeout: 15_000 }).toBe(0)
    await close()
  })
})

describe('a response that does not come from a service rejects with INVALID_RESPONSE', () => {
  test.each([
    ['more items than requested', { items: rows(11) }],
    ['items that are not a list', { items: { length: 3 } }],
    ['items that are not objects', { items: [1, null] }],
    ['a count that is not a number', { count: 'many' }],
    ['validations that are not objects', { validations: [null] }],
  ])('%s', async (_what, members) => {
    const { items } = await clientOf((_request, response) => response.end(pageWith(members)), {
      pageSize: 10,
    })
    expect(await errorOf(items.filter())).toMatchObject({ code: 'INVALID_RESPONSE', status: 200 })
  })
})

test('limits that are not integers are mistakes', () => {
  for (const limit of [
    { maxPages: 0 },
    { maxConfirmations: -1 },
    { maxResponseBytes: 0.5 },
    { maxResponseBytes: null } as never,
  ])
    expect(() => createClient({ url: 'http://localhost', ...limit })).toThrow(
      `${Object.keys(limit)[0] ?? ''} must be an integer`,
    )
})
