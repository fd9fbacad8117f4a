import { connect, type Socket } from 'node:net'
import { createHistogram } from 'node:perf_hooks'

/** A request as bytes, ready to be written to a socket. */
export type Wire = Buffer

export interface LoadOptions {
  port: number
  connections: number
  /**
   * Whether it looks for responses all the time instead of sleeping until one arrives. A server that has to
   * wake the load generator with each response pays for that, on a virtual machine with up to half of its time.
   */
  polls?: boolean
  /** When it ends: after some seconds, or after some requests. */
  until: { seconds?: number; requests?: number }
  /** Returns the next request. */
  next(): Wire
}

export interface LoadResult {
  responses: number
  seconds: number
  p50Milliseconds: number
  p99Milliseconds: number
  /** The share of the time in which responses arrived, if it polls; otherwise undefined. */
  busy: number | undefined
}

/**
 * Keeps a number of connections busy with one request each, and counts the responses. It reads no more of
 * a response than its status and its end, so that the server is what limits the rate. Rejects when a
 * response is not 2xx.
 */
export function generateLoad(options: LoadOptions): Promise<LoadResult> {
  const { port, connections, until, next, polls = false } = options
  const { seconds = Infinity, requests = Infinity } = until
  const latency = createHistogram()
  const sockets: Socket[] = []
  let responses = 0
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const deadline = started + seconds * 1000
    let open = connections
    const idle = polls
      ? pollUntil(
          () => open === 0,
          () => responses,
        )
      : undefined

    function fail(error: Error): void {
      open = 0
      for (const socket of sockets) socket.destroy()
      reject(error)
    }

    function end(socket: Socket): void {
      socket.destroy()
      open--
      if (open > 0) return
      const elapsed = performance.now() - started
      const busy = idle && 1 - idle() / elapsed
      const p50Milliseconds = latency.percentile(50) / 1e6
      const p99Milliseconds = latency.percentile(99) / 1e6
      resolve({ responses, seconds: elapsed / 1000, p50Milliseconds, p99Milliseconds, busy })
    }

    function begin(): Socket {
      let sent = 0
      const read = responseReader()
      const socket: Socket = connect({
        port,
        host: '127.0.0.1',
        noDelay: true,
        onread: {
          buffer: Buffer.allocUnsafe(64 * 1024),
          callback(length: number, buffer: Uint8Array) {
            try {
              if (read(buffer as Buffer, length)) respond()
            } catch (error) {
              fail(error as Error)
            }
            return true
          },
        },
      })
      function send(now: number): void {
        sent = now
        socket.write(next())
      }
      function respond(): void {
        const now = performance.now()
        responses++
        latency.record(Math.max(1, Math.round((now - sent) * 1e6)))
        if (now < deadline && responses + open <= requests) send(now)
        else end(socket)
      }
      socket.on('connect', () => send(performance.now()))
      socket.on('error', fail)
      socket.on('end', () => fail(new Error('A server closed a connection.')))
      return socket
    }

    for (let index = 0; index < connections; index++) sockets.push(begin())
  })
}

/** Keeps the event loop turning. Returns a function that returns the milliseconds of turns without a response. */
function pollUntil(isDone: () => boolean, responses: () => number): () => number {
  let idle = 0
  let seen = 0
  let before = performance.now()
  function turn(): void {
    if (isDone()) return
    const now = performance.now()
    if (responses() === seen) idle += now - before
    seen = responses()
    before = now
    setImmediate(turn)
  }
  turn()
  return () => idle
}

const blankLine = Buffer.from('\r\n\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')

/** Returns a function that reads the next piece and returns whether the response is complete. */
function responseReader(): (buffer: Buffer, length: number) => boolean {
  /** The bytes that are still missing; undefined in front of a response. */
  let missing: number | undefined
  return (buffer, length) => {
    missing = missing === undefined ? bytesOf(buffer, length) - length : missing - length
    if (missing > 0 && !(missing === Infinity && endsChunks(buffer, length))) return false
    missing = undefined
    return true
  }
}

/** Returns the length of a response, head included; infinite for one in chunks. */
function bytesOf(buffer: Buffer, length: number): number {
  const end = buffer.indexOf(blankLine)
  if (end < 0 || end > length) throw new Error('The head of a response came in pieces.')
  const head = buffer.toString('latin1', 0, end)
  // The first digit of the status, after "HTTP/1.1 ".
  if (head.charCodeAt(9) !== 0x32) throw new Error(`A server responded ${head.slice(9, 12)}.`)
  const found = /\ncontent-length: *(\d+)/i.exec(head)
  return found ? end + blankLine.length + Number(found[1]) : Infinity
}

function endsChunks(buffer: Buffer, length: number): boolean {
  return length >= 5 && buffer.compare(lastChunk, 0, 5, length - 5, length) === 0
}
