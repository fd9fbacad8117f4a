import { join } from 'node:path'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { startPeer, type HostilePeer } from '../../kit/hostile-peer.ts'
import { programs } from '../../kit/programs.ts'
import { resetSocket } from '../../kit/reset-socket.ts'

const callers = ['any address', 'some addresses', 'stream', 'token', 'keys', 'client'] as const

/** What a process has to do. */
export interface HostileOrder {
  readonly url: string
  readonly caller: (typeof callers)[number]
  readonly seed: number
  readonly calls: number
}

const { start } = programs<HostileOrder>(join(import.meta.dirname, 'program.ts'))
let peer: HostilePeer | undefined
afterEach(() => peer?.close())

/** Has a process call a peer, and returns how its calls ended. It must end with success, and leave nothing open. */
async function outcomesOf(
  { url, connections }: HostilePeer,
  order: Omit<HostileOrder, 'url'>,
): Promise<readonly string[]> {
  const child = start({ url, ...order })
  expect(await child.ended).toBe(0)
  await expect.poll(connections, { timeout: 20_000 }).toBe(0)
  return Object.keys(JSON.parse(child.all('outcomes')[0] ?? '') as object)
}

describe.each(callers)('with the caller %s', (caller) => {
  test('a process survives any response, every call ends, and nothing stays open', async () => {
    peer = await startPeer(1)
    const outcomes = await outcomesOf(peer, { caller, seed: 2, calls: 200 })
    expect(outcomes.filter((name) => /HANGS|UNKNOWN/.test(name))).toEqual([])
  }, 60_000)
})

const json = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const codings = (count: number): string => `content-encoding: ${'gzip, '.repeat(count - 1)}gzip\r\n`
const reset = (socket: Socket): void => void setTimeout(resetSocket, 50, socket)
const stay = (): void => undefined
const close = (socket: Socket): void => void socket.end()

describe.each(callers)('with the caller %s, a process survives', (caller) => {
  test.each([
    ['six content codings whose connection is reset', codings(6), 66_560, reset],
    ['six content codings and a body that never ends', codings(6), 66_560, stay],
    ['damaged gzip that is complete', codings(1) + 'content-length: 66560\r\n', 66_560, stay],
    ['the end of a response that is not being read', 'connection: close\r\n', 300_000, close],
  ])('%s', async (_what, headers, length, end) => {
    peer = await startPeer(1, () => [
      (socket) => {
        socket.write(`${json}${headers}\r\n`)
        socket.write(Buffer.alloc(length, 'x'), () => end(socket))
      },
    ])
    const outcomes = await outcomesOf(peer, { caller, seed: 3, calls: 20 })
    expect(outcomes.filter((name) => /HANGS|UNKNOWN|value/.test(name))).toEqual([])
  })
})
