import { describe, expect, test } from 'vitest'
import { StorageError, type StorageAdapter } from '../../src/entries/storage.ts'
import { gatedBuilder } from '../kit/builders.ts'
import { storages } from '../kit/storages.ts'
import { openDeployment, type DeploymentServiceOptions } from './deployment-service.ts'

const headers = { 'Idempotency-Key': 'k' }
const body = { solutionId: 'northwind' }

async function open(options: DeploymentServiceOptions) {
  const opened = await openDeployment({ idempotencyKeys: true, ...options })
  const { client } = opened
  const count = async () => {
    const query = 'solutionId=northwind&$count=true'
    const reply = await client.get('/svc-deploy/release', { query })
    return reply.body.count
  }
  return {
    ...opened,
    count,
    build: () => client.post('/svc-deploy/release', body, { headers }),
    queue: () => client.post('/svc-deploy/release-queue', body, { headers }),
  }
}

/** Returns a storage that loses its connection after it has committed the first release. */
function losingCommit(storage: StorageAdapter): StorageAdapter {
  let isLost = false
  return {
    ...storage,
    transaction: async (options, work) => {
      const state = { writes: false }
      const result = await storage.transaction(options, (on) =>
        work({
          ...on,
          filter: (...given) => on.filter(...given),
          update: (...given) => on.update(...given),
          delete: (...given) => on.delete(...given),
          insert: (collection, row) => {
            if (collection.table === 'rowgate_releases') state.writes = true
            return on.insert(collection, row)
          },
        }),
      )
      if (!state.writes || isLost) return result
      isLost = true
      throw new StorageError('unavailable')
    },
  }
}

/** Returns what makes a storage wait before it inserts a release, until it is released. */
function delayingInsert() {
  let release = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const wrap = (storage: StorageAdapter): StorageAdapter => ({
    ...storage,
    transaction: (options, work) =>
      storage.transaction(options, (on) =>
        work({
          ...on,
          filter: (...given) => on.filter(...given),
          update: (...given) => on.update(...given),
          delete: (...given) => on.delete(...given),
          insert: async (collection, row) => {
            if (collection.table === 'rowgate_releases') await gate
            return on.insert(collection, row)
          },
        }),
      ),
  })
  return { wrap, release }
}

describe.each(storages)('builds with an idempotency key, $name', (on) => {
  test('a build begins once, and its repetition has its response', async () => {
    const { build, count } = await open({ on })
    const first = await build()
    expect(first.status).toBe(200)
    const second = await build()
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('Idempotent-Replayed')).toBe('true')
    expect(await count()).toBe(1)
  })

  test('a build is queued once', async () => {
    const { queue, count } = await open({ on, workers: 0 })
    const first = await queue()
    const second = await queue()
    expect(second.body).toEqual(first.body)
    expect(await count()).toBe(1)
  })

  test('while a build is in progress, its repetition is 409 with Retry-After', async () => {
    const builder = gatedBuilder()
    const { build, count } = await open({ on, builder })
    const first = build()
    const { finish } = await builder.next()
    const second = await build()
    expect(second.status).toBe(409)
    expect(second.headers.get('Retry-After')).toBe('1')
    finish()
    expect((await first).status).toBe(200)
    expect((await build()).status).toBe(200)
    expect(await count()).toBe(1)
  })

  test('a build that continues after the response to its request does not begin again', async () => {
    const builder = gatedBuilder()
    const { build, count, ask } = await open({ on, builder, waitTimeout: 500 })
    expect((await build()).status).toBe(503)
    const { job, finish } = await builder.next()
    const second = await build()
    expect(second.status).toBe(409)
    expect(second.headers.get('Retry-After')).toBeNull()
    finish()
    await ask.once(job.releaseId, 'built')
    expect(await count()).toBe(1)
  })

  test('a request that has waited too long for its build to begin may be executed again', async () => {
    const builder = gatedBuilder()
    const { client, build } = await open({ on, builder, waitTimeout: 300, workers: 1 })
    const other = client.post('/svc-deploy/release', body)
    const first = await builder.next()
    expect((await build()).status).toBe(503)
    first.finish()
    await other
    const second = build()
    ;(await builder.next()).finish()
    expect((await second).status).toBe(200)
  })

  test('a build whose commit may have been executed is not queued again', async () => {
    const { queue, count } = await open({ on, workers: 0, wrap: losingCommit })
    expect((await queue()).status).toBe(503)
    const second = await queue()
    expect(second.status).toBe(409)
    expect(second.headers.get('Retry-After')).toBeNull()
    expect(await count()).toBe(1)
  })

  test('a build that storage has queued after the time limit is not queued again', async () => {
    const { wrap, release } = delayingInsert()
    const { queue, count } = await open({ on, workers: 0, wrap, service: { handlerTimeout: 500 } })
    expect((await queue()).status).toBe(503)
    expect((await queue()).status).toBe(409)
    release()
    await expect.poll(count).toBe(1)
    expect((await queue()).status).toBe(409)
  })

  test('without the option, the header is ignored', async () => {
    const { build, count } = await open({ on, idempotencyKeys: false })
    await build()
    await build()
    expect(await count()).toBe(2)
  })
})
