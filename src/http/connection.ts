import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

// How much of an unread body is still taken off a connection, and for how long, so that a client that is
// still sending can read the response.
const maxLingerBytes = 4 * 1024 * 1024
const lingerMilliseconds = 2_000

/** Returns whether a socket is encrypted. */
export function isEncrypted(socket: Socket & Partial<Pick<TLSSocket, 'encrypted'>>): boolean {
  return socket.encrypted === true
}

/** Headers that a response needs beside its own. */
export type ConnectionHeaders = Readonly<Record<string, string>>

/**
 * Prepares the end of a connection when the body of its request has not arrived completely. Call it when
 * the response is about to be written, and add the headers that it resolves to. HTTP/1: `Connection:
 * close`, and the connection is closed after the response, in bounded time and bytes. HTTP/2: no header;
 * the stream is closed. Returns undefined when there is nothing to wait for and nothing to add.
 */
export function closeUnread(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<ConnectionHeaders> | undefined {
  if (incoming.httpVersionMajor >= 2) {
    closeUnreadStream(incoming, response as unknown as Http2ServerResponse)
    return undefined
  }
  if (incoming.complete || !announcesBody(incoming)) return undefined
  return closeUnlessArrived(incoming)
}

// Node parses the bytes behind the head only after the code that the head has started: a short body may
// be here already, and then the connection can serve on.
async function closeUnlessArrived(incoming: IncomingMessage): Promise<ConnectionHeaders> {
  await new Promise((resolve) => setImmediate(resolve))
  if (incoming.complete || incoming.destroyed) return {}
  // A message that was made up, as by a test framework, has no connection.
  if (typeof (incoming.socket as Partial<Socket> | null)?.destroySoon !== 'function') return {}
  lingerAtEnd(incoming)
  return { Connection: 'close' }
}

// Through the raw headers: Node builds its object of all headers only when it is read.
function announcesBody({ rawHeaders }: IncomingMessage): boolean {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { length } = rawHeaders[index] as string
    if (length !== 'content-length'.length && length !== 'transfer-encoding'.length) continue
    const name = (rawHeaders[index] as string).toLowerCase()
    if (name === 'transfer-encoding') return true
    if (name === 'content-length' && rawHeaders[index + 1] !== '0') return true
  }
  return false
}

// Node closes a stream by itself only when nothing of its body was read.
function closeUnreadStream(incoming: IncomingMessage, response: Http2ServerResponse): void {
  if (!incoming.readableDidRead || incoming.readableEnded) return
  // The response itself reports its end only when the stream is closed.
  const { stream } = response
  stream.once('finish', () => {
    stream.close()
  })
}

/**
 * Has Node close a connection without losing the response. Node calls `destroySoon` after the last
 * response. With unread bytes in the socket the operating system then sends a reset, on which clients
 * discard a response that they have not read yet. Here the connection is closed for writing first.
 */
function lingerAtEnd(incoming: IncomingMessage): void {
  const { socket } = incoming
  let isEnding = false
  socket.destroySoon = () => {
    if (isEnding) return
    isEnding = true
    let left = maxLingerBytes
    const timer = setTimeout(() => socket.destroy(), lingerMilliseconds)
    // Node may have stopped reading, and restarts only while its own listeners are there.
    socket.emit('resume')
    // Requests that follow can't be answered any more: the parser of Node must not get them.
    socket.removeAllListeners('data')
    socket.on('data', (chunk: Uint8Array) => {
      left -= chunk.length
      if (left < 0) socket.destroy()
    })
    socket.once('end', () => socket.destroy())
    socket.once('close', () => {
      clearTimeout(timer)
      // Whatever still waits for the rest of the body is notified.
      incoming.destroy()
    })
    socket.resume()
    socket.end()
  }
}
