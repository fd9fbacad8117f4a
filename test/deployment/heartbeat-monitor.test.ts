import { expect, test } from 'vitest'
import type { Release } from '../../src/deployment/release.ts'
import { progressTracker } from '../../src/deployment/heartbeat-monitor.ts'

const lease = 40

function release(releaseId: string, heartbeat = 0, attempt = 1): Release {
  return {
    releaseId,
    heartbeat,
    attempt,
    solutionId: 'northwind',
    name: 'Northwind Traders',
    version: '1',
    releaseNotes: null,
    releaseDate: '2026-03-01T00:00:00',
    status: 'building',
    fileName: null,
    snapshot: false,
    built: null,
    error: null,
    log: null,
    lost: 0,
  }
}

/** Looks more than once a lease, and longer than one. */
async function watched(look: (count: number) => readonly Release[]): Promise<readonly Release[]> {
  let last: readonly Release[] = []
  for (let count = 0; count < 5; count += 1) {
    last = look(count)
    await new Promise((resolve) => setTimeout(resolve, lease / 2))
  }
  return last
}

test('what does not move for a whole lease is stalled, and what moves is not', async () => {
  const { stalled } = progressTracker<Release>(lease)
  const still = release('still')
  const look = (count: number) =>
    stalled([still, release('beating', count), release('claimed again', 0, count)])
  expect(await watched(look)).toEqual([still])
})

test('nothing is stalled before a lease has passed', () => {
  const { stalled } = progressTracker<Release>(60_000)
  for (let count = 0; count < 5; count += 1) expect(stalled([release('one')])).toEqual([])
})

test('what was away in between is seen anew', async () => {
  const { stalled } = progressTracker<Release>(lease)
  expect(await watched((count) => stalled(count === 3 ? [] : [release('one')]))).toEqual([])
})

test('a process that slept takes nothing for stalled: the others may have slept as well', () => {
  const { stalled } = progressTracker<Release>(lease)
  expect(stalled([release('one')])).toEqual([])
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * lease)
  expect(stalled([release('one')])).toEqual([])
  expect(stalled([release('one')])).toEqual([release('one')])
})
