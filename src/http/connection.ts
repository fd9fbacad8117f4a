import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { nextTurn, pause, runtime, type Timer } from '../runtime.ts'

// The limits within which the rest of a body is read after the response, so that a client that is still sending
// can read the response.
const maxLingerBytes = 4 * 1024 * 1024
const lingerMilliseconds = 2_000
// Of a stream of HTTP/2, whose response the client reads while it sends.
const maxStreamLingerBytes = 512 * 1024

// A shorter body fits into the buffer of Node's message. A client sends it at once, so waiting for it costs
// less than another connection. The pauses grow, so that many clients that send nothing cost little.
const shortBodyBytes = 16 * 1024
const shortBodyPauses = [5, 10, 20, 40, 80]

/** Returns whether a socket is encrypted. */
export function isEncrypted(socket: Socket & Partial<Pick<TLSSocket, 'encrypted'>>): boolean {
  return socket.encrypted === true
}

/** Additional headers of a response. */
export type ConnectionHeaders = Readonly<Record<string, string>>

/**
 * Closes the connection after the response if the request body has not arrived completely. Call it
 * immediately before the response is written, and add the headers that it resolves with. HTTP/1:
 * `Connection: close`, and the connection is closed after a limited time and number of bytes. HTTP/2: no
 * header; the stream is closed after such limits. Returns undefined if there is nothing to wait for and nothing to add.
 */
export function closeUnread(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<ConnectionHeaders> | undefined {
  if (incoming.httpVersionMajor >= 2) {
    discardRest(incoming, response as unknown as Http2ServerResponse)
    return undefined
  }
  if (incoming.complete) return undefined
  const length = bodyLength(incoming)
  return length === 0 ? undefined : closeUnlessArrived(incoming, length)
}

// Node parses the bytes after the head only when the request listener has returned. A short body may have
// arrived already, or be on its way; then the connection can stay open.
async function closeUnlessArrived(
  incoming: IncomingMessage,
  length: number,
): Promise<ConnectionHeaders> {
  // Simulated messages, as in test frameworks, have no connection.
  if (typeof (incoming.socket as Partial<Socket> | null)?.destroySoon !== 'function') return {}
  await nextTurn()
  for (const milliseconds of length < shortBodyBytes ? shortBodyPauses : []) {
    if (hasArrived(incoming)) break
    await pause(milliseconds)
    // In between, Node reads from its sockets.
    await nextTurn()
  }
  if (hasArrived(incoming)) return {}
  lingerAtEnd(incoming)
  return { Connection: 'close' }
}

function hasArrived({ complete, destroyed }: IncomingMessage): boolean {
  return complete || destroyed
}

// Infinity if the length is not known. Reads the raw headers, because Node builds its `headers` object only when it is
// first read.
function bodyLength({ rawHeaders }: IncomingMessage): number {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { length } = rawHeaders[index] as string
    if (length !== 'content-length'.length && length !== 'transfer-encoding'.length) continue
    const name = (rawHeaders[index] as string).toLowerCase()
    if (name === 'transfer-encoding') return Infinity
    if (name === 'content-length') return Number(rawHeaders[index + 1])
  }
  return 0
}

function hasMore(incoming: IncomingMessage, stream: Http2ServerResponse['stream']): boolean {
  return !incoming.readableEnded && !stream.endAfterHeaders && !stream.destroyed
}

// Node closes a stream whose body was not read as soon as the response has been sent. Clients that are still sending
// then discard the response.
function discardRest(incoming: IncomingMessage, { stream }: Http2ServerResponse): void {
  if (!hasMore(incoming, stream)) return
  let left = maxStreamLingerBytes
  let timer: Timer | undefined
  incoming.on('data', (chunk: Uint8Array) => {
    left -= chunk.length
    if (left > 0) return
    incoming.pause()
    if (stream.writableFinished) stream.close()
  })
  stream.once('finish', () => {
    if (left > 0) timer = runtime.setTimeout(() => stream.close(), lingerMilliseconds)
    else stream.close()
  })
  stream.once('close', () => runtime.clearTimeout(timer))
  incoming.resume()
}

/**
 * Reads and discards what has not arrived of a body over HTTP/2, within the limits of `closeUnread`, for servers that
 * close the stream immediately after the response. Resolves then; immediately over HTTP/1.
 */
export async function discardBefore(incoming: IncomingMessage, response: object): Promise<void> {
  const { stream } = response as { readonly stream?: Http2ServerResponse['stream'] }
  if (stream === undefined || !hasMore(incoming, stream)) return
  let left = maxLingerBytes
  let timer: Timer | undefined
  await new Promise<void>((resolve) => {
    timer = runtime.setTimeout(resolve, lingerMilliseconds)
    incoming.once('end', resolve).once('close', resolve)
    // Other readers would pause the message.
    incoming.removeAllListeners('data').on('data', (chunk: Uint8Array) => {
      left -= chunk.length
      if (left < 0) resolve()
    })
    incoming.resume()
  })
  runtime.clearTimeout(timer)
}

/**
 * Closes a connection without losing the response. Node calls `destroySoon` after the last response. If
 * the socket has unread bytes, the operating system then sends a reset, and clients discard a response that
 * they have not read yet. The replacement closes the connection for writing first.
 */
function lingerAtEnd(incoming: IncomingMessage): void {
  const { socket } = incoming
  let isEnding = false
  socket.destroySoon = () => {
    if (isEnding) return
    isEnding = true
    let left = maxLingerBytes
    const timer = runtime.setTimeout(() => socket.destroy(), lingerMilliseconds)
    // Node may have paused reading, and resumes only while its own listeners are registered.
    socket.emit('resume')
    // Later requests can't be answered, so Node's parser must not receive them.
    socket.removeAllListeners('data')
    socket.on('data', (chunk: Uint8Array) => {
      left -= chunk.length
      if (left < 0) socket.destroy()
    })
    socket.once('end', () => socket.destroy())
    socket.once('close', () => {
      runtime.clearTimeout(timer)
      // Notifies code that still waits for the rest of the body.
      incoming.destroy()
    })
    socket.resume()
    socket.end()
  }
}
