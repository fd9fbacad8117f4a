import type { AddressInfo } from 'node:net'
import { fastify, type FastifyInstance } from 'fastify'
import type { RequestHandler } from '../../src/request/request.ts'
import { handleBadUrls, rowgateFastify } from '../../src/entries/fastify.ts'

/** Lets an app of Fastify listen. */
export async function listen(app: Pick<FastifyInstance, 'listen' | 'server' | 'close'>) {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return {
    port: (app.server.address() as AddressInfo).port,
    close: async () => {
      const closed = app.close()
      app.server.closeAllConnections()
      await closed
    },
  }
}

/** A service that is mounted for all paths of a Fastify app and responds to all of them. */
export async function startFastify(service: RequestHandler) {
  const outside = 'respond'
  const app = fastify({ frameworkErrors: handleBadUrls(service, { outside }) })
  await app.register(rowgateFastify, { service, outside, closeService: false })
  return listen(app)
}
