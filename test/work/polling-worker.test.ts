import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { PollingWorker } from '../../src/work/polling-worker.ts'

test('jobs do not run in the asynchronous context of what wakes the worker', async () => {
  const store = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  let jobs: readonly string[] = []
  const worker = new PollingWorker<string>({
    find: () => {
      const found = jobs
      jobs = []
      return Promise.resolve(found)
    },
    idOf: (job) => job,
    work: async (job) => {
      await Promise.resolve()
      seen.push([job, store.getStore()])
    },
    concurrency: 1,
    pollInterval: 60_000,
    report: () => undefined,
  })
  await new Promise((resolve) => setTimeout(resolve, 5))
  store.run('a transaction', () => {
    jobs = ['a', 'b']
    worker.wake()
  })
  await expect.poll(() => seen).toHaveLength(1)
  store.run('another one', () => {
    jobs = ['b']
    worker.wake()
  })
  await expect.poll(() => seen).toHaveLength(2)
  await worker.stop()
  expect(seen).toEqual([
    ['a', undefined],
    ['b', undefined],
  ])
})
