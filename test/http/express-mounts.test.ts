import express5, { type Express, type RequestHandler } from 'express'
import { describe, expect, test } from 'vitest'
import { toExpressHandler, type ExpressHandler } from '../../src/entries/express.ts'
import { apps, releases, type ExpressModule } from '../kit/express-app.ts'
import { get, noteService, notesPath, post } from './express-service.ts'

type Mount = (app: Express, handler: ExpressHandler, express: ExpressModule) => void

const rejection = { status: 404, body: { message: 'Not found.', validations: [], status: 404 } }
const names = '/rest/v1/desk/names'

const mounts: readonly (readonly [string, string, Mount])[] = [
  ['the root', '', (app, handler) => app.use(handler)],
  ['a slash', '', (app, handler) => app.use('/', handler)],
  ['a path', '/api', (app, handler) => app.use('/api', handler)],
  ['a longer path', '/a/b-c/d', (app, handler) => app.use('/a/b-c/d', handler)],
  ['a path that ends with a slash', '/api', (app, handler) => app.use('/api/', handler)],
  ['a list of paths', '/two', (app, handler) => app.use(['/one', '/two'], handler)],
  ['a regular expression', '/v7', (app, handler) => app.use(/^\/v\d/, handler)],
  ['a parameter', '/%C3%A9%2F', (app, handler) => app.use('/:tenant', handler)],
  [
    'routers in routers',
    '/a/b',
    (app, handler, { Router }) => app.use('/a', Router().use('/b', Router().use(handler))),
  ],
  [
    'an app in an app',
    '/sub/api',
    (app, handler, own) => app.use('/sub', own().use('/api', handler)),
  ],
  [
    'a middleware that rewrites',
    '/old',
    (app, handler) =>
      app.use(
        (request, _response, next) => {
          request.url = request.url.replace(/^\/old/, '/new')
          next()
        },
        express5.Router().use('/new', handler),
      ),
  ],
]

describe('a mount', () => {
  test('rejects unknown options by name', () => {
    const { service } = noteService()
    for (const outside of ['', 'reject', null, true]) {
      expect(() => toExpressHandler(service, { outside } as never)).toThrow(
        new TypeError(`outside must be 'next' or 'respond': ${JSON.stringify(outside)}`),
      )
    }
  })
})

describe.each(releases)('mounts in $name', ({ express }) => {
  const { begin } = apps(express)

  const mine: RequestHandler = (request, response) => {
    response.json({ mine: request.originalUrl })
  }

  test.each(mounts)('mounted at %s reads the raw path and query', async (_name, at, mount) => {
    const { service } = noteService()
    const port = await begin((app) => {
      mount(app, toExpressHandler(service), express)
      app.use(mine)
    })
    const key = 'a%2Fb%20%C3%A9%25'
    expect((await post(port, `${at}${names}`, '{"name":"a/b é%"}')).body).toMatchObject({
      item: { name: 'a/b é%' },
    })
    expect((await get(port, `${at}${names}/${key}`)).body).toMatchObject({
      item: { name: 'a/b é%' },
    })
    expect((await get(port, `${at}${names}?name=${key}`)).body).toMatchObject({
      items: [{ name: 'a/b é%' }],
    })
    expect((await get(port, `http://evil.example${at}${names}/${key}`)).status).toBe(200)
    // Inside an application, all is the service's.
    for (const inside of ['/', '/nope', '/names/', '/names/%2e%2e', '/names//', '/../names']) {
      expect(await get(port, `${at}/rest/v1/desk${inside}`)).toMatchObject(rejection)
    }
    expect((await get(port, `${at}/rest/v1/desk/%zz`)).status).toBe(400)
    expect((await get(port, `${at}${names}?a=%zz`)).status).toBe(400)
    // Paths outside all mounts belong to the app.
    for (const path of [
      '',
      '/',
      '?x=1',
      '/rest/v1',
      '/rest/v1/other/names',
      '/rest/v1/Desk/names',
    ]) {
      const target = at + path === '' || at + path === '?x=1' ? '/' : at + path
      expect((await get(port, target)).body).toEqual({ mine: expect.any(String) as string })
    }
    for (const doubled of [
      `/${at}${names}`,
      `${at}/${names}`,
      `${at.slice(0, 1)}${at.slice(1).replaceAll('/', '//')}${names}`,
    ]) {
      if (doubled !== at + names) expect((await get(port, doubled)).body).toHaveProperty('mine')
    }
    expect((await get(port, `http://evil.example${at}/${names}`)).body).toHaveProperty('mine')
    expect((await get(port, `/x${at}${names}`)).body).toHaveProperty('mine')
  })

  test('has HEAD and OPTIONS of its applications, and no others', async () => {
    const { service } = noteService()
    const port = await begin((app) => {
      app.use('/api', toExpressHandler(service))
      app.get('/api/mine', mine)
    })
    for (const method of ['HEAD', 'OPTIONS', 'PUT', 'PROPFIND']) {
      const answer = await get(port, `/api${names}`, { method })
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } })
    }
    expect((await get(port, '/api/mine', { method: 'HEAD' })).status).toBe(200)
    expect(
      (await fetch(`http://127.0.0.1:${port}/api/mine`, { method: 'OPTIONS' })).headers.get(
        'allow',
      ),
    ).toMatch(/GET/)
  })

  test('responds outside its applications with outside: respond', async () => {
    const { service } = noteService()
    const port = await begin((app) => {
      app.use('/api', toExpressHandler(service, { outside: 'respond' }))
      app.use(mine)
    })
    for (const path of ['/api', '/api/', '/api/x', '/api/rest/v1/other/names', `/api/${names}`]) {
      expect(await get(port, path)).toMatchObject(rejection)
    }
    expect((await get(port, '/')).body).toEqual({ mine: '/' })
  })

  test('shares a process and an app with another one, and may be mounted twice', async () => {
    const [one, two] = [noteService(), noteService()]
    const port = await begin((app) => {
      app.use('/one', toExpressHandler(one.service))
      app.use(['/two', '/zwei'], toExpressHandler(two.service))
      app.use('/uno', toExpressHandler(one.service))
    })
    await post(port, `/one${notesPath}`, '{"title":"one"}')
    await post(port, `/zwei${notesPath}`, '{"title":"two"}')
    expect((await get(port, `/uno${notesPath}`)).body).toMatchObject({ items: [{ title: 'one' }] })
    expect((await get(port, `/two${notesPath}`)).body).toMatchObject({ items: [{ title: 'two' }] })
  })
})
