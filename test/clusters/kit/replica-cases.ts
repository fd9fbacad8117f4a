import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
} from '../../../src/entries/index.ts'
import { apiKeys } from '../../../src/entries/security.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { startProxy } from '../../kit/proxy.ts'
import { send } from '../../kit/service.ts'
import type { ServerProgram } from './server-program.ts'

/** Where a server is. */
export type Address = Pick<ServerProgram, 'host' | 'port'>

/** Options of storages that read on a replica. */
export interface ReplicaStorageOptions {
  readonly replicaWait?: number
  readonly maxStaleness?: number
  readonly ensureSchema?: boolean
}

/** A primary server with the table `notes`, and a replica. */
export interface ReplicatedServers {
  readonly replica: ServerProgram
  /** Creates a storage that reads on the given server. Calls `used` for each connection that it takes there. */
  storage(
    reads: Address | undefined,
    options: ReplicaStorageOptions,
    used?: () => void,
  ): StorageAdapter
  /** Runs a statement on the primary, as another process does. */
  run(statement: string): Promise<unknown>
  /** Waits until the replica has what the primary has. */
  caughtUp(): Promise<void>
  /** Stops the replica from replaying what it receives. */
  pauseReplay(): Promise<unknown>
  resumeReplay(): Promise<unknown>
}

const notes = defineCollection({ key: 'id', fields: { id: integer(), title: text() } })
const slow = defineCollection({
  key: 'id',
  publishes: ['Filter'],
  fields: { id: integer(), title: text() },
})

/** What tests of a replica use. */
export interface ReplicaStage {
  /** Starts a service on a storage. Default: on the primary and the replica. */
  start(
    storage?: StorageAdapter,
    collections?: readonly ('notes' | 'slow')[],
  ): Promise<{
    readonly title: (collection?: string) => Promise<unknown>
    readonly change: (title: string) => Promise<void>
    readonly save: (id: number) => Promise<void>
  }>
  /** Waits until a read does not show a write of another process that the replica does not have. */
  isUsed(title: () => Promise<unknown>): Promise<void>
}

/** Registers the cases of a replica that every kind of server has to pass. */
export function describeReplica(servers: () => ReplicatedServers): ReplicaStage {
  beforeEach(async () => {
    await servers().run(`delete from notes`)
    await servers().run(`insert into notes values (1, 'first')`)
    await servers().caughtUp()
  })
  async function isStale(title: () => Promise<unknown>): Promise<boolean> {
    const { run, caughtUp, pauseReplay, resumeReplay } = servers()
    await pauseReplay()
    await run(`update notes set title = 'newer'`)
    const shown = await title()
    await resumeReplay()
    await run(`update notes set title = 'older'`)
    await caughtUp()
    return shown !== 'newer'
  }
  /** Stops the replica from replaying what it receives, until the end of the test. */
  async function pausedReplay(): Promise<void> {
    onTestFinished(async () => {
      await servers().resumeReplay()
    })
    await servers().pauseReplay()
  }
  const stage: ReplicaStage = {
    async start(
      storage = servers().storage(servers().replica, { replicaWait: 2_000 }),
      collections = ['notes'],
    ) {
      const all = { notes, slow }
      const published = Object.fromEntries(collections.map((name) => [name, all[name]]))
      const service = createService({
        applications: { app: { collections: published } },
        storage,
        security: openAccess(),
      })
      onTestFinished(() => service.close())
      await service.ready()
      const post = async (path: string, body: object): Promise<void> => {
        expect((await send(service, { method: 'POST', path, body })).status).toBe(200)
      }
      return {
        async title(collection = 'notes') {
          const { status, body } = await send(service, { method: 'GET', path: `/${collection}` })
          expect(status).toBe(200)
          return body.items?.[0]?.['title']
        },
        change: (title) => post('/notes/1', { title }),
        async save(id) {
          await post('/notes', { id, title: 'new' })
          expect((await send(service, { method: 'GET', path: `/notes/${id}` })).status).toBe(200)
        },
      }
    },
    isUsed: async (title) => {
      await expect.poll(() => isStale(title), { timeout: 20_000, interval: 300 }).toBe(true)
    },
  }
  const { start, isUsed } = stage

  test('is used again as soon as it responds, after requests that have ended before', async () => {
    const { replica, storage } = servers()
    const address = await startProxy(replica)
    onTestFinished(() => address.stop())
    let used = 0
    const service = createService({
      applications: { app: { collections: { notes } } },
      storage: storage(address, { replicaWait: 2_000 }, () => {
        used += 1
      }),
      security: openAccess(),
      requestTimeout: 300,
      report: false,
    })
    onTestFinished(() => service.close())
    await service.ready()
    const read = async () => (await send(service, { method: 'GET', path: '/notes' })).status
    expect(await read()).toBe(200)
    address.hold()
    expect(await read()).toBe(503)
    address.resume()
    const before = used
    // A replica that is lost is not tried for a second.
    const timesUsed = async () => {
      expect(await read()).toBe(200)
      return used
    }
    await expect.poll(timesUsed, { timeout: 900 }).toBeGreaterThan(before)
  })

  test('shows every write of the process at once', async () => {
    let used = 0
    const { replica, storage } = servers()
    const count = (): void => {
      used += 1
    }
    const { title, change } = await start(storage(replica, { replicaWait: 2_000 }, count))
    for (let pair = 1; pair <= 400; pair++) {
      await change(`title ${pair}`)
      expect(await title()).toBe(`title ${pair}`)
    }
    console.log(`400 reads after own writes took ${used} connections to the replica`)
    expect(used).toBeGreaterThan(0)
  })

  test('shows the writes of several clients at once', async () => {
    const { save } = await start()
    const clients = Array.from({ length: 8 }, async (_, client) => {
      for (let pair = 1; pair <= 40; pair++) await save(client * 1_000 + pair + 1)
    })
    await Promise.all(clients)
  })

  test('answers reads, with the state that it has', async () => {
    const { title } = await start()
    expect(await title()).toBe('first')
    await pausedReplay()
    await servers().run(`update notes set title = 'second'`)
    expect(await title()).toBe('first')
    await servers().resumeReplay()
    await expect.poll(title).toBe('second')
  })

  test('is replaced by the primary while it does not have the writes of the process', async () => {
    const { replica, storage } = servers()
    const { title, change } = await start(storage(replica, { replicaWait: 50 }))
    expect(await title()).toBe('first')
    await pausedReplay()
    for (let pair = 1; pair <= 20; pair++) {
      await change(`title ${pair}`)
      expect(await title()).toBe(`title ${pair}`)
    }
    await servers().resumeReplay()
    await isUsed(title)
  })

  test.each([0, 2_000])(
    'with replicaWait %i is replaced by the primary while it cannot be reached, and is used again',
    async (replicaWait) => {
      const proxy = await startProxy(servers().replica)
      onTestFinished(() => proxy.stop())
      const { title, change } = await start(servers().storage(proxy, { replicaWait }))
      expect(await title()).toBe('first')
      proxy.refuse()
      for (let pair = 1; pair <= 20; pair++) {
        await change(`title ${pair}`)
        expect(await title()).toBe(`title ${pair}`)
      }
      proxy.admit()
      await isUsed(title)
    },
  )

  test('may be absent at the start', async () => {
    const proxy = await startProxy(servers().replica)
    onTestFinished(() => proxy.stop())
    proxy.refuse()
    const { title } = await start(servers().storage(proxy, { replicaWait: 2_000 }))
    expect(await title()).toBe('first')
    proxy.admit()
    await isUsed(title)
  })

  test('does not delay a revoked key', async () => {
    const options = { maxStaleness: 100, ensureSchema: true }
    const open = async (reads?: Address) => {
      const service = createService({
        applications: { app: { collections: { notes } } },
        storage: servers().storage(reads, options),
        security: apiKeys({ name: 'keys', properties: { AllowInsecureHttp: true } }),
      })
      onTestFinished(() => service.close())
      await service.ready()
      return service
    }
    const [one, other] = [await open(), await open(servers().replica)]
    await one.users.add({ user: 'maria' })
    const { key, keyId } = await one.keys.create({ user: 'maria' })
    const headers = { 'x-api-key': key }
    const status = async () => {
      return (await send(other, { method: 'GET', path: '/notes', headers })).status
    }
    expect(await status()).toBe(200)
    await pausedReplay()
    await one.keys.revoke(keyId)
    await pause(100)
    expect(await status()).toBe(401)
  })

  return stage
}
