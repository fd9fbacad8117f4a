import { describe, expect, test } from 'vitest'
import { toFetchHandler, type FetchHandlerOptions } from '../../src/entries/fetch.ts'
import { address, bytes, insertion, openDesk, watchedStream } from './desk.ts'
import { echoConnection } from '../kit/client-and-tls.ts'

describe('a response', () => {
  test('has the headers of the reply and its length in bytes', async () => {
    const rest = toFetchHandler(openDesk().service)
    const answer = await rest(insertion('{"noteId":1,"words":"Grüße 🐻"}'))
    expect(answer.status).toBe(200)
    const body = await answer.text()
    expect(Object.fromEntries(answer.headers)).toEqual({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-svc-version': '4.54',
      'content-length': String(bytes(body).byteLength),
    })
    expect(JSON.parse(body)).toEqual({
      item: { noteId: 1, words: 'Grüße 🐻' },
      message: null,
      validations: [],
      status: 200,
    })
  })

  test.each(['HEAD', 'OPTIONS', 'PUT', 'PATCH'])('to %s is 405', async (method) => {
    const answer = await toFetchHandler(openDesk().service)(new Request(address, { method }))
    expect(answer.status).toBe(405)
    expect(answer.headers.get('Allow')).toBe('GET, POST')
  })

  test('takes repeated headers joined', async () => {
    const headers = new Headers([
      ['Accept', 'text/html'],
      ['Accept', 'application/json'],
    ])
    const rest = toFetchHandler(openDesk().service)
    expect((await rest(new Request(address, { headers }))).status).toBe(200)
  })

  test('is about the raw path and query', async () => {
    const rest = toFetchHandler(openDesk().service)
    const statusOf = async (target: string) =>
      (await rest(new Request(`http://localhost${target}`))).status
    expect(await statusOf('/rest/v1/desk/note%73?words=a%20b&$limit=1')).toBe(200)
    expect(await statusOf('/rest/v1/desk/notes?words=%zz')).toBe(400)
    expect(await statusOf('/rest/v1/desk/%zz')).toBe(400)
    expect(await statusOf('/rest/v1/desk%2fnotes')).toBe(404)
    expect(await statusOf('//rest/v1/desk/notes')).toBe(404)
    expect(await statusOf('/rest/v1/desk/notes#here')).toBe(400)
    expect(await statusOf('?x')).toBe(404)
  })

  test('comes from the service of the handler', async () => {
    const [mine, other] = [openDesk(), openDesk()].map(({ service }) => toFetchHandler(service))
    await mine?.(insertion('{"noteId":1}'))
    const page = await other?.(new Request(address))
    expect(await page?.json()).toMatchObject({ items: [] })
  })
})

describe('the place of a mount', () => {
  const targets = [
    ['http://localhost/api/rest/v1/desk/notes', 200],
    ['http://localhost/api/rest/v1/desk/none', 404],
    ['http://localhost/api/rest/v1/desk%zz', 400],
    ['http://localhost/rest/v1/desk/notes', 404],
    ['http://localhost/apirest/v1/desk/notes', 404],
    ['http://localhost/api/rest/v1/other/notes', 404],
    ['http://localhost/api', 404],
    ['http://localhost/', 404],
  ] as const

  test.each(targets)('under a prefix, %s gets %i', async (url, status) => {
    const rest = toFetchHandler(openDesk().service, { prefix: '/api' })
    const answer = await rest(new Request(url))
    expect(answer.status).toBe(status)
    expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
  })

  test('can share its paths: requests outside the applications are passed on', async () => {
    const rest = toFetchHandler(openDesk().service, { prefix: '/api', outside: 'pass' })
    const passed = await Promise.all(
      targets.map(async ([url]) => (await rest(new Request(url)))?.status),
    )
    const none = undefined
    expect(passed).toEqual([200, 404, none, none, none, none, none, none])
  })

  test('does not read the body of a request that is passed on', async () => {
    const { seen, stream } = watchedStream([bytes('{"noteId":1}')])
    const request = new Request('http://localhost/mine', {
      method: 'POST',
      body: stream,
      duplex: 'half',
    })
    expect(await toFetchHandler(openDesk().service, { outside: 'pass' })(request)).toBe(undefined)
    expect(seen.taken).toBe(0)
    expect(await request.text()).toBe('{"noteId":1}')
  })

  test.each(['api', '/api/', '/'])('the prefix %s is rejected', (prefix) => {
    expect(() => toFetchHandler(openDesk().service, { prefix })).toThrow(
      `The prefix must start with a slash and not end with one, for example /api: ${prefix}`,
    )
  })

  test('an unknown value of outside is rejected', () => {
    const options = { outside: 'next' } as unknown as FetchHandlerOptions
    expect(() => toFetchHandler(openDesk().service, options as { outside: 'respond' })).toThrow(
      `outside must be 'respond' or 'pass': "next"`,
    )
  })
})

describe('the way of a request', () => {
  test.each([
    [[], { secure: false }],
    [[{}, { incoming: {} }, null, 'x'], { secure: false }],
    [[nodeMessages({ encrypted: true })], { secure: true }],
    [[{ name: 'server' }, nodeMessages({ encrypted: true })], { secure: true }],
    [[nodeMessages({ remoteAddress: '::ffff:192.0.2.1' })], { secure: false, peer: '192.0.2.1' }],
    [[nodeMessages({ remoteAddress: '2001:db8::1' })], { secure: false, peer: '2001:db8::1' }],
  ])('is determined by the socket and not by the URL: case %#', async (context, expected) => {
    const rest = toFetchHandler(echoConnection)
    const answer = await rest(new Request('https://localhost/x'), ...context)
    expect(await answer.json()).toEqual(expected)
  })

  test('is determined by the option of the application', async () => {
    interface Server {
      readonly address: string
    }
    const rest = toFetchHandler(echoConnection, {
      peer: (_request: Request, server: Server) => server.address,
      secure: (request: Request) => request.headers.get('X-Edge-Proto') === 'https',
    })
    const server = { address: '203.0.113.7' }
    const headers = { 'X-Edge-Proto': 'https' }
    const ask = async (request: Request) => (await rest(request, server)).json()
    const peer = server.address
    expect(await ask(new Request('http://localhost/', { headers }))).toEqual({ secure: true, peer })
    expect(await ask(new Request('https://localhost/'))).toEqual({ secure: false, peer })
  })

  test('ends with the signal of the request', async () => {
    const signals: AbortSignal[] = []
    const rest = toFetchHandler({
      ...echoConnection,
      handle: (request) => {
        if (request.signal !== undefined) signals.push(request.signal, request.signal)
        return echoConnection.handle(request)
      },
    })
    const leaving = new AbortController()
    await rest(new Request('http://localhost/', { signal: leaving.signal }))
    const [signal, again] = signals
    expect([signal?.aborted, signal === again]).toEqual([false, true])
    leaving.abort('the client has left')
    expect(signal?.reason).toMatchObject({ name: 'AbortError' })
    await rest(new Request('http://localhost/', { signal: leaving.signal }))
    expect(signals[2]?.reason).toMatchObject({ name: 'AbortError' })
  })
})

/** What a server on Node passes beside a request. */
function nodeMessages(socket: { encrypted?: boolean; remoteAddress?: string }): unknown {
  const incoming = { httpVersionMajor: 1, complete: true, rawHeaders: [], socket }
  return { incoming, outgoing: { writeHead: () => undefined } }
}
