import { fastify } from 'fastify'
import type { Express } from 'express'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import type { RequestHandler } from '../../src/entries/index.ts'
import { releases } from '../kit/express-app.ts'
import { listen } from '../kit/fastify-app.ts'
import { nodeApp, startApp } from '../kit/hono-app.ts'
import { startPlain } from '../kit/client-and-tls.ts'
import type { Host } from '../kit/cells.ts'

/** A service, and the path in front of its `/rest/v1`. */
export interface Mount {
  readonly prefix: string
  readonly service: RequestHandler
}

/** Starts one server with several independent mounts. */
export type StartMounts = (mounts: readonly Mount[]) => Promise<Host>

/** How the server of each binding has several mounts, by the binding's name. */
export const mountings: ReadonlyMap<string, StartMounts> = new Map<string, StartMounts>([
  ['node', startNode],
  ...releases.map(({ name, express }) => [name, startExpressWith(express)] as const),
  ['fastify', startFastify],
  ['fetch (hono)', startHono],
])

function startNode(mounts: readonly Mount[]): Promise<Host> {
  const handlers = mounts.map(({ prefix, service }) => toNodeHandler(service, { prefix }))
  return startPlain((request, response) => {
    const pass = (index: number): void => {
      const handler = handlers[index]
      if (handler === undefined) response.writeHead(404).end()
      else handler(request, response, () => pass(index + 1))
    }
    pass(0)
  }, '127.0.0.1')
}

function startExpressWith(express: () => Express): StartMounts {
  return (mounts) => {
    const app = express()
    for (const { prefix, service } of mounts) app.use(prefix, toExpressHandler(service))
    return startPlain(app, '127.0.0.1')
  }
}

async function startFastify(mounts: readonly Mount[]): Promise<Host> {
  const app = fastify()
  for (const mount of mounts) await app.register(rowgateFastify, { ...mount, closeService: false })
  return listen(app)
}

function startHono(mounts: readonly Mount[]): Promise<Host> {
  const app = nodeApp()
  for (const { prefix, service } of mounts) {
    const rest = toFetchHandler(service, { prefix, outside: 'pass' })
    app.use(async (c, next) => (await rest(c.req.raw, c.env)) ?? next())
  }
  return startApp(app)
}
