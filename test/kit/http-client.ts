import { request, type Agent, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import type { Envelope } from '../../src/entries/index.ts'

/** An item as it comes from the wire. */
export type WireItem = Readonly<Record<string, unknown>>

/** A request with exactly this target. */
export interface Request {
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
}

/** What came back. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** The envelope; undefined when there is no body. */
  readonly body: Envelope<WireItem>
  readonly milliseconds: number
}

/** Sends a request as it is, without any client's help or repair. */
export function send(port: number, agent: Agent, sent: Request): Promise<Answer> {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const headers = Object.fromEntries(
      Object.entries(sent.headers ?? {}).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : [...value],
      ]),
    )
    const outgoing = request({
      host: '127.0.0.1',
      port,
      agent,
      method: sent.method,
      path: sent.target,
      headers,
    })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const text = bytes.toString('utf8')
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          bytes,
          text,
          body: (text === '' ? undefined : JSON.parse(text)) as Answer['body'],
          milliseconds: performance.now() - begun,
        })
      })
    })
    outgoing.end(sent.body)
  })
}

/** Writes bytes to a socket, and returns all that comes back until it is closed. */
export function converse(
  port: number,
  bytes: string | Uint8Array,
  options: { readonly end?: boolean; readonly patience?: number } = {},
): Promise<string> {
  const { end = false, patience = 15_000 } = options
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => {
      if (end) socket.end(bytes)
      else socket.write(bytes)
    })
    const timer = setTimeout(() => socket.destroy(), patience)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks).toString('latin1'))
    })
  })
}

/** The statuses of all responses in the bytes that a socket received. */
export function statusesIn(received: string): readonly number[] {
  return Array.from(received.matchAll(/HTTP\/1\.1 (\d{3}) /g), (match) => Number(match[1]))
}

/** A request as bytes, on a connection that is closed after it. */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): Buffer {
  const head = [`${line} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close', '', '']
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), Buffer.from(body)])
}
