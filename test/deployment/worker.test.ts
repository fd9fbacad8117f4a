import { describe, expect, test } from 'vitest'
import { deploymentCollections } from '../../src/deployment/collections.ts'
import { storages } from '../kit/storages.ts'
import { gatedBuilder, packageBuilder, textOf } from '../kit/builders.ts'
import { allRows } from '../kit/storages.ts'
import { openDeployment } from './deployment-service.ts'

const { packages, releases } = deploymentCollections

describe.each(storages)('workers, $name', (on) => {
  test('two workers build 200 releases once each', { timeout: 60_000 }, async () => {
    const builder = packageBuilder()
    const { deployment, storage, ask } = await openDeployment({ on, builder, workers: 4 })
    const second = deployment.work({ concurrency: 4 })
    const asked: unknown[] = []
    for (let count = 0; count < 8; count += 1) {
      const some = await Promise.all(Array.from({ length: 25 }, () => ask.queue()))
      asked.push(...some.map(({ releaseId }) => releaseId))
    }
    const built = async () => {
      const rows = await allRows(storage, releases)
      return rows.filter(({ status }) => status === 'built').length
    }
    await expect.poll(built, { timeout: 30_000 }).toBe(200)
    const jobs = builder.jobs.map(({ releaseId, attempt }) => `${releaseId} ${attempt}`)
    expect(jobs.sort()).toEqual(asked.map((releaseId) => `${String(releaseId)} 1`).sort())
    const kept = await allRows(storage, packages)
    expect(kept.map((row) => textOf(row['file'])).sort()).toEqual(jobs)
    await second.stop()
  })

  test('states only go forward, except for a build that is queued again', async () => {
    const builder = gatedBuilder()
    const { ask, deployment } = await openDeployment({ on, builder, workers: 0 })
    const { releaseId } = await ask.queue()
    const seen: unknown[] = []
    const look = async () => {
      const { status } = await ask.record(releaseId)
      if (seen.at(-1) !== status) seen.push(status)
      return status
    }
    await look()
    const first = deployment.work()
    await builder.next()
    await look()
    await first.stop()
    await look()
    const second = deployment.work()
    const { job, finish } = await builder.next()
    await look()
    finish()
    await expect.poll(look).toBe('built')
    await second.stop()
    await look()
    expect(seen).toEqual(['queued', 'building', 'queued', 'building', 'built'])
    expect(job.attempt).toBe(2)
  })

  test('a build that is longer than its lease keeps it', async () => {
    const builder = gatedBuilder()
    const { ask, news, storage } = await openDeployment({ on, builder, lease: 100, workers: 2 })
    const asked = ask.build()
    const queued = await ask.queue()
    const builds = [await builder.next(), await builder.next()]
    await new Promise((resolve) => setTimeout(resolve, 700))
    for (const { finish } of builds) finish()
    expect(await asked).toMatchObject({ status: 'built' })
    await ask.once(queued['releaseId'], 'built')
    const rows = await allRows(storage, releases)
    expect(rows.map(({ attempt, lost }) => [attempt, lost])).toEqual([
      [1, 0],
      [1, 0],
    ])
    const types = news.map(({ type }) => type)
    expect(types).toEqual(['started', 'started', 'ended', 'ended'])
  })
})

test('a worker that stops gives a release back when its builder has ended', async () => {
  const builder = gatedBuilder({ obeys: false })
  const { service, deployment, ask } = await openDeployment({ builder, workers: 0 })
  const { releaseId } = await ask.queue()
  const worker = deployment.work()
  const build = await builder.next()
  let hasStopped = false
  const stopping = worker.stop().then(() => {
    hasStopped = true
  })
  await expect.poll(() => build.signal.aborted).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect([hasStopped, (await ask.record(releaseId))['status']]).toEqual([false, 'building'])
  build.fail(new Error('stopped'))
  await stopping
  expect((await ask.record(releaseId))['status']).toBe('queued')
  await service.close()
})
