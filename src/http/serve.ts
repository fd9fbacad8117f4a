import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { completeOptions } from '../definition/options.ts'
import type { RequestHandler } from '../request/request.ts'
import { nodeShape, toNodeHandler, type NodeHandlerOptions } from './node-handler.ts'

/** A service that can be served: it opens and closes. */
export interface ServedService extends RequestHandler {
  ready(): Promise<void>
  close(): Promise<void>
}

/** How {@link serve} serves. */
export interface ServeOptions extends NodeHandlerOptions {
  /** Default 8080; 0 takes any free one. */
  readonly port?: number
  /** The address to listen on. Default: this machine only, `127.0.0.1`. */
  readonly host?: string
  /** Key and certificate, as `node:https` takes them. Default: plain HTTP. */
  readonly tls?: Pick<ServerOptions, 'key' | 'cert' | 'ca' | 'pfx' | 'passphrase'>
  /** Stops the server when it is aborted, as `close` does. */
  readonly signal?: AbortSignal
  /** Answers `/live` and `/ready` with 200 or 503, for whoever watches processes. Default false. */
  readonly health?: boolean
  /** Milliseconds that requests in progress may still take when the server stops. Default 10000. */
  readonly grace?: number
}

const shape = z.strictObject({
  ...nodeShape,
  port: z.int().min(0).max(65_535).default(8080),
  host: z.string().min(1).default('127.0.0.1'),
  tls: z.custom<ServeOptions['tls']>().optional(),
  signal: z
    .custom<AbortSignal>((value) => value instanceof AbortSignal, {
      error: 'must be an AbortSignal',
    })
    .optional(),
  health: z.boolean().default(false),
  grace: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(10_000),
} satisfies Record<keyof ServeOptions, z.ZodType>)

/** A server that runs. */
export interface Serving {
  readonly port: number
  /** `http://127.0.0.1:8080`, with the prefix. */
  readonly url: string
  /** Takes no more requests, lets those in progress end, and closes the service. */
  close(): Promise<void>
}

const headersTimeout = 10_000
const requestTimeout = 60_000
const keepAliveTimeout = 65_000
const lookMilliseconds = 50

/**
 * Serves a service without a framework, with time-outs against slow clients and a graceful stop.
 * Resolves once storage is open and the port is listened on; rejects when either fails.
 */
export async function serve(service: ServedService, options: ServeOptions = {}): Promise<Serving> {
  const complete = completeOptions('serve', shape, options)
  const { port, host, tls, signal, grace, health: answersHealth, ...mount } = complete
  const { prefix } = mount
  const handler = toNodeHandler(service, mount)
  let closing: Promise<void> | undefined
  const health = answersHealth && healthHandler(service, () => closing !== undefined)
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    if (health === false || !health(request, response)) handler(request, response)
  }
  const timeouts = { headersTimeout, requestTimeout, keepAliveTimeout }
  const server =
    tls === undefined
      ? createServer(timeouts, listener)
      : createSecureServer({ ...tls, ...timeouts }, listener)

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
  // A connection that is kept alive becomes idle only when its request has been answered.
  const look = setInterval(() => server.closeIdleConnections(), lookMilliseconds)
  const end = setTimeout(() => server.closeAllConnections(), grace)
  await new Promise((resolve) => server.close(resolve))
  clearInterval(look)
  clearTimeout(end)
}

/** Answers the two paths of health; false for all others. */
function healthHandler(
  service: ServedService,
  isClosing: () => boolean,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return ({ url }, response) => {
    if (url === '/live') answer(response, 200, 'live')
    else if (url !== '/ready') return false
    else if (isClosing()) answer(response, 503, 'closing')
    else {
      service.ready().then(
        () => answer(response, 200, 'ready'),
        () => answer(response, 503, 'not ready'),
      )
    }
    return true
  }
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
  })
  response.end(text)
}
