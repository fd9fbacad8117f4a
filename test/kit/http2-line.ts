import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/**
 * A session of HTTP/2 whose every frame the test decides about. The client of Node reads ahead, closes streams by
 * itself, and Node 20 can crash if it destroys a session with unread streams.
 */
export interface Http2Line {
  readonly socket: Socket
  /** Sends the head of a request on a stream of its own, which ends with it unless `more` follows. Returns its number. */
  request(path: string, options?: Http2Head): number
  /** Sends bytes of a body. The server accepts 64 KB at first. */
  data(stream: number, bytes: string, end: boolean): void
  /** Begins to read. */
  read(): void
  /** What was received so far. */
  received(): Http2Received
}

/** The head of a request. Default: a GET without further headers and without a body. */
export interface Http2Head {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly more?: boolean
}

/** The responses that have begun, those that are complete, streams that were reset, and the bytes of all bodies. */
export interface Http2Received {
  readonly begun: number
  readonly ended: number
  readonly reset: number
  readonly bytes: number
}

const types = { data: 0, headers: 1, reset: 3, settings: 4, windowUpdate: 8 } as const
const endStream = 1
const endHeaders = 4
const largestWindow = 2 ** 31 - 1

/** Opens a session. With `windows: 'large'` the server may send everything, otherwise 64 KiB. */
export async function openHttp2Line(
  port: number,
  { windows, ca }: { readonly windows?: 'large' | 'default'; readonly ca?: string } = {},
): Promise<Http2Line> {
  const socket = await connected(port, ca)
  const initialWindow = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  socket.write(frame(types.settings, 0, 0, windows === 'large' ? initialWindow : Buffer.alloc(0)))
  if (windows === 'large') socket.write(windowUpdate(largestWindow - 65_535))
  const received = { begun: 0, ended: 0, reset: 0, bytes: 0 }
  let opened = 0
  let rest = Buffer.alloc(0)
  const take = (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 9) {
      const length = rest.readUIntBE(0, 3)
      if (rest.length < 9 + length) break
      const [type, flags] = [rest[3], rest[4] as number]
      if (type === types.data) received.bytes += length
      if (type === types.headers) received.begun++
      if (type === types.reset) received.reset++
      const mayEnd = type === types.data || type === types.headers
      if (mayEnd && (flags & endStream) !== 0) received.ended++
      rest = rest.subarray(9 + length)
    }
  }
  return {
    socket,
    request: (path, { method = 'GET', headers = {}, more = false } = {}) => {
      const stream = 2 * ++opened - 1
      const flags = endHeaders | (more ? 0 : endStream)
      socket.write(frame(types.headers, flags, stream, headerBlock(method, path, headers)))
      return stream
    },
    data: (stream, bytes, end) => {
      socket.write(frame(types.data, end ? endStream : 0, stream, Buffer.from(bytes)))
    },
    read: () => void socket.on('data', take),
    received: () => ({ ...received }),
  }
}

async function connected(port: number, ca: string | undefined): Promise<Socket> {
  const host = '127.0.0.1'
  const socket =
    ca === undefined
      ? connect({ port, host })
      : connectTls({ port, host, ca, servername: 'localhost', ALPNProtocols: ['h2'] })
  socket.on('error', () => undefined)
  await new Promise((resolve) =>
    socket.once(ca === undefined ? 'connect' : 'secureConnect', resolve),
  )
  return socket
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function windowUpdate(increment: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(increment)
  return frame(types.windowUpdate, 0, 0, payload)
}

// HPACK: the method and the scheme from the table, everything else as literals that are not indexed.
function headerBlock(
  method: 'GET' | 'POST',
  path: string,
  headers: Readonly<Record<string, string>>,
): Buffer {
  const literal = (value: string): Buffer =>
    Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  return Buffer.concat([
    Buffer.from([method === 'GET' ? 0x82 : 0x83, 0x86, 4]),
    literal(path),
    Buffer.from([1]),
    literal('localhost'),
    ...Object.entries(headers).flatMap(([name, value]) => [
      Buffer.from([0]),
      literal(name),
      literal(value),
    ]),
  ])
}
