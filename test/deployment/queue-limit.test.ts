import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deploymentCollections } from '../../src/deployment/collections.ts'
import type { Release } from '../../src/deployment/release.ts'
import { ReleaseStore } from '../../src/deployment/release-store.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { repeatConflicts } from '../../src/work/repeat-conflicts.ts'
import { missingServer, testSchema } from '../kit/postgres.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('the queue of builds of several processes', () => {
  test('never has more builds than its limit, however many are added together', async () => {
    const schema = await testSchema()
    const open = async () => {
      const storage = postgresStorage(schema.open(5), { ensureSchema: true })
      await storage.open(Object.values(deploymentCollections))
      onTestFinished(async () => storage.close())
      return new ReleaseStore({
        ...storage,
        transaction: (options, work) => repeatConflicts(() => storage.transaction(options, work)),
      })
    }
    onTestFinished(() => schema.drop())
    const stores = [await open(), await open()] as const
    const added = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        stores[index % 2 === 0 ? 0 : 1].addQueued(queued(), 5),
      ),
    )
    expect(added.filter(Boolean)).toHaveLength(5)
    expect(await stores[0].countQueued()).toBe(5)
  })
})

function queued(): Release {
  return {
    releaseId: randomUUID(),
    solutionId: 'northwind',
    name: 'Northwind',
    version: '1.0.0',
    releaseNotes: null,
    releaseDate: '2026-03-01T00:00:00',
    snapshot: false,
    status: 'queued',
    fileName: null,
    built: null,
    error: null,
    log: null,
    attempt: 0,
    heartbeat: 0,
    lost: 0,
  }
}
