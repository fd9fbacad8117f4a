import { describe, expect, test } from 'vitest'
import { securityCollections } from '../../../src/security/collections.ts'
import { createKeyLookup } from '../../../src/security/keys/key-log.ts'
import type { KeyRecord } from '../../../src/security/keys/key-store.ts'
import { isRecent, refusalCounter } from '../../../src/security/keys/refusal-counter.ts'
import { clockAt, dump, furnish, openHouse, openStorage, provider, storageNames } from './house.ts'

async function withKey(storage: (typeof storageNames)[number]) {
  const house = await openHouse(storage)
  await house.users.add({ user: 'maria' })
  const made = await house.keys.create({ user: 'maria' })
  const record = async (): Promise<KeyRecord | undefined> =>
    (await house.keys.list()).find(({ keyId }) => keyId === made.keyId)
  const events = async (): Promise<unknown> =>
    (await house.keys.audit()).slice(1).map(({ event, reason, times }) => [event, reason, times])
  return { house, made, record, events }
}

describe.each(storageNames)('the log of keys over %s', (storage) => {
  test('a use is written in the background, the first with an event', async () => {
    const { house, made, record, events } = await withKey(storage)
    house.clock.pass(5)
    await house.ask(made.key)
    expect(house.work).toHaveLength(1)
    expect(await record()).toMatchObject({ firstUsed: null, lastUsed: null })
    await house.settle()
    const at = '2026-03-01T12:05:00Z'
    expect(await record()).toEqual({ ...made, firstUsed: at, lastUsed: at })
    expect(await events()).toEqual([['first-used', null, 1]])
  })

  test('a use is written at most once a minute', async () => {
    const { house, made, record, events } = await withKey(storage)
    for (let second = 0; second < 150; second++) {
      await house.ask(made.key)
      await house.settle()
      if (second % 30 === 0) {
        const minutes = String(Math.floor(second / 60)).padStart(2, '0')
        expect(await record()).toMatchObject({ lastUsed: `2026-03-01T12:${minutes}:00Z` })
      }
      house.clock.pass(1 / 60)
    }
    expect(await record()).toMatchObject({ firstUsed: '2026-03-01T12:00:00Z' })
    expect(await events()).toEqual([['first-used', null, 1]])
  })

  test('what another process wrote within the minute is not written again', async () => {
    const { house, made, events } = await withKey(storage)
    const other = furnish(house.storage, [provider()])
    for (const one of [house, other]) await one.ask(made.key)
    // Both saw a key that was never used: the event is written once all the same.
    await house.settle()
    await other.settle()
    expect(await events()).toEqual([['first-used', null, 1]])
    const third = furnish(house.storage, [provider()])
    third.clock.pass(0.5)
    await third.ask(made.key)
    expect(third.work).toEqual([])
    third.clock.pass(0.5)
    await third.ask(made.key)
    expect(third.work).toHaveLength(1)
  })

  test('a clock that is set back does not stop the log', async () => {
    const { house, made, record } = await withKey(storage)
    await house.ask(made.key)
    await house.settle()
    house.clock.pass(-60)
    await house.ask(made.key)
    await house.settle()
    expect(await record()).toMatchObject({ lastUsed: '2026-03-01T11:00:00Z' })
  })

  test('refusals are counted by key and reason, and written once a minute', async () => {
    const { house, made, events } = await withKey(storage)
    await house.users.change('maria', { enabled: false })
    const refuse = async (times: number): Promise<void> => {
      for (let count = 0; count < times; count++) await house.fate(made.key)
    }
    await refuse(3)
    expect(house.work).toHaveLength(1)
    await house.settle()
    expect(await events()).toEqual([['refused', 'user-disabled', 3]])
    await refuse(20)
    await house.settle()
    expect(await events()).toHaveLength(1)
    await house.keys.revoke(made.keyId)
    house.clock.pass(0.5)
    await refuse(1)
    await house.settle()
    expect(await events()).toEqual([
      ['refused', 'user-disabled', 3],
      ['revoked', null, 1],
      ['refused', 'revoked', 1],
    ])
    house.clock.pass(0.5)
    await refuse(2)
    await house.settle()
    expect((await house.keys.audit()).slice(3)).toMatchObject([
      { event: 'refused', reason: 'user-disabled', times: 20, at: '2026-03-01T12:00:00Z' },
      { event: 'refused', reason: 'revoked', times: 1, at: '2026-03-01T12:00:30Z' },
    ])
    await house.lookup.flush()
    const written = (await house.keys.audit()).filter(({ event }) => event === 'refused')
    expect(written.map(({ times }) => times).reduce((sum, times) => sum + times)).toBe(26)
    expect(written.every(({ user, keyId }) => user === 'maria' && keyId === made.keyId)).toBe(true)
  })

  test('what was counted does not wait for another refusal of that key', async () => {
    const { house, made, events } = await withKey(storage)
    const other = await house.keys.create({ user: 'maria' })
    await house.keys.revoke(made.keyId)
    await house.fate(made.key)
    await house.settle()
    await house.fate(made.key)
    await house.fate(made.key)
    await house.settle()
    house.clock.pass(1)
    await house.ask(other.key)
    await house.settle()
    expect(await events()).toContainEqual(['refused', 'revoked', 2])
  })

  test('unknown and malformed keys leave no trace', async () => {
    const { house } = await withKey(storage)
    const before = await dump(house.storage)
    await house.fate('A'.repeat(22))
    await house.fate('A')
    expect(house.work).toEqual([])
    await house.lookup.flush()
    expect(await dump(house.storage)).toEqual(before)
  })

  test('a failure is reported, disturbs nobody, and loses no count', async () => {
    const { house, made, events } = await withKey(storage)
    let down = true
    const failure = new Error('the disk is full')
    const failing = {
      ...house.storage,
      transaction: ((options, work) =>
        down
          ? Promise.reject(failure)
          : house.storage.transaction(options, work)) as typeof house.storage.transaction,
    }
    const broken = furnish(failing, [provider()])
    expect(await broken.fate(made.key)).toEqual({ user: 'maria' })
    await broken.settle()
    expect(broken.reports).toEqual([{ type: 'security-record-failed', error: failure }])
    await house.keys.revoke(made.keyId)
    expect(await broken.fate(made.key)).toBe('revoked')
    expect(await broken.fate(made.key)).toBe('revoked')
    await broken.settle()
    expect(broken.reports).toHaveLength(2)
    down = false
    await broken.lookup.flush()
    expect(await events()).toContainEqual(['refused', 'revoked', 2])
    expect(broken.reports).toHaveLength(2)
  })

  test('work that can not be deferred is reported, too', async () => {
    const { house, made } = await withKey(storage)
    const reports: unknown[] = []
    const closed = new Error('the service is closed')
    const lookup = createKeyLookup({
      storage: house.storage,
      now: house.clock.now,
      report: (observation) => reports.push(observation),
      defer: () => {
        throw closed
      },
    })
    lookup.used(made)
    lookup.refused(made, 'revoked')
    expect(reports).toEqual([
      { type: 'security-record-failed', error: closed },
      { type: 'security-record-failed', error: closed },
    ])
  })

  test('a record without its hash is found by its identifier; one that is gone is let go', async () => {
    const { house, made, record } = await withKey(storage)
    house.lookup.used(made)
    await house.settle()
    expect(await record()).toMatchObject({ lastUsed: '2026-03-01T12:00:00Z' })
    house.lookup.used({ ...made, keyId: crypto.randomUUID() })
    await house.settle()
    expect(house.reports).toEqual([])
  })
})

test('a key is looked up without a promise where storage needs none', async () => {
  const house = await openHouse('SQLite file')
  await house.users.add({ user: 'maria', roles: ['Sales'] })
  const { key, keyId } = await house.keys.create({ user: 'maria' })
  const answer = provider().identify({ place: 'header x-api-key', value: key }, house.house)
  expect(answer).not.toBeInstanceOf(Promise)
  expect(answer).toMatchObject({ user: 'maria', keyId })
})

test('a store that is down is a failure, never a refusal', async () => {
  for (const name of storageNames) {
    const storage = await openStorage(name)
    const house = furnish(storage, [provider()])
    await storage.close()
    await expect(house.ask('A'.repeat(22))).rejects.toMatchObject({ kind: 'unavailable' })
  }
})

test('the memory of uses is bounded: the oldest is forgotten', async () => {
  const storage = await openStorage('memory')
  const { now } = clockAt('2026-03-01T12:00:00Z')
  let deferred = 0
  const lookup = createKeyLookup({
    storage,
    now,
    report: () => undefined,
    defer: () => {
      deferred += 1
    },
  })
  const use = (keyId: string): void =>
    lookup.used({ keyId, lastUsed: null } as unknown as KeyRecord)
  for (let count = 0; count < 10_001; count++) use(`key ${count}`)
  expect(deferred).toBe(10_001)
  for (let count = 1; count < 10_001; count++) use(`key ${count}`)
  expect(deferred).toBe(10_001)
  use('key 0')
  expect(deferred).toBe(10_002)
})

describe('the counter of refusals', () => {
  const key = (keyId: string) => ({ keyId, user: 'maria', provider: 'p' })
  const at = (seconds: number): Date =>
    new Date(Date.parse('2026-03-01T12:00:00Z') + seconds * 1000)

  test('is bounded, and what it forgets is still written', () => {
    const counter = refusalCounter(2)
    expect(counter.count(key('a'), 'expired', at(0))).toBe(true)
    expect(counter.take()).toMatchObject([{ times: 1 }])
    expect(counter.count(key('a'), 'expired', at(1))).toBe(false)
    expect(counter.take()).toEqual([])
    counter.count(key('b'), 'expired', at(2))
    counter.count(key('c'), 'expired', at(3))
    expect(counter.take().map(({ key: { keyId }, times }) => [keyId, times])).toEqual([
      ['b', 1],
      ['a', 1],
      ['c', 1],
    ])
  })

  test('keeps reasons apart and tells the latest time', () => {
    const counter = refusalCounter(10)
    counter.count(key('a'), 'expired', at(0))
    counter.count(key('a'), 'revoked', at(5))
    counter.count(key('a'), 'expired', at(7))
    expect(counter.take()).toEqual([
      { key: key('a'), reason: 'expired', times: 2, at: at(7) },
      { key: key('a'), reason: 'revoked', times: 1, at: at(5) },
    ])
    expect(counter.take()).toEqual([])
  })

  test('sweeps once a minute, and keeps nothing of keys that are quiet', () => {
    const counter = refusalCounter(10)
    expect(counter.sweep(at(0))).toBe(false)
    counter.count(key('a'), 'expired', at(0))
    counter.take()
    counter.count(key('a'), 'expired', at(1))
    expect(counter.sweep(at(59))).toBe(false)
    expect(counter.sweep(at(60))).toBe(true)
    expect(counter.take()).toMatchObject([{ times: 1, at: at(1) }])
    expect(counter.sweep(at(119))).toBe(false)
    expect(counter.sweep(at(180))).toBe(false)
    counter.giveBack([{ key: key('a'), reason: 'expired', times: 5, at: at(1) }])
    counter.release()
    expect(counter.take()).toEqual([])
  })

  test('a time is recent for a minute, and never ahead of the clock', () => {
    const recent = [0, 59_999, 60_000, -1].map((ago) => isRecent(at(0).getTime() - ago, at(0)))
    expect(recent).toEqual([true, true, false, false])
    expect(isRecent(undefined, at(0))).toBe(false)
  })
})

test('the columns of a key are those of its record and its hash', () => {
  const names = ['hash', 'keyId', 'start', 'provider', 'user', 'description', 'created', 'expires']
  const all = [...names, 'revoked', 'firstUsed', 'lastUsed']
  expect(securityCollections.keys.allNames).toEqual(all)
})
