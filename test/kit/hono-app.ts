import { serve, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import type { RequestHandler } from '../../src/entries/index.ts'
import type { Host, HostAnswer } from './cells.ts'
import { closeServer } from './server.ts'

const resolved = 'the URL of a Request has its dot segments resolved'
const backslash = '@hono/node-server refuses backslashes in a path'
const scheme = '@hono/node-server takes absolute targets only with their scheme in lower case'

/** Requests that Hono on Node changes, or responds to, before it calls handlers. */
export const honoAnswers: readonly HostAnswer[] = [
  { target: '/rest/v1/../v1/app/customers', status: 200, reason: resolved },
  { target: '/rest/v1/./app/customers', status: 200, reason: resolved },
  { target: '/./rest/v1/app/customers', status: 200, reason: resolved },
  { target: '/x/../rest/v1/app/customers', status: 200, reason: resolved },
  { target: '/rest/v1/app\\customers', status: 400, reason: backslash },
  { target: 'HTTP://evil.test:99/rest/v1/app/countries', status: 400, reason: scheme },
]

/** Puts a service into a Hono application on Node. */
export function startHono(service: RequestHandler): Promise<Host> {
  const rest = toFetchHandler(service)
  return startApp(nodeApp().all('*', (c) => rest(c.req.raw, c.env)))
}

/** A Hono application that will run on Node. */
export function nodeApp() {
  return new Hono<{ Bindings: HttpBindings }>()
}

/** Starts whatever has a Fetch handler on Node. */
export async function startApp(app: Parameters<typeof serve>[0]): Promise<Host> {
  const server = await new Promise<Server>((resolve) => {
    const started = serve({ port: 0, hostname: '127.0.0.1', ...app }, () =>
      resolve(started as Server),
    )
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () => closeServer(server),
  }
}
