import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { pgBossQueue, type PgBossJob, type PgBossLike } from '../../../src/entries/pg-boss.ts'

/** Something with the methods of pg-boss whose `fetch` resolves when the test says so. */
function slowBoss() {
  const jobs: PgBossJob[] = []
  const fetches: (() => void)[] = []
  const created: string[] = []
  const boss: PgBossLike = {
    createQueue: (name) => {
      created.push(name)
      if (created.length === 1) return Promise.reject(new Error('no connection'))
      return Promise.resolve()
    },
    send: (_name, data) => Promise.resolve(jobs.push({ id: String(jobs.length), data })),
    fetch: async (_name, { batchSize }) => {
      const taken = jobs.splice(0, batchSize)
      await new Promise<void>((resolve) => fetches.push(resolve))
      return taken
    },
    complete: () => Promise.reject(new Error('no connection')),
  }
  return { boss, jobs, fetches, created }
}

test('a release that arrives while its worker stops is announced again', async () => {
  const { boss, jobs, fetches } = slowBoss()
  const queue = pgBossQueue(boss)
  await expect(queue.announce({ releaseId: 'first' })).rejects.toThrow('no connection')
  await queue.announce({ releaseId: 'second' })
  const built: string[] = []
  const work = ({ releaseId }: { readonly releaseId: string }) => {
    built.push(releaseId)
    return Promise.resolve()
  }
  const worker = queue.process(work, { concurrency: 1 })
  await expect.poll(() => fetches.length).toBe(1)
  expect(jobs).toEqual([])
  const stopped = worker.stop()
  fetches[0]?.()
  await stopped
  expect({ built, jobs: jobs.map(({ data }) => data) }).toEqual({
    built: [],
    jobs: [{ releaseId: 'second' }],
  })
})

test('a queue is created again if that has failed', async () => {
  const { boss, created } = slowBoss()
  const queue = pgBossQueue(boss, { name: 'desk' })
  await expect(queue.announce({ releaseId: 'one' })).rejects.toThrow('no connection')
  await queue.announce({ releaseId: 'one' })
  await queue.announce({ releaseId: 'two' })
  expect(created).toEqual(['desk', 'desk'])
})

test('a job that can’t be completed does not end its worker', async () => {
  const { boss, fetches } = slowBoss()
  const queue = pgBossQueue(boss)
  await expect(queue.announce({ releaseId: 'one' })).rejects.toThrow('no connection')
  for (const releaseId of ['one', 'two']) await queue.announce({ releaseId })
  const built: string[] = []
  const worker = queue.process(
    ({ releaseId }) => {
      built.push(releaseId)
      return Promise.resolve()
    },
    { concurrency: 1 },
  )
  await expect
    .poll(() => {
      for (const resolve of fetches.splice(0)) resolve()
      return built
    })
    .toEqual(['one', 'two'])
  const stopped = worker.stop()
  for (const resolve of fetches.splice(0)) resolve()
  await stopped
})

test('options that are not valid are a TypeError', () => {
  const { boss } = slowBoss()
  const wrong = { name: '', pollInterval: 0, batch: 1 }
  expect(() => pgBossQueue(boss, wrong)).toThrow(TypeError)
  expect(() => pgBossQueue(boss, wrong)).toThrow(/name.*pollInterval|pollInterval.*name/s)
})

test('a lost connection does not end the process', () => {
  const boss = Object.assign(new EventEmitter(), slowBoss().boss)
  pgBossQueue(boss)
  expect(() => boss.emit('error', new Error('Connection terminated unexpectedly'))).not.toThrow()
})
