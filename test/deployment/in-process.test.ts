import { describe, expect, test } from 'vitest'
import { anonymous, principal, system } from '../../src/index.ts'
import { storages } from '../contract/matrix.ts'
import { stage } from './stage.ts'

const deployer = principal('ann', { roles: ['Deployment'] })

describe.each(storages)('deployment in process, $name', (on) => {
  test('builds, queues and reads with the rights of a principal', async () => {
    const { service, ask } = await stage({ on })
    const own = service.as(deployer)
    const built = await own.collection('svc-deploy', 'release').insert({ solutionId: 'plain' })
    expect(built).toMatchObject({ item: { status: 'built', fileName: 'northwind.zip' } })
    const queue = own.collection('svc-deploy', 'release-queue')
    const queued = await queue.insert({ solutionId: 'plain' })
    const { releaseId } = (queued as { item: Record<string, unknown> }).item
    await ask.once(releaseId, 'built')
    expect(await queue.get(String(releaseId))).toMatchObject({ status: 'built' })
  })

  test('refuses who has not the role', async () => {
    const { service } = await stage({ on })
    for (const who of [anonymous, principal('ben'), principal('ben', { roles: ['Reader'] })]) {
      const releases = service.as(who).collection('svc-deploy', 'release')
      await expect(releases.insert({ solutionId: 'plain' })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
    }
  })

  test('the host itself can’t make a release that was not built', async () => {
    const { service } = await stage({ on, workers: 0 })
    const queue = service.as(system).collection('svc-deploy', 'release-queue')
    const given = { solutionId: 'plain', status: 'built', name: 'Mine' }
    const made = await queue.insert(given)
    expect(made).toMatchObject({ item: { status: 'queued', name: 'Plain' } })
  })
})
