import {
  createServer,
  request,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
} from 'node:http'
import { request as requestTls } from 'node:https'
import type { RequestHandler } from '../../src/request/request.ts'
import { startTls } from './tls.ts'
import { openServer } from './server.ts'

/** What a binding reports to a service about the connection of a request. */
export interface Way {
  readonly secure: boolean
  readonly peer?: string
}

/** Where a server listens. `ca` is set if it uses TLS. */
export interface Place {
  readonly port: number
  readonly ca?: string
}

/** A request to send. */
export interface Sent {
  readonly to: Place
  readonly headers?: OutgoingHttpHeaders
  /** The loopback address that it is sent from. Default: 127.0.0.1. */
  readonly from?: string
}

/** A service that responds with what the binding reports about the connection of each request. */
export const echoConnection: RequestHandler = {
  serves: () => true,
  handle: ({ secure, peer }) =>
    Promise.resolve({
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ secure, peer }),
    }),
}

/** Starts a plain `node:http` server; without a host, on all addresses. */
export function startPlain(handler: RequestListener, host?: string) {
  return openServer(createServer(handler), { host: host ?? null })
}

/** The headers by which a proxy says how a request reached it. */
export type Tell = (incoming: IncomingMessage, scheme: string) => OutgoingHttpHeaders

/** Starts a reverse proxy that ends TLS, or with `plain` none, and hands requests on to `to`. */
export function startProxy(
  to: Place,
  tell: Tell,
  listen: 'tls' | 'plain' = 'tls',
): Promise<Place & { close(): Promise<void> }> {
  const listener: RequestListener = (incoming, response) => {
    const headers = {
      ...incoming.headers,
      ...tell(incoming, listen === 'tls' ? 'https' : 'http'),
      connection: 'close',
    }
    send({ to, headers })
      .then((answer) => {
        response.writeHead(answer.statusCode ?? 502)
        answer.pipe(response)
      })
      .catch(() => response.writeHead(502).end())
  }
  return listen === 'tls' ? startTls(listener) : startPlain(listener, '127.0.0.1')
}

/** Sends a request to a server with the service above, and returns its response. */
export async function ask(sent: Sent): Promise<Way> {
  const answer = await send(sent)
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Way
}

function send({ to, headers = {}, from = '127.0.0.1' }: Sent): Promise<IncomingMessage> {
  const options = {
    host: '127.0.0.1',
    port: to.port,
    localAddress: from,
    headers,
    agent: false as const,
  }
  return new Promise((resolve, reject) => {
    const outgoing = to.ca === undefined ? request(options) : requestTls({ ...options, ca: to.ca })
    outgoing.on('response', resolve).on('error', reject)
    outgoing.end()
  })
}
