import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import * as z from 'zod/mini'
import { completeOptions } from '../checks/options.ts'
import type { RequestHandler } from '../request/request.ts'
import { originForm } from '../protocol/path.ts'
import { abandon } from './begun.ts'
import { isEncrypted } from './connection.ts'
import { NodeRequest, readIncoming, replyOf, writeReply, type IncomingReader } from './incoming.ts'
import { requirePrefix, targetBelow } from './prefix.ts'
import { trustedProxies, type ForwardedHeaders, type ProxyOptions } from './trusted-proxies.ts'

/** Options of {@link toNodeHandler}. */
export interface NodeHandlerOptions extends ProxyOptions {
  /** The path in front of `/rest/v1`, such as `/api`. Default: none. */
  readonly prefix?: string
}

/**
 * A request listener for `node:http`, `node:https` and `node:http2`. For paths outside the prefix it calls
 * `next` (connect-style frameworks), or responds 404 if `next` is not given.
 */
export type NodeHandler = (
  incoming: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  next?: () => void,
) => void

/** The shape of {@link NodeHandlerOptions}. `toNodeHandler` itself checks the values of its options. */
export const nodeShape = {
  prefix: z._default(z.custom<string>(), ''),
  trustedProxies: z._default(z.custom<readonly string[]>(), []),
  forwarded: z._default(z.custom<ForwardedHeaders>(), {}),
} satisfies Record<keyof NodeHandlerOptions, z.ZodMiniType>

/**
 * Mounts a service in a Node server: `createServer(toNodeHandler(service))`. Throws a TypeError for a
 * prefix that is not a literal path that requests can have, for a trusted proxy that is not an address or a range of
 * addresses, and for an invalid name of a forwarded header.
 */
export function toNodeHandler(
  service: RequestHandler,
  options: NodeHandlerOptions = {},
): NodeHandler {
  const complete = completeOptions('toNodeHandler', z.strictObject(nodeShape), options)
  const { prefix } = complete
  requirePrefix(prefix)
  const reader = readerOf(complete, prefix)
  return (givenIncoming, givenResponse, next) => {
    // Node's compatibility API: the messages of HTTP/2 have the same methods.
    const incoming = givenIncoming as IncomingMessage
    const response = givenResponse as ServerResponse
    const target = targetBelow(prefix, originForm(incoming.url ?? ''))
    if (target === undefined && next !== undefined) {
      next()
      return
    }
    const request = new NodeRequest(incoming, response, target ?? '/', reader)
    const messages = { incoming, response }
    replyOf(service, request, messages)
      .then((reply) => writeReply(messages, reply))
      // A wrapper around `handle` may reject, and Node rejects an invalid status or header. An unhandled rejection
      // would end the process.
      .catch((error: unknown) => abandon(service, request, { response, error }))
  }
}

function readerOf(options: ProxyOptions, prefix: string): IncomingReader<IncomingMessage> {
  const proxies = trustedProxies(options)
  return {
    isSecure: ({ socket }, header) =>
      proxies.isHttps(socket.remoteAddress, header, isEncrypted(socket)),
    clientOf: ({ socket }, header) => proxies.clientOf(socket.remoteAddress, header),
    prefixOf: () => prefix,
    readBody: readIncoming,
  }
}
