import { inspect } from 'node:util'
import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { connection, endpoint, type ConnectionOptions } from '../../src/entries/consume.ts'
import { retryAfterOf, retryDelay } from '../../src/consume/connection/retry.ts'
import { CallError } from '../../src/consume/call-error.ts'
import { rejection } from './calls.ts'
import { respond, startServer, type LocalServer } from './server.ts'

let server: LocalServer | undefined
afterEach(() => server?.close())

type Answer = (response: ServerResponse) => void
const fail =
  (status: number, headers = {}): Answer =>
  (response) => {
    respond(response, { secret: 'detail' }, status, headers)
  }
const succeed: Answer = (response) => {
  respond(response, 'done')
}

/** Starts a server that answers with one answer after the other, the last one repeatedly. */
async function answering(...answers: readonly Answer[]): Promise<LocalServer> {
  let count = 0
  server = await startServer((_request, response) => {
    answers[Math.min(count++, answers.length - 1)]?.(response)
  })
  return server
}

function to({ url }: LocalServer, options: Partial<ConnectionOptions> = {}) {
  return connection({ baseUrl: url, allowHttp: true, allowPrivateAddresses: true, ...options })
}

describe('a call is repeated', () => {
  test.each([408, 425, 429, 502, 503, 504])('after status %i', async (status) => {
    const local = await answering(fail(status), succeed)
    const { body } = await endpoint(to(local), { name: 'get', path: '/' }).call({})
    expect(body).toBe('done')
    expect(local.received).toHaveLength(2)
  })

  test('after a connection that was closed', async () => {
    const local = await answering((response) => response.destroy(), succeed)
    const remove = endpoint(to(local), { name: 'remove', method: 'DELETE', path: '/' })
    expect((await remove.call({})).body).toBe('done')
  })

  test('at most as often as the connection allows', async () => {
    const local = await answering(fail(503))
    const get = endpoint(to(local, { attempts: 2 }), { name: 'get', path: '/' })
    expect(await rejection(get.call({}))).toMatchObject({ code: 'STATUS', status: 503 })
    expect(local.received).toHaveLength(2)
  })

  test('after the seconds of Retry-After', async () => {
    const local = await answering(fail(503, { 'retry-after': '1' }), succeed)
    const began = performance.now()
    await endpoint(to(local), { name: 'get', path: '/' }).call({})
    expect(performance.now() - began).toBeGreaterThan(950)
  })

  test('with an effect if it has an idempotency key, which is sent', async () => {
    const keys: unknown[] = []
    server = await startServer((request, response) => {
      keys.push(request.headers['x-once'])
      ;(keys.length === 1 ? fail(503) : succeed)(response)
    })
    const once = to(server, { idempotency: { header: 'X-Once', quoted: true } })
    const post = endpoint(once, { name: 'post', method: 'POST', path: '/' })
    await post.call({}, { idempotencyKey: 'order "1"' })
    expect(keys).toEqual(['"order \\"1\\""', '"order \\"1\\""'])
  })
})

describe('a call is not repeated', () => {
  test.each([400, 401, 404, 409, 500])('after status %i', async (status) => {
    const local = await answering(fail(status))
    const get = endpoint(to(local), { name: 'get', path: '/' })
    const error = await rejection(get.call({}))
    expect(error).toMatchObject({ code: 'STATUS', status, retryAfter: null })
    expect(error.message).toBe(`The call of get failed: it responded ${status}.`)
    expect(local.received).toHaveLength(1)
  })

  test('with an effect and without an idempotency key', async () => {
    const local = await answering(fail(503))
    for (const method of ['POST', 'PATCH'] as const)
      await rejection(endpoint(to(local), { name: 'send', method, path: '/' }).call({}))
    expect(local.received).toEqual(['POST /', 'PATCH /'])
  })

  test('if Retry-After does not fit the remaining time; the error has the seconds', async () => {
    const local = await answering(fail(429, { 'retry-after': '3600' }))
    const get = endpoint(to(local), { name: 'get', path: '/' })
    expect(await rejection(get.call({}))).toMatchObject({ status: 429, retryAfter: 3600 })
    expect(local.received).toHaveLength(1)
  })

  test('after its time', async () => {
    const local = await answering(fail(503, { 'retry-after': '5' }))
    const get = endpoint(to(local), { name: 'get', path: '/' })
    expect(await rejection(get.call({}, { timeout: 4_000 }))).toMatchObject({ code: 'STATUS' })
    expect(local.received).toHaveLength(1)
  })
})

test('the response with an error status is at hand, and not shown', async () => {
  const local = await answering(fail(422, { 'x-request': '7' }))
  const error = await rejection(endpoint(to(local), { name: 'get', path: '/' }).call({}))
  expect(error.response).toMatchObject({ status: 422, body: { secret: 'detail' } })
  expect(error.response?.headers.get('x-request')).toBe('7')
  expect(`${inspect(error)} ${JSON.stringify(error)}`).not.toContain('secret')
})

describe('the abort of a call', () => {
  test('rejects with the reason of the signal', async () => {
    const local = await answering(() => undefined)
    const control = new AbortController()
    const reason = new Error('No longer needed.')
    setTimeout(() => {
      control.abort(reason)
    }, 50)
    const get = endpoint(to(local), { name: 'get', path: '/' })
    expect(await rejection(get.call({}, { signal: control.signal }))).toBe(reason)
  })

  test('ends the wait for a retry', async () => {
    const local = await answering(fail(503, { 'retry-after': '5' }))
    const get = endpoint(to(local), { name: 'get', path: '/' })
    const began = performance.now()
    await rejection(get.call({}, { signal: AbortSignal.timeout(100) }))
    expect(performance.now() - began).toBeLessThan(3000)
  })

  test('before the call sends nothing', async () => {
    const local = await answering(succeed)
    const get = endpoint(to(local), { name: 'get', path: '/' })
    const error = await rejection(get.call({}, { signal: AbortSignal.abort() }))
    expect(error.name).toBe('AbortError')
    expect(local.received).toEqual([])
  })
})

test.each([
  [{ timeout: 0 }, /timeout must be an integer/],
  [{ timeout: Infinity }, /timeout must be an integer/],
  [{ timeout: 2 ** 40 }, /timeout is too long/],
  [{ maxResponseBytes: -1 }, /maxResponseBytes must be/],
  [{ idempotencykey: 'x' }, /did you mean idempotencyKey/],
])('the call options %o are rejected', async (options, message) => {
  const local = await answering(succeed)
  const get = endpoint(to(local), { name: 'get', path: '/' })
  await expect(get.call({}, options as never)).rejects.toThrow(message)
  expect(local.received).toEqual([])
})

test('a fetch that ignores its signal does not hang a call', async () => {
  const get = endpoint(
    connection({ baseUrl: 'https://api.example.com', fetch: () => new Promise(() => undefined) }),
    { name: 'get', path: '/' },
  )
  expect(await rejection(get.call({}, { timeout: 50 }))).toMatchObject({ code: 'TIMEOUT' })
})

describe('the delay before a retry', () => {
  const error = new CallError('STATUS', 'x', { status: 503 })

  test('is below a limit that doubles up to ten seconds', () => {
    for (let attempt = 1; attempt < 12; attempt++) {
      const delay = retryDelay({ error, attempt, remaining: Infinity })
      expect(delay).toBeLessThanOrEqual(Math.min(10_000, 200 * 2 ** (attempt - 1)))
    }
  })

  test('is none if it does not fit', () => {
    expect(retryDelay({ error, attempt: 1, remaining: 0 })).toBeUndefined()
  })
})

test.each([
  ['7', 7],
  ['0', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['2030', 2030],
])('the Retry-After header %s gives %s seconds', (header, seconds) => {
  expect(retryAfterOf(new Headers({ 'retry-after': header }))).toBe(seconds)
})

test('a Retry-After header with a date gives the seconds until then', () => {
  const header = new Date(Date.now() + 60_000).toUTCString()
  const seconds = retryAfterOf(new Headers({ 'retry-after': header }))
  expect([59, 60]).toContain(seconds)
})
