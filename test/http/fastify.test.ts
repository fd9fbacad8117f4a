import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { handleBadUrls, rowgateFastify } from '../../src/entries/fastify.ts'
import { expectError, itemIn, itemsIn } from '../kit/expectations.ts'
import { get, notesPath, noteService, post } from './express-service.ts'
import { listen } from '../kit/fastify-app.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Starts an app that says which of its own handlers has answered. */
async function started(
  prepare: (app: FastifyInstance) => unknown,
  options: FastifyServerOptions = {},
): Promise<number> {
  const app = fastify(options)
  app.get('/hello', () => ({ from: 'the host' }))
  app.setNotFoundHandler((request, reply) => reply.code(404).send({ nothing: request.url }))
  await prepare(app)
  const { port, close } = await listen(app)
  ends.push(close)
  return port
}

describe('the plugin is mounted', () => {
  test.each([
    ['', ''],
    ['/api', '/api'],
    ['/api/', '/api'],
    ['api', '/api'],
    ['/a/b-c/d.e', '/a/b-c/d.e'],
  ])('with the prefix "%s", beside the routes of the application', async (prefix, path) => {
    const { service } = noteService()
    const port = await started((app) => app.register(rowgateFastify, { service, prefix }))
    itemIn(await post(port, path + notesPath, '{"title":"Milk"}'))
    expect(itemsIn(await get(port, path + notesPath))).toHaveLength(1)
    expectError(await get(port, `${path}/rest/v1/desk/unknown`), 404, 'Not found')
    expectError(await get(port, `${path}/rest/v1/desk`), 404, 'Not found')
    expect((await get(port, '/hello')).body).toEqual({ from: 'the host' })
  })

  test('in a scope of the app that has its own prefix', async () => {
    const { service } = noteService()
    const port = await started((app) =>
      app.register(
        (inner, _options, done) => {
          void inner.register(rowgateFastify, { service, prefix: '/in' })
          done()
        },
        { prefix: '/out' },
      ),
    )
    expect(itemsIn(await get(port, `/out/in${notesPath}`))).toEqual([])
  })

  test.each([
    '/',
    '/api',
    '/api/',
    '/api/rest/v1',
    '/api/rest/v1/',
    '/api/rest/v1/other/notes',
    '/api/rest/v2/desk/notes',
    '/api/%72est/v1/desk/notes',
    '/%61pi/rest/v1/desk/notes',
    '//api/rest/v1/desk/notes',
    notesPath,
  ])('%s is left to the not-found handler of the application', async (target) => {
    const { service } = noteService()
    const port = await started((app) => app.register(rowgateFastify, { service, prefix: '/api' }))
    for (const method of ['GET', 'POST', 'PROPFIND', 'OPTIONS']) {
      const answer = await get(port, target, { method })
      expect(answer).toMatchObject({ status: 404, body: { nothing: target } })
    }
  })

  test('with outside: respond, the service responds to all paths below the prefix', async () => {
    const { service } = noteService()
    const port = await started((app) =>
      app.register(rowgateFastify, { service, prefix: '/api', outside: 'respond' }),
    )
    for (const target of ['/api', '/api/', '/api/x', '/api/rest/v1/other/notes', '/%61pi/x']) {
      expectError(await get(port, target), 404, 'Not found')
    }
    expect((await get(port, '/apix')).body).toEqual({ nothing: '/apix' })
  })

  test('with two services, one of them mounted twice', async () => {
    const [one, two] = [noteService(), noteService()]
    const port = await started(async (app) => {
      await app.register(rowgateFastify, { service: one.service, prefix: '/one' })
      await app.register(rowgateFastify, { service: one.service, prefix: '/uno' })
      await app.register(rowgateFastify, { service: two.service })
    })
    itemIn(await post(port, `/one${notesPath}`, '{"title":"Milk"}'))
    expect(itemsIn(await get(port, `/uno${notesPath}`))).toHaveLength(1)
    expect(itemsIn(await get(port, notesPath))).toEqual([])
  })

  test.each(['/:tenant', '/a*', '/a//b', '/a b', '/ä'])(
    'the prefix %s is rejected',
    async (prefix) => {
      const { service } = noteService()
      const app = fastify()
      await expect(app.register(rowgateFastify, { service, prefix })).rejects.toThrow(TypeError)
      expect(() => handleBadUrls(service, { prefix })).toThrow(
        'must be a literal path without parameters',
      )
    },
  )

  test('an option that is not known is rejected', async () => {
    const { service } = noteService()
    const options = { service, outside: 'next' as 'app' }
    const registered = fastify().register(rowgateFastify, options)
    await expect(registered).rejects.toThrow(`outside must be 'app' or 'respond': "next"`)
  })
})

describe('the target', () => {
  test('is read as it was sent: keys of any length, with any encoded characters', async () => {
    const { service } = noteService()
    const port = await started((app) => app.register(rowgateFastify, { service, prefix: '/api' }))
    for (const name of ['x'.repeat(5000), 'a/b', '%2F', 'a+b&c?d#e;f', 'ü😀', ' ']) {
      const target = '/api/rest/v1/desk/names'
      itemIn(await post(port, target, JSON.stringify({ name })))
      const answer = await get(port, `${target}/${encodeURIComponent(name)}`)
      expect(itemIn(answer)).toEqual({ name })
    }
  })

  test('router settings that normalize paths do not make other paths valid', async () => {
    const { service } = noteService()
    const port = await started(
      (app) => app.register(rowgateFastify, { service, prefix: '/api', outside: 'respond' }),
      {
        routerOptions: {
          caseSensitive: false,
          ignoreTrailingSlash: true,
          ignoreDuplicateSlashes: true,
        },
      },
    )
    expect(itemsIn(await get(port, `/api${notesPath}`))).toEqual([])
    for (const target of [
      `/API${notesPath}`,
      `/api//rest/v1/desk/notes`,
      `//api${notesPath}`,
      '/api/rest/v1/DESK/notes',
      `/api${notesPath}/`,
      `/api${notesPath};x=1`,
      `/api/rest/v1/desk//notes`,
    ]) {
      expectError(await get(port, target), 404, 'Not found')
    }
  })

  test('may be rewritten by the application', async () => {
    const { service } = noteService()
    const port = await started((app) => app.register(rowgateFastify, { service }), {
      rewriteUrl: ({ url = '' }) => url.replace('/v0/', '/rest/v1/'),
    })
    expect(itemsIn(await get(port, '/v0/desk/notes'))).toEqual([])
  })
})

describe('malformed percent-encoding', () => {
  const target = `${notesPath}/%zz`

  test('is rejected by Fastify without handleBadUrls', async () => {
    const { service } = noteService()
    const port = await started((app) => app.register(rowgateFastify, { service }))
    expect((await get(port, target)).body).toMatchObject({ code: 'FST_ERR_BAD_URL' })
  })

  test('is rejected by the service with handleBadUrls, in its own paths only', async () => {
    const { service } = noteService()
    const prefix = '/api'
    const seen: string[] = []
    const port = await started(
      async (app) => {
        app.addHook('onRequest', async ({ url }) => void seen.push(url))
        await app.register(rowgateFastify, { service, prefix })
      },
      { frameworkErrors: handleBadUrls(service, { prefix }) },
    )
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await get(port, prefix + target, { method })
      expectError(answer, 400, 'not valid percent-encoded UTF-8')
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    }
    for (const other of [target, '/api/%zz', '/api/rest/v1/other/%zz']) {
      expect(await get(port, other)).toMatchObject({
        status: 400,
        body: { code: 'FST_ERR_BAD_URL' },
      })
    }
    expect(seen).toEqual([])
  })

  test('an absolute target with a raw # is rejected by the service with handleBadUrls', async () => {
    const { service } = noteService()
    const port = await started((app) => app.register(rowgateFastify, { service }), {
      frameworkErrors: handleBadUrls(service),
    })
    const absolute = `http://localhost${notesPath}?title=a`
    expect(itemsIn(await get(port, absolute))).toEqual([])
    expectError(await get(port, `${absolute}#b`), 400, 'raw #')
  })
})

test('over HTTP/2', async () => {
  const { service } = noteService()
  const app = fastify({ http2: true })
  await app.register(rowgateFastify, { service })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  ends.push(async () => app.close())
  const session = connectHttp2(address)
  const ask = async (method: string, body?: string) => {
    const headers = { ':method': method, ':path': notesPath, 'content-type': 'application/json' }
    const stream = session.request(headers)
    stream.end(body)
    const [answer] = (await once(stream, 'response')) as [Record<string, unknown>]
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    const envelope: unknown = JSON.parse(Buffer.concat(chunks).toString())
    return { status: answer[':status'], envelope }
  }
  expect(await ask('POST', '{"title":"Milk"}')).toMatchObject({ status: 200 })
  expect(await ask('GET')).toMatchObject({ status: 200, envelope: { items: [{ title: 'Milk' }] } })
  expect(await ask('PUT')).toMatchObject({ status: 405 })
  session.close()
})
