// Checked by the compiler only: requests of every server and framework can be authenticated.
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { HttpBindings } from '@hono/node-server'
import type { Request as ExpressRequest } from 'express'
import type { FastifyRequest } from 'fastify'
import type { Context } from 'hono'
import {
  AuthenticationError,
  createService,
  memoryStorage,
  openAccess,
  type Principal,
  type ServiceErrorCode,
} from 'rowgate'

const service = createService({
  applications: {},
  storage: memoryStorage(),
  security: openAccess(),
})

export async function requests(
  node: IncomingMessage,
  http2: Http2ServerRequest,
  express: ExpressRequest,
  fastify: FastifyRequest,
): Promise<Principal> {
  await service.authenticate(node, { trustedProxies: ['::1'], forwarded: { proto: 'forwarded' } })
  await service.authenticate(http2)
  await service.authenticate(express)
  return service.authenticate(fastify)
}

export async function fetched(
  request: Request,
  context: Context<{ Bindings: HttpBindings }>,
): Promise<Response> {
  try {
    await service.authenticate(context.env.incoming)
    await service.authenticate(context.req.raw, { secure: true, peer: '192.0.2.1' })
    const caller = await service.authenticate(request)
    return new Response(service.withoutCredentials(caller.user ?? ''))
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error
    const code: ServiceErrorCode = error.code
    return code === 'UNAVAILABLE' ? new Response(null) : new Response(error.body, error)
  }
}

// @ts-expect-error not a request
void service.authenticate({ url: '/' })
// @ts-expect-error no such option
void service.authenticate(new Request('http://localhost'), { trusted: true })
