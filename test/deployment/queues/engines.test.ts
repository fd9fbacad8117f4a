import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testBuildQueue } from '../../../src/entries/conformance.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { gatedBuilder, packageBuilder } from '../../kit/builders.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import { openDeployment, type DeploymentServiceOptions } from '../deployment-service.ts'
import { engines } from './engines.ts'

// A lease that no test waits for: what happens is due to the queue alone.
const lease = 60_000

describe.each(engines)('$name', ({ missing, open }) => {
  describe.skipIf(missing !== undefined)('build queue', () => {
    testBuildQueue({
      test,
      create: async () => {
        const engine = await open()
        const queued = new Set<string>()
        return {
          queue: await engine.connect(),
          store: ({ releaseId }) => void queued.add(releaseId),
          claim: ({ releaseId }) => queued.delete(releaseId),
          close: () => engine.close(),
        }
      },
    })

    /** Services on one database, each with a connection of its own. */
    async function services(count: number, options: DeploymentServiceOptions = {}) {
      const engine = await open()
      onTestFinished(() => engine.close())
      const file = join(temporaryFolder(), 'data.db')
      const stages = []
      for (let index = 0; index < count; index++) {
        const storage = sqliteStorage(file, { ensureSchema: true })
        stages.push(
          await openDeployment({ lease, ...options, storage, queue: await engine.connect() }),
        )
      }
      return { engine, stages }
    }

    test('two services build every release once', async () => {
      const builder = packageBuilder()
      const { stages, engine } = await services(2, { builder, workers: 2 })
      const [first] = stages
      const asked: unknown[] = []
      for (let count = 0; count < 20; count++) {
        const both = await Promise.all(stages.map(({ ask }) => ask.queue()))
        asked.push(...both.map(({ releaseId }) => releaseId))
      }
      for (const releaseId of asked) await first?.ask.once(releaseId, 'built')
      const built = builder.jobs.map(({ releaseId }) => releaseId)
      expect(built.toSorted()).toEqual(asked.toSorted())
      expect(await engine.finished()).toBe(0)
    })

    test('a service that closes leaves its builds to the others at once', async () => {
      const builder = gatedBuilder()
      const { stages } = await services(2, { builder })
      const [first, second] = stages
      const asked = [await first?.ask.queue(), await first?.ask.queue(), await first?.ask.queue()]
      const [one, other] = [await builder.next(), await builder.next()]
      await first?.service.close()
      for (const { finish } of [one, other]) finish()
      for (let left = 2; left > 0; left--) (await builder.next()).finish()
      for (const item of asked) await second?.ask.once(item?.['releaseId'], 'built')
      expect(builder.builds).toHaveLength(4)
    })

    test('a build is accepted while the server can’t be reached, and built later', async () => {
      const { stages, engine } = await services(1, { lease: 1_000 })
      const [one] = stages
      engine.network.refuse()
      const queued = await one?.ask.queue()
      expect(queued).toMatchObject({ status: 'queued' })
      const reported = one?.news.map(({ type }) => type)
      engine.network.admit()
      await one?.ask.once(queued?.['releaseId'], 'built')
      expect(reported).toContain('unannounced')
    })

    test('a build goes on while the connections of its queue are lost', async () => {
      const builder = gatedBuilder()
      const { stages, engine } = await services(1, { builder })
      const [one] = stages
      const queued = await one?.ask.queue()
      const { finish } = await builder.next()
      engine.network.refuse()
      finish()
      await one?.ask.once(queued?.['releaseId'], 'built')
      engine.network.admit()
      const next = await one?.ask.queue()
      void builder.next().then((build) => build.finish())
      await one?.ask.once(next?.['releaseId'], 'built')
    })
  })
})
