import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { defineCollection, integer } from '../../../src/entries/index.ts'
import type { PublishedCollection, StorageAdapter } from '../../../src/entries/storage.ts'
import { pooledServers, type PooledServer } from './pooled-servers.ts'

const notes = defineCollection({ key: 'id', fields: { id: integer() } })
const published = publishApplications({ app: { collections: { notes } } })
const collection = published[0] as PublishedCollection
const writing = { mode: 'write', brief: false } as const

describe.each(pooledServers)('a lost idle connection to $name', ({ missing, start }) => {
  let server: PooledServer
  beforeEach(async (context) => {
    if (missing !== undefined) context.skip(missing)
    server = await start()
    onTestFinished(() => server.drop())
  })

  /** Ends the idle connections of the storages, and returns what would have ended the process. */
  async function uncaughtAfterLoss(): Promise<readonly unknown[]> {
    const uncaught: unknown[] = []
    const others = process.listeners('uncaughtException')
    const note = (error: unknown): void => void uncaught.push(String(error))
    process.removeAllListeners('uncaughtException').on('uncaughtException', note)
    try {
      // A connection is idle a moment after its last statement has ended.
      await expect.poll(() => server.killIdle()).toBeGreaterThan(0)
      await pause(100)
    } finally {
      process.removeListener('uncaughtException', note)
      for (const other of others) process.on('uncaughtException', other)
    }
    return uncaught
  }

  const read = (storage: StorageAdapter) => storage.filter(collection, queryOf(collection, {}))

  test('does not end the process while the storage is open', async () => {
    const storage = server.open(2, { ensureSchema: true })
    await storage.open(published)
    expect(await uncaughtAfterLoss()).toEqual([])
    await storage.close()
  })

  test('does not end the process after the storage was closed', async () => {
    const storage = server.open(2, { ensureSchema: true })
    await storage.open(published)
    await Promise.all([read(storage), read(storage)])
    await storage.close()
    expect(await uncaughtAfterLoss()).toEqual([])
  })

  test('does not end the process after the storage could not be opened', async () => {
    const storage = server.open(2, {})
    await expect(storage.open(published)).rejects.toThrow('the tables do not fit')
    expect(await uncaughtAfterLoss()).toEqual([])
    await storage.close()
    await expect(storage.open(published)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test('does not end the process after a transaction has failed', async () => {
    const storage = server.open(2, { ensureSchema: true })
    await storage.open(published)
    const failed = storage.transaction(writing, async (on) => {
      await on.insert(collection, { id: 1 })
      throw new Error('failed')
    })
    await expect(failed).rejects.toThrow('failed')
    await storage.close()
    expect(await uncaughtAfterLoss()).toEqual([])
  })

  test('of the pool of a replica does not end the process after the storage was closed', async () => {
    const storage = server.openWithReads(2)
    // It is not a replica.
    await expect(storage.open([])).rejects.toThrow('.reads: ')
    await storage.close()
    expect(await uncaughtAfterLoss()).toEqual([])
  })

  test('that the next storage of its pool has used does not end the process', async () => {
    const open = server.openAgain(2)
    for (let time = 0; time < 15; time++) {
      const storage = open()
      await storage.open([])
      await storage.close()
    }
    expect(await uncaughtAfterLoss()).toEqual([])
  })

  test('that several storages of one pool have used does not end the process, and has one listener', async () => {
    const warnings: string[] = []
    const note = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`)
    process.on('warning', note)
    onTestFinished(() => void process.removeListener('warning', note))
    const open = server.openAgain(1)
    const storages = Array.from({ length: 15 }, open)
    for (const storage of storages) await storage.open([])
    await storages[0]?.close()
    expect(await uncaughtAfterLoss()).toEqual([])
    for (const storage of storages) await storage.close()
    expect(warnings).toEqual([])
  })
})
