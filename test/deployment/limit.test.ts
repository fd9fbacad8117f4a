import { describe, expect, test } from 'vitest'
import { storages } from '../kit/storages.ts'
import { gatedBuilder } from '../kit/builders.ts'
import { expectErrorReply, itemOf, openDeployment } from './deployment-service.ts'

const release = '/svc-deploy/release'
const body = { solutionId: 'northwind' }

describe.each(storages)('one limit for both ways to build, $name', (on) => {
  test('builds of requests wait for a free worker, and beyond queueLimit respond 429', async () => {
    const builder = gatedBuilder()
    const { client } = await openDeployment({ on, builder, workers: 1, queueLimit: 3 })
    const replies = Array.from({ length: 40 }, () => client.post(release, body))
    let rejected = 0
    const counted = replies.map(async (reply) => {
      if ((await reply).status === 429) rejected += 1
      return reply
    })
    const first = await builder.next()
    await expect.poll(() => rejected).toBe(36)
    expect(builder.builds).toHaveLength(1)
    first.finish()
    for (let count = 0; count < 3; count += 1) {
      const build = await builder.next()
      expect(builder.builds).toHaveLength(count + 2)
      build.finish()
    }
    const all = await Promise.all(counted)
    expect(all.filter(({ status }) => status === 200)).toHaveLength(4)
    const excess = all.find(({ status }) => status === 429)
    expect(Number(excess?.headers.get('Retry-After'))).toBeGreaterThan(0)
    itemOf(await replyOf(client.post(release, body), builder))
  })

  test('queued builds and builds of requests share the workers and the limit', async () => {
    const builder = gatedBuilder()
    const { client, ask } = await openDeployment({ on, builder, workers: 1, queueLimit: 2 })
    const queued = await ask.queue()
    const running = await builder.next()
    const waiting = client.post(release, body)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const other = await ask.queue()
    expectErrorReply(await client.post('/svc-deploy/release-queue', body), 429)
    expectErrorReply(await client.post(release, body), 429)
    expect(builder.builds).toHaveLength(1)
    running.finish()
    for (let count = 0; count < 2; count += 1) (await builder.next()).finish()
    itemOf(await waiting)
    for (const { releaseId } of [queued, other]) await ask.once(releaseId, 'built')
  })

  test('a service that leaves the queue to others builds one release at a time', async () => {
    const builder = gatedBuilder()
    const { client } = await openDeployment({ on, builder, workers: 0 })
    const replies = [client.post(release, body), client.post(release, body)]
    const first = await builder.next()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(builder.builds).toHaveLength(1)
    first.finish()
    ;(await builder.next()).finish()
    for (const reply of replies) itemOf(await reply)
  })

  test('a request that gets no free worker in time responds 503 and leaves nothing', async () => {
    const builder = gatedBuilder()
    const { client, ask } = await openDeployment({ on, builder, waitTimeout: 150 })
    const { releaseId } = await ask.queue()
    const running = await builder.next()
    expectErrorReply(await client.post(release, body), 503)
    running.finish()
    await ask.once(releaseId, 'built')
    const { body: page } = await client.get(release, { query: 'solutionId=northwind&$count=true' })
    expect(page.count).toBe(1)
  })

  test('more than a hundred builds that cannot start do not hide builds of other solutions', async () => {
    const builder = gatedBuilder()
    const { ask } = await openDeployment({
      on,
      builder,
      serial: true,
      workers: 2,
      pollInterval: 60_000,
    })
    for (let count = 0; count < 120; count += 1) await ask.queue()
    const { releaseId } = await ask.queue({ solutionId: 'plain' })
    const [one, other] = [await builder.next(), await builder.next()]
    expect([one, other].map(({ job }) => job.releaseId)).toContain(releaseId)
  })
})

async function replyOf<Reply>(
  reply: Promise<Reply>,
  builder: ReturnType<typeof gatedBuilder>,
): Promise<Reply> {
  ;(await builder.next()).finish()
  return reply
}
