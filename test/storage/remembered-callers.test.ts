import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createService, defineCollection, integer } from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { ownDatabases, type OwnDatabase } from '../kit/own-databases.ts'

const notes = defineCollection({ key: 'id', fields: { id: integer() } })
const maxStaleness = 400

describe.each(ownDatabases)('a caller of an API key on $name', ({ missing, create }) => {
  let database: OwnDatabase
  beforeEach(async (context) => {
    if (missing !== undefined) context.skip(missing)
    database = await create()
    onTestFinished(() => database.drop())
  })

  /** Starts a service with connections of its own, as in another process. */
  async function start(staleness = maxStaleness) {
    let reads = 0
    const base = database.open({ ensureSchema: true, maxStaleness: staleness })
    const storage: StorageAdapter = {
      ...base,
      filter: (collection, query, context) => {
        if (collection.application === 'rowgate-security') reads += 1
        return base.filter(collection, query, context)
      },
    }
    const service = createService({
      applications: { app: { collections: { notes }, idempotencyKeys: true } },
      storage,
      security: apiKeys({ name: 'API Key' }),
    })
    onTestFinished(() => service.close())
    await service.ready()
    const request = async (
      method: 'GET' | 'POST',
      headers: Readonly<Record<string, string>>,
      item?: object,
    ): Promise<number> => {
      const reply = await service.handle({
        method,
        target: '/rest/v1/app/notes',
        header: (name) => headers[name],
        secure: true,
        peer: undefined,
        signal: undefined,
        body: async () => new TextEncoder().encode(JSON.stringify(item)),
      })
      return reply.status
    }
    const status = (key: string) => request('GET', { 'x-api-key': key })
    const insert = (key: string, id: number) => {
      const form = { 'content-type': 'application/json', 'idempotency-key': `insert-${id}` }
      return request('POST', { 'x-api-key': key, ...form }, { id })
    }
    /** Requests until no user and no key is read. */
    const remembered = async (key: string): Promise<void> => {
      for (let time = 0; time < 200; time++) {
        const before = reads
        expect(await status(key)).toBe(200)
        if (reads === before) return
        await pause(5)
      }
      throw new Error('The caller is never remembered.')
    }
    return { service, status, insert, remembered, reads: () => reads }
  }

  async function newKey({ service }: Awaited<ReturnType<typeof start>>, user: string) {
    await service.users.add({ user })
    return service.keys.create({ user })
  }

  test('is rejected with the next request of the process that revokes the key', async () => {
    const one = await start()
    const { key, keyId } = await newKey(one, 'maria')
    await one.remembered(key)
    await one.service.keys.revoke(keyId)
    expect(await one.status(key)).toBe(401)
  })

  test('is rejected by other processes within maxStaleness', async () => {
    const [one, other] = [await start(), await start()]
    const { key, keyId } = await newKey(one, 'karl')
    await other.remembered(key)
    await one.service.keys.revoke(keyId)
    await pause(maxStaleness)
    expect(await other.status(key)).toBe(401)
  })

  test('stays remembered while the process writes other tables of the library', async () => {
    const one = await start(60_000)
    const { key } = await newKey(one, 'vera')
    await one.remembered(key)
    const before = one.reads()
    for (const id of [1, 2, 3]) expect(await one.insert(key, id)).toBe(200)
    expect(await one.status(key)).toBe(200)
    expect(one.reads()).toBe(before)
  })

  test('is read for each request with maxStaleness 0', async () => {
    const one = await start(0)
    const { key } = await newKey(one, 'ines')
    for (let time = 0; time < 5; time++) {
      const before = one.reads()
      expect(await one.status(key)).toBe(200)
      expect(one.reads()).toBeGreaterThan(before)
    }
  })

  test('is read if the server cannot be polled in time', async () => {
    const one = await start()
    const { key } = await newKey(one, 'olaf')
    await one.remembered(key)
    const until = performance.now() + maxStaleness + 50
    while (performance.now() < until) {
      // Nothing arrives while the process is busy.
    }
    const before = one.reads()
    expect(await one.status(key)).toBe(200)
    expect(one.reads()).toBeGreaterThan(before)
  })
})
