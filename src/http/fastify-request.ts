import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressOf } from '../protocol/ip-address.ts'
import type { ServiceRequest } from '../request/request.ts'
import { NodeRequest, readIncoming, requireWhole, type IncomingReader } from './incoming.ts'
import { isFrameworkHttps } from './trusted-proxies.ts'

/** The streams with which hooks of your application have replaced request bodies, by message. */
export type ReplacedBodies = WeakMap<IncomingMessage, Readable>

const mediaType = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/

/**
 * Records the stream with which a hook has replaced a body. The stream may fail after the service has
 * responded without reading it; without a listener, that error would end the process. It is destroyed after
 * the response, and when the client disconnects.
 */
export function replaceBody(
  replaced: ReplacedBodies,
  incoming: IncomingMessage,
  { payload, reply }: { readonly payload: Readable; readonly reply: FastifyReply },
): void {
  replaced.set(incoming, payload)
  payload.on('error', () => undefined)
  // A stream that another one is piped into is not notified when the client disconnects.
  reply.raw.once('close', () => void payload.destroy())
}

/** The raw target of a request, split after the prefix of the mount. */
export interface MountedTarget {
  readonly prefix: string
  readonly target: string
}

/** Returns a request of Fastify as a service request. */
export function serviceRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  { prefix, target }: MountedTarget,
  replaced?: ReplacedBodies,
): ServiceRequest {
  const reader: IncomingReader<IncomingMessage> = {
    isSecure: () => isFrameworkHttps(request, ({ protocol }) => protocol === 'https'),
    clientOf: ({ socket }) => addressOf(request.ip) ?? addressOf(socket.remoteAddress),
    prefixOf: () => prefix,
    readBody: (incoming, limit) => readBody(incoming, limit, replaced?.get(incoming)),
  }
  return new NodeRequest(request.raw, reply.raw, target, reader)
}

/**
 * Replaces a content type that Fastify rejects before it calls a handler: a malformed one, and none on a
 * QUERY request. The service reads the raw header.
 */
export function hideContentType(request: FastifyRequest): void {
  const type = request.headers['content-type']
  if (type === undefined ? request.method !== 'QUERY' : mediaType.test(type)) return
  request.headers = { ...request.headers, 'content-type': 'application/octet-stream' }
}

async function readBody(
  incoming: IncomingMessage,
  limit: number,
  replaced: Readable | undefined,
): Promise<Uint8Array> {
  const body = replaced ?? incoming
  requireWhole(incoming)
  if (body.readableDidRead) {
    throw new Error(
      'The request body was read before the service could read it. A hook that reads bodies must do ' +
        'so in preParsing and pass on a stream with the complete body.',
    )
  }
  return readIncoming(body, limit)
}
