import { describe, expect, test } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import { anonymous, principal, system } from '../../src/entries/index.ts'
import { apiKeys, type SecurityProvider } from '../../src/entries/security.ts'
import { asPrincipal, forgedSystems } from '../kit/forgeries.ts'
import { storages } from '../kit/storages.ts'
import { openDeployment } from './deployment-service.ts'

const keys = apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } })
const deployer = principal('ann', { roles: ['Deployment'] })

describe.each(storages)('deployment in process, $name', (on) => {
  test('builds, queues and reads with the rights of a principal', async () => {
    const { service, ask } = await openDeployment({ on })
    const own = service.as(deployer)
    const built = await own.collection('svc-deploy', 'release').insert({ solutionId: 'plain' })
    expect(built).toMatchObject({ item: { status: 'built', fileName: 'northwind.zip' } })
    const queue = own.collection('svc-deploy', 'release-queue')
    const queued = await queue.insert({ solutionId: 'plain' })
    const { releaseId } = (queued as { item: Record<string, unknown> }).item
    await ask.once(releaseId, 'built')
    expect(await queue.get(String(releaseId))).toMatchObject({ status: 'built' })
  })

  test('reads and counts with conditions that are more than a value', async () => {
    const { service, ask } = await openDeployment({ on })
    for (const version of ['1.0', '2.0', '2.1']) {
      await ask.build({ solutionId: 'northwind', version })
    }
    const releases = service.as(deployer).collection('svc-deploy', 'release')
    const second = { solutionId: 'northwind', version: { startsWith: '2.' } } as const
    expect(await releases.count(second)).toBe(2)
    const { items } = await releases.filter(second)
    expect(items.map(({ version }) => version).sort()).toEqual(['2.0', '2.1'])
    expect(await releases.exists({ ...second, version: { in: ['3.0', '4.0'] } })).toBe(false)
  })

  test('rejects a principal without the role', async () => {
    const { service } = await openDeployment({ on })
    for (const who of [anonymous, principal('ben'), principal('ben', { roles: ['Reader'] })]) {
      const releases = service.as(who).collection('svc-deploy', 'release')
      await expect(releases.insert({ solutionId: 'plain' })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
    }
  })

  test.each(Object.entries(forgedSystems))('rejects %s as its caller', async (_, make) => {
    const forger: SecurityProvider = {
      name: 'Forger',
      priority: 9,
      challenge: 'Forger',
      allowInsecureHttp: true,
      find: (request) => {
        const value = request.header('x-forged')
        return value === undefined ? undefined : { place: 'header x-forged', value }
      },
      identify: () => asPrincipal(make()),
    }
    const { service, reports } = await openDeployment({
      on,
      workers: 0,
      service: { security: [keys, forger] },
    })
    expect(() => service.as(asPrincipal(make()))).toThrow(TypeError)
    const client = createTestClient(service, { headers: { 'x-forged': 'x' } })
    for (const path of ['/svc-deploy/release', '/svc-deploy/release-queue']) {
      expect(await client.post(path, { solutionId: 'plain' })).toMatchObject({ status: 500 })
    }
    expect(reports.map(({ type }) => type)).toEqual(['request-failed', 'request-failed'])
    const queue = service.as(system).collection('svc-deploy', 'release-queue')
    expect((await queue.filter()).items).toEqual([])
  })

  test('the application itself can’t make a release that was not built', async () => {
    const { service } = await openDeployment({ on, workers: 0 })
    const queue = service.as(system).collection('svc-deploy', 'release-queue')
    const given = { solutionId: 'plain', status: 'built', name: 'Mine' }
    const made = await queue.insert(given)
    expect(made).toMatchObject({ item: { status: 'queued', name: 'Plain' } })
  })
})
