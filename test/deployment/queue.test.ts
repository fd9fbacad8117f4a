import { describe, expect, test } from 'vitest'
import { storages } from '../kit/storages.ts'
import { gatedBuilder, textOf } from '../kit/builders.ts'
import { expectErrorReply, itemOf, itemsOf, openDeployment } from './deployment-service.ts'

const path = '/svc-deploy/release-queue'

describe.each(storages)('queued builds, $name', (on) => {
  test('a request responds immediately with the queue record, and a poll shows the state', async () => {
    const builder = gatedBuilder()
    const { client, ask } = await openDeployment({ on, builder })
    const reply = await client.post(path, { solutionId: 'northwind', snapshot: false })
    const item = itemOf(reply)
    const record = {
      releaseId: item['releaseId'],
      solutionId: 'northwind',
      name: 'Northwind Traders',
      version: '7.1',
      releaseNotes: 'What is new.',
      releaseDate: '2026-03-01T08:00:00',
      status: 'queued',
      snapshot: false,
    }
    expect(reply.body).toEqual({ item: record, message: null, validations: [], status: 200 })
    const build = await builder.next()
    expect(build.job).toMatchObject({ releaseId: record.releaseId, attempt: 1, version: '7.1' })
    const one = `${path}/${String(record.releaseId)}?solutionId=northwind`
    expect((await client.get(one)).body.item).toEqual({ ...record, status: 'building' })
    build.finish()
    expect(await ask.once(record.releaseId, 'built')).toEqual({ ...record, status: 'built' })
    const release = await ask.release(record.releaseId)
    expect(release).toMatchObject({ ...record, status: 'built', fileName: 'northwind.zip' })
    expect(textOf(release['file'])).toBe(`${String(record.releaseId)} 1`)
  })

  test('a record needs no solution, and is not found under another one', async () => {
    const { client, ask } = await openDeployment({ on, workers: 0 })
    const { releaseId } = await ask.queue()
    const one = `${path}/${String(releaseId)}`
    for (const target of [one, `${one}?solutionId=northwind`]) {
      expect(itemOf(await client.get(target))).toMatchObject({ releaseId, status: 'queued' })
    }
    expectErrorReply(await client.get(`${one}?solutionId=plain`), 404, 'Not found.')
    expectErrorReply(await client.get(`${one}?solutionId=unknown`), 404)
    expectErrorReply(await client.get(`${one}?$fields=*`), 400)
  })

  test('a synchronous build has a queue record as well', async () => {
    const { ask } = await openDeployment({ on })
    const { releaseId } = await ask.build()
    const record = await ask.record(releaseId)
    expect(Object.keys(record)).toEqual([
      'releaseId',
      'solutionId',
      'name',
      'version',
      'releaseNotes',
      'releaseDate',
      'status',
      'snapshot',
    ])
    expect(record['status']).toBe('built')
  })

  test('the queue can be listed, and has nothing that its records have not', async () => {
    const { client, ask } = await openDeployment({ on, workers: 0 })
    const { releaseId } = await ask.queue()
    expectErrorReply(await client.get(path), 400, 'solutionId')
    const [item] = itemsOf(await client.get(`${path}?solutionId=northwind&$fields=*`))
    expect(item).toEqual(await ask.record(releaseId))
    const waiting = await client.get(`${path}?solutionId=northwind&status=queued&$count=true`)
    expect(waiting.body.count).toBe(1)
    for (const name of ['file', 'fileName', 'error', 'log', 'attempt', 'built']) {
      expectErrorReply(await client.get(`${path}?solutionId=northwind&$fields=${name}`), 400)
    }
  })

  test('builds begin in the order of their requests', async () => {
    const builder = gatedBuilder()
    const { ask } = await openDeployment({ on, builder })
    const asked: unknown[] = []
    for (let count = 0; count < 12; count += 1) asked.push((await ask.queue())['releaseId'])
    for (const releaseId of asked) {
      const build = await builder.next()
      expect(build.job.releaseId).toBe(releaseId)
      build.finish()
    }
    await ask.once(asked.at(-1), 'built')
  })

  test('one process builds as many at a time as it may', async () => {
    const builder = gatedBuilder()
    const { ask } = await openDeployment({ on, builder, workers: 3 })
    const asked = await Promise.all(Array.from({ length: 7 }, () => ask.queue()))
    for (let count = 0; count < 3; count += 1) await builder.next()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(builder.builds).toHaveLength(3)
    builder.builds[1]?.finish()
    await builder.next()
    expect(builder.builds).toHaveLength(4)
    for (const build of builder.builds) build.finish()
    for (let count = 0; count < 3; count += 1) (await builder.next()).finish()
    for (const { releaseId } of asked) await ask.once(releaseId, 'built')
    expect(builder.builds).toHaveLength(7)
  })

  test('without workers nothing is built until one is started', async () => {
    const { ask, deployment } = await openDeployment({ on, workers: 0 })
    const { releaseId } = await ask.queue()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await ask.record(releaseId)).toMatchObject({ status: 'queued' })
    const worker = deployment.work()
    await ask.once(releaseId, 'built')
    await worker.stop()
    const later = await ask.queue()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await ask.record(later['releaseId'])).toMatchObject({ status: 'queued' })
  })
})
