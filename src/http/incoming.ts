import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { ServiceError } from '../errors.ts'
import type { ServiceReply, ServiceRequest } from '../request/request.ts'
import { closeUnread, type ConnectionHeaders } from './connection.ts'
import { bodyPieces, isLarge } from './large-body.ts'
import { bodyTooLarge } from './read.ts'

/** What a binding knows of the messages of its host beyond their method and headers. */
export interface IncomingKnowledge<Incoming extends IncomingMessage> {
  /** Whether a request came over TLS (D44). */
  isSecure(incoming: Incoming, header: ReadHeader): boolean
  /** The address of the client, if there is one. */
  clientOf(incoming: Incoming, header: ReadHeader): string | undefined
  /** Reads the body, once: `readIncoming`, unless the host may have read it before. */
  readBody(incoming: Incoming, limit: number): Promise<Uint8Array>
}

type ReadHeader = (name: string) => string | undefined

/** Reads an incoming message on demand: most requests need two headers and no body. */
export class NodeRequest<Incoming extends IncomingMessage> implements ServiceRequest {
  readonly method: string
  readonly target: string
  readonly #incoming: Incoming
  readonly #response: ServerResponse
  readonly #knowledge: IncomingKnowledge<Incoming>
  #signal: AbortSignal | undefined

  /** `target` is the raw one after the mount's prefix, with its query. */
  constructor(
    incoming: Incoming,
    response: ServerResponse,
    target: string,
    knowledge: IncomingKnowledge<Incoming>,
  ) {
    this.method = incoming.method ?? ''
    this.target = target
    this.#incoming = incoming
    this.#response = response
    this.#knowledge = knowledge
  }

  get secure(): boolean {
    return this.#knowledge.isSecure(this.#incoming, this.header)
  }

  get peer(): string | undefined {
    return this.#knowledge.clientOf(this.#incoming, this.header)
  }

  // One signal, however often it is looked at: each one is a listener on the response.
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal
    const controller = new AbortController()
    const response = this.#response
    if (response.destroyed) controller.abort()
    response.once('close', () => {
      if (!response.writableFinished) controller.abort()
    })
    this.#signal = controller.signal
    return controller.signal
  }

  // A function of its own, so that a provider may take it off. Looking through the raw headers is
  // cheaper than having Node build its object of all of them.
  readonly header = (name: string): string | undefined => {
    const raw = this.#incoming.rawHeaders
    let found: string | undefined
    for (let index = 0; index < raw.length; index += 2) {
      const header = raw[index] as string
      if (header.length !== name.length || header.toLowerCase() !== name) continue
      const value = raw[index + 1] as string
      found = found === undefined ? value : `${found}, ${value}`
    }
    return found
  }

  body(limit: number): Promise<Uint8Array> {
    return this.#knowledge.readBody(this.#incoming, limit)
  }
}

/**
 * Reads the body of a message that nobody read before. Rejects with BODY_TOO_LARGE above `limit` bytes,
 * with MALFORMED_BODY when the client leaves, and with an Error when there is nothing left to read.
 */
export async function readIncoming(incoming: Readable, limit: number): Promise<Uint8Array> {
  requireWhole(incoming)
  if (incoming.readableEnded) {
    throw new Error('The request body was read before the service could read it.')
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    // The listener of errors stays: without one, an error after the answer would end the process.
    const settle = (act: () => void) => {
      incoming.off('data', take).off('end', finish).off('close', leave)
      act()
    }
    const take = (chunk: Uint8Array) => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= limit) return
      incoming.pause()
      settle(() => {
        reject(bodyTooLarge(limit))
      })
    }
    const finish = () => {
      settle(() => {
        resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks))
      })
    }
    // Whoever left before the end of the request does not read this answer.
    const leave = () => {
      settle(() => {
        reject(incomplete())
      })
    }
    incoming.on('data', take).on('end', finish).on('error', leave).on('close', leave)
    // Who paused it would have us wait for ever.
    incoming.resume()
  })
}

/** Refuses a message that was cut off before its end. Throws MALFORMED_BODY. */
export function requireWhole(incoming: Readable): void {
  if (incoming.destroyed && !incoming.readableEnded) throw incomplete()
}

function incomplete(): ServiceError {
  return new ServiceError('MALFORMED_BODY', 'The request body is not complete.')
}

/**
 * Writes a reply, unless the client has left or a response was sent before. Returns a promise when the
 * body of the request has not arrived yet.
 */
export function writeReply(
  incoming: IncomingMessage,
  response: ServerResponse,
  reply: ServiceReply,
): Promise<void> | undefined {
  const closing = closeUnread(incoming, response)
  if (closing !== undefined) return closing.then((more) => write(response, reply, more))
  write(response, reply)
  return undefined
}

function write(response: ServerResponse, reply: ServiceReply, more?: ConnectionHeaders): void {
  if (response.destroyed || response.headersSent) return
  response.writeHead(reply.status, {
    ...reply.headers,
    ...more,
    'Content-Length': Buffer.byteLength(reply.body),
  })
  if (isLarge(reply.body)) {
    // A client that leaves in the middle is no fault.
    pipeline(Readable.from(bodyPieces(reply.body)), response, () => undefined)
  } else response.end(reply.body)
}
