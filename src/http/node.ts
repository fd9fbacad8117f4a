import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { ServiceError } from '../errors.ts'
import type { RequestHandler, ServiceReply, ServiceRequest } from '../event/request.ts'
import { originForm } from '../protocol/path.ts'
import { bodyTooLarge } from './read.ts'
import { trustedProxies, type ProxyOptions, type TrustedProxies } from './trusted-proxies.ts'

/** Where a service is mounted in a Node server, and which proxies in front of it are believed. */
export interface NodeHandlerOptions extends ProxyOptions {
  /** The path in front of `/rest/v1`, such as `/api`. Default: none. */
  readonly prefix?: string
}

/**
 * A request listener for `node:http` and `node:https`. With `next` (connect-style hosts) it is called
 * for paths outside the prefix; without, they are answered with 404.
 */
export type NodeHandler = (
  incoming: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => void

/**
 * Mounts a service in a Node server: `createServer(toNodeHandler(service))`. Throws a TypeError for
 * a prefix that does not start with a slash or ends with one, for a trusted proxy that is no address
 * or range of addresses, and for a forwarded header that is no header's name.
 */
export function toNodeHandler(
  service: RequestHandler,
  options: NodeHandlerOptions = {},
): NodeHandler {
  const { prefix = '' } = options
  if (prefix !== '' && !/^\/.*[^/]$/.test(prefix)) {
    throw new TypeError(
      `The prefix must start with a slash and not end with one, as /api does: ${prefix}`,
    )
  }
  const proxies = trustedProxies(options)
  return (incoming, response, next) => {
    const target = originForm(incoming.url ?? '')
    const inside = target.startsWith(`${prefix}/`)
    if (!inside && next !== undefined) {
      next()
      return
    }
    const own = inside ? target.slice(prefix.length) : '/'
    const request = new NodeRequest(incoming, response, own, proxies)
    void service.handle(request).then((reply) => {
      writeReply(response, reply)
    })
  }
}

/** Reads an incoming message on demand: most requests need two headers and no body. */
class NodeRequest implements ServiceRequest {
  readonly method: string
  readonly target: string
  readonly #incoming: IncomingMessage
  readonly #response: ServerResponse
  readonly #proxies: TrustedProxies
  #signal: AbortSignal | undefined

  constructor(
    incoming: IncomingMessage,
    response: ServerResponse,
    target: string,
    proxies: TrustedProxies,
  ) {
    this.method = incoming.method ?? ''
    this.target = target
    this.#incoming = incoming
    this.#response = response
    this.#proxies = proxies
  }

  get secure(): boolean {
    const socket: Socket & Partial<Pick<TLSSocket, 'encrypted'>> = this.#incoming.socket
    return socket.encrypted === true || this.#proxies.sayHttps(socket.remoteAddress, this.header)
  }

  get peer(): string | undefined {
    return this.#proxies.clientOf(this.#incoming.socket.remoteAddress, this.header)
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
    return readIncoming(this.#incoming, limit)
  }
}

function readIncoming(incoming: IncomingMessage, limit: number): Promise<Uint8Array> {
  if (incoming.readableEnded || incoming.destroyed) {
    return Promise.reject(new Error('The request body was read before the service could read it.'))
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const settle = (act: () => void) => {
      incoming.off('data', take).off('end', finish).off('error', leave).off('close', leave)
      act()
    }
    const take = (chunk: Uint8Array) => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= limit) return
      settle(() => {
        reject(bodyTooLarge(limit))
      })
      incoming.resume()
    }
    const finish = () => {
      settle(() => {
        resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks))
      })
    }
    // Whoever left before the end of the request does not read this answer.
    const leave = () => {
      settle(() => {
        reject(new ServiceError('MALFORMED_BODY', 'The request body is not complete.'))
      })
    }
    incoming.on('data', take).on('end', finish).on('error', leave).on('close', leave)
  })
}

function writeReply(response: ServerResponse, reply: ServiceReply): void {
  if (response.destroyed || response.headersSent) return
  response.writeHead(reply.status, {
    ...reply.headers,
    'Content-Length': Buffer.byteLength(reply.body),
  })
  response.end(reply.body)
}
