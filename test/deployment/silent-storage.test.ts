import { expect, test } from 'vitest'
import { silentStorage, type SilentStorage } from '../kit/silent-storage.ts'
import { openDeployment } from './deployment-service.ts'

test('while storage is silent, every request of deployment gets a 503', async () => {
  let silent: SilentStorage | undefined
  const { client, reports } = await openDeployment({
    workers: 0,
    // The time of a request of releases, which wait for their builds.
    waitTimeout: 1_000,
    service: { requestTimeout: 1_000 },
    wrap: (storage) => {
      silent = silentStorage(storage)
      return silent.storage
    },
  })
  const body = { solutionId: 'northwind' }
  const queued = await client.post('/svc-deploy/release-queue', body)
  const id = String(queued.body.item?.['releaseId'])
  expect((await client.get(`/svc-deploy/release-queue/${id}`)).status).toBe(200)
  silent?.silence()
  const replies = await Promise.all([
    client.post('/svc-deploy/release-queue', body),
    client.get('/svc-deploy/release-queue?solutionId=northwind'),
    client.get(`/svc-deploy/release-queue/${id}`),
  ])
  for (const { status, headers } of replies) {
    expect([status, headers.get('Retry-After')]).toEqual([503, '1'])
  }
  expect(reports.map(({ type }) => type)).toEqual(replies.map(() => 'storage-unavailable'))
  silent?.resume()
})

test('a build whose storage is silent longer than its request is a 503, and is built later', async () => {
  let silent: SilentStorage | undefined
  const { client, service } = await openDeployment({
    waitTimeout: 1_000,
    service: { requestTimeout: 1_000 },
    wrap: (storage) => {
      silent = silentStorage(storage)
      return silent.storage
    },
    builder: {
      name: 'silent',
      build: async () => {
        silent?.silence()
        return { fileName: 'release.zip', bytes: new Uint8Array(1) }
      },
    },
  })
  const reply = await client.post('/svc-deploy/release', { solutionId: 'northwind' })
  expect([reply.status, reply.headers.get('Retry-After')]).toEqual([503, '1'])
  silent?.resume()
  const built = async () =>
    (await client.get('/svc-deploy/release-queue?solutionId=northwind')).body.items?.map(
      ({ status }) => status,
    )
  await expect.poll(built).toEqual(['built'])
  await service.close()
})
