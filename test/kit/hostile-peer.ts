import { createServer, type AddressInfo, type Socket } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { resetSocket } from './reset-socket.ts'

/** A server that responds with anything but HTTP that makes sense. */
export interface HostilePeer {
  readonly url: string
  /** Returns the number of open connections. */
  connections(): number
  close(): Promise<void>
}

type Random = () => number
type Answer = (socket: Socket) => void

const blank = Buffer.alloc(2_000_000, ' ')
const bombs = [gzipSync(blank), brotliCompressSync(blank), gzipSync(gzipSync(blank))]
const lengths = [0, 1, 30, 1000, 16_384, 65_536, 66_560, 200_000]
const compressors = [gzipSync, deflateSync, deflateRawSync, (bytes: Buffer) => bytes]
const bodies = lengths.flatMap((length) =>
  ['x', ' ', '{"a":1}', '[', '"\u{fffd}"'].flatMap((text) =>
    compressors.map((compress) => compress(Buffer.alloc(length, text))),
  ),
)
const otherCodings = ['x-gzip', 'deflate', 'br', 'identity', 'zstd', '', ' GZIP ', 'other']

/** Returns numbers from 0 to 1 that depend on a seed only. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Starts a server that responds with one of the answers, at random. */
export async function startPeer(
  seed: number,
  answers: (random: Random) => readonly Answer[] = hostileAnswers,
): Promise<HostilePeer> {
  const random = randomOf(seed)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    let received = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
      const end = received.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
      // Sometimes before the request is complete.
      if (random() > 0.1 && (end === -1 || received.length < end + 4 + length)) return
      received = ''
      setTimeout(
        () => {
          if (!socket.destroyed) pick(random, answers(random))(socket)
        },
        pick(random, [0, 0, 0, 5, 40]),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** What a hostile peer may answer. */
export function hostileAnswers(random: Random): readonly Answer[] {
  const body = Array.from({ length: 12 }, () => (socket: Socket) => respond(socket, random))
  return [
    ...body,
    () => undefined,
    (socket) => socket.destroy(),
    resetSocket,
    (socket) => socket.write(Buffer.from(Array.from({ length: 500 }, () => random() * 256))),
    (socket) =>
      socket.write('HTTP/1.1 101 Other\r\nupgrade: other\r\nconnection: upgrade\r\n\r\nx'),
    (socket) => socket.write('HTTP/1.1 302 Found\r\nlocation: /loop\r\ncontent-length: 0\r\n\r\n'),
    (socket) => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(2000))
      respond(socket, random)
    },
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      repeatedly(socket, (count) => `x-${count}: ${'y'.repeat(1000)}\r\n`)
    },
  ]
}

function respond(socket: Socket, random: Random): void {
  const body = bodyOf(random)
  const framing = pick(random, [
    'exact',
    'exact',
    'long',
    'short',
    'twice',
    'both',
    'close',
    'bad',
    'endless',
  ])
  const status = pick(random, [200, 200, 200, 200, 204, 304, 206, 299, 400, 401, 503, 500, 999])
  const type = pick(random, ['application/json', 'application/json', 'text/html'])
  const { length } = body
  const frames: Readonly<Record<string, string>> = {
    exact: `content-length: ${length}\r\n`,
    long: `content-length: ${length * 2 + 10}\r\n`,
    short: `content-length: ${Math.floor(length / 2)}\r\n`,
    twice: `content-length: ${length}\r\ncontent-length: 3\r\n`,
    both: `content-length: ${length}\r\ntransfer-encoding: chunked\r\n`,
    bad: 'transfer-encoding: chunked\r\n',
    endless: 'transfer-encoding: chunked\r\n',
  }
  const close = random() < 0.2 ? 'connection: close\r\n' : ''
  const head = `HTTP/1.1 ${status} X\r\ncontent-type: ${type}\r\nretry-after: 0\r\n${close}`
  socket.write(`${head}${codings(random)}${frames[framing] ?? ''}\r\n`)
  const isChunked = framing === 'both' || framing === 'bad' || framing === 'endless'
  send(socket, isChunked ? chunk(body) : body, random, () => {
    if (framing === 'both') socket.write('0\r\n\r\n')
    if (framing === 'bad') socket.write('zz\r\n\r\n')
    if (framing === 'endless') repeatedly(socket, () => chunk(Buffer.alloc(1024, ' ')))
    else end(socket, random, framing === 'close')
  })
}

function bodyOf(random: Random): Buffer {
  const body = random() < 0.15 ? pick(random, bombs) : pick(random, bodies)
  return random() < 0.25 ? body.subarray(0, Math.floor(body.length * random())) : body
}

function codings(random: Random): string {
  const count = pick(random, [0, 0, 1, 1, 2, 5, 6, 7, 40])
  if (count === 0) return ''
  const names = Array.from({ length: count }, () =>
    random() < 0.7 ? 'gzip' : pick(random, otherCodings),
  )
  return random() < 0.8
    ? `content-encoding: ${names.join(pick(random, [',', ', ', ' ,']))}\r\n`
    : names.map((name) => `Content-Encoding: ${name}\r\n`).join('')
}

/** Writes a body in one or several parts. */
function send(socket: Socket, body: Buffer, random: Random, done: () => void): void {
  const size = Math.ceil(body.length / pick(random, [1, 1, 2, 5])) || 1
  const write = (start: number): void => {
    if (socket.destroyed) return
    socket.write(body.subarray(start, start + size))
    if (start + size >= body.length) done()
    else setTimeout(write, pick(random, [0, 1, 5, 30]), start + size)
  }
  write(0)
}

function end(socket: Socket, random: Random, mustEnd: boolean): void {
  const endings = [
    () => resetSocket(socket),
    () => socket.destroy(),
    () => socket.end(),
    () => (mustEnd ? socket.end() : undefined),
  ]
  setTimeout(pick(random, endings), pick(random, [0, 1, 5, 20, 60]))
}

function repeatedly(socket: Socket, text: (count: number) => string | Buffer): void {
  let count = 0
  const timer = setInterval(() => {
    if (!socket.destroyed && count < 300) socket.write(text(count++))
    else clearInterval(timer)
  }, 1)
}

function chunk(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ])
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value
}
