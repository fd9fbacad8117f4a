import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { createGunzip, gzipSync } from 'node:zlib'
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { converse, rawRequest, statusesIn } from '../kit/http-client.ts'
import { expectError, itemIn } from '../kit/expectations.ts'
import { openLine } from '../kit/host-line.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { get, notesPath, noteService, post } from './express-service.ts'
import { listen } from '../kit/fastify-app.ts'

const milk = '{"title":"Milk"}'

const head = (length: number) =>
  `POST ${notesPath} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${length}\r\n\r\n`

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Starts an app that echoes what its own parsers make of a body. */
async function started(
  mounted: ReturnType<typeof noteService>,
  prepare: (app: FastifyInstance) => unknown = () => undefined,
  options: FastifyServerOptions = {},
) {
  const app = fastify(options)
  app.post('/echo', ({ body }) => ({ body }))
  await prepare(app)
  await app.register(rowgateFastify, { service: mounted.service })
  const { port, close } = await listen(app)
  ends.push(close)
  return { app, port }
}

test('the parsers of the application are neither used nor changed', async () => {
  const mounted = noteService()
  const { port } = await started(mounted, (app) => {
    app.addContentTypeParser('text/x-upper', { parseAs: 'string' }, (_request, text, done) => {
      done(null, String(text).toUpperCase())
    })
    app.addContentTypeParser('*', (_request, _payload, done) => {
      done(new Error('The parser of the host ran.'))
    })
  })
  expect((await post(port, '/echo', milk)).body).toEqual({ body: { title: 'Milk' } })
  expect((await post(port, '/echo', '')).body).toMatchObject({
    code: 'FST_ERR_CTP_EMPTY_JSON_BODY',
  })
  const upper = { method: 'POST', headers: { 'content-type': 'text/x-upper' }, body: 'milk' }
  expect((await get(port, '/echo', upper)).body).toEqual({ body: 'MILK' })

  itemIn(await post(port, notesPath, milk))
  expectError(await post(port, notesPath, ''), 400, 'body is required')
  expectError(await get(port, notesPath, upper), 415)
  expect(await mounted.stored()).toMatchObject([{ title: 'Milk' }])
})

test.each(['json', 'application/json,', '/', ';', '', 'a/b/c', '"'])(
  'the content type "%s", which Fastify rejects by itself, is rejected by the service',
  async (type) => {
    const mounted = noteService()
    const { port } = await started(mounted)
    const sent = { method: 'POST', headers: { 'content-type': type }, body: milk }
    expectError(await get(port, notesPath, sent), 415)
    expectError(await get(port, '/rest/v1/desk/unknown', sent), 404)
    expect((await get(port, notesPath, { ...sent, method: 'PUT' })).status).toBe(405)
    expect(await mounted.stored()).toEqual([])
  },
)

test('QUERY is rejected with and without a content type', async () => {
  const { port } = await started(noteService())
  for (const headers of [[], ['Content-Type: application/json'], ['Content-Type: x']]) {
    const received = await converse(port, rawRequest(`QUERY ${notesPath}`, headers))
    // Older releases of Node do not know the method.
    expect([400, 405]).toContain(statusesIn(received)[0])
    if (statusesIn(received)[0] === 405) expect(received).toContain('allow: GET, POST')
    else expect(received).toContain('Client Error')
  }
})

test('DELETE and GET with a JSON content type need no body', async () => {
  const mounted = noteService()
  const { port } = await started(mounted)
  const { noteId } = itemIn(await post(port, notesPath, milk))
  const headers = { 'content-type': 'application/json' }
  const target = `${notesPath}/${String(noteId)}`
  itemIn(await get(port, target, { headers }))
  itemIn(await get(port, target, { headers, method: 'DELETE' }))
  expect(await mounted.stored()).toEqual([])
})

test('the bodyLimit of the service applies, and not the one of the app', async () => {
  const mounted = noteService({ bodyLimit: 100 })
  const { port } = await started(mounted, undefined, { bodyLimit: 10 })
  expect((await post(port, '/echo', milk)).body).toMatchObject({
    code: 'FST_ERR_CTP_BODY_TOO_LARGE',
  })
  itemIn(await post(port, notesPath, milk))
  expectError(await post(port, notesPath, milk + ' '.repeat(100)), 413, 'larger than 100 bytes')
})

test('a stream that a hook puts in the place of the body is read', async () => {
  const mounted = noteService()
  const { port } = await started(mounted, (app) => {
    app.addHook('preParsing', (_request, _reply, payload, done) => {
      const copy = new PassThrough()
      setTimeout(() => payload.pipe(copy), 5)
      done(null, copy)
    })
  })
  const text = JSON.stringify({ title: 'Milk', extra: 'x'.repeat(200_000) })
  itemIn(await post(port, notesPath, text))
  expectError(await post(port, notesPath, 'x'.repeat(1_100_000)), 413)
  expect(await mounted.stored()).toHaveLength(1)
})

test.each([
  ['401', { security: apiKeys({ name: 'keys', properties: { AllowInsecureHttp: true } }) }, 401],
  ['413', { bodyLimit: 100_000 }, 413],
])('such a stream may fail after a %s', async (_name, options, status) => {
  const mounted = noteService(options)
  const failures: unknown[] = []
  const { port } = await started(mounted, (app) => {
    app.addHook('preParsing', async (_request, _reply, payload) => {
      const body = payload.pipe(createGunzip())
      body.once('close', () => failures.push(body.errored))
      return body
    })
  })
  const good = gzipSync(' '.repeat(2_000_000), { level: 0 })
  const broken = Buffer.concat([good.subarray(0, 200_000), Buffer.alloc(1_000, 0xff)])
  for (const body of [Buffer.from('not gzip'), broken]) {
    const other = await openLine(port)
    other.write(head(body.length))
    other.write(body)
    if (status === 401 || body === broken) expect((await other.next()).status).toBe(status)
    other.reset()
    await other.ended()
  }
  await expect.poll(() => failures).toHaveLength(2)
  expectError(await get(port, '/rest/v1/desk/unknown'), status === 401 ? 401 : 404)
})

test('a client that leaves while such a stream is read ends the wait for it', async () => {
  const mounted = noteService()
  const settled = new Promise<number>((resolve) => {
    const { handle } = mounted.service
    mounted.service.handle = async (request) => {
      const reply = await handle(request)
      resolve(reply.status)
      return reply
    }
  })
  const { port } = await started(mounted, (app) => {
    app.addHook('preParsing', (_request, _reply, payload, done) => {
      done(null, payload.pipe(new PassThrough()))
    })
  })
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(`${head(99)}{"title"`)
    setTimeout(() => socket.destroy(), 50)
  })
  expect(await settled).toBe(400)
  expect(mounted.reports).toEqual([])
  expect(await mounted.stored()).toEqual([])
})

test('the rest of a body that a hook has begun to read is not accepted as the complete body', async () => {
  const mounted = noteService()
  const { port } = await started(mounted, (app) => {
    app.addHook('preValidation', async ({ raw }) => {
      await once(raw, 'data')
      raw.pause()
    })
  })
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(`${head(milk.length + 1)} `)
    setTimeout(() => socket.write(milk), 50)
  })
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 500 /)
  socket.destroy()
  expect(mounted.reports).toHaveLength(1)
  expect(await mounted.stored()).toEqual([])
})

test('a body that a hook has read is a 500, and nothing is stored', async () => {
  const mounted = noteService()
  const { port } = await started(mounted, (app) => {
    app.addHook('preValidation', async ({ raw }) => {
      for await (const chunk of raw) expect(chunk).toBeDefined()
    })
  })
  expectError(await post(port, notesPath, milk), 500)
  expectError(await post(port, notesPath, '{}'), 500)
  expect(mounted.reports).toHaveLength(2)
  expect(String((mounted.reports[0] as { error?: unknown } | undefined)?.error)).toContain(
    'was read before the service could read it',
  )
  expect(await mounted.stored()).toEqual([])
})

test('a body that a hook has paused is read', async () => {
  const mounted = noteService()
  const { port } = await started(mounted, (app) => {
    app.addHook('onRequest', async ({ raw }) => void raw.pause())
  })
  itemIn(await post(port, notesPath, milk))
})

test('the not-found handler of the application receives a usable request', async () => {
  const mounted = noteService()
  const { port } = await started(mounted, (app) => {
    app.setNotFoundHandler(async (request, reply) => {
      const chunks: Buffer[] = []
      for await (const chunk of request.raw) chunks.push(chunk as Buffer)
      return reply.code(404).send({ text: Buffer.concat(chunks).toString() })
    })
  })
  const answer = await post(port, '/rest/v1/other/notes', milk)
  expect(answer).toMatchObject({ status: 404, body: { text: milk } })
})
