import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import { describe, expect, test } from 'vitest'
import { toExpressHandler } from '../../src/entries/express.ts'
import { converse, rawRequest } from '../kit/http-client.ts'
import { apps, releases } from '../kit/express-app.ts'
import { get, noteService, notesPath } from './express-service.ts'
import { startTls } from '../kit/tls.ts'
import { ask, echoConnection } from '../kit/client-and-tls.ts'

describe.each(releases)('with middleware of $name, a service', ({ express }) => {
  const { begin, later } = apps(express)

  test('sends no entity tag and no 304, whatever the settings of the app', async () => {
    const { service } = noteService()
    const port = await begin((app) => app.set('etag', 'strong').use(toExpressHandler(service)))
    const headers = { 'If-None-Match': '*', 'If-Modified-Since': new Date().toUTCString() }
    const answer = await get(port, notesPath, { headers })
    expect(answer.status).toBe(200)
    expect(answer.headers).not.toHaveProperty('etag')
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  test('keeps the headers of the application, and its own', async () => {
    const { service } = noteService()
    const port = await begin((app) => {
      app.use((_request, response, next) => {
        response.set({ 'Access-Control-Allow-Origin': '*', 'Content-Type': 'text/html' })
        next()
      })
      app.use(toExpressHandler(service))
    })
    const { headers, bytes } = await get(port, notesPath)
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(bytes.length),
    })
  })

  /** As packages that compress do it: the head is changed when it is written, the body at its end. */
  const compress: RequestHandler = (_request, response, next) => {
    const writeHead = response.writeHead.bind(response) as (
      status: number,
      headers: object,
    ) => typeof response
    const end = response.end.bind(response)
    response.writeHead = ((status: number, headers: Record<string, unknown>) => {
      const { 'Content-Length': _length, ...others } = headers
      return writeHead(status, { ...others, 'Content-Encoding': 'gzip' })
    }) as typeof response.writeHead
    response.end = ((body: string) => end(gzipSync(body))) as typeof response.end
    next()
  }

  test('is compressed by the application', async () => {
    const { service } = noteService()
    const port = await begin((app) => app.use(compress, toExpressHandler(service)))
    const received = await converse(port, rawRequest(`GET ${notesPath}`))
    expect(received).toContain('Content-Encoding: gzip')
    const response = await fetch(`http://127.0.0.1:${port}${notesPath}`)
    expect(await response.json()).toMatchObject({ items: [], status: 200 })
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('passes errors of middleware to the error handlers of the application', async () => {
    const { service } = noteService()
    const port = await begin((app) => {
      app.use((_request, response, next) => {
        const writeHead = response.writeHead.bind(response)
        response.writeHead = () => {
          response.writeHead = writeHead
          throw new Error('The middleware failed.')
        }
        next()
      }, toExpressHandler(service))
      const handle: ErrorRequestHandler = (error: Error, _request, response, _next) => {
        response.status(500).json({ caught: error.message })
      }
      app.use(handle)
    })
    expect((await get(port, notesPath)).body).toEqual({ caught: 'The middleware failed.' })
  })

  test('writes nothing if the application has responded, or the client has disconnected', async () => {
    let arrived: () => void = () => undefined
    let finish: () => void = () => undefined
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const { service, reports } = noteService()
    const slow: typeof service = {
      ...service,
      handle: async (request) => {
        const { signal } = request
        const reply = await service.handle(request)
        if (signal !== undefined) aborted = once(signal, 'abort')
        arrived()
        await finished
        return reply
      },
    }
    let aborted: Promise<unknown> = Promise.resolve()
    const port = await begin((app) => {
      app.use((request, response, next) => {
        if (request.query['hurry'] !== undefined) arrived = () => response.status(503).json({})
        next()
      }, toExpressHandler(slow))
    })
    expect((await get(port, `${notesPath}?hurry=1`)).status).toBe(503)
    const here = new Promise<void>((resolve) => (arrived = resolve))
    const socket = connect(port, '127.0.0.1', () => socket.write(rawRequest(`GET ${notesPath}`)))
    await here
    socket.destroy()
    await aborted
    finish()
    expect((await get(port, notesPath)).status).toBe(200)
    expect(reports).toEqual([])
  })

  test('reads the client and TLS of a request according to the setting trust proxy', async () => {
    const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '203.0.113.9' }
    const told = { secure: true, peer: '203.0.113.9' }
    const untold = { secure: false, peer: '127.0.0.1' }
    const wayBehind = async (
      setting: unknown,
      sent: Readonly<Record<string, string>> = headers,
    ) => {
      const port = await begin((app) =>
        app.set('trust proxy', setting).use('/', toExpressHandler(echoConnection)),
      )
      return ask({ to: { port }, headers: sent })
    }
    expect(await wayBehind(false)).toEqual(untold)
    expect(await wayBehind('10.0.0.0/8')).toEqual(untold)
    expect(await wayBehind('loopback')).toEqual(told)
    expect(await wayBehind(1)).toEqual(told)
    expect(await wayBehind(true, { 'X-Forwarded-Proto': 'http' })).toEqual(untold)
    const made = { 'X-Forwarded-For': '198.51.100.1, ::ffff:203.0.113.9' }
    expect(await wayBehind(1, made)).toEqual({ secure: false, peer: '203.0.113.9' })
    // What is no address says nothing.
    expect(await wayBehind(true, { 'X-Forwarded-For': 'evil"}' })).toEqual(untold)
    expect(await wayBehind(true, { Forwarded: 'proto=https;for=203.0.113.9' })).toEqual(untold)
  })

  test('knows TLS from the socket, also without an app', async () => {
    const app = express().use(toExpressHandler(echoConnection))
    const handler = toExpressHandler(echoConnection)
    const bare: RequestListener = (request, response) => handler(request, response, () => undefined)
    for (const listener of [app, bare]) {
      const tls = await startTls(listener)
      later(tls.close)
      expect(await ask({ to: tls })).toEqual({ secure: true, peer: '127.0.0.1' })
    }
  })
})
