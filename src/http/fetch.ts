import { ServiceError } from '../errors.ts'
import type { RequestHandler, ServiceReply, ServiceRequest } from '../event/request.ts'
import { originForm } from '../protocol/path.ts'
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
  /** The address of the client, from what the host hands over beside the request. Default: unknown. */
  readonly peer?: (request: Request, ...context: Context) => string | undefined
  /**
   * Whether a request came over TLS (D44). Default: whether its URL starts with `https:`. Set it behind
   * a proxy that ends TLS, and in hosts that take the scheme from what the client wrote.
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
  options: FetchHandlerOptions<Context> = {},
): FetchHandler<Context, undefined> {
  const { prefix = '', outside = 'answer' } = options
  requirePrefix(prefix)
  requireOutside(outside, ['answer', 'pass'])
  return async (request, ...context) => {
    const target = targetBelow(prefix, originForm(request.url)) ?? '/'
    if (outside === 'pass' && !service.serves(target)) return undefined
    return toResponse(await service.handle(serviceRequest(request, target, { options, context })))
  }
}

/** What the host hands over beside a request, and what reads it. */
interface Surroundings<Context extends readonly unknown[]> {
  readonly options: FetchHandlerOptions<Context>
  readonly context: Context
}

/** Reads on demand: most requests need two headers and no body. */
function serviceRequest<Context extends readonly unknown[]>(
  request: Request,
  target: string,
  { options, context }: Surroundings<Context>,
): ServiceRequest {
  return {
    method: request.method,
    target,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limit) => readBody(request, limit),
    get secure() {
      return options.secure?.(request, ...context) ?? /^https:/i.test(request.url)
    },
    get peer() {
      return options.peer?.(request, ...context)
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

function toResponse({ status, headers, body }: ServiceReply): Response {
  const whole = (
    content: string | Uint8Array<ArrayBuffer> | ReadableStream,
    length: number,
  ): Response =>
    new Response(content, {
      status,
      headers: { ...headers, 'Content-Length': String(length) },
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
