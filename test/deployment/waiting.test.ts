import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bindings } from '../kit/cells.ts'
import { storages } from '../kit/storages.ts'
import { gatedBuilder, textOf } from '../kit/builders.ts'
import { expectErrorReply, keyOf, openDeployment } from './deployment-service.ts'

const path = '/svc-deploy/release'

describe.each(storages)('builds that take long, $name', (on) => {
  test('a request that has waited long enough is 503, and its build continues', async () => {
    const builder = gatedBuilder()
    const { client, ask, reports } = await openDeployment({ on, builder, waitTimeout: 500 })
    const reply = await client.post(path, { solutionId: 'northwind' })
    expectErrorReply(reply, 503)
    expect(reply.headers.get('Retry-After')).toMatch(/^\d+$/)
    const { job, finish } = await builder.next()
    expect(await ask.release(job.releaseId)).toMatchObject({ status: 'building', file: null })
    finish()
    await ask.once(job.releaseId, 'built')
    const { file } = await ask.release(job.releaseId)
    expect(textOf(file)).toBe(`${job.releaseId} 1`)
    expect(reports.filter(({ type }) => type === 'request-failed')).toEqual([])
  })

  test('a request beyond the maximum that may wait is 429 and leaves nothing, even if many arrive at once', async () => {
    const builder = gatedBuilder()
    const { client, ask } = await openDeployment({ on, builder, queueLimit: 4, workers: 0 })
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        client.post('/svc-deploy/release-queue', { solutionId: 'northwind' }),
      ),
    )
    const rejected = replies.filter(({ status }) => status !== 200)
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(4)
    for (const reply of rejected) {
      expectErrorReply(reply, 429, 'Too many builds are waiting.')
      expect(reply.headers.get('Retry-After')).toMatch(/^\d+$/)
    }
    const { body } = await client.get(path, { query: 'solutionId=northwind&$count=true' })
    expect(body.count).toBe(4)
    const now = ask.build()
    const { finish } = await builder.next()
    finish()
    await now
  })

  test('there is room again when a build has begun', async () => {
    const builder = gatedBuilder()
    const { client, ask } = await openDeployment({ on, builder, queueLimit: 1 })
    await ask.queue()
    const first = await builder.next()
    await ask.queue()
    expect(
      (await client.post('/svc-deploy/release-queue', { solutionId: 'northwind' })).status,
    ).toBe(429)
    first.finish()
    ;(await builder.next()).finish()
    const third = await ask.queue()
    ;(await builder.next()).finish()
    await ask.once(third['releaseId'], 'built')
  })
})

describe.each(bindings)('a client that leaves, by $name', (binding) => {
  test('does not end its build, which can be had afterwards', async () => {
    const builder = gatedBuilder()
    const { service, ask, reports } = await openDeployment({ builder })
    const host = await binding.start(service)
    onTestFinished(() => host.close())
    const key = await keyOf(service, 'leaver')
    const socket = connect(host.port, '127.0.0.1')
    const body = '{"solutionId":"northwind"}'
    socket.write(
      [
        'POST /rest/v1/svc-deploy/release HTTP/1.1',
        'Host: x',
        `X-API-Key: ${key}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    )
    const { job, signal, finish } = await builder.next()
    socket.resetAndDestroy()
    await once(socket, 'close')
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(signal.aborted).toBe(false)
    finish()
    await ask.once(job.releaseId, 'built')
    expect(textOf((await ask.release(job.releaseId))['file'])).toBe(`${job.releaseId} 1`)
    expect(reports.filter(({ type }) => type === 'request-failed')).toEqual([])
  })
})

test('many requests that wait for their builds all receive them, without a warning of Node', async () => {
  const warnings: Error[] = []
  const warn = (warning: Error): void => void warnings.push(warning)
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  const builder = gatedBuilder()
  const { ask } = await openDeployment({ builder })
  const asked = Array.from({ length: 40 }, () => ask.build())
  for (let count = 0; count < 40; count += 1) (await builder.next()).finish()
  const items = await Promise.all(asked)
  expect(new Set(items.map(({ file }) => file)).size).toBe(40)
  // Warnings are told in a turn of their own.
  await new Promise((resolve) => setTimeout(resolve))
  expect(warnings).toEqual([])
})
