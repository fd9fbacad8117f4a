import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { programs, type Running } from '../kit/programs.ts'
import { openLine, requestBytes } from '../kit/host-line.ts'
import { openHttp2Line } from '../kit/http2-line.ts'
import type { UnreadOrder } from './unread-process.ts'

// A page has 2 MB, so the responses of all requests have three times the memory of the process.
const processes = programs<UnreadOrder>('test/http/unread-process.ts', ['--max-old-space-size=200'])
const requests = 300
const page = '/rest/v1/app/pages?$limit=100'
const pageBytes = 2_000_000
const maxBytes = 450_000_000

const patience = { timeout: 30_000 }

const bindings = ['serve', 'node', 'express', 'fastify', 'hono'] as const

/** A process that listens. */
type Started = Running & { readonly port: number }

async function started(order: UnreadOrder): Promise<Started> {
  const running = processes.start(order)
  return { ...running, port: Number(await running.said('port')) }
}

/** Expects that the process serves other clients. */
async function expectResponsive({ port }: { readonly port: number }): Promise<void> {
  const line = await openLine(port)
  line.write(requestBytes('GET /rest/v1/app/pages/1'))
  expect((await line.next()).status).toBe(200)
  line.finish()
}

/** The most memory that the process has had so far. */
function peakOf({ all }: Running): number {
  return Math.max(...all('rss').map(Number))
}

function pipelined(port: number, target: string, count: number) {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let received = 0
  socket.on('error', () => undefined)
  const one = requestBytes(`GET ${target}`)
  socket.write(Buffer.concat(Array.from({ length: count }, () => one)))
  return {
    socket,
    /** Reads until so many bytes have arrived. */
    readUntil: async (bytes: number): Promise<number> => {
      socket.on('data', (chunk: Uint8Array) => (received += chunk.length))
      await expect.poll(() => received, patience).toBeGreaterThanOrEqual(bytes)
      return received
    },
  }
}

test.each(bindings.flatMap((binding) => [undefined, 5].map((delay) => [binding, delay] as const)))(
  '%s: many large responses that the client does not read do not exhaust memory (reads of %s ms)',
  async (binding, delay) => {
    const running = await started({ binding, ...(delay !== undefined && { delay }) })
    const { readUntil } = pipelined(running.port, page, requests)
    await pause(1_500)
    await expectResponsive(running)
    expect(peakOf(running)).toBeLessThan(maxBytes)
    await readUntil(20 * pageBytes)
    expect(peakOf(running)).toBeLessThan(maxBytes)
    expect(await running.stop()).toBe(0)
  },
  60_000,
)

test.each([
  ['/rest/v1/explorer/swagger-ui-5.35.0.js'],
  ['/rest/v1/openapi.yaml'],
  ['/live'],
  ['/ready'],
  ['/nowhere'],
])(
  'requests without end, whose responses are not read, leave memory flat: %s',
  async (target) => {
    const running = await started({ binding: 'serve' })
    const socket = connect({ port: running.port, host: '127.0.0.1' })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    const many = Buffer.concat(Array.from({ length: 1_000 }, () => requestBytes(`GET ${target}`)))
    let isOpen = true
    let sent = 0
    const send = (): void => {
      if (!isOpen) return
      socket.write(many, () => {
        sent++
        send()
      })
    }
    send()
    await pause(1_500)
    isOpen = false
    expect(peakOf(running)).toBeLessThan(maxBytes)
    // Node has stopped reading.
    expect(sent).toBeLessThan(200)
    await expectResponsive(running)
    expect(await running.stop()).toBe(0)
  },
  60_000,
)

test.each([
  ['default', undefined],
  ['default', 5],
  ['large', undefined],
  ['large', 5],
] as const)(
  'the streams of a session of HTTP/2 that the client does not read do not exhaust memory (%s windows, reads of %s ms)',
  async (windows, delay) => {
    const running = await started({ binding: 'http2', ...(delay !== undefined && { delay }) })
    const session = await openHttp2Line(running.port, { windows })
    for (let index = 0; index < requests; index++) session.request(page)
    await pause(1_500)
    const other = await openHttp2Line(running.port, { windows: 'large' })
    other.request('/rest/v1/app/pages/1')
    other.read()
    await expect.poll(() => other.received().ended, patience).toBe(1)
    expect(peakOf(running)).toBeLessThan(maxBytes)
    if (windows === 'large') {
      session.read()
      await expect.poll(() => session.received().ended, patience).toBeGreaterThanOrEqual(20)
      expect(session.received().bytes).toBeGreaterThan(20 * pageBytes)
      expect(peakOf(running)).toBeLessThan(maxBytes)
    }
    for (const { socket } of [session, other]) socket.destroy()
    expect(await running.stop()).toBe(0)
  },
  60_000,
)

test('streams that are not read leave the other streams of their session enough room', async () => {
  const running = await started({ binding: 'http2' })
  const session = await openHttp2Line(running.port, { windows: 'default' })
  for (const path of [page, page, page, page, page, '/rest/v1/app/pages/1']) session.request(path)
  session.read()
  await expect.poll(() => session.received().begun, patience).toBe(6)
  expect(session.received().ended).toBe(0)
  session.socket.destroy()
  expect(await running.stop()).toBe(0)
})
