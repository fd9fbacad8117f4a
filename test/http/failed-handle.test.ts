import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { fastify } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { handleBadUrls } from '../../src/entries/fastify.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import type { RequestHandler, ServiceReply } from '../../src/request/request.ts'
import { listen } from '../kit/fastify-app.ts'

const reply: ServiceReply = { status: 200, headers: {}, body: '{}' }

/** What a wrapper around a service may do. Vitest reports an unhandled rejection as an error of the run. */
const failures: Readonly<Record<string, () => ServiceReply | Promise<ServiceReply>>> = {
  throws: () => {
    throw new Error('wrapper')
  },
  rejects: async () => {
    await Promise.resolve()
    throw new Error('wrapper')
  },
  'returns an invalid status': () => ({ ...reply, status: undefined as unknown as number }),
  'returns an invalid header': () => ({ ...reply, headers: { 'X-A': 'a\nb' } }),
}

let close = async (): Promise<void> => undefined
afterEach(() => close())

const serviceOf = (handle: RequestHandler['handle']): RequestHandler => ({
  handle,
  serves: () => true,
})

async function started(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  close = async () => {
    server.close()
    await once(server, 'close')
  }
  return (server.address() as AddressInfo).port
}

test.each(Object.entries(failures))(
  'toNodeHandler destroys the connection if handle %s',
  async (_, handle) => {
    const port = await started(createServer(toNodeHandler(serviceOf(handle))))
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed')
  },
)

test.each(['throws', 'rejects'])(
  'toNodeHandler ends the stream of HTTP/2 if handle %s',
  async (what) => {
    const service = serviceOf(failures[what] as RequestHandler['handle'])
    const port = await started(createHttp2Server(toNodeHandler(service)))
    const session = connect(`http://127.0.0.1:${port}`)
    const stream = session.request({ ':path': '/' })
    let hasResponse = false
    stream.on('response', () => (hasResponse = true)).on('error', () => undefined)
    await once(stream.resume(), 'close')
    session.destroy()
    expect(hasResponse).toBe(false)
  },
)

test.each(['throws', 'rejects'])(
  'handleBadUrls destroys the connection if handle %s',
  async (what) => {
    const service = serviceOf(failures[what] as RequestHandler['handle'])
    const app = await listen(fastify({ frameworkErrors: handleBadUrls(service) }))
    ;({ close } = app)
    const url = `http://127.0.0.1:${app.port}/rest/v1/app/%zz`
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  },
)
