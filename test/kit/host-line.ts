import { connect, type Socket } from 'node:net'
import type { Envelope } from '../../src/entries/index.ts'
import type { WireItem } from './http-client.ts'
import { resetSocket } from './reset-socket.ts'

/** A response parsed from the bytes of a connection. */
export interface LineAnswer {
  readonly status: number
  /** Undefined for responses without a body, such as `100 Continue`. */
  readonly body: Envelope<WireItem> | undefined
}

/** A connection whose every byte the test decides about. */
export interface Line {
  readonly socket: Socket
  write(bytes: string | Uint8Array): void
  /** Settles when all that was written has left. */
  written(): Promise<void>
  /** Writes bytes one after the other, each as a packet of its own. */
  trickle(bytes: string): Promise<void>
  /** Waits for the next response. Rejects if the connection ends first. */
  next(): Promise<LineAnswer>
  /** Waits for this many responses. */
  take(count: number): Promise<readonly LineAnswer[]>
  /** Sends a FIN, and goes on reading. */
  finish(): void
  /** Sends a RST. */
  reset(): void
  /** Resolves when the connection has closed, with the responses that were not read yet. */
  ended(): Promise<readonly LineAnswer[]>
}

/** Opens a connection on which several requests may be sent. */
export async function openLine(port: number): Promise<Line> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const answers: LineAnswer[] = []
  let rest = Buffer.alloc(0)
  let isGone = false
  let wake = (): void => undefined
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (let cut = cutAnswer(rest); cut !== undefined; cut = cutAnswer(rest)) {
      answers.push(cut.answer)
      rest = rest.subarray(cut.length)
    }
    wake()
  })
  socket.on('error', () => undefined)
  socket.on('end', () => socket.end())
  const gone = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isGone = true
      wake()
      resolve()
    })
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject)
  })
  const next = async (): Promise<LineAnswer> => {
    for (;;) {
      const answer = answers.shift()
      if (answer !== undefined) return answer
      if (isGone) throw new Error(`The connection ended. Left over: ${rest.toString('latin1')}`)
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    written: () => new Promise((resolve) => socket.write('', () => resolve())),
    trickle: async (bytes) => {
      for (const byte of bytes) {
        socket.write(byte)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    next,
    take: async (count) => {
      const taken: LineAnswer[] = []
      while (taken.length < count) taken.push(await next())
      return taken
    },
    finish: () => void socket.end(),
    reset: () => resetSocket(socket),
    ended: async () => {
      await gone
      // An incomplete response is an error.
      if (rest.length > 0) throw new Error(`Half an answer: ${rest.toString('latin1')}`)
      return answers.splice(0)
    },
  }
}

/** The bytes of a request that leaves the connection open. */
export function requestBytes(
  line: string,
  headers: readonly string[] = [],
  body: string | Uint8Array = '',
): Buffer {
  const head = [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])
}

/** The bytes of a request with a body of JSON, and its length. */
export function jsonRequest(target: string, item: object, headers: readonly string[] = []): Buffer {
  const body = JSON.stringify(item)
  return requestBytes(`POST ${target}`, [...jsonHeaders(body), ...headers], body)
}

/** The headers of a body of JSON. */
export function jsonHeaders(body: string): readonly string[] {
  return ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
}

function cutAnswer(bytes: Buffer): { answer: LineAnswer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
  if (Number.isNaN(status)) throw new Error(`This is no answer: ${head}`)
  const size = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
  const length = end + 4 + size
  if (bytes.length < length) return undefined
  const text = bytes.toString('utf8', end + 4, length)
  const body = text === '' ? undefined : (JSON.parse(text) as Envelope<WireItem>)
  return { answer: { status, body }, length }
}
