import { describe, test } from 'vitest'
import { testBuildQueue } from '../../src/entries/conformance.ts'
import { deploymentCollections } from '../../src/deployment/collections.ts'
import { ReleaseStore } from '../../src/deployment/release-store.ts'
import type { Release } from '../../src/deployment/release.ts'
import { storageQueue } from '../../src/deployment/storage-queue.ts'
import { storages } from '../kit/storages.ts'

const blank: Omit<Release, 'releaseId'> = {
  solutionId: 'desk',
  name: 'Desk',
  version: '1.0',
  releaseNotes: null,
  releaseDate: '2026-01-01T00:00:00',
  status: 'queued',
  fileName: null,
  snapshot: false,
  built: null,
  error: null,
  log: null,
  attempt: 0,
  heartbeat: 0,
  lost: 0,
}

describe.each(storages)('$name', ({ open }) => {
  testBuildQueue({
    test,
    create: async () => {
      const { storage, remove } = open()
      await storage.open(Object.values(deploymentCollections))
      const store = new ReleaseStore(storage)
      const queue = storageQueue({
        store,
        serial: false,
        pollInterval: 20,
        report: () => undefined,
      })
      return {
        queue,
        store: async ({ releaseId }) => {
          await store.add({ ...blank, releaseId }, false)
        },
        claim: async ({ releaseId }) => {
          const release = await store.find(releaseId)
          return release !== undefined && (await store.claim(release, false)) !== undefined
        },
        close: async () => {
          await storage.close()
          await remove()
        },
      }
    },
  })
})
