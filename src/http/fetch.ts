import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { code } from '../definition/option-shapes.ts'
import { completeOptions } from '../definition/options.ts'
import { ServiceError } from '../errors.ts'
import type { RequestHandler, ServiceReply, ServiceRequest } from '../request/request.ts'
import { originForm } from '../protocol/path.ts'
import { closeUnread, isEncrypted, type ConnectionHeaders } from './connection.ts'
import { bodyPieces, byteLength, isLarge } from './large-body.ts'
import { requireOutside, requirePrefix, targetBelow } from './prefix.ts'
import { bodyTooLarge } from './read.ts'

/** Where a service is mounted in a Fetch host, and what the host knows about a request. */
export interface FetchHandlerOptions<Context extends readonly unknown[] = unknown[]> {
  /** The path in front of `/rest/v1`, such as `/api`. Default: none. */
  readonly prefix?: string
  /**
   * What happens to paths outside the published applications. `answer`: they are answered with 404.
   * `pass`: the handler resolves to undefined, so that the host can go on. Default `answer`.
   */
  readonly outside?: 'answer' | 'pass'
  /**
   * The address of the client, from the arguments beside the request. Default: that of the socket, where
   * the messages of Node are among them, and otherwise unknown.
   */
  readonly peer?: (request: Request, ...context: Context) => string | undefined
  /**
   * Whether a request came over TLS. Default: whether the socket is encrypted, where the messages of
   * Node are among the arguments beside the request, and otherwise false. The URL does not count: servers
   * take its scheme from the request line, which the client writes. Set it behind a proxy that ends TLS,
   * and on servers without Node's messages.
   */
  readonly secure?: (request: Request, ...context: Context) => boolean
}

/**
 * Answers a Fetch request. `context` is whatever else the host hands over: a server, bindings, a
 * framework's context. Rejects never.
 */
export type FetchHandler<Context extends readonly unknown[] = unknown[], Outside = never> = (
  request: Request,
  ...context: Context
) => Promise<Response | Outside>

const shape = z.strictObject({
  prefix: z.custom<string>().default(''),
  outside: z.custom<'answer' | 'pass'>().default('answer'),
  peer: code().optional(),
  secure: code().optional(),
} satisfies Record<keyof FetchHandlerOptions, z.ZodType>)

/**
 * Mounts a service in whatever calls a function with a Fetch request: Bun, Deno, Workers, Hono, Next.
 * The target is what the request's URL has behind its origin; a Request has resolved dot segments and
 * backslashes in it. Throws a TypeError for a prefix that does not start with a slash or ends with one,
 * and for an option that is not known.
 */
export function toFetchHandler<Context extends readonly unknown[] = unknown[]>(
  service: RequestHandler,
  options?: FetchHandlerOptions<Context> & { readonly outside?: 'answer' },
): FetchHandler<Context>
/** As above; resolves to undefined for paths outside the published applications. */
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
  requireOutside(outside, ['answer', 'pass'])
  return async (request, ...context) => {
    const target = targetBelow(prefix, originForm(request.url)) ?? '/'
    if (outside === 'pass' && !service.serves(target)) return undefined
    const messages = context.find(isNodeMessages)
    const around = { options, context, incoming: messages?.incoming }
    const reply = await service.handle(serviceRequest(request, target, around))
    const closing = messages && closeUnread(messages.incoming, messages.outgoing)
    return toResponse(reply, closing && (await closing))
  }
}

/** What servers on Node, such as `@hono/node-server`, pass beside a request. */
interface NodeMessages {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

function isNodeMessages(argument: unknown): argument is NodeMessages {
  const { incoming, outgoing } = Object(argument) as Partial<NodeMessages>
  return typeof incoming?.httpVersionMajor === 'number' && typeof outgoing?.writeHead === 'function'
}

/** The arguments beside a request, and what reads them. */
interface Surroundings<Context extends readonly unknown[]> {
  readonly options: FetchHandlerOptions<Context>
  readonly context: Context
  /** The request as Node has it, where it is known. */
  readonly incoming: IncomingMessage | undefined
}

/** Reads on demand: most requests need two headers and no body. */
function serviceRequest<Context extends readonly unknown[]>(
  request: Request,
  target: string,
  { options, context, incoming }: Surroundings<Context>,
): ServiceRequest {
  return {
    method: request.method,
    target,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limit) => readBody(request, limit),
    get secure() {
      if (options.secure !== undefined) return options.secure(request, ...context)
      return incoming !== undefined && isEncrypted(incoming.socket)
    },
    get peer() {
      if (options.peer !== undefined) return options.peer(request, ...context)
      // An IPv4 address, as a server on all addresses sees it.
      return incoming?.socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '')
    },
    get signal() {
      return request.signal
    },
  }
}

async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  if (request.bodyUsed || request.body?.locked === true) {
    throw new Error(
      'The request body was read before the service could read it. Hand the request on unread, or read a clone of it.',
    )
  }
  if (request.body === null) return new Uint8Array()
  const reader = (request.body as ReadableStream<unknown>).getReader()
  const chunks: ArrayBufferView[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch(incomplete)
    if (done) return joined(chunks, length)
    if (!ArrayBuffer.isView(value)) throw new TypeError('The request body is no stream of bytes.')
    length += value.byteLength
    if (length > limit) {
      reader.cancel().catch(() => undefined)
      throw bodyTooLarge(limit)
    }
    chunks.push(value)
  }
}

// Whoever left before the end of the request does not read this answer.
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

function toResponse(
  { status, headers, body }: ServiceReply,
  more: ConnectionHeaders | undefined,
): Response {
  const whole = (
    content: string | Uint8Array<ArrayBuffer> | ReadableStream,
    length: number,
  ): Response =>
    new Response(content, {
      status,
      headers: { ...headers, ...more, 'Content-Length': String(length) },
    })
  if (isLarge(body)) {
    return whole(streamOf(body), ascii.test(body) ? body.length : byteLength(body))
  }
  // As a text where its length is that of its bytes: hosts write it without another copy.
  if (ascii.test(body)) return whole(body, body.length)
  const bytes = utf8.encode(body)
  return whole(bytes, bytes.byteLength)
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
