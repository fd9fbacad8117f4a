import { expect, test } from 'vitest'
import { progressTracker } from '../../src/work/progress-tracker.ts'

const lease = 40

interface Job {
  readonly id: string
  readonly attempt: number
  readonly heartbeat: number
}

function job(id: string, heartbeat = 0, attempt = 1): Job {
  return { id, attempt, heartbeat }
}

const tracker = (milliseconds: number) => progressTracker<Job>(milliseconds, (each) => each)

/** Looks more than once a lease, and longer than one. */
async function watched(look: (count: number) => readonly Job[]): Promise<readonly Job[]> {
  let last: readonly Job[] = []
  for (let count = 0; count < 5; count += 1) {
    last = look(count)
    await new Promise((resolve) => setTimeout(resolve, lease / 2))
  }
  return last
}

test('a job without progress for a whole lease is stalled, and one with progress is not', async () => {
  const { stalled } = tracker(lease)
  const still = job('still')
  const look = (count: number) =>
    stalled([still, job('beating', count), job('claimed again', 0, count)])
  expect(await watched(look)).toEqual([still])
})

test('nothing is stalled before a lease has passed', () => {
  const { stalled } = tracker(60_000)
  for (let count = 0; count < 5; count += 1) expect(stalled([job('one')])).toEqual([])
})

test('a job that was absent in between counts as new', async () => {
  const { stalled } = tracker(lease)
  expect(await watched((count) => stalled(count === 3 ? [] : [job('one')]))).toEqual([])
})

test('after a suspended process resumes, no job is stalled at once: other processes may have been suspended as well', () => {
  const { stalled } = tracker(lease)
  expect(stalled([job('one')])).toEqual([])
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * lease)
  expect(stalled([job('one')])).toEqual([])
  expect(stalled([job('one')])).toEqual([job('one')])
})
