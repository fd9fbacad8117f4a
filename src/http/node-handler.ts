import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { z } from 'zod'
import { completeOptions } from '../definition/options.ts'
import type { RequestHandler } from '../request/request.ts'
import { originForm } from '../protocol/path.ts'
import { isEncrypted } from './connection.ts'
import { NodeRequest, readIncoming, writeReply, type IncomingKnowledge } from './incoming.ts'
import { requirePrefix, targetBelow } from './prefix.ts'
import { trustedProxies, type ForwardedHeaders, type ProxyOptions } from './trusted-proxies.ts'

/** Where a service is mounted in a Node server, and which proxies in front of it are believed. */
export interface NodeHandlerOptions extends ProxyOptions {
  /** The path in front of `/rest/v1`, such as `/api`. Default: none. */
  readonly prefix?: string
}

/**
 * A request listener for `node:http`, `node:https` and `node:http2`. With `next` (connect-style hosts) it is called
 * for paths outside the prefix; without, they are answered with 404.
 */
export type NodeHandler = (
  incoming: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  next?: () => void,
) => void

/** The shape of {@link NodeHandlerOptions}. What prefixes and proxies have to be is checked when they are used. */
export const nodeShape = {
  prefix: z.custom<string>().default(''),
  trustedProxies: z.custom<readonly string[]>().default([]),
  forwarded: z.custom<ForwardedHeaders>().default({}),
} satisfies Record<keyof NodeHandlerOptions, z.ZodType>

/**
 * Mounts a service in a Node server: `createServer(toNodeHandler(service))`. Throws a TypeError for
 * a prefix that does not start with a slash or ends with one, for a trusted proxy that is no address
 * or range of addresses, and for a forwarded header that is no header's name.
 */
export function toNodeHandler(
  service: RequestHandler,
  options: NodeHandlerOptions = {},
): NodeHandler {
  const complete = completeOptions('toNodeHandler', z.strictObject(nodeShape), options)
  const { prefix } = complete
  requirePrefix(prefix)
  const knowledge = knowledgeOf(complete)
  return (givenIncoming, givenResponse, next) => {
    // Those of HTTP/2 are made to be used like these.
    const incoming = givenIncoming as IncomingMessage
    const response = givenResponse as ServerResponse
    const target = targetBelow(prefix, originForm(incoming.url ?? ''))
    if (target === undefined && next !== undefined) {
      next()
      return
    }
    const request = new NodeRequest(incoming, response, target ?? '/', knowledge)
    void service.handle(request).then((reply) => writeReply(incoming, response, reply))
  }
}

function knowledgeOf(options: ProxyOptions): IncomingKnowledge<IncomingMessage> {
  const proxies = trustedProxies(options)
  return {
    isSecure: ({ socket }, header) =>
      isEncrypted(socket) || proxies.sayHttps(socket.remoteAddress, header),
    clientOf: ({ socket }, header) => proxies.clientOf(socket.remoteAddress, header),
    readBody: readIncoming,
  }
}
