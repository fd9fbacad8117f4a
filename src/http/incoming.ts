import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { ServiceError } from '../errors.ts'
import type { RequestHandler, ServiceReply, ServiceRequest } from '../request/request.ts'
import { ResponseBegunError } from './begun.ts'
import { closeUnread, type ConnectionHeaders } from './connection.ts'
import { bodyPieces, isLarge } from './large-body.ts'
import { headerOf } from './raw-headers.ts'
import { bodyTooLarge } from './read.ts'
import { handleInOrder } from './response-queue.ts'
import { withVary } from './write.ts'

/** How a binding reads the messages of its server framework. */
export interface IncomingReader<Incoming extends IncomingMessage> {
  /** Returns whether a request came over TLS. */
  isSecure(incoming: Incoming, header: ReadHeader): boolean
  /** Returns the address of the client, if known. */
  clientOf(incoming: Incoming, header: ReadHeader): string | undefined
  /** Returns the path at which the service is mounted. */
  prefixOf(incoming: Incoming): string
  /** Reads the body, once: `readIncoming`, unless a body parser may have read it before. */
  readBody(incoming: Incoming, limit: number): Promise<Uint8Array>
}

type ReadHeader = (name: string) => string | undefined

/** A request that reads its message on demand: most requests need two headers and no body. */
export class NodeRequest<Incoming extends IncomingMessage> implements ServiceRequest {
  readonly method: string
  readonly target: string
  readonly #incoming: Incoming
  readonly #response: ServerResponse
  readonly #reader: IncomingReader<Incoming>
  #signal: AbortSignal | undefined

  /** `target` is the raw target after the mount's prefix, with its query. */
  constructor(
    incoming: Incoming,
    response: ServerResponse,
    target: string,
    reader: IncomingReader<Incoming>,
  ) {
    this.method = incoming.method ?? ''
    this.target = target
    this.#incoming = incoming
    this.#response = response
    this.#reader = reader
  }

  get secure(): boolean {
    return this.#reader.isSecure(this.#incoming, this.header)
  }

  get peer(): string | undefined {
    return this.#reader.clientOf(this.#incoming, this.header)
  }

  get prefix(): string {
    return this.#reader.prefixOf(this.#incoming)
  }

  // Created once, because each signal adds a listener to the response.
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal
    const controller = new AbortController()
    const response = this.#response
    if (response.destroyed || hasLostStream(response)) controller.abort()
    response.once('close', () => {
      if (!response.writableFinished) controller.abort()
    })
    this.#signal = controller.signal
    return controller.signal
  }

  // An arrow function, so that a provider can destructure it.
  readonly header = (name: string): string | undefined => headerOf(this.#incoming.rawHeaders, name)

  body(limit: number): Promise<Uint8Array> {
    return this.#reader.readBody(this.#incoming, limit)
  }
}

/**
 * Reads the body of a message. Rejects with BODY_TOO_LARGE above `limit` bytes, with MALFORMED_BODY if the
 * client disconnects, and with an Error if other code has read the body.
 */
export function readIncoming(incoming: Readable, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    requireWhole(incoming)
    if (incoming.readableEnded) {
      throw new Error('The request body was read before the service could read it.')
    }
    const chunks: Uint8Array[] = []
    let length = 0
    // The listeners stay: without one for errors, an error after the response would end the process.
    incoming.on('data', (chunk: Uint8Array | string) => {
      if (length > limit) return
      // Other code may have set an encoding.
      const bytes =
        typeof chunk === 'string' ? Buffer.from(chunk, incoming.readableEncoding ?? 'utf8') : chunk
      length += bytes.length
      chunks.push(bytes)
      if (length <= limit) return
      chunks.length = 0
      incoming.pause()
      reject(bodyTooLarge(limit))
    })
    incoming.on('end', () => {
      resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks))
    })
    const leave = (): void => {
      // The client has disconnected, so it does not receive this error.
      if (!incoming.readableEnded) reject(incomplete())
    }
    incoming.on('error', leave).on('close', leave)
    // Other code may have paused the stream; then no data would arrive.
    incoming.resume()
  })
}

/** Throws MALFORMED_BODY for a message that was cut off before its end. */
export function requireWhole(incoming: Readable): void {
  if (hasLostStream(incoming) || (incoming.destroyed && !incoming.readableEnded)) throw incomplete()
}

// The messages of HTTP/2 are not destroyed with their stream.
function hasLostStream(message: object): boolean {
  return (
    (message as { readonly stream?: { readonly destroyed?: boolean } }).stream?.destroyed === true
  )
}

function incomplete(): ServiceError {
  return new ServiceError('MALFORMED_BODY', 'The request body is not complete.')
}

/**
 * Returns the reply for a request, after Node has parsed all bytes that arrived with it: to bytes that are not a
 * request, Node responds 400 only if no response is being written. Rejects if a wrapper around `handle` fails, and if
 * other code has begun the response.
 */
export function replyOf(
  service: RequestHandler,
  request: ServiceRequest,
  { incoming, response }: Messages,
): Promise<ServiceReply> {
  try {
    if (response.headersSent) throw new ResponseBegunError()
    return Promise.resolve(handleInOrder(incoming, response, () => service.handle(request)))
  } catch (error) {
    return Promise.reject(error)
  }
}

/** The messages of a request in Node. */
export interface Messages {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Writes a reply, unless the client has disconnected or a complete response was sent before. Throws a
 * ResponseBegunError if other code has begun a response. Returns a promise if the body of the request has not arrived
 * completely.
 */
export function writeReply(
  { incoming, response }: Messages,
  reply: ServiceReply,
): Promise<void> | undefined {
  const closing = closeUnread(incoming, response)
  if (closing !== undefined) return closing.then((more) => write(response, reply, more))
  write(response, reply)
  return undefined
}

function write(response: ServerResponse, reply: ServiceReply, more?: ConnectionHeaders): void {
  if (response.destroyed || response.writableEnded) return
  if (response.headersSent) throw new ResponseBegunError()
  const { status, bytes } = reply
  const headers = withVary(reply.headers, response)
  if (status === 304) {
    response.writeHead(status, { ...headers, ...more }).end()
    return
  }
  const length = bytes?.byteLength ?? Buffer.byteLength(reply.body)
  const whole = { ...headers, 'Content-Length': length }
  response.writeHead(status, more === undefined ? whole : { ...whole, ...more })
  if (bytes !== undefined) {
    response.end(bytes)
    return
  }
  if (isLarge(reply.body)) {
    // A client that disconnects early is not an error of the service.
    pipeline(Readable.from(bodyPieces(reply.body)), response, () => undefined)
    return
  }
  // Text of as many bytes as characters is ASCII, which Node writes faster as Latin-1.
  response.end(reply.body, length === reply.body.length ? 'latin1' : 'utf8')
}
