import { describe, expect, test } from 'vitest'
import { gatedBuilder } from '../kit/builders.ts'
import { storages } from '../kit/storages.ts'
import { itemOf, openDeployment } from './deployment-service.ts'

const queue = '/svc-deploy/release-queue'
const release = '/svc-deploy/release'
const body = { solutionId: 'northwind' }
const full = {
  message: 'The changes could not be saved.',
  validations: [
    {
      message:
        'The solution has 3 open releases, which is the maximum. Wait until one of them is built.',
      severity: 'error',
      field: 'solutionId',
    },
  ],
}

describe.each(storages)('a solution has at most maxOpenReleases open releases, $name', (on) => {
  test('a further one is a rejected save, queued or not, until one of them is built', async () => {
    const builder = gatedBuilder()
    const { client, ask } = await openDeployment({ on, builder, workers: 1, maxOpenReleases: 3 })
    const first = await ask.queue()
    const running = await builder.next()
    await ask.queue()
    await ask.queue()
    for (const path of [queue, release]) {
      const reply = await client.post(path, body)
      expect(reply.status).toBe(400)
      expect(reply.body).toMatchObject(full)
    }
    // The other solution has a number of its own.
    itemOf(await client.post(queue, { solutionId: 'plain' }))
    running.finish()
    await ask.once(first['releaseId'], 'built')
    await ask.queue()
    expect((await client.post(queue, body)).status).toBe(400)
    for (let count = 0; count < 4; count += 1) (await builder.next()).finish()
  })

  test('of many that come together, only so many are accepted', async () => {
    const builder = gatedBuilder()
    const { client } = await openDeployment({ on, builder, workers: 1, maxOpenReleases: 3 })
    const replies = Array.from({ length: 12 }, (_, at) =>
      client.post(at % 2 === 0 ? queue : release, body),
    )
    let rejected = 0
    const counted = replies.map(async (reply) => {
      if ((await reply).status === 400) rejected += 1
      return (await reply).status
    })
    await expect.poll(() => rejected).toBeGreaterThanOrEqual(9)
    const accepted = 12 - rejected
    expect(accepted).toBeGreaterThan(0)
    for (let count = 0; count < accepted; count += 1) (await builder.next()).finish()
    expect((await Promise.all(counted)).filter((status) => status === 200)).toHaveLength(accepted)
  })
})
