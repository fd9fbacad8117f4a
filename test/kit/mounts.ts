import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import express from 'express'
import { fastify } from 'fastify'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import type { RequestHandler } from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import type { Host } from './cells.ts'
import { listen } from './fastify-app.ts'
import { nodeApp, startApp } from './hono-app.ts'
import { openServer } from './server.ts'

const express4 = createRequire(import.meta.url)('express4') as typeof express

/** Where {@link mounts} put a service. */
export const prefix = '/shop/api'

/** Ways to put a service on a socket, below a prefix. */
export const mounts: Readonly<Record<string, (service: RequestHandler) => Promise<Host>>> = {
  'node:http': (service) => openServer(createServer(toNodeHandler(service, { prefix }))),
  Express: (service) => openServer(createServer(express().use(prefix, toExpressHandler(service)))),
  'Express 4': (service) =>
    openServer(createServer(express4().use(prefix, toExpressHandler(service)))),
  Fastify: async (service) => {
    const app = fastify()
    await app.register(rowgateFastify, { service, prefix, closeService: false })
    return listen(app)
  },
  Hono: (service) => {
    const rest = toFetchHandler(service, { prefix })
    return startApp(nodeApp().all(`${prefix}/*`, (c) => rest(c.req.raw, c.env)))
  },
}
