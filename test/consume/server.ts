import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { openServer } from '../kit/server.ts'

/** A server on 127.0.0.1 that tests call. */
export interface LocalServer {
  /** Its URL without a slash at the end. */
  readonly url: string
  /** What it received: `GET /orders/1`. */
  readonly received: readonly string[]
  close(): Promise<void>
}

/** Starts a server on a free port. */
export async function startServer(listener: RequestListener): Promise<LocalServer> {
  const received: string[] = []
  const server = createServer((request, response) => {
    received.push(`${request.method ?? ''} ${request.url ?? ''}`)
    listener(request, response)
  })
  return { ...(await openServer(server)), received }
}

/** Responds with JSON. */
export function respond(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** Reads a request's body as JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}
