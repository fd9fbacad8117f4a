import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceRequest } from '../request/request.ts'
import { NodeRequest, readIncoming, requireWhole, type IncomingKnowledge } from './incoming.ts'
import { addressOf } from './trusted-proxies.ts'

/** The streams that hooks of the host have put in the place of bodies, by the message that they came in. */
export type ReplacedBodies = WeakMap<IncomingMessage, Readable>

const mediaType = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/

/**
 * Notes the stream that a hook has put in the place of a body. It may fail when the service has answered
 * without reading it: with no listener, such an error would end the process. It is destroyed after the
 * response, and when the client leaves before.
 */
export function replaceBody(
  replaced: ReplacedBodies,
  incoming: IncomingMessage,
  { payload, reply }: { readonly payload: Readable; readonly reply: FastifyReply },
): void {
  replaced.set(incoming, payload)
  payload.on('error', () => undefined)
  // A stream that another one is piped into is not notified that the client has left.
  reply.raw.once('close', () => void payload.destroy())
}

/** A request of Fastify as a service takes it; `target` is the raw one after the prefix. */
export function serviceRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  target: string,
  replaced?: ReplacedBodies,
): ServiceRequest {
  const knowledge: IncomingKnowledge<IncomingMessage> = {
    isSecure: () => request.protocol.toLowerCase() === 'https',
    clientOf: ({ socket }) => addressOf(request.ip) ?? addressOf(socket.remoteAddress),
    readBody: (incoming, limit) => readBody(incoming, limit, replaced?.get(incoming)),
  }
  return new NodeRequest(request.raw, reply.raw, target, knowledge)
}

/**
 * Hides a content type that Fastify refuses before it calls a handler: what it takes for no media type,
 * and QUERY without one. The service looks at the raw header.
 */
export function veilContentType(request: FastifyRequest): void {
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
      'The request body was read before the service could read it. A hook that reads bodies must ' +
        'hand on a stream with all of it, in preParsing.',
    )
  }
  return readIncoming(body, limit)
}
