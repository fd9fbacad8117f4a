import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { serve as serveHono, type HttpBindings } from '@hono/node-server'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { serve, toNodeHandler } from '../../src/entries/node.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  system,
  text,
} from '../../src/entries/index.ts'
import { explorer } from '../../src/entries/explorer.ts'
import { openapi } from '../../src/entries/openapi.ts'

/** What the process serves. */
export interface UnreadOrder {
  readonly binding: keyof typeof starts
  /** Milliseconds for which each read waits, as storage in another process does. Default: reads wait for nothing. */
  readonly delay?: number
}

const pages = defineCollection({
  key: 'id',
  fields: { id: integer(), line: text() },
})

async function openService(delay: number | undefined) {
  const memory = memoryStorage()
  const service = createService({
    applications: { app: { collections: { pages } } },
    storage:
      delay === undefined
        ? memory
        : {
            ...memory,
            filter: async (collection, query) => {
              await pause(delay)
              return memory.filter(collection, query)
            },
          },
    security: openAccess(),
    cache: false,
    pages: { openapi: openapi({ title: 'App' }), explorer: explorer({ document: 'openapi' }) },
  })
  const line = 'x'.repeat(20_000)
  const items = Array.from({ length: 100 }, (_, id) => ({ id, line }))
  await service.as(system).collection('app', 'pages').insertMany(items)
  return service
}

type Service = Awaited<ReturnType<typeof openService>>

async function listening(server: Server | ReturnType<typeof createHttp2Server>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const starts = {
  serve: async (service: Service) => (await serve(service, { port: 0, health: true })).port,
  node: (service: Service) => listening(createServer(toNodeHandler(service))),
  http2: (service: Service) => listening(createHttp2Server(toNodeHandler(service))),
  express: (service: Service) => listening(createServer(express().use(toExpressHandler(service)))),
  fastify: async (service: Service) => {
    const app = fastify()
    await app.register(rowgateFastify, { service })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return (app.server.address() as AddressInfo).port
  },
  hono: async (service: Service) => {
    const rest = toFetchHandler<[HttpBindings]>(service)
    const app = new Hono<{ Bindings: HttpBindings }>().all('*', (c) => rest(c.req.raw, c.env))
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  },
}

const { binding, delay } = JSON.parse(process.argv[2] ?? '') as UnreadOrder
const service = await openService(delay)
console.log(`port ${await starts[binding](service)}`)
setInterval(() => console.log(`rss ${process.memoryUsage().rss}`), 100).unref()
process.stdin.on('end', () => process.exit()).resume()
