import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { ownDatabases, type OwnDatabase } from '../kit/own-databases.ts'
import { openShop, type Shop } from './shop.ts'

const lockTimeout = 1_000

describe.each(ownDatabases)('two services on one database of $name', (server) => {
  let database: OwnDatabase
  beforeEach(async (context) => {
    if (server.missing !== undefined) context.skip(server.missing)
    database = await server.create()
    onTestFinished(() => database.drop())
  })

  /** Opens two services, of which the first waits in a handler until the returned function is called. */
  async function open() {
    let proceed = (): void => undefined
    const gate = new Promise<void>((resolve) => (proceed = resolve))
    const options = { ensureSchema: true, lockTimeout, acquireTimeout: 20_000 }
    const waiting = openShop(database.open(options), { before: () => gate })
    await waiting.rows()
    const other = openShop(database.open(options))
    const first = waiting.send({ key: 'k' })
    await expect.poll(() => waiting.calls).toHaveLength(1)
    return { waiting, other, first, proceed }
  }

  async function expectOnce(shop: Shop) {
    expect(await shop.rows('notes')).toHaveLength(1)
    expect(await shop.rows()).toHaveLength(1)
    expect(shop.reports).toEqual([])
  }

  test('a repetition waits for the first request, and has its response', async () => {
    const { other, first, proceed } = await open()
    const second = other.send({ key: 'k' })
    setTimeout(proceed, 100)
    const { status, body } = await first
    expect(status).toBe(200)
    expect(await second).toMatchObject({
      ...{ status, body },
      headers: { 'Idempotent-Replayed': 'true' },
    })
    expect(other.calls).toEqual([])
    await expectOnce(other)
  })

  test('a repetition is 409 if the first request takes too long', async () => {
    const { other, first, proceed } = await open()
    const second = await other.send({ key: 'k' })
    expect(second).toMatchObject({ status: 409, headers: { 'Retry-After': '1' } })
    proceed()
    const { body } = await first
    expect(await other.send({ key: 'k' })).toMatchObject({ status: 200, body })
    expect(other.calls).toEqual([])
    await expectOnce(other)
  })

  test('another request with the key is 422 after the first one', async () => {
    const { other, first, proceed } = await open()
    const second = other.send({ key: 'k', body: { title: 'b', region: 'north' } })
    setTimeout(proceed, 100)
    await first
    expect((await second).status).toBe(422)
    await expectOnce(other)
  })
})
