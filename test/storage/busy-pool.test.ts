import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  text,
  type Observation,
} from '../../src/entries/index.ts'
import { serve } from '../../src/http/serve.ts'
import { plainKeys } from '../kit/keys.ts'
import { ownDatabases, type OwnDatabase } from '../kit/own-databases.ts'

const acquireTimeout = 1_000
const notes = defineCollection({ key: 'id', fields: { id: integer(), words: text() } })
const items = '/rest/v1/app/notes'

describe.each(ownDatabases)('while all connections to $name are in use', (server) => {
  let database: OwnDatabase
  beforeEach(async (context) => {
    if (server.missing !== undefined) context.skip(server.missing)
    database = await server.create()
    onTestFinished(() => database.drop())
  })

  async function start() {
    const reports: Observation[] = []
    // The saves wait for the lock for longer than the other requests wait for a connection.
    const options = { ensureSchema: true, acquireTimeout, lockTimeout: 20_000 }
    const storage = database.open(options)
    const service = createService({
      applications: { app: { collections: { notes } } },
      storage,
      security: plainKeys(),
      report: (one) => reports.push(one),
    })
    const serving = await serve(service, { port: 0, health: true })
    onTestFinished(() => serving.close())
    await service.users.add({ user: 'maria' })
    const newKey = async () => (await service.keys.create({ user: 'maria' })).key
    const ask = async (path: string, key: string, body?: object) => {
      const begin = performance.now()
      const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
      const save = body && { method: 'POST', body: JSON.stringify(body) }
      const reply = await fetch(serving.url + path, { headers, ...save })
      await reply.text()
      const { status } = reply
      const retryAfter = reply.headers.get('retry-after')
      return { status, retryAfter, milliseconds: performance.now() - begin }
    }
    return { storage, newKey, ask, reports: () => reports.splice(0) }
  }

  test('every request that needs one gets a 503 after acquireTimeout, and the others respond', async () => {
    const { ask, newKey, reports } = await start()
    const [remembered, other, unknown] = [await newKey(), await newKey(), 'x'.repeat(64)]
    for (let id = 0; id < 5; id++) {
      expect(await ask(items, remembered, { id })).toMatchObject({ status: 200 })
    }
    const unlock = await database.lock('notes')
    const saves = [1, 2].map((id) => ask(`${items}/${id}`, remembered, { words: 'slow' }))
    while ((await ask(items, remembered)).status !== 503) await pause(10)
    reports()
    // Longer than callers are remembered without a word of the server.
    for (let round = 0; round < 3; round++) {
      const waiting = await Promise.all([
        ask(items, remembered),
        ask(items, remembered, { id: 100 + round }),
        ask(items, other),
        ask(items, unknown),
      ])
      for (const { status, retryAfter, milliseconds } of waiting) {
        expect([status, retryAfter]).toEqual([503, '1'])
        expect(milliseconds).toBeGreaterThan(acquireTimeout - 10)
        expect(milliseconds).toBeLessThan(acquireTimeout + 2_000)
      }
      const causes = reports().map((one) => ('error' in one ? (one.error as Error).cause : one))
      const late = new Error(`no connection of the pool became free within ${acquireTimeout} ms`)
      expect(causes).toEqual(waiting.map(() => late))
      expect(await ask('/live', '')).toMatchObject({ status: 200 })
      expect(await ask('/ready', '')).toMatchObject({ status: 503 })
    }
    await unlock()
    expect(await Promise.all(saves)).toMatchObject([{ status: 200 }, { status: 200 }])
    expect(await ask(`${items}/100`, remembered)).toMatchObject({ status: 404 })
    expect(await ask(items, other)).toMatchObject({ status: 200 })
    expect(await ask('/ready', '')).toMatchObject({ status: 200 })
    expect(await ask(items, unknown)).toMatchObject({ status: 401 })
    expect(reports()).toMatchObject([{ type: 'credential-rejected', reason: 'unknown' }])
  })

  test('calls that wait get one in their order, also after others have given up', async () => {
    const { storage } = await start()
    const order: number[] = []
    const held: (() => void)[] = []
    const hold = () =>
      storage.transaction(
        { mode: 'read', brief: false },
        () => new Promise<void>((resolve) => held.push(resolve)),
      )
    const holds = [hold(), hold()]
    await expect.poll(() => held.length).toBe(2)
    const call = (number: number) =>
      storage.transaction({ mode: 'read', brief: false }, () => void order.push(number))
    await expect(call(0)).rejects.toMatchObject({ kind: 'unavailable' })
    const calls = [1, 2, 3, 4, 5].map(call)
    held.shift()?.()
    await Promise.all(calls)
    expect(order).toEqual([1, 2, 3, 4, 5])
    for (const release of held) release()
    await Promise.all(holds)
  })
})
