import { expect, test } from 'vitest'
import { createDeployment } from '../../src/deployment/index.ts'
import { createTestClient } from '../../src/http/test-client.ts'
import { createService, memoryStorage } from '../../src/index.ts'
import { apiKeys } from '../../src/security/index.ts'
import { packageBuilder } from './builders.ts'
import { environment, solutions } from './solutions.ts'
import { expectRefused, itemOf, keyOf, stage } from './stage.ts'

const record = {
  ...environment,
  supportsDeployment: true,
  supportsInstallOnDeploy: false,
  authenticationType: 'api_key',
}

test('metadata is the environment, one record under item (D55)', async () => {
  const { client } = await stage()
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
    expectRefused(await client.get(target), 404)
  }
  for (const query of ['$fields=*', '$limit=1', 'nothing=1']) {
    expectRefused(await client.get('/svc-deploy/metadata', { query }), 400)
  }
})

test('metadata says what the host says', async () => {
  const told = {
    ...environment,
    supportsDeployment: false,
    supportsInstallOnDeploy: true,
    authenticationType: 'auth_server',
  } as const
  const { client } = await stage({ environment: told })
  expect(itemOf(await client.get('/svc-deploy/metadata'))).toEqual(told)
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
  'version %s: releases are answered with %i and metadata with %i (D57)',
  async (serviceVersion, releases, metadata) => {
    const { applications, storage } = createDeployment({
      storage: memoryStorage(),
      solutions,
      environment,
      builder: packageBuilder(),
      serviceVersion,
    })
    const service = createService({
      applications,
      storage,
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

test('the brand names the application', async () => {
  const { applications, storage } = createDeployment({
    storage: memoryStorage(),
    solutions,
    environment,
    builder: packageBuilder(),
    brand: 'acme',
  })
  expect(Object.keys(applications)).toEqual(['acme-deploy'])
  const service = createService({
    applications,
    storage,
    brand: 'acme',
    security: apiKeys({ name: 'API Key' }),
  })
  const client = createTestClient(service, { key: await keyOf(service, 'deployer') })
  const reply = await client.post('/acme-deploy/release', { solutionId: 'plain' })
  expect(itemOf(reply)).toMatchObject({ status: 'built' })
  expect(reply.headers.get('X-Acme-Version')).toBe('4.54')
  expect(itemOf(await client.get('/acme-deploy/metadata'))).toEqual(record)
  expectRefused(await client.get('/svc-deploy/metadata'), 404)
  await service.close()
})
