import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import * as z from 'zod/mini'
import { nonEmpty, wholeNumber } from '../checks/option-shapes.ts'
import { completeOptions } from '../checks/options.ts'
import type { RequestHandler } from '../request/request.ts'
import { nodeShape, toNodeHandler, type NodeHandlerOptions } from './node-handler.ts'

/** A service that {@link serve} opens and closes. */
export interface ServedService extends RequestHandler {
  /** Rejects while requests can't be served: storage can't be opened or read, or the service is closed. */
  ready(): Promise<void>
  close(): Promise<void>
}

/** Options of {@link serve}. */
export interface ServeOptions extends NodeHandlerOptions {
  /** The port; 0 for any free port. Default: 8080. */
  readonly port?: number
  /** The address to listen on. Default: `127.0.0.1`, which only this machine can reach. */
  readonly host?: string
  /** The key and certificate, as for `node:https`. Default: plain HTTP. */
  readonly tls?: Pick<ServerOptions, 'key' | 'cert' | 'ca' | 'pfx' | 'passphrase'>
  /** Stops the server, like `close`, when it is aborted. */
  readonly signal?: AbortSignal
  /**
   * Whether the server responds to `/live` and `/ready`, for process monitors. `/live` is always 200. `/ready` is 503
   * while `ready` of the service rejects, and while the server stops; otherwise 200. Default: false.
   */
  readonly health?: boolean
  /** Milliseconds for which `close` waits for requests in progress. Default: 10000. */
  readonly grace?: number
}

const shape = z.strictObject({
  ...nodeShape,
  port: z._default(wholeNumber(0, 65_535), 8080),
  host: z._default(nonEmpty, '127.0.0.1'),
  tls: z.optional(z.custom<ServeOptions['tls']>()),
  signal: z.optional(
    z.custom<AbortSignal>((value) => value instanceof AbortSignal, {
      error: 'must be an AbortSignal',
    }),
  ),
  health: z._default(z.boolean(), false),
  grace: z._default(wholeNumber(0, 2 ** 31 - 1), 10_000),
} satisfies Record<keyof ServeOptions, z.ZodMiniType>)

/** A running server. */
export interface Serving {
  readonly port: number
  /** The URL with the prefix, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Stops accepting requests, waits for those in progress, then closes the service. */
  close(): Promise<void>
}

const headersTimeout = 10_000
const requestTimeout = 60_000
const keepAliveTimeout = 65_000
const idleCheckMilliseconds = 50

/**
 * Serves a service without a framework, with time-outs against slow clients and a graceful stop.
 * Resolves once storage is open and the server listens; rejects if either fails.
 */
export async function serve(service: ServedService, options: ServeOptions = {}): Promise<Serving> {
  const complete = completeOptions('serve', shape, options)
  const { port, host, tls, signal, grace, health: hasHealth, ...mount } = complete
  const { prefix } = mount
  const handler = toNodeHandler(service, mount)
  let closing: Promise<void> | undefined
  const health = hasHealth && healthHandler(service, () => closing !== undefined)
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    if (health === false || !health(request, response)) handler(request, response)
  }
  const server = await createServer(tls, listener)
  const close = (): Promise<void> =>
    (closing ??= stop(server, grace).finally(() => service.close()))
  try {
    await service.ready()
    await listening(server, port, host)
  } catch (error) {
    await service.close()
    throw error
  }
  if (signal?.aborted === true) await close()
  signal?.addEventListener('abort', () => void close(), { once: true })
  const actual = (server.address() as AddressInfo | null)?.port ?? port
  const name = host.includes(':') ? `[${host}]` : host
  return { port: actual, url: `${tls ? 'https' : 'http'}://${name}:${actual}${prefix}`, close }
}

// The modules of the servers take as long to load as the library itself, and most programs use one of them.
async function createServer(tls: ServeOptions['tls'], listener: RequestListener): Promise<Server> {
  const timeouts = { headersTimeout, requestTimeout, keepAliveTimeout }
  if (tls === undefined) {
    const http = await import('node:http')
    return http.createServer(timeouts, listener)
  }
  const https = await import('node:https')
  return https.createServer({ ...tls, ...timeouts }, listener)
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function stop(server: Server, grace: number): Promise<void> {
  // A keep-alive connection becomes idle only after the response, so idle ones are closed repeatedly.
  const idleCheck = setInterval(() => server.closeIdleConnections(), idleCheckMilliseconds)
  const graceTimer = setTimeout(() => server.closeAllConnections(), grace)
  await new Promise((resolve) => server.close(resolve))
  clearInterval(idleCheck)
  clearTimeout(graceTimer)
}

/** Returns a handler that responds to the health paths, and returns false for all other paths. */
function healthHandler(
  service: ServedService,
  isClosing: () => boolean,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return ({ url }, response) => {
    if (url === '/live') sendText(response, 200, 'live')
    else if (url !== '/ready') return false
    else if (isClosing()) sendText(response, 503, 'closing')
    else {
      service.ready().then(
        () => sendText(response, 200, 'ready'),
        () => sendText(response, 503, 'not ready'),
      )
    }
    return true
  }
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
  })
  response.end(text)
}
