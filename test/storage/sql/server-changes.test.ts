import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { createService, defineCollection, integer } from '../../../src/entries/index.ts'
import { apiKeys } from '../../../src/entries/security.ts'
import type { PoolStorageOptions } from '../../../src/storage/pool/options.ts'
import type { PublishedCollection, StorageAdapter } from '../../../src/entries/storage.ts'
import { send } from '../../kit/service.ts'
import { changingServers, type ChangingServer } from './changing-servers.ts'

const notes = defineCollection({ key: 'id', fields: { id: integer() } })
const published = publishApplications({ app: { collections: { notes } } })
const collection = published[0] as PublishedCollection
const writing = { mode: 'write', brief: false } as const
const alone = { mode: 'write', brief: true, oneWrite: true } as const
const maxStaleness = 200
const unavailable = { kind: 'unavailable' }

describe.each(changingServers)('a storage on $name', (kind) => {
  let server: ChangingServer
  beforeEach(async (context) => {
    if (kind.missing !== undefined) context.skip(kind.missing)
    server = await kind.start()
    onTestFinished(() => server.drop())
  })

  async function opened(max: number, options: PoolStorageOptions = {}): Promise<StorageAdapter> {
    const storage = server.open(max, { ensureSchema: true, maxStaleness, ...options })
    onTestFinished(async () => storage.close())
    await storage.open(published)
    return storage
  }

  const read = async (storage: Pick<StorageAdapter, 'filter'>) =>
    (await storage.filter(collection, queryOf(collection, {}))).rows
  const insert = (storage: StorageAdapter, id: number, options: typeof alone | typeof writing) =>
    storage.transaction(options, (on) => on.insert(collection, { id }))

  test.each([alone, writing])(
    'replaces a connection whose server rejects writes, brief: $brief',
    async (options) => {
      await opened(1)
      server.rejectWrites(true)
      const storage = await opened(1, { ensureSchema: false })
      await expect(insert(storage, 1, options)).rejects.toMatchObject(unavailable)
      server.rejectWrites(false)
      expect(await insert(storage, 1, options)).toEqual({ id: 1 })
      expect(await read(storage)).toEqual([{ id: 1 }])
    },
  )

  test('uses no replica if it was opened on a primary', async () => {
    const storage = await opened(1)
    server.rejectWrites(true)
    await server.set({ isReplica: true })
    await server.loseConnections()
    for (let time = 0; time < 3; time++) {
      await expect(read(storage)).rejects.toMatchObject(unavailable)
      await expect(insert(storage, time, alone)).rejects.toMatchObject(unavailable)
    }
    server.rejectWrites(false)
    await server.set({ isReplica: false })
    expect(await insert(storage, 1, writing)).toEqual({ id: 1 })
    expect(await read(storage)).toEqual([{ id: 1 }])
  })

  test('reads on a replica if it was opened there, and on the primary that it becomes', async () => {
    await opened(1)
    await server.set({ isReplica: true })
    server.rejectWrites(true)
    const storage = await opened(1, { ensureSchema: false })
    expect(await read(storage)).toEqual([])
    await expect(insert(storage, 1, writing)).rejects.toMatchObject(unavailable)
    expect(await read(storage)).toEqual([])
    await server.set({ isReplica: false })
    server.rejectWrites(false)
    await server.loseConnections()
    expect(await insert(storage, 1, writing)).toEqual({ id: 1 })
    await server.set({ isReplica: true })
    await server.loseConnections()
    await expect(read(storage)).rejects.toMatchObject(unavailable)
  })

  test('replaces or checks the other connections when a new one leads to another server', async () => {
    const storage = await opened(2)
    // Each keeps its connection until the other one has its own.
    const together = () => {
      const holding = { count: 0 }
      return Promise.all([hold(storage, holding), hold(storage, holding)])
    }
    await together()
    const before = server.opened()
    await server.set({ identity: '2021-01-01Z' })
    await server.loseConnections(1)
    for (let time = 0; time < 3; time++) await together()
    // A server that accepts writes may be another node of a cluster.
    expect(server.opened()).toBe(before + (kind.demotesInPlace ? 1 : 2))
  })

  test.runIf(kind.demotesInPlace)(
    'notices within maxStaleness that the server of an open connection becomes a replica',
    async () => {
      const storage = await opened(1)
      await read(storage)
      await server.set({ isReplica: true })
      await pause(maxStaleness)
      await expect(read(storage)).rejects.toMatchObject(unavailable)
      await server.set({ isReplica: false })
      expect(await read(storage)).toEqual([])
    },
  )

  /** Keeps a connection until another one is in use too. */
  function hold(storage: StorageAdapter, holding: { count: number }): Promise<void> {
    return storage.transaction({ mode: 'read', brief: false }, async (on) => {
      await on.filter(collection, queryOf(collection, {}))
      holding.count++
      await expect.poll(() => holding.count, { interval: 5 }).toBe(2)
    })
  }

  test('forgets the callers that it remembers when its address leads to another server', async () => {
    let reads = 0
    const base = server.open(2, { ensureSchema: true, maxStaleness: 60_000 })
    const storage: StorageAdapter = {
      ...base,
      filter(...given) {
        if (given[0].application === 'rowgate-security') reads++
        return base.filter(...given)
      },
    }
    const service = createService({
      applications: { app: { collections: { notes } } },
      storage,
      security: apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } }),
    })
    onTestFinished(() => service.close())
    await service.users.add({ user: 'maria' })
    const { key } = await service.keys.create({ user: 'maria' })
    const read = async (): Promise<number> => {
      const headers = { 'x-api-key': key }
      const before = reads
      const { status } = await send(service, { method: 'GET', path: '/notes', headers })
      expect(status).toBe(200)
      return reads - before
    }
    await expect.poll(read).toBe(0)
    await server.set({ identity: '2021-01-01Z' })
    await server.loseConnections()
    // The next request finds the caller in memory, and opens the connection that notices the change.
    await expect.poll(read).toBeGreaterThan(0)
  })
})
