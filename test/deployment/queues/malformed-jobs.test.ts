import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BuildQueue, BuildTicket } from '../../../src/entries/deployment.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { gatedBuilder } from '../../kit/builders.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import { openDeployment } from '../deployment-service.ts'
import { engines, type Engine } from './engines.ts'

/** What another program may write into a queue. */
const malformed: readonly unknown[] = [
  null,
  {},
  { release: randomUUID() },
  { releaseId: null },
  { releaseId: 7 },
  { releaseId: ['0192c7a0-1c00-7000-8000-5f1f5f1f0d10'] },
  { releaseId: { toString: 'x' } },
  { releaseId: '' },
  { releaseId: 'x'.repeat(1_000_000) },
  { releaseId: randomUUID() },
  'a string',
  42,
  [],
  [{ releaseId: randomUUID() }],
]

/** A queue of an application, in the memory of this process. It passes on what it has. */
const custom: Engine = {
  name: 'a custom queue',
  missing: undefined,
  open: () => {
    const workers: ((ticket: BuildTicket) => Promise<void>)[] = []
    let next = 0
    const pass = (job: unknown): void => {
      // Nothing handles a rejection.
      void workers[next++ % workers.length]?.(job as BuildTicket)
    }
    const queue: BuildQueue = {
      name: 'custom',
      announce: pass,
      process: (work) => {
        workers.push(work)
        return { stop: () => Promise.resolve() }
      },
    }
    return Promise.resolve({
      connect: () => Promise.resolve(queue),
      send: (job) => {
        pass(job)
        return Promise.resolve()
      },
      network: { refuse: () => undefined, admit: () => undefined } as never,
      finished: () => Promise.resolve(0),
      close: () => Promise.resolve(),
    })
  },
}

describe.each([...engines, custom])('$name', ({ missing, open }) => {
  test.skipIf(missing !== undefined)(
    'jobs that another program has written are reported, and both workers go on',
    async () => {
      const engine = await open()
      onTestFinished(() => engine.close())
      const builder = gatedBuilder()
      const file = join(temporaryFolder(), 'data.db')
      const open2 = async () =>
        openDeployment({
          // A lease that the test does not wait for.
          lease: 60_000,
          builder,
          storage: sqliteStorage(file, { ensureSchema: true }),
          queue: await engine.connect(),
        })
      const stages = [await open2(), await open2()]
      const [first] = stages
      const queued = await first?.ask.queue()
      ;(await builder.next()).finish()
      await first?.ask.once(queued?.['releaseId'], 'built')

      for (const job of malformed) await engine.send(job)
      const discarded = () => stages.flatMap((one) => one.news).filter(isDiscarded)
      await expect.poll(() => discarded().length).toBe(malformed.length)
      const reports = stages.flatMap((one) => one.reports)
      expect(reports.filter(({ type }) => type === 'build-discarded')).toHaveLength(
        malformed.length,
      )

      // One build for each of the two workers, at the same time.
      const good = [await first?.ask.queue(), await first?.ask.queue()]
      for (const build of [await builder.next(), await builder.next()]) build.finish()
      for (const release of good) await first?.ask.once(release?.['releaseId'], 'built')
      expect(await engine.finished()).toBe(0)
    },
    40_000,
  )
})

function isDiscarded({ type }: { readonly type: string }): boolean {
  return type === 'discarded'
}
