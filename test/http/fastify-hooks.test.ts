import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import type { RequestHandler, ServiceReply, ServiceRequest } from '../../src/request/request.ts'
import { rowgateFastify, type FastifyService } from '../../src/entries/fastify.ts'
import { expectError, itemIn } from '../kit/expectations.ts'
import { get, notesPath, noteService, post } from './express-service.ts'
import { listen } from '../kit/fastify-app.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function started(
  service: FastifyService,
  prepare: (app: FastifyInstance) => unknown = () => undefined,
  options: FastifyServerOptions = {},
) {
  const app = fastify(options)
  await prepare(app)
  await app.register(rowgateFastify, { service })
  const { port, close } = await listen(app)
  ends.push(close)
  return { app, port, close }
}

/** A service whose responses wait until they are released. */
function slowService() {
  let take: (request: ServiceRequest) => void = () => undefined
  let give: (reply: ServiceReply) => void = () => undefined
  const asked = new Promise<ServiceRequest>((resolve) => (take = resolve))
  const service: RequestHandler = {
    serves: () => true,
    handle: (request) => {
      take(request)
      return new Promise((resolve) => (give = resolve))
    },
  }
  const answer = (body: string) => {
    give({ status: 200, headers: { 'Content-Type': 'application/json' }, body })
  }
  return { service, asked, answer }
}

describe('hooks of the application', () => {
  test('run once for every request, rejected or not', async () => {
    const seen: string[] = []
    const { service } = noteService()
    const { port } = await started(service, (app) => {
      app.addHook('onRequest', async () => void seen.push('onRequest'))
      app.addHook('preValidation', async () => void seen.push('preValidation'))
      app.addHook('preHandler', async () => void seen.push('preHandler'))
      app.addHook('onSend', async (_request, _reply, payload) => {
        seen.push(typeof payload)
      })
    })
    for (const sent of [
      { method: 'GET' },
      { method: 'POST', headers: { 'content-type': 'x' }, body: 'y' },
      { method: 'HEAD' },
      { method: 'PROPFIND' },
    ]) {
      await get(port, notesPath, sent)
      expect(seen.splice(0)).toEqual(['onRequest', 'preValidation', 'preHandler', 'string'])
    }
  })

  test.each(['onRequest', 'preHandler'] as const)(
    'one that rejects, in %s, answers in the way of the host',
    async (name) => {
      const { service, stored } = noteService()
      const { port } = await started(service, (app) => {
        app.addHook(name as 'onRequest', async () => {
          throw Object.assign(new Error('Not you.'), { statusCode: 418 })
        })
        app.setErrorHandler((error, _request, reply) =>
          reply.code(418).send({ host: String(error) }),
        )
      })
      const answer = await post(port, notesPath, '{"title":"Milk"}')
      expect(answer).toMatchObject({ status: 418, body: { host: 'Error: Not you.' } })
      expect(await stored()).toEqual([])
    },
  )

  test('headers that were set before are kept, and the headers of the service are not changed', async () => {
    const { service } = noteService()
    const { port } = await started(service, (app) => {
      app.addHook('onRequest', async (_request, reply) => {
        void reply.header('access-control-allow-origin', '*').header('cache-control', 'public')
      })
    })
    const { headers } = await get(port, notesPath)
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'x-svc-version': expect.any(String) as string,
    })
    expect(Object.keys(headers).toSorted()).toEqual([
      'access-control-allow-origin',
      'cache-control',
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      'x-svc-version',
    ])
  })

  test('responses can be compressed', async () => {
    const { service } = noteService()
    const { port } = await started(service, (app) => {
      app.addHook('onSend', async (_request, reply, payload) => {
        void reply.header('content-encoding', 'gzip')
        return gzipSync(String(payload))
      })
    })
    const answer = await fetch(`http://127.0.0.1:${port}${notesPath}`)
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(await answer.json()).toMatchObject({ items: [], status: 200 })
  })

  test('a preflight request can be handled before the service', async () => {
    const { service } = noteService()
    const { port } = await started(service, (app) => {
      app.addHook('onRequest', async ({ method }, reply) => {
        if (method === 'OPTIONS') return reply.code(204).send()
        return undefined
      })
    })
    const options = await fetch(`http://127.0.0.1:${port}${notesPath}`, { method: 'OPTIONS' })
    expect(options.status).toBe(204)
    expectError(await get(port, notesPath, { method: 'PUT' }), 405)
  })

  test('routes are hidden from tools that describe the app, and declared once', async () => {
    const routes: { readonly url: string; readonly schema: unknown }[] = []
    const { service } = noteService()
    await started(service, (app) => {
      app.addHook('onRoute', ({ url, schema }) => void routes.push({ url, schema }))
    })
    expect(routes).toEqual([
      { url: '/rest/v1/*', schema: expect.objectContaining({ hide: true }) as object },
    ])
  })
})

test('the signal is aborted when the client leaves, and not before', async () => {
  const { service, asked, answer } = slowService()
  const { port } = await started(service)
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(`GET ${notesPath} HTTP/1.1\r\nHost: x\r\n\r\n`)
  })
  const { signal } = await asked
  expect(signal?.aborted).toBe(false)
  const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve))
  socket.destroy()
  await aborted
  answer('{}')
})

test('a response that comes after the time-out of the application is dropped', async () => {
  const { service, asked, answer } = slowService()
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  const { port } = await started(service, undefined, {
    handlerTimeout: 20,
    logger: { stream, level: 'warn' },
  })
  const late = get(port, notesPath)
  await asked
  expect((await late).status).toBe(503)
  answer('{}')
  await new Promise((resolve) => setImmediate(resolve))
  expect(lines.filter((line) => line.includes('FST_ERR_REP_ALREADY_SENT'))).toEqual([])
})

test('the cause of a 500 is in the log of the request, and not in the response', async () => {
  const { service } = noteService()
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  const broken: RequestHandler = {
    ...service,
    handle: (request) =>
      service.handle({
        ...request,
        body: () => Promise.reject(new Error('torn')),
        header: request.header,
      }),
  }
  const { port } = await started(broken, undefined, { logger: { stream, level: 'error' } })
  const reply = await post(port, notesPath, '{"title":"Milk"}')
  expect(reply.status).toBe(500)
  expect(reply.body).not.toContain('torn')
  const [line, ...others] = lines.map((text) => JSON.parse(text) as Record<string, unknown>)
  expect(others).toEqual([])
  expect(line).toMatchObject({ level: 50, reqId: 'req-1', msg: 'request failed' })
  expect(JSON.stringify(line?.['err'])).toContain('torn')
})

describe('closing', () => {
  const state = async ({ handle }: RequestHandler) => {
    const reply = await handle({
      method: 'GET',
      target: notesPath,
      header: () => undefined,
      secure: true,
      peer: undefined,
      signal: undefined,
      body: () => Promise.resolve(new Uint8Array()),
    })
    return reply.status
  }

  test('the app closes the service', async () => {
    const { service } = noteService()
    const { port, close } = await started(service)
    itemIn(await post(port, notesPath, '{"title":"Milk"}'))
    expect(await state(service)).toBe(200)
    await close()
    expect(await state(service)).toBe(503)
  })

  test('after its last request', async () => {
    const { service, asked, answer } = slowService()
    const order: string[] = []
    const close = async () => void order.push('service')
    const { app, port } = await started({ ...service, close })
    const answered = fetch(`http://127.0.0.1:${port}${notesPath}`, {
      headers: { connection: 'close' },
    })
    await asked
    const closed = app.close().then(() => order.push('app'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    order.push('answer')
    answer('{}')
    expect((await answered).status).toBe(200)
    await closed
    expect(order).toEqual(['answer', 'service', 'app'])
  })

  test('is not closed with closeService: false', async () => {
    const { service } = noteService()
    const app = fastify()
    await app.register(rowgateFastify, { service, closeService: false })
    await app.close()
    expect(await state(service)).toBe(200)
    await service.close()
  })
})
