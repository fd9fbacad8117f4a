import { afterAll, beforeAll, expect, vi } from 'vitest'
import { mariadbSockets } from '../kit/mysql.ts'
import { postgresSockets } from '../kit/postgres.ts'

const consoleMethods = ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const

/**
 * Has a file of tests fail when anything in it was printed, rejected without anybody to notice, added a
 * listener to the process, or left a socket or server behind.
 */
export function expectQuietProcess(): void {
  const rejections: unknown[] = []
  const notice = (reason: unknown): void => void rejections.push(reason)
  let spies: readonly { mock: { calls: unknown }; mockRestore: () => void }[] = []
  let listeners = ''
  beforeAll(() => {
    listeners = processListeners()
    process.on('unhandledRejection', notice)
    spies = consoleMethods.map((name) => vi.spyOn(console, name))
  })
  afterAll(async () => {
    await expectNoSockets()
    process.off('unhandledRejection', notice)
    expect(rejections).toEqual([])
    expect(spies.map(({ mock }) => mock.calls)).toEqual(consoleMethods.map(() => []))
    for (const { mockRestore } of spies) mockRestore()
    expect(processListeners()).toBe(listeners)
  })
}

/** Waits until this process has no more sockets and servers than it may. */
export async function expectNoSockets(allowed = 0): Promise<void> {
  const deadline = performance.now() + 10_000
  while (openSockets() > allowed && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(openSockets()).toBeLessThanOrEqual(allowed)
}

/** How many TCP sockets and servers this process has, apart from those of storages. */
export function openSockets(): number {
  return openResources().filter((name) => name.startsWith('TCP')).length
}

/** The names of what keeps this process alive, apart from the connections of storages. */
export function openResources(): readonly string[] {
  const names = process.getActiveResourcesInfo().sort()
  const first = names.indexOf('TCPSocketWrap')
  if (first >= 0) names.splice(first, postgresSockets() + mariadbSockets())
  return names
}

/** How many listeners the process has, by event. */
export function processListeners(): string {
  const counts = process.eventNames().map((name) => [String(name), process.listenerCount(name)])
  return JSON.stringify(Object.fromEntries(counts.sort()))
}
