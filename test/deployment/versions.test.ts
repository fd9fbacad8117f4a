import { expect, test } from 'vitest'
import { createDeployment } from '../../src/entries/deployment.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { createService, memoryStorage, openAccess, system } from '../../src/entries/index.ts'
import type { OpenAccess, SecurityProvider } from '../../src/entries/security.ts'
import { apiKeys, httpBasic } from '../../src/entries/security.ts'
import { packageBuilder } from '../kit/builders.ts'
import { environment, solutions } from './solutions.ts'
import { expectErrorReply, itemOf, keyOf, openDeployment } from './deployment-service.ts'

const record = {
  ...environment,
  supportsDeployment: true,
  supportsInstallOnDeploy: false,
  authenticationType: 'api_key',
}

test('metadata is the environment, one record under item', async () => {
  const { client } = await openDeployment()
  const { status, body } = await client.get('/svc-deploy/metadata')
  expect(status).toBe(200)
  expect(body).toEqual({ item: record, message: null, validations: [], status: 200 })
  expect(Object.keys(body.item ?? {})).toEqual([
    'environmentId',
    'name',
    'url',
    'supportsDeployment',
    'supportsInstallOnDeploy',
    'authenticationType',
  ])
  for (const target of ['/svc-deploy/metadata/env-1', '/svc-deploy/metadata/']) {
    expectErrorReply(await client.get(target), 404)
  }
  for (const query of ['$fields=*', '$limit=1', 'nothing=1']) {
    expectErrorReply(await client.get('/svc-deploy/metadata', { query }), 400)
  }
})

test('metadata is what the options of deployment say', async () => {
  const given = { ...environment, supportsDeployment: false, supportsInstallOnDeploy: true }
  const { client } = await openDeployment({ environment: given })
  const expected = { ...given, authenticationType: 'api_key' }
  expect(itemOf(await client.get('/svc-deploy/metadata'))).toEqual(expected)
})

test.each<[string | false, number, number]>([
  ['1.0', 404, 404],
  ['4.9', 404, 404],
  ['4.51', 404, 404],
  ['4.52', 200, 404],
  ['4.53', 200, 404],
  ['4.54', 200, 200],
  ['4.100', 200, 200],
  ['5.0', 200, 200],
  [false, 200, 200],
])(
  'version %s: releases respond %i and metadata %i',
  async (serviceVersion, releases, metadata) => {
    const { applications } = createDeployment({
      solutions,
      environment,
      builder: packageBuilder(),
    })
    const service = createService({
      applications,
      storage: memoryStorage(),
      security: apiKeys({ name: 'API Key' }),
      serviceVersion,
    })
    const client = createTestClient(service, { key: await keyOf(service, 'deployer') })
    const lists = ['release', 'release-queue'].map(async (name) => {
      const { status } = await client.get(`/svc-deploy/${name}?solutionId=northwind`)
      const posted = await client.post(`/svc-deploy/${name}`, { solutionId: 'northwind' })
      return [status, posted.status]
    })
    expect((await Promise.all(lists)).flat()).toEqual(Array.from({ length: 4 }, () => releases))
    const found = await client.get('/svc-deploy/metadata')
    expect(found.status).toBe(metadata)
    expect(found.headers.get('X-Svc-Version')).toBe(
      serviceVersion === false ? null : serviceVersion,
    )
    await service.close()
  },
)

test('the brand prefix of the service names the application', async () => {
  const { applications } = createDeployment({
    solutions,
    environment,
    builder: packageBuilder(),
  })
  const service = createService({
    applications,
    storage: memoryStorage(),
    brand: 'acme',
    security: apiKeys({ name: 'API Key' }),
  })
  const client = createTestClient(service, { key: await keyOf(service, 'deployer') })
  const reply = await client.post('/acme-deploy/release', { solutionId: 'plain' })
  expect(itemOf(reply)).toMatchObject({ status: 'built' })
  expect(reply.headers.get('X-Acme-Version')).toBe('4.54')
  expect(itemOf(await client.get('/acme-deploy/metadata'))).toEqual(record)
  expectErrorReply(await client.get('/svc-deploy/metadata'), 404)
  await service.close()
})

const keys = apiKeys({ name: 'API Key', priority: 5 })

test.each<[string, readonly SecurityProvider[] | OpenAccess, string]>([
  ['keys', [keys], 'api_key'],
  [
    'passwords before keys',
    [keys, httpBasic({ name: 'Passwords', priority: 1 })],
    'http_basic_auth',
  ],
  [
    'keys, since passwords are disabled',
    [keys, { ...httpBasic({ name: 'Passwords', priority: 1 }), enabled: false }],
    'api_key',
  ],
  ['open access', openAccess(), 'api_key'],
])('the environment names how callers authenticate: %s', async (_, security, expected) => {
  const { applications } = createDeployment({
    solutions,
    environment,
    builder: packageBuilder(),
  })
  const service = createService({
    applications,
    storage: memoryStorage(),
    security: security as OpenAccess,
  })
  const metadata = service.as(system).collection('svc-deploy', 'metadata')
  const { items } = await metadata.filter()
  expect(items[0]).toMatchObject({ authenticationType: expected })
  await service.close()
})

test('another application of the reserved name is a mistake, whatever the brand', () => {
  const { applications } = createDeployment({
    solutions,
    environment,
    builder: packageBuilder(),
  })
  const own = { 'acme-deploy': { collections: {} } }
  const start = () =>
    createService({
      applications: { ...own, ...applications },
      storage: memoryStorage(),
      brand: 'acme',
      security: openAccess(),
    })
  expect(start).toThrow('applications.acme-deploy: the name belongs to deployment')
})
