import { describe, expect, test } from 'vitest'
import { deploymentCollections } from '../../src/deployment/collections.ts'
import { storages } from '../kit/storages.ts'
import { folderOf } from '../kit/folder.ts'
import { gatedBuilder, packageBuilder, textOf } from '../kit/builders.ts'
import { allRows } from '../kit/storages.ts'
import {} from './checker.ts'
import { openDeployment } from './deployment-service.ts'
import { interruptible } from './storages.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'

describe('a service that ends while builds run or wait', () => {
  const reopen = () => {
    const file = `${folderOf()}/data.db`
    return () => sqliteStorage(file, { ensureSchema: true })
  }

  test('returns its builds to the queue, and the next process builds all in order', async () => {
    const storage = reopen()
    const builder = gatedBuilder()
    const first = await openDeployment({ storage: storage(), builder })
    const asked: string[] = []
    for (let count = 0; count < 11; count += 1) {
      asked.push(String((await first.ask.queue())['releaseId']))
    }
    const { signal } = await builder.next()
    await first.service.close()
    expect(signal.aborted).toBe(true)
    expect(builder.builds).toHaveLength(1)
    const after = packageBuilder()
    const second = await openDeployment({ storage: storage(), builder: after })
    for (const releaseId of asked) await second.ask.once(releaseId, 'built')
    expect(after.jobs.map(({ releaseId }) => releaseId)).toEqual(asked)
    expect(after.jobs.map(({ attempt }) => attempt)).toEqual([2, ...asked.slice(1).map(() => 1)])
    expect(second.news.filter(({ type }) => type === 'lost')).toEqual([])
  })

  test('does not wait for a builder that will not stop', async () => {
    const storage = reopen()
    const builder = gatedBuilder({ obeys: false })
    const first = await openDeployment({ storage: storage(), builder })
    const { releaseId } = await first.ask.queue()
    const { finish } = await builder.next()
    await first.service.close()
    const second = await openDeployment({ storage: storage() })
    await second.ask.once(releaseId, 'built')
    finish()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(textOf((await second.ask.release(releaseId))['file'])).toBe(`${String(releaseId)} 2`)
  })

  test('returns a build to the queue after its request has had a response', async () => {
    const storage = reopen()
    const builder = gatedBuilder()
    const first = await openDeployment({ storage: storage(), builder, waitTimeout: 500 })
    const { status } = await first.client.post('/svc-deploy/release', { solutionId: 'northwind' })
    expect(status).toBe(503)
    const { job } = await builder.next()
    await first.service.close()
    const second = await openDeployment({ storage: storage() })
    await second.ask.once(job.releaseId, 'built')
  })

  test('responds 503 to a request that waits for its build, and returns the build to the queue', async () => {
    const storage = reopen()
    const builder = gatedBuilder()
    const { service, client } = await openDeployment({ storage: storage(), builder })
    const waiting = client.post('/svc-deploy/release', { solutionId: 'northwind' })
    const { signal, job } = await builder.next()
    const closed = service.close()
    expect((await client.get('/svc-deploy/metadata')).status).toBe(503)
    const { status, headers } = await waiting
    expect([status, headers.get('Retry-After')]).toEqual([503, '1'])
    expect(signal.aborted).toBe(true)
    await closed
    const second = await openDeployment({ storage: storage() })
    await second.ask.once(job.releaseId, 'built')
  })
})

describe.each(storages)('storage that can’t be reached for a while, $name', (on) => {
  test('a build that has ended meanwhile is kept, once', async () => {
    const builder = gatedBuilder()
    const { wrap, interrupt, resume, rejected } = interruptible()
    const { storage, ask, news } = await openDeployment({ on, builder, wrap })
    const { releaseId } = await ask.queue()
    const { finish } = await builder.next()
    interrupt()
    finish()
    await expect.poll(rejected).toBeGreaterThan(3)
    resume()
    expect(await ask.once(releaseId, 'built', 'failed')).toMatchObject({ status: 'built' })
    expect(builder.builds).toHaveLength(1)
    expect(news.filter(({ type }) => type === 'failed')).toEqual([])
    const packages = await allRows(storage, deploymentCollections.packages)
    expect(packages).toMatchObject([{ releaseId }])
  })

  test('a build that has failed meanwhile has failed', async () => {
    const builder = gatedBuilder()
    const { wrap, interrupt, resume, rejected } = interruptible()
    const { ask } = await openDeployment({ on, builder, wrap })
    const { releaseId } = await ask.queue()
    const { fail } = await builder.next()
    interrupt()
    fail(new Error('broken'))
    await expect.poll(rejected).toBeGreaterThan(3)
    resume()
    await ask.once(releaseId, 'failed')
  })

  test('requests are 503, nothing is queued, and builds continue when it is back', async () => {
    const builder = packageBuilder()
    const { wrap, interrupt, resume } = interruptible()
    const { client, ask, news } = await openDeployment({ on, builder, wrap })
    interrupt()
    for (const name of ['release', 'release-queue']) {
      const { status, headers } = await client.post(`/svc-deploy/${name}`, {
        solutionId: 'northwind',
      })
      expect([status, headers.get('Retry-After')]).toEqual([503, '1'])
    }
    await expect.poll(() => news.some(({ type }) => type === 'unreachable')).toBe(true)
    resume()
    const { releaseId } = await ask.queue()
    await ask.once(releaseId, 'built')
    expect(builder.jobs).toHaveLength(1)
  })

  test('a service can close meanwhile', async () => {
    const builder = gatedBuilder()
    const { wrap, interrupt, resume } = interruptible()
    const { service, ask } = await openDeployment({ on, builder, wrap })
    await ask.queue()
    const { finish } = await builder.next()
    interrupt()
    finish()
    await service.close()
    resume()
  })
})
