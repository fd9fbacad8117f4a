import { expect, test } from 'vitest'
import { createClient, type BuildProgress } from '../../src/entries/client.ts'
import { BuildError } from '../../src/entries/deployment.ts'
import { gatedBuilder } from '../kit/builders.ts'
import { startDeployed } from '../kit/deployed.ts'
import { serveDuringTest } from '../kit/server.ts'

const build = { solutionId: 'northwind', version: '8.0', releaseNotes: 'New.', snapshot: true }

test('buildAndWait returns the built release, and reports each state', async () => {
  const { url, key } = await startDeployed()
  const { releases } = createClient({ url, key })
  const seen: BuildProgress[] = []
  const built = await releases.buildAndWait(build, {
    onProgress: (progress) => seen.push(progress),
  })
  const { solutionId, version, releaseNotes } = build
  expect(built).toMatchObject({
    solutionId,
    version,
    releaseNotes,
    status: 'built',
    snapshot: true,
  })
  expect(seen.map(({ release }) => release.status)).toEqual(
    expect.arrayContaining(['queued', 'built']),
  )
  expect(await releases.list('northwind')).toMatchObject([{ releaseId: built.releaseId }])
  expect(await releases.get(built.releaseId)).toMatchObject({ status: 'built' })
  expect((await releases.get(built.releaseId, { solutionId })).file).not.toBeNull()
  await expect(releases.get(built.releaseId, { solutionId: 'plain' })).rejects.toMatchObject({
    status: 404,
  })
})

test('a build that fails is returned with the status failed', async () => {
  const builder = gatedBuilder()
  const { url, key } = await startDeployed(builder)
  const waiting = createClient({ url, key }).releases.buildAndWait(build)
  ;(await builder.next()).fail(new BuildError('No luck.'))
  expect(await waiting).toMatchObject({ status: 'failed' })
})

test('a build that takes too long rejects, and so does an aborted one; both continue', async () => {
  const builder = gatedBuilder()
  const { url, key } = await startDeployed(builder)
  const { releases } = createClient({ url, key })
  await expect(releases.buildAndWait(build, { timeout: 50 })).rejects.toMatchObject({
    code: 'TIMEOUT',
  })
  const control = new AbortController()
  const waiting = releases.buildAndWait(build, {
    signal: control.signal,
    onProgress: () => control.abort(),
  })
  await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
  expect((await builder.next()).signal.aborted).toBe(false)
})

test('a service that is unavailable for a moment does not end the waiting', async () => {
  const { handler, key } = await startDeployed()
  let reads = 0
  const url = await serveDuringTest((request, response) => {
    if (request.method === 'GET' && reads++ < 2) request.socket.destroy()
    else handler(request, response)
  })
  const seen: boolean[] = []
  const built = await createClient({ url, key }).releases.buildAndWait(build, {
    onProgress: ({ isRetrying }) => seen.push(isRetrying),
  })
  expect(built.status).toBe('built')
  expect(seen).toContain(true)
})

test('an unknown solution, a wrong key and a service without releases are errors', async () => {
  const { url, key, poorKey } = await startDeployed()
  const { releases } = createClient({ url, key })
  await expect(releases.queue({ solutionId: 'nope' })).rejects.toMatchObject({
    status: 400,
    envelope: { validations: [{ field: 'solutionId' }] },
  })
  await expect(createClient({ url, key: poorKey }).releases.list('x')).rejects.toMatchObject({
    status: 403,
  })
  await expect(createClient({ url, key, brand: 'acme' }).releases.list('x')).rejects.toMatchObject({
    status: 404,
  })
  const page = await serveDuringTest((_, response) => {
    response.end('{"item":{"releaseId":1},"message":null,"validations":[],"status":200}')
  })
  const other = createClient({ url: page }).releases
  for (const call of [() => other.queue(build), () => other.state('x'), () => other.list('x')])
    await expect(call()).rejects.toMatchObject({ code: 'INVALID_RESPONSE' })
})
