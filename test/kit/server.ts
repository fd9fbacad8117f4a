import { createServer, type Server as HttpServer, type RequestListener } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server that listens on this machine. */
export interface OpenServer {
  readonly port: number
  /** `http://127.0.0.1` and the port. */
  readonly url: string
  close(): Promise<void>
}

/** Lets a server listen, on a free port of 127.0.0.1 by default. `host` null: on all addresses. */
export async function openServer(
  server: HttpServer | HttpsServer,
  given: { readonly port?: number; readonly host?: string | null } = {},
): Promise<OpenServer> {
  const { port: wanted = 0, host = '127.0.0.1' } = given
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: wanted, ...(host !== null && { host }) }, resolve)
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}`, close: () => closeServer(server) }
}

/** Closes a server with all its connections. */
export function closeServer(server: HttpServer | HttpsServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Starts a server for the duration of the test, and returns its URL. */
export async function serveDuringTest(handler: RequestListener): Promise<string> {
  const { url, close } = await openServer(createServer(handler))
  onTestFinished(close)
  return url
}
