import { describe, expect, test } from 'vitest'
import type { BuildQueue } from '../../src/entries/deployment.ts'
import { storages } from '../kit/storages.ts'
import { gatedBuilder } from '../kit/builders.ts'
import { counted } from './storages.ts'
import { expectErrorReply, openDeployment } from './deployment-service.ts'

describe.each(storages)('solutions that build one release at a time, $name', (on) => {
  test('queued builds follow each other, and another solution’s do not wait', async () => {
    const builder = gatedBuilder()
    const { ask } = await openDeployment({ on, builder, serial: true, workers: 4 })
    const [first, second, third] = [await ask.queue(), await ask.queue(), await ask.queue()]
    const other = await ask.queue({ solutionId: 'plain' })
    const begun = [await builder.next(), await builder.next()]
    expect(new Set(begun.map(({ job }) => job.releaseId))).toEqual(
      new Set([first['releaseId'], other['releaseId']]),
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(builder.builds).toHaveLength(2)
    for (const { finish } of begun) finish()
    for (const { releaseId } of [second, third]) {
      const { job, finish } = await builder.next()
      expect(job.releaseId).toBe(releaseId)
      expect(await ask.record(releaseId)).toMatchObject({ status: 'building' })
      finish()
      await ask.once(releaseId, 'built')
    }
  })

  test('requests for one solution take turns, with each other and with the queue', async () => {
    const builder = gatedBuilder()
    const { ask } = await openDeployment({ on, builder, serial: true, workers: 2 })
    const queued = await ask.queue()
    const begun = await builder.next()
    const asked = [ask.build(), ask.build(), ask.build({ solutionId: 'plain' })]
    const plain = await builder.next()
    expect(plain.job.solution.solutionId).toBe('plain')
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(builder.builds).toHaveLength(2)
    plain.finish()
    begun.finish()
    await ask.once(queued['releaseId'], 'built')
    for (const at of [3, 4]) {
      const { finish } = await builder.next()
      expect(builder.builds).toHaveLength(at)
      finish()
    }
    const items = await Promise.all(asked)
    expect(new Set(items.map(({ file }) => file)).size).toBe(3)
  })

  test('a request whose turn does not come is 503, and leaves nothing', async () => {
    const builder = gatedBuilder()
    const { ask, client } = await openDeployment({ on, builder, serial: true, waitTimeout: 250 })
    const queued = await ask.queue()
    const { finish } = await builder.next()
    expectErrorReply(await client.post('/svc-deploy/release', { solutionId: 'northwind' }), 503)
    finish()
    await ask.once(queued['releaseId'], 'built')
    const query = 'solutionId=northwind&$count=true'
    expect((await client.get('/svc-deploy/release', { query })).body.count).toBe(1)
    expect(builder.builds).toHaveLength(1)
  })

  test('a worker that waits for a turn leaves storage alone, and continues with other solutions', async () => {
    const builder = gatedBuilder()
    const { wrap, calls } = counted()
    const { ask } = await openDeployment({
      on,
      builder,
      serial: true,
      workers: 2,
      wrap,
      pollInterval: 100,
    })
    const asked = ask.build()
    const { finish } = await builder.next()
    const waiting = await ask.queue()
    const other = await ask.queue({ solutionId: 'plain' })
    const begun = await builder.next()
    expect(begun.job.releaseId).toBe(other['releaseId'])
    begun.finish()
    await ask.once(other['releaseId'], 'built')
    const before = calls()
    await new Promise((resolve) => setTimeout(resolve, 500))
    // Five looks, with a try to claim in each.
    expect(calls() - before).toBeLessThan(60)
    finish()
    await asked
    ;(await builder.next()).finish()
    await ask.once(waiting['releaseId'], 'built')
  })

  test('another queue hands out each ticket once, and nothing waits indefinitely', async () => {
    const builder = gatedBuilder()
    const { queue, lose } = forgetfulQueue()
    const { ask } = await openDeployment({
      on,
      builder,
      serial: true,
      workers: 2,
      queue,
      lease: 150,
    })
    const [first, second] = [await ask.queue(), await ask.queue()]
    const begun = await builder.next()
    await new Promise((resolve) => setTimeout(resolve, 50))
    begun.finish()
    ;(await builder.next()).finish()
    for (const { releaseId } of [first, second]) await ask.once(releaseId, 'built')
    lose(1)
    const lost = await ask.queue()
    ;(await builder.next()).finish()
    await ask.once(lost['releaseId'], 'built')
  })
})

/** A queue in memory that hands out each ticket once, and loses some. */
function forgetfulQueue(): { readonly queue: BuildQueue; readonly lose: (count: number) => void } {
  let losing = 0
  let announce: BuildQueue['announce'] = () => undefined
  return {
    lose: (count) => (losing = count),
    queue: {
      name: 'forgetful',
      announce: (ticket) => {
        if (losing > 0) losing -= 1
        else return announce(ticket)
      },
      process: (work) => {
        const running = new Set<Promise<void>>()
        announce = (ticket) => {
          const done = work(ticket)
          running.add(done)
        }
        const stop = async (): Promise<void> => {
          await Promise.all(running)
        }
        return { stop }
      },
    },
  }
}
