import { expect, test } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import { expectErrorReply, keyOf, openDeployment } from './deployment-service.ts'

const id = '0192c7a0-0000-7000-8000-000000000000'
const reads = [
  '/svc-deploy/release?solutionId=northwind',
  '/svc-deploy/release',
  `/svc-deploy/release/${id}`,
  '/svc-deploy/release-queue?solutionId=northwind',
  `/svc-deploy/release-queue/${id}`,
  '/svc-deploy/metadata',
]
const writes = ['/svc-deploy/release', '/svc-deploy/release-queue']

test('requests without a key get 401', async () => {
  const { service } = await openDeployment()
  const client = createTestClient(service)
  for (const key of [undefined, 'AAAAAAAAAAAAAAAAAAAAAA']) {
    const request = key === undefined ? {} : { key }
    for (const path of reads) {
      const reply = await client.get(path, request)
      expectErrorReply(reply, 401)
      expect(reply.headers.get('WWW-Authenticate')).not.toBeNull()
    }
    for (const path of writes) expectErrorReply(await client.post(path, {}, request), 401)
  }
})

test('requests without the role Deployment get 403, whatever they contain', async () => {
  const { service, client: deployer } = await openDeployment({ workers: 0 })
  const client = createTestClient(service, { key: await keyOf(service, 'reader', ['Reader']) })
  for (const path of reads) expectErrorReply(await client.get(path), 403)
  for (const path of writes) {
    for (const body of [{ solutionId: 'northwind' }, {}, '{']) {
      expectErrorReply(await client.post(path, body), 403)
    }
  }
  const { body } = await deployer.get('/svc-deploy/release?solutionId=northwind&$count=true')
  expect(body.count).toBe(0)
  expect((await client.get('/sales/countries')).status).toBe(200)
})

test('a role is gone with the next request', async () => {
  const { service, client } = await openDeployment()
  expect((await client.get('/svc-deploy/metadata')).status).toBe(200)
  await service.users.change('deployer', { roles: ['deployment', 'Deployments'] })
  expectErrorReply(await client.get('/svc-deploy/metadata'), 403)
})

test('what can’t be done is 405, with what can', async () => {
  const { service, client } = await openDeployment()
  const one = `/svc-deploy/release/${id}`
  const queued = `/svc-deploy/release-queue/${id}`
  const rejected = [
    [await client.post(one, {}), 'GET'],
    [await client.delete(one), 'GET'],
    [await client.post(queued, {}), 'GET'],
    [await client.delete(queued), 'GET'],
    [await client.delete('/svc-deploy/release'), 'GET, POST'],
    [await client.delete('/svc-deploy/release-queue'), 'GET, POST'],
    [await client.post('/svc-deploy/metadata', {}), 'GET'],
    [await client.delete('/svc-deploy/metadata'), 'GET'],
  ] as const
  for (const [reply, allow] of rejected) {
    expectErrorReply(reply, 405)
    expect(reply.headers.get('Allow')).toBe(allow)
  }
  for (const method of ['PUT', 'PATCH', 'HEAD', 'OPTIONS']) {
    const { status, headers } = await service.handle({
      method,
      target: '/rest/v1/svc-deploy/release',
      header: () => undefined,
      secure: true,
      peer: undefined,
      signal: undefined,
      body: () => Promise.resolve(new Uint8Array()),
    })
    expect([status, new Headers(headers).get('Allow')]).toEqual([405, 'GET, POST'])
  }
})

test('builds take JSON and nothing else', async () => {
  const { client } = await openDeployment()
  for (const path of writes) {
    const headers = { 'Content-Type': 'text/plain' }
    expectErrorReply(await client.post(path, '{}', { headers }), 415)
    expectErrorReply(await client.post(path, {}, { headers: { Accept: 'text/html' } }), 406)
    expectErrorReply(await client.post(path, {}, { query: 'solutionId=northwind' }), 400)
  }
})
