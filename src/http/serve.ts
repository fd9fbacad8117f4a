import type { RequestListener, Server } from 'node:http'
import type { ServerOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import * as z from 'zod/mini'
import { nonEmpty, wholeNumber } from '../checks/option-shapes.ts'
import { completeOptions } from '../checks/options.ts'
import type { RequestHandler, ServiceReply } from '../request/request.ts'
import { pause, runtime } from '../runtime.ts'
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
   * while `ready` of the service rejects, and while the server drains and stops; otherwise 200. Default: false.
   */
  readonly health?: boolean
  /**
   * Milliseconds for which a stop still accepts and serves connections, so that a load balancer can notice by `/ready`
   * that it has to use another server. Default: 0.
   */
  readonly drain?: number
  /** Milliseconds for which a stop waits for requests in progress, after `drain`. Default: 10000. */
  readonly grace?: number
}

const milliseconds = wholeNumber(0, 2 ** 31 - 1)

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
  drain: z._default(milliseconds, 0),
  grace: z._default(milliseconds, 10_000),
} satisfies Record<keyof ServeOptions, z.ZodMiniType>)

/** A running server. */
export interface Serving {
  readonly port: number
  /** The URL with the prefix, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /**
   * Serves connections for `drain` milliseconds more, stops accepting requests, waits for those in progress, then closes
   * the service. Returns `closed`.
   */
  close(): Promise<void>
  /**
   * Resolves when the server and the service are closed, whether by `close` or by the signal. Your application then closes
   * what it has opened, such as a pool of connections. Rejects if the service could not be closed.
   */
  readonly closed: Promise<void>
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
  const { port, host, tls, signal, drain, grace, health, ...mount } = complete
  const { prefix } = mount
  const stopping = new AbortController()
  const rest = toNodeHandler(service, mount)
  const checks = toNodeHandler(healthChecks(service, stopping.signal))
  const server = await createServer(tls, (request, response) => {
    const isCheck = health && (request.url === '/live' || request.url === '/ready')
    if (isCheck) checks(request, response)
    else rest(request, response)
  })
  const sockets = openSockets(server, tls === undefined ? 'connection' : 'secureConnection')
  try {
    await service.ready()
    await listening(server, port, host)
  } catch (error) {
    await service.close()
    throw error
  }
  const served = signal?.aborted === true ? 0 : drain
  const closed = aborted(stopping.signal)
    .then(() => pause(served))
    .then(() => stop(server, sockets, grace))
    .finally(() => service.close())
  const close = (): Promise<void> => {
    stopping.abort()
    return closed
  }
  if (signal?.aborted === true) await close()
  signal?.addEventListener('abort', () => void close(), { once: true })
  const actual = (server.address() as AddressInfo | null)?.port ?? port
  const name = host.includes(':') ? `[${host}]` : host
  const url = `${tls ? 'https' : 'http'}://${name}:${actual}${prefix}`
  return { port: actual, url, close, closed }
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Returns the open connections of a server. */
function openSockets(
  server: Server,
  event: 'connection' | 'secureConnection',
): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on(event, (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

async function stop(server: Server, sockets: ReadonlySet<Socket>, grace: number): Promise<void> {
  // A keep-alive connection becomes idle only after the response, so idle ones are closed repeatedly. Node counts a
  // connection as idle before the end of its last response was sent.
  const idleCheck = runtime.setInterval(() => {
    const isSending = Array.from(sockets).some(({ writableLength }) => writableLength > 0)
    if (!isSending) server.closeIdleConnections()
  }, idleCheckMilliseconds)
  const graceTimer = runtime.setTimeout(() => server.closeAllConnections(), grace)
  const { Server: NetServer } = await import('node:net')
  // `close` of an HTTP server would close connections that Node counts as idle.
  await new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
  runtime.clearInterval(idleCheck)
  runtime.clearTimeout(graceTimer)
  // Ends its checks of time-outs.
  server.close()
}

/** Returns a service that responds to the health paths. */
function healthChecks(service: ServedService, stopping: AbortSignal): RequestHandler {
  return {
    serves: () => true,
    handle: ({ target }) => {
      if (target === '/live') return textReply(200, 'live')
      if (stopping.aborted) return textReply(503, 'closing')
      return service.ready().then(
        () => textReply(200, 'ready'),
        () => textReply(503, 'not ready'),
      )
    },
    reportUnsent: (request, error) => service.reportUnsent?.(request, error),
  }
}

function textReply(status: number, body: string): ServiceReply {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
  return { status, headers, body }
}
