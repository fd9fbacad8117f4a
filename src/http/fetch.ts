import type { IncomingMessage, ServerResponse } from 'node:http'
import * as z from 'zod/mini'
import { code } from '../checks/option-shapes.ts'
import { completeOptions } from '../checks/options.ts'
import { ServiceError } from '../errors.ts'
import type { RequestHandler, ServiceReply, ServiceRequest } from '../request/request.ts'
import { addressOf } from '../protocol/ip-address.ts'
import { originForm } from '../protocol/path.ts'
import { abandon, ResponseBegunError } from './begun.ts'
import { closeUnread, discardBefore, isEncrypted, type ConnectionHeaders } from './connection.ts'
import { bodyPieces, byteLength, isLarge } from './large-body.ts'
import { requireOutside, requirePrefix, targetBelow } from './prefix.ts'
import { bodyTooLarge } from './read.ts'
import { handleInOrder } from './response-queue.ts'

/** Options of {@link toFetchHandler}. */
export interface FetchHandlerOptions<Context extends readonly unknown[] = unknown[]> {
  /** The path in front of `/rest/v1`, such as `/api`. Default: none. */
  readonly prefix?: string
  /**
   * What happens to a request outside the published applications and pages. `respond`: the service responds 404.
   * `pass`: the handler resolves with undefined, and your application responds. Default: `respond`.
   */
  readonly outside?: 'respond' | 'pass'
  /**
   * Returns the address of the client from the additional arguments. Default: the address of the socket if
   * Node's messages are among them; otherwise unknown.
   */
  readonly peer?: (request: Request, ...context: Context) => string | undefined
  /**
   * Returns whether a request came over TLS. Default: whether the socket is encrypted if Node's messages are
   * among the additional arguments; otherwise false. The scheme of the URL is not used, because servers take
   * it from the request line, which the client writes. Set this option behind a proxy that terminates TLS,
   * and on servers that don't pass Node's messages.
   */
  readonly secure?: (request: Request, ...context: Context) => boolean
}

/**
 * Responds to a Fetch request. `context` are the additional arguments of the server or framework, such as a
 * server, bindings, or a framework's context. Never rejects.
 */
export type FetchHandler<Context extends readonly unknown[] = unknown[], Outside = never> = (
  request: Request,
  ...context: Context
) => Promise<Response | Outside>

const shape = z.strictObject({
  prefix: z._default(z.custom<string>(), ''),
  outside: z._default(z.custom<'respond' | 'pass'>(), 'respond'),
  peer: z.optional(code()),
  secure: z.optional(code()),
} satisfies Record<keyof FetchHandlerOptions, z.ZodMiniType>)

/**
 * Mounts a service in any server or framework that calls a function with a Fetch request: Bun, Deno,
 * Workers, Hono, Next. The target is the part of the request's URL after the origin, in which Request has
 * resolved dot segments and backslashes. Throws a TypeError for a prefix that is not a literal path that requests can
 * have, and for an unknown option.
 */
export function toFetchHandler<Context extends readonly unknown[] = unknown[]>(
  service: RequestHandler,
  options?: FetchHandlerOptions<Context> & { readonly outside?: 'respond' },
): FetchHandler<Context>
/** As above; resolves with undefined for paths outside the published applications and pages. */
export function toFetchHandler<Context extends readonly unknown[] = unknown[]>(
  service: RequestHandler,
  options: FetchHandlerOptions<Context> & { readonly outside: 'pass' },
): FetchHandler<Context, undefined>
export function toFetchHandler<Context extends readonly unknown[]>(
  service: RequestHandler,
  given: FetchHandlerOptions<Context> = {},
): FetchHandler<Context, undefined> {
  const complete = completeOptions('toFetchHandler', shape, given)
  const { prefix, outside } = complete
  const options = complete as FetchHandlerOptions<Context>
  requirePrefix(prefix)
  requireOutside(outside, ['respond', 'pass'])
  return async (request, ...context) => {
    const target = targetBelow(prefix, originForm(request.url)) ?? '/'
    if (outside === 'pass' && !service.serves(target)) return undefined
    const messages = context.find(isNodeMessages)
    const call = { options, context, incoming: messages?.incoming }
    const asked = new FetchRequest(request, target, call)
    if (messages === undefined) return toResponse(await service.handle(asked), undefined)
    const { incoming, outgoing } = messages
    // Also while the request is handled.
    const hasBegun = (): boolean => outgoing.headersSent
    if (hasBegun()) return endBegun(service, asked, outgoing)
    const reply = await handleInOrder(incoming, outgoing, () => service.handle(asked))
    if (incoming.httpVersionMajor >= 2) await discardBefore(incoming, outgoing)
    const more = await closeUnread(incoming, outgoing)
    if (!hasBegun()) return toResponse(reply, more)
    return outgoing.writableEnded ? alreadySent() : endBegun(service, asked, outgoing)
  }
}

/** Ends a response that other code has begun. */
function endBegun(
  service: RequestHandler,
  request: ServiceRequest,
  response: ServerResponse,
): Response {
  abandon(service, request, { response, error: new ResponseBegunError() })
  return alreadySent()
}

// The header makes the server of Hono send nothing. It ignores the header of a response of its own class, which a clone
// is not.
function alreadySent(): Response {
  return new Response(null, { status: 500, headers: { 'X-Hono-Already-Sent': 'true' } }).clone()
}

/** The additional argument of servers on Node, such as `@hono/node-server`. */
interface NodeMessages {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

function isNodeMessages(argument: unknown): argument is NodeMessages {
  const { incoming, outgoing } = Object(argument) as Partial<NodeMessages>
  return typeof incoming?.httpVersionMajor === 'number' && typeof outgoing?.writeHead === 'function'
}

/** The additional arguments of a call, and the options that read them. */
interface FetchCall<Context extends readonly unknown[]> {
  readonly options: FetchHandlerOptions<Context>
  readonly context: Context
  /** Node's message of the request, if known. */
  readonly incoming: IncomingMessage | undefined
}

/** A request that is read on demand: most requests need two headers and no body. */
class FetchRequest<Context extends readonly unknown[]> implements ServiceRequest {
  readonly method: string
  readonly target: string
  readonly prefix: string | undefined
  readonly #request: Request
  readonly #call: FetchCall<Context>
  #signal: AbortSignal | undefined

  constructor(request: Request, target: string, call: FetchCall<Context>) {
    this.method = request.method
    this.target = target
    this.prefix = call.options.prefix
    this.#request = request
    this.#call = call
  }

  get secure(): boolean {
    const { options, context, incoming } = this.#call
    if (options.secure !== undefined) return options.secure(this.#request, ...context)
    return incoming !== undefined && isEncrypted(incoming.socket)
  }

  get peer(): string | undefined {
    const { options, context, incoming } = this.#call
    if (options.peer !== undefined) return options.peer(this.#request, ...context)
    return addressOf(incoming?.socket.remoteAddress)
  }

  // Created once. The reason of the server's signal need not be an AbortError.
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal
    const controller = new AbortController()
    const { signal } = this.#request
    if (signal.aborted) controller.abort()
    signal.addEventListener('abort', () => controller.abort(), { once: true })
    this.#signal = controller.signal
    return controller.signal
  }

  // An arrow function, so that a provider can destructure it.
  readonly header = (name: string): string | undefined =>
    this.#request.headers.get(name) ?? undefined

  body(limit: number): Promise<Uint8Array> {
    return readBody(this.#request, limit)
  }
}

async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  if (request.bodyUsed || request.body?.locked === true) {
    throw new Error(
      'The request body was read before the service could read it. Pass the request on unread, or read a clone of it.',
    )
  }
  if (request.body === null) return new Uint8Array()
  const reader = (request.body as ReadableStream<unknown>).getReader()
  const chunks: ArrayBufferView[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch(incomplete)
    if (done) return joined(chunks, length)
    if (!ArrayBuffer.isView(value))
      throw new TypeError('The request body is not a stream of bytes.')
    length += value.byteLength
    if (length > limit) {
      reader.cancel().catch(() => undefined)
      throw bodyTooLarge(limit)
    }
    chunks.push(value)
  }
}

// The client has disconnected, so it does not receive this error.
function incomplete(cause: unknown): never {
  throw new ServiceError('MALFORMED_BODY', 'The request body is not complete.', { cause })
}

function joined(chunks: readonly ArrayBufferView[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const { buffer, byteOffset, byteLength } of chunks) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at += byteLength
  }
  return bytes
}

const utf8 = new TextEncoder()
const ascii = /^[\x00-\x7f]*$/

function toResponse(reply: ServiceReply, more: ConnectionHeaders | undefined): Response {
  const { status, headers, bytes } = reply
  if (status === 304) return new Response(null, { status, headers: { ...headers, ...more } })
  const complete = (
    content: string | Uint8Array<ArrayBuffer> | ReadableStream | null,
    length: number,
  ): Response =>
    new Response(content, {
      status,
      headers: { ...headers, ...more, 'Content-Length': String(length) },
    })
  if (bytes !== undefined) return complete(bytes as Uint8Array<ArrayBuffer>, bytes.byteLength)
  const { body } = reply
  // Response adds a Content-Type to an empty string.
  if (body === '') return complete(null, 0)
  if (isLarge(body)) {
    return complete(streamOf(body), ascii.test(body) ? body.length : byteLength(body))
  }
  // Servers write an ASCII string without copying it, and its length is its number of bytes.
  if (ascii.test(body)) return complete(body, body.length)
  const encoded = utf8.encode(body)
  return complete(encoded, encoded.byteLength)
}

function streamOf(body: string): ReadableStream<Uint8Array> {
  const pieces = bodyPieces(body)
  return new ReadableStream({
    pull: (controller) => {
      const { done, value } = pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}
