import { expect, test } from 'vitest'
import type { PublishedCollection, StorageAdapter } from '../../src/entries/storage.ts'
import { openDeployment } from './deployment-service.ts'

test('while storage is silent, every request of deployment gets a 503', async () => {
  const held: (() => void)[] = []
  const state = { isSilent: false }
  const answered = async (): Promise<void> => {
    if (state.isSilent) await new Promise<void>((resolve) => held.push(resolve))
  }
  const isDeployment = ({ application }: PublishedCollection) =>
    application === 'rowgate-deployment'
  const { client, reports } = await openDeployment({
    workers: 0,
    waitTimeout: 100,
    service: { handlerTimeout: 100 },
    wrap: (storage): StorageAdapter => ({
      ...storage,
      supports: { ...storage.supports, textPages: false },
      filter: async (...given) => {
        if (isDeployment(given[0])) await answered()
        return storage.filter(...given)
      },
      transaction: async (...given) => {
        await answered()
        return storage.transaction(...given)
      },
    }),
  })
  const body = { solutionId: 'northwind' }
  const queued = await client.post('/svc-deploy/release-queue', body)
  const id = String(queued.body.item?.['releaseId'])
  expect((await client.get(`/svc-deploy/release-queue/${id}`)).status).toBe(200)
  state.isSilent = true
  const replies = await Promise.all([
    client.post('/svc-deploy/release-queue', body),
    client.get('/svc-deploy/release-queue?solutionId=northwind'),
    client.get(`/svc-deploy/release-queue/${id}`),
  ])
  for (const { status, headers } of replies) {
    expect([status, headers.get('Retry-After')]).toEqual([503, '1'])
  }
  expect(reports.map(({ type }) => type)).toEqual(replies.map(() => 'storage-unavailable'))
  state.isSilent = false
  for (const resolve of held) resolve()
})
