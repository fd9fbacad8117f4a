import { describe, expect, test } from 'vitest'
import { createDeployment } from '../../src/entries/deployment.ts'
import { deploymentCollections } from '../../src/deployment/collections.ts'
import { ReleaseStore } from '../../src/deployment/release-store.ts'
import { createService, memoryStorage, openAccess, system } from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { storages } from '../kit/storages.ts'
import { gatedBuilder, packageBuilder } from '../kit/builders.ts'
import { allRows } from '../kit/storages.ts'
import { applications, environment, solutions } from './solutions.ts'
import { openDeployment } from './deployment-service.ts'

const snapshotData = ['sales/countries']
const dataPath = 'data/sales/countries.ndjson'

async function keptBy(storage: StorageAdapter): Promise<readonly Record<string, string>[]> {
  const rows = await allRows(storage, deploymentCollections.snapshots)
  return rows.map((row) => JSON.parse(String(row['files'])) as Record<string, string>)
}

describe.each(storages)('snapshots, $name', (on) => {
  test('hold the definitions and the named data, and are kept and handed to the builder', async () => {
    const builder = packageBuilder()
    const { service, storage, ask } = await openDeployment({ on, builder, snapshotData })
    const countries = service.as(system).collection('sales', 'countries')
    for (const code of ['SE', 'DE', 'ÅX']) await countries.insert({ code, visits: 1 })
    const item = await ask.build({ solutionId: 'northwind', snapshot: true })
    expect(item['snapshot']).toBe(true)
    const [kept = {}] = await keptBy(storage)
    const given = builder.jobs[0]?.snapshot ?? []
    const texts = given.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])
    expect(Object.fromEntries(texts)).toEqual(kept)
    expect(Object.keys(kept)).toEqual(['definitions.json', dataPath])
    const lines = (kept[dataPath] ?? '').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { code: 'DE', visits: 1 },
      { code: 'SE', visits: 1 },
      { code: 'ÅX', visits: 1 },
    ])
    expect(kept['definitions.json']).toContain('countries')
    expect(JSON.stringify(kept)).not.toMatch(/rowgate_|deployer/)
  })

  test('are taken only on request, and contain only the named data', async () => {
    const builder = packageBuilder()
    const { storage, ask } = await openDeployment({ on, builder })
    await ask.build()
    expect(await keptBy(storage)).toEqual([])
    const { releaseId } = await ask.queue({ solutionId: 'plain', snapshot: true })
    await ask.once(releaseId, 'built')
    const [kept = {}] = await keptBy(storage)
    expect(Object.keys(kept)).toEqual(['definitions.json'])
    expect(builder.jobs.map(({ snapshot }) => snapshot?.length ?? null)).toEqual([null, 1])
  })

  test('are of one moment while others write, however many pages they have', async () => {
    const { service, storage, ask } = await openDeployment({ on, snapshotData })
    const countries = service.as(system).collection('sales', 'countries')
    const codes = Array.from({ length: 1_200 }, (_, index) => String(10_000 + index))
    await Promise.all(codes.map((code) => countries.insert({ code, visits: 0 })))
    const stop = new AbortController()
    // Each round changes the first and the last: at one moment they are at most one apart.
    const writing = (async () => {
      for (let visits = 1; !stop.signal.aborted; visits += 1) {
        await countries.update('10000', { visits })
        await countries.update('11199', { visits })
      }
    })()
    for (let count = 0; count < 3; count += 1) {
      await ask.build({ solutionId: 'northwind', snapshot: true })
    }
    stop.abort()
    await writing
    const all = await keptBy(storage)
    expect(all).toHaveLength(3)
    for (const kept of all) {
      const lines = (kept[dataPath] ?? '').trimEnd().split('\n')
      const items = lines.map((line) => JSON.parse(line) as { code: string; visits: number })
      expect(items.map(({ code }) => code)).toEqual(codes)
      const [first, last] = [items[0]?.visits ?? 0, items.at(-1)?.visits ?? 0]
      expect(first).toBeGreaterThan(0)
      expect([0, 1]).toContain(first - last)
    }
  })

  test('are taken again by the next attempt, and kept once', async () => {
    const builder = gatedBuilder()
    const { deployment, storage, ask } = await openDeployment({
      on,
      builder,
      snapshotData,
      workers: 0,
    })
    const { releaseId } = await ask.queue({ solutionId: 'northwind', snapshot: true })
    const first = deployment.work()
    await builder.next()
    await first.stop()
    deployment.work()
    ;(await builder.next()).finish()
    await ask.once(releaseId, 'built')
    expect(await keptBy(storage)).toHaveLength(1)
  })
})

test('data of a collection that is not published is a mistake at start', () => {
  const deployment = createDeployment({
    solutions,
    environment,
    builder: packageBuilder(),
    snapshotData: ['sales/orders', 'sales/countries'],
  })
  const start = () =>
    createService({
      applications: { ...applications, ...deployment.applications },
      storage: memoryStorage(),
      security: openAccess(),
    })
  expect(start).toThrow('deployment.snapshotData: there is no collection sales/orders')
  expect(start).not.toThrow('sales/countries')
})

test('the snapshot of a worker that has lost its release replaces no other', async () => {
  const { storage, ask } = await openDeployment({ snapshotData })
  const { releaseId } = await ask.build({ solutionId: 'northwind', snapshot: true })
  const before = await keptBy(storage)
  const store = new ReleaseStore(storage)
  const built = await store.find(String(releaseId))
  if (built === undefined) throw new Error('The release is missing.')
  expect(await store.saveSnapshot({ ...built, status: 'building' }, '{}')).toBe(false)
  expect(await keptBy(storage)).toEqual(before)
})
