import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { securityCollections } from '../../../src/security/collections.ts'
import { createKeyLog } from '../../../src/security/keys/key-log.ts'
import type { KeyRecord } from '../../../src/security/keys/key-store.ts'
import { allKeys, RequestCounter } from '../../../src/security/keys/request-counter.ts'
import { addRequests, readRequests } from '../../../src/security/keys/request-counts.ts'
import { repeatConflicts } from '../../../src/work/repeat-conflicts.ts'
import { serverStorages } from '../../kit/database-servers.ts'
import { allRows, openStorage, storages, type Storage } from '../../kit/storages.ts'
import { createFixture, openFixture, provider } from './fixture.ts'

const everywhere = [...new Set([...storages, ...serverStorages])]
const { requests: stored } = securityCollections

async function openCounted(on: Storage) {
  const storage = openStorage(on)
  await storage.open(Object.values(securityCollections))
  const fixture = createFixture(storage, [provider()])
  await fixture.users.add({ user: 'maria' })
  const made = await fixture.keys.create({ user: 'maria' })
  const ask = async (times: number, of = fixture) => {
    for (let count = 0; count < times; count++) await of.ask(made.key)
    await of.settle()
  }
  const lastDays = async (keyId = made.keyId, days = 1) =>
    (await readRequests(storage, keyId, fixture.clock.now()))
      .slice(-days)
      .map(({ day, requests }) => `${day} ${requests}`)
  return { storage, fixture, made, ask, lastDays }
}

describe.each(everywhere)('requests of keys by day on $name', (on) => {
  test('are counted, and written once a minute', async () => {
    const { storage, fixture, made, ask, lastDays } = await openCounted(on)
    await ask(3)
    expect(await lastDays()).toEqual(['2026-03-01 3'])
    await ask(5)
    expect(await lastDays()).toEqual(['2026-03-01 3'])
    fixture.clock.pass(1)
    await ask(1)
    expect(await lastDays(allKeys)).toEqual(['2026-03-01 9'])
    fixture.clock.pass(24 * 60)
    const other = await fixture.keys.create({ user: 'maria' })
    await fixture.ask(other.key)
    await ask(2)
    expect(await lastDays(made.keyId, 2)).toEqual(['2026-03-01 9', '2026-03-02 2'])
    expect(await lastDays(other.keyId, 2)).toEqual(['2026-03-01 0', '2026-03-02 1'])
    expect(await lastDays(allKeys, 2)).toEqual(['2026-03-01 9', '2026-03-02 3'])
    // A key whose counts are not written is counted when the service closes.
    await ask(4)
    await fixture.lookup.flush()
    expect(await lastDays(allKeys)).toEqual(['2026-03-02 7'])
    // Only the last 30 days are kept.
    fixture.clock.pass(29 * 24 * 60)
    await ask(1)
    const rows = (await allRows(storage, stored)).map(({ day, requests }) => [day, requests])
    expect(rows).toEqual(
      expect.arrayContaining([
        ['2026-03-02', 7],
        ['2026-03-31', 1],
      ]),
    )
    expect(rows).toHaveLength(5)
  })

  test('are added up by processes that write at the same time', async () => {
    const { storage, fixture, made, lastDays } = await openCounted(on)
    const day = '2026-03-01'
    const counts = [made.keyId, allKeys].map((keyId) => ({ keyId, day, requests: 2 }))
    const add = () =>
      repeatConflicts(() =>
        storage.transaction({ mode: 'write', brief: true }, (transaction) =>
          addRequests(transaction, counts),
        ),
      )
    await Promise.all(Array.from({ length: 5 }, add))
    expect(await lastDays(allKeys)).toEqual([`${day} 10`])
    expect(await lastDays()).toEqual([`${day} 10`])
    expect(fixture.reports).toEqual([])
  })
})

test('a use that another process has written is counted after a minute', async () => {
  const { storage, fixture, made, ask, lastDays } = await openCounted(storages[0] as Storage)
  await ask(1)
  const other = createFixture(storage, [provider()])
  other.clock.pass(0.5)
  await ask(1, other)
  expect(await lastDays()).toEqual(['2026-03-01 1'])
  other.clock.pass(0.4)
  fixture.clock.pass(1)
  await ask(1)
  other.clock.pass(0.7)
  await ask(1, other)
  expect(await lastDays(made.keyId)).toEqual(['2026-03-01 4'])
})

test('counts that cannot be written are written later', async () => {
  const { storage, made, ask, lastDays } = await openCounted(storages[0] as Storage)
  const state = { fails: false }
  const failing = createFixture(
    {
      ...storage,
      transaction: (options, work) => {
        if (state.fails) return Promise.reject(new Error('the disk is full'))
        return storage.transaction(options, work)
      },
    },
    [provider()],
  )
  await ask(1, failing)
  failing.clock.pass(1)
  await failing.ask(made.key)
  state.fails = true
  await failing.settle()
  await failing.lookup.flush()
  expect(await lastDays()).toEqual(['2026-03-01 1'])
  expect(failing.reports).toHaveLength(2)
  state.fails = false
  await failing.lookup.flush()
  expect(await lastDays()).toEqual(['2026-03-01 2'])
  expect(await lastDays(allKeys)).toEqual(['2026-03-01 2'])
})

test('counts are written a minute after the first of them, also if no request follows', async () => {
  const { fixture, made, ask, lastDays } = await openCounted(storages[0] as Storage)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await ask(1)
  expect(vi.getTimerCount()).toBe(0)
  await ask(3)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(59_999)
  expect(fixture.work).toEqual([])
  vi.advanceTimersByTime(1)
  await fixture.settle()
  expect(await lastDays()).toEqual(['2026-03-01 4'])
  await ask(2)
  await fixture.lookup.flush()
  expect(await lastDays(made.keyId)).toEqual(['2026-03-01 6'])
  // A request that ends while the service closes starts no timer.
  await ask(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('sessions are not counted', async () => {
  const { storage, fixture } = await openCounted(storages[0] as Storage)
  const use = (keyId: string) =>
    fixture.lookup.used({ keyId, purpose: 'session', lastUsed: null } as unknown as KeyRecord)
  use('a')
  await fixture.lookup.flush()
  expect(await allRows(storage, stored)).toEqual([])
})

test('a request whose work cannot be deferred is counted when the service closes', async () => {
  const { storage, clock } = await openFixture('memory')
  const log = createKeyLog({
    ...{ storage, now: clock.now, report: () => undefined },
    defer: () => {
      throw new Error('the service is closed')
    },
  })
  log.used({ keyId: 'a', lastUsed: null } as unknown as KeyRecord)
  await log.flush()
  expect(await allRows(storage, stored)).toMatchObject([{ keyId: 'a' }, { keyId: allKeys }])
})

describe('the counter of requests', () => {
  const at = (minutes: number): Date =>
    new Date(Date.parse('2026-03-01T23:59:00Z') + minutes * 60_000)

  test('separates days, and counts more keys than it keeps only in the sum', () => {
    const counter = new RequestCounter(2)
    for (const keyId of ['a', 'b', 'c', 'a']) counter.count(keyId, at(0))
    counter.count('c', at(1))
    expect(counter.take(at(1))).toEqual([
      { keyId: 'a', day: '2026-03-01', requests: 2 },
      { keyId: 'b', day: '2026-03-01', requests: 1 },
      { keyId: allKeys, day: '2026-03-01', requests: 4 },
      { keyId: 'c', day: '2026-03-02', requests: 1 },
      { keyId: allKeys, day: '2026-03-02', requests: 1 },
    ])
    expect(counter.take(at(1))).toEqual([])
  })

  test('keeps what could not be written, of two days', () => {
    const counter = new RequestCounter(2)
    counter.count('a', at(0))
    const taken = counter.take(at(0))
    expect(counter.isPending(at(1))).toBe(false)
    counter.restore(taken, at(0))
    expect([counter.isPending(at(0)), counter.isPending(at(1))]).toEqual([false, true])
    counter.count('a', at(0))
    counter.count('a', at(60 * 24))
    counter.count('a', at(60 * 48))
    expect(counter.take(at(60 * 48)).map(({ day, requests }) => [day, requests])).toEqual([
      ['2026-03-02', 1],
      ['2026-03-02', 1],
      ['2026-03-03', 1],
      ['2026-03-03', 1],
    ])
  })

  test('is due a minute after its first request, and pending once a minute', () => {
    const counter = new RequestCounter(2)
    expect(counter.isPending(at(0))).toBe(false)
    counter.count('a', at(0))
    expect([counter.isPending(at(0)), counter.isDue(at(0.9)), counter.isDue(at(1))]).toEqual([
      ...[true, false, true],
    ])
  })
})
