import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import { describe, expect, test } from 'vitest'
import type { RequestHandler as Service, ServiceRequest } from '../../src/request/request.ts'
import type { EventPlace } from '../../src/observation/reports.ts'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rawRequest } from '../kit/http-client.ts'
import { apps, releases } from '../kit/express-app.ts'
import { get, noteService, notesPath, post } from './express-service.ts'

/** Reads bodies after a wait, such as that for a look-up of keys. */
const late =
  (wait: (request: ServiceRequest) => Promise<void>) =>
  (service: Service): Service => ({
    ...service,
    handle: (request) =>
      service.handle({
        method: request.method,
        target: request.target,
        secure: request.secure,
        peer: request.peer,
        signal: request.signal,
        header: request.header,
        body: async (limit) => {
          await wait(request)
          return request.body(limit)
        },
      }),
  })

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate()
}

const short = '{"title":"a secret"}'

/** More than a stream hands out at once. */
const long = JSON.stringify({ title: 'a secret', extra: 'x'.repeat(300_000) })

describe.each(releases)('a body in $name', ({ express }) => {
  const { begin } = apps(express)

  async function behind(before: RequestHandler, through = (service: Service) => service) {
    const made = noteService()
    const port = await begin((app) => app.use(before, toExpressHandler(through(made.service))))
    return { ...made, port, target: notesPath }
  }

  const drained: RequestHandler = (request, _response, next) => {
    request.on('data', () => undefined).on('end', next)
  }
  const leaves =
    (body: unknown): RequestHandler =>
    (request, response, next) => {
      drained(request, response, () => {
        request.body = body
        next()
      })
    }
  test.each<readonly [string, RequestHandler, string]>([
    ['read without a trace', drained, short],
    ['read, and replaced by an empty object', leaves({}), short],
    ['read, and replaced by a Map', leaves(new Map([['title', 'a']])), short],
    ['read, and replaced by what is no JSON', leaves({ title: 1n }), short],
    [
      'awaited by somebody else',
      (request, _response, next) => {
        request.on('readable', () => undefined)
        next()
      },
      short,
    ],
    [
      'read in part',
      (request, _response, next) => {
        if (request.method === 'GET') {
          next()
          return
        }
        request.once('data', () => {
          request.pause()
          next()
        })
      },
      long,
    ],
  ])('that was %s is rejected once', async (_name, consume, sent) => {
    const { port, target, stored, reports } = await behind(consume)
    const { status, body } = await post(port, target, sent)
    expect({ status, body }).toMatchObject({ status: 500, body: { validations: [], status: 500 } })
    expect(await stored()).toEqual([])
    const told = /^The request body was read before .*before body parsers/
    expect(reports).toEqual([
      {
        type: 'request-failed',
        place: expect.objectContaining({ event: 'Insert' }) as EventPlace,
        error: expect.objectContaining({ message: expect.stringMatching(told) as string }) as Error,
      },
    ])
    expect(JSON.stringify([body, String((reports[0] as { error: unknown }).error)])).not.toContain(
      'secret',
    )
    expect((await get(port, target)).status).toBe(200)
  })

  test('is read completely by the service and by another listener', async () => {
    const heard: string[] = []
    const listen: RequestHandler = (request, _response, next) => {
      request.on('data', (chunk: Buffer) => heard.push(chunk.toString()))
      request.on('end', () => heard.push('end'))
      next()
    }
    const { port, target, stored, reports } = await behind(listen, late(someTurns))
    expect((await post(port, target, '{"title":"both"}')).status).toBe(200)
    expect(heard.splice(0)).toEqual(['{"title":"both"}', 'end'])
    // Also where the service has no need of it.
    expect((await post(port, `${target}/a/b`, '{"title":"both"}')).status).toBe(404)
    expect((await get(port, target)).status).toBe(200)
    expect(heard).toEqual(['{"title":"both"}', 'end', 'end'])
    expect(await stored()).toMatchObject([{ title: 'both' }])
    expect(reports).toEqual([])
  })

  test('that was paused continues', async () => {
    const pause: RequestHandler = (request, _response, next) => {
      request.pause()
      next()
    }
    const { port, target } = await behind(pause)
    expect((await post(port, target, '{"title":"paused"}')).status).toBe(200)
  })

  test('is not a failure if the client disconnects before it is read', async () => {
    const statuses: number[] = []
    const untilLeft = late(async ({ signal }) => {
      if (signal?.aborted === false) await once(signal, 'abort')
    })
    const watched = (service: Service): Service => ({
      ...service,
      handle: async (request) => {
        const reply = await untilLeft(service).handle(request)
        statuses.push(reply.status)
        answered()
        return reply
      },
    })
    let answered: () => void = () => undefined
    const done = new Promise<void>((resolve) => (answered = resolve))
    const { port, target, stored, reports } = await behind((_request, _response, next) => {
      next()
    }, watched)
    const headers = ['Content-Type: application/json', 'Content-Length: 99']
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(rawRequest(`POST ${target}`, headers, '{"title":'), () => socket.destroy())
    })
    await done
    expect(statuses).toEqual([400])
    expect(await stored()).toEqual([])
    expect(reports).toEqual([])
  })
})
