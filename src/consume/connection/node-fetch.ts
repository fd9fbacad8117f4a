import {
  request as requestHttp,
  type Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http'
import { request as requestHttps, type Agent as HttpsAgent } from 'node:https'
import { runtime } from '../../runtime.ts'
import { pipeline, Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { codingsOf, decompressed } from './decompress.ts'

/** A function with the signature of `fetch`. It must not follow redirects if `redirect` is `manual`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The options of the `fetch` that {@link nodeFetch} returns. */
export interface TransportInit extends RequestInit {
  /** Whether a compressed body whose end is missing is an error. JSON shows by itself that it is complete. */
  readonly needsEnd?: boolean
}

/** The connections of each protocol. */
export interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

const connectTimeout = 10_000
// The bad ports of the fetch standard: services of other protocols could misread a request.
const blockedPorts = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
])
const withoutBody = new Set([204, 205, 304])

/**
 * Returns a `fetch` that sends requests with `node:http` and `node:https`. The built-in `fetch` of Node 20 ends the
 * process after some responses, and never settles after others. Redirects are not followed. The body of a response has
 * to be read or cancelled: otherwise its connection stays open.
 */
export function nodeFetch(agents: Agents): Fetch {
  return (href, init: TransportInit) =>
    new Promise((resolve, reject) => {
      const { signal } = init
      signal?.throwIfAborted()
      const url = new URL(href)
      // As the fetch standard does, with the same message.
      if (blockedPorts.has(Number(url.port))) throw new TypeError('bad port')
      const request = openRequest(url, init, agents)
      const stop = (): void => {
        reject(signal?.reason as Error)
        request.destroy()
      }
      signal?.addEventListener('abort', stop)
      request.on('close', () => {
        signal?.removeEventListener('abort', stop)
        // Without an error where the other service changes the protocol.
        reject(coded('The connection was closed.', 'ECONNRESET'))
      })
      // Errors may follow the response, too.
      request.on('error', reject)
      request.on('response', (incoming) => {
        incoming.on('error', () => undefined)
        try {
          resolve(responseOf(request, incoming, init))
        } catch (error) {
          reject(error)
          request.destroy()
        }
      })
      limitConnecting(request)
      sendBody(request, bodyOf(init), reject)
    })
}

function openRequest(url: URL, init: RequestInit, agents: Agents): ClientRequest {
  const isSecure = url.protocol === 'https:'
  const body = bodyOf(init)
  const { method = 'GET' } = init
  const headers = {
    'user-agent': 'rowgate',
    'accept-encoding': 'gzip, deflate, br',
    ...Object.fromEntries(new Headers(init.headers)),
    ...lengthHeaders(body, { ...init, method }),
  }
  return isSecure
    ? requestHttps(url, { method, headers, agent: agents.https })
    : requestHttp(url, { method, headers, agent: agents.http })
}

type Body = string | Uint8Array | ReadableStream<Uint8Array> | undefined

function bodyOf({ body }: RequestInit): Body {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body)
  if (body instanceof Uint8Array || body instanceof ReadableStream) return body
  throw new TypeError('The body of a request must be a string, bytes or a stream.')
}

function lengthHeaders(body: Body, { method, headers }: RequestInit): Record<string, string> {
  if (body instanceof ReadableStream)
    return new Headers(headers).has('content-length') ? {} : { 'transfer-encoding': 'chunked' }
  if (body === undefined && method === 'GET') return {}
  return { 'content-length': String(Buffer.byteLength(body ?? '')) }
}

/** Sends a body, a stream as fast as the connection takes it. A stream that fails ends the request. */
function sendBody(request: ClientRequest, body: Body, fail: (error: unknown) => void): void {
  if (!(body instanceof ReadableStream)) {
    request.end(body)
    return
  }
  // Before the first chunk, which may take long: the other service may reject the request by its headers.
  request.flushHeaders()
  pipeline(Readable.fromWeb(body as WebStream), request, (error) => {
    if (error) fail(error)
  })
}

function limitConnecting(request: ClientRequest): void {
  request.on('socket', (socket) => {
    if (!socket.connecting) return
    const timer = runtime.setTimeout(() => {
      request.destroy(coded('The connection could not be opened in time.', 'ETIMEDOUT'))
    }, connectTimeout)
    const end = (): void => runtime.clearTimeout(timer)
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', end)
    socket.once('close', end)
  })
}

function responseOf(
  request: ClientRequest,
  incoming: IncomingMessage,
  { signal, needsEnd = false }: TransportInit,
): Response {
  const { statusCode: status = 0, rawHeaders } = incoming
  const headers = new Headers()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  incoming.on('end', () => {
    // The other service may never read the rest of the request.
    if (!request.writableFinished) request.destroy()
  })
  if (withoutBody.has(status)) {
    incoming.resume()
    // A 205 may have a body that never ends.
    if (status === 205) request.destroy()
    return new Response(null, { status, headers })
  }
  const codings = codingsOf(headers.get('content-encoding')) ?? []
  const chunks = decompressed(incoming, codings, needsEnd)
  const end = (): void => {
    request.destroy()
    chunks.return().catch(() => undefined)
  }
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          // The rest may arrive from a decoder, after the connection was closed.
          signal?.throwIfAborted()
          const { done, value } = await chunks.next()
          if (done === true) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          end()
          throw signal?.aborted === true ? signal.reason : error
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status, headers })
}

/** Returns an error with a code, as Node's own errors have. */
export function coded(message: string, code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code })
}
