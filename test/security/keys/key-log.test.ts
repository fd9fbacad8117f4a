import { describe, expect, test } from 'vitest'
import { securityCollections } from '../../../src/security/collections.ts'
import { createKeyLog } from '../../../src/security/keys/key-log.ts'
import type { KeyRecord } from '../../../src/security/keys/key-store.ts'
import { isRecent, RejectionCounter } from '../../../src/security/keys/rejection-counter.ts'
import { dump, createFixture, openFixture, openStorage, provider, storageNames } from './fixture.ts'
import { clockAt } from '../../kit/clock.ts'

async function withKey(storage: (typeof storageNames)[number]) {
  const fixture = await openFixture(storage)
  await fixture.users.add({ user: 'maria' })
  const made = await fixture.keys.create({ user: 'maria' })
  const record = async (): Promise<KeyRecord | undefined> =>
    (await fixture.keys.list()).find(({ keyId }) => keyId === made.keyId)
  const events = async (): Promise<unknown> =>
    (await fixture.keys.audit()).slice(1).map(({ event, reason, times }) => [event, reason, times])
  return { fixture, made, record, events }
}

describe.each(storageNames)('the log of keys over %s', (storage) => {
  test('a use is written in the background, the first with an event', async () => {
    const { fixture, made, record, events } = await withKey(storage)
    fixture.clock.pass(5)
    await fixture.ask(made.key)
    expect(fixture.work).toHaveLength(1)
    expect(await record()).toMatchObject({ firstUsed: null, lastUsed: null })
    await fixture.settle()
    const at = '2026-03-01T12:05:00Z'
    expect(await record()).toEqual({ ...made, firstUsed: at, lastUsed: at })
    expect(await events()).toEqual([['first-used', null, 1]])
  })

  test('a use is written at most once a minute', async () => {
    const { fixture, made, record, events } = await withKey(storage)
    for (let second = 0; second < 150; second++) {
      await fixture.ask(made.key)
      await fixture.settle()
      if (second % 30 === 0) {
        const minutes = String(Math.floor(second / 60)).padStart(2, '0')
        expect(await record()).toMatchObject({ lastUsed: `2026-03-01T12:${minutes}:00Z` })
      }
      fixture.clock.pass(1 / 60)
    }
    expect(await record()).toMatchObject({ firstUsed: '2026-03-01T12:00:00Z' })
    expect(await events()).toEqual([['first-used', null, 1]])
  })

  test('a use that another process wrote within the minute is not written again', async () => {
    const { fixture, made, events } = await withKey(storage)
    const other = createFixture(fixture.storage, [provider()])
    for (const one of [fixture, other]) await one.ask(made.key)
    // Both saw a key that was never used: the event is written once all the same.
    await fixture.settle()
    await other.settle()
    expect(await events()).toEqual([['first-used', null, 1]])
    const third = createFixture(fixture.storage, [provider()])
    third.clock.pass(0.5)
    await third.ask(made.key)
    expect(third.work).toEqual([])
    third.clock.pass(0.5)
    await third.ask(made.key)
    expect(third.work).toHaveLength(1)
  })

  test('a clock that is set back does not stop the log', async () => {
    const { fixture, made, record } = await withKey(storage)
    await fixture.ask(made.key)
    await fixture.settle()
    fixture.clock.pass(-60)
    await fixture.ask(made.key)
    await fixture.settle()
    expect(await record()).toMatchObject({ lastUsed: '2026-03-01T11:00:00Z' })
  })

  test('rejections are counted by key and reason, and written once a minute', async () => {
    const { fixture, made, events } = await withKey(storage)
    await fixture.users.change('maria', { enabled: false })
    const reject = async (times: number): Promise<void> => {
      for (let count = 0; count < times; count++) await fixture.fate(made.key)
    }
    await reject(3)
    expect(fixture.work).toHaveLength(1)
    await fixture.settle()
    expect(await events()).toEqual([['rejected', 'user-disabled', 3]])
    await reject(20)
    await fixture.settle()
    expect(await events()).toHaveLength(1)
    await fixture.keys.revoke(made.keyId)
    fixture.clock.pass(0.5)
    await reject(1)
    await fixture.settle()
    expect(await events()).toEqual([
      ['rejected', 'user-disabled', 3],
      ['revoked', null, 1],
      ['rejected', 'revoked', 1],
    ])
    fixture.clock.pass(0.5)
    await reject(2)
    await fixture.settle()
    expect((await fixture.keys.audit()).slice(3)).toMatchObject([
      { event: 'rejected', reason: 'user-disabled', times: 20, at: '2026-03-01T12:00:00Z' },
      { event: 'rejected', reason: 'revoked', times: 1, at: '2026-03-01T12:00:30Z' },
    ])
    await fixture.lookup.flush()
    const written = (await fixture.keys.audit()).filter(({ event }) => event === 'rejected')
    expect(written.map(({ times }) => times).reduce((sum, times) => sum + times)).toBe(26)
    expect(written.every(({ user, keyId }) => user === 'maria' && keyId === made.keyId)).toBe(true)
  })

  test('counts are written without another rejection of that key', async () => {
    const { fixture, made, events } = await withKey(storage)
    const other = await fixture.keys.create({ user: 'maria' })
    await fixture.keys.revoke(made.keyId)
    await fixture.fate(made.key)
    await fixture.settle()
    await fixture.fate(made.key)
    await fixture.fate(made.key)
    await fixture.settle()
    fixture.clock.pass(1)
    await fixture.ask(other.key)
    await fixture.settle()
    expect(await events()).toContainEqual(['rejected', 'revoked', 2])
  })

  test('a use is written once, even if the record that was found is older', async () => {
    const { fixture, made } = await withKey(storage)
    for (let count = 0; count < 3; count++) fixture.lookup.used(made)
    expect(fixture.work).toHaveLength(1)
  })

  test('without pending counts nothing is written', async () => {
    const { fixture } = await withKey(storage)
    const transaction = () => Promise.reject(new Error('the disk is full'))
    const failing = createFixture({ ...fixture.storage, transaction }, [provider()])
    await failing.lookup.flush()
    expect(failing.reports).toEqual([])
  })

  test('unknown and malformed keys leave no trace', async () => {
    const { fixture } = await withKey(storage)
    const before = await dump(fixture.storage)
    await fixture.fate('A'.repeat(22))
    await fixture.fate('A')
    expect(fixture.work).toEqual([])
    await fixture.lookup.flush()
    expect(await dump(fixture.storage)).toEqual(before)
  })

  test('a failed write is reported, fails no request and loses no count', async () => {
    const { fixture, made, events } = await withKey(storage)
    let down = true
    const failure = new Error('the disk is full')
    const failing = {
      ...fixture.storage,
      transaction: ((options, work) =>
        down
          ? Promise.reject(failure)
          : fixture.storage.transaction(options, work)) as typeof fixture.storage.transaction,
    }
    const broken = createFixture(failing, [provider()])
    expect(await broken.fate(made.key)).toEqual({ user: 'maria' })
    await broken.settle()
    expect(broken.reports).toEqual([{ type: 'security-record-failed', error: failure }])
    await fixture.keys.revoke(made.keyId)
    expect(await broken.fate(made.key)).toBe('revoked')
    expect(await broken.fate(made.key)).toBe('revoked')
    await broken.settle()
    expect(broken.reports).toHaveLength(2)
    down = false
    await broken.lookup.flush()
    expect(await events()).toContainEqual(['rejected', 'revoked', 2])
    expect(broken.reports).toHaveLength(2)
  })

  test('work that cannot be deferred is reported, too', async () => {
    const { fixture, made } = await withKey(storage)
    const reports: unknown[] = []
    const closed = new Error('the service is closed')
    const lookup = createKeyLog({
      storage: fixture.storage,
      now: fixture.clock.now,
      report: (observation) => reports.push(observation),
      defer: () => {
        throw closed
      },
    })
    lookup.used(made)
    lookup.rejected(made, 'revoked')
    expect(reports).toEqual([
      { type: 'security-record-failed', error: closed },
      { type: 'security-record-failed', error: closed },
    ])
  })

  test('a record without its hash is found by its identifier; a missing one is ignored', async () => {
    const { fixture, made, record } = await withKey(storage)
    fixture.lookup.used(made)
    await fixture.settle()
    expect(await record()).toMatchObject({ lastUsed: '2026-03-01T12:00:00Z' })
    fixture.lookup.used({ ...made, keyId: crypto.randomUUID() })
    await fixture.settle()
    expect(fixture.reports).toEqual([])
  })
})

test('a key is found synchronously if storage is synchronous', async () => {
  const fixture = await openFixture('SQLite file')
  await fixture.users.add({ user: 'maria', roles: ['Sales'] })
  const { key, keyId } = await fixture.keys.create({ user: 'maria' })
  const answer = provider().identify({ place: 'header x-api-key', value: key }, fixture.context)
  expect(answer).not.toBeInstanceOf(Promise)
  expect(answer).toMatchObject({ user: 'maria', keyId })
})

test('a store that is down is a failure, never a rejection', async () => {
  for (const name of storageNames) {
    const storage = await openStorage(name)
    const fixture = createFixture(storage, [provider()])
    await storage.close()
    await expect(fixture.ask('A'.repeat(22))).rejects.toMatchObject({ kind: 'unavailable' })
  }
})

test('the memory of uses is bounded: the oldest is forgotten', async () => {
  const storage = await openStorage('memory')
  const { now } = clockAt('2026-03-01T12:00:00Z')
  let deferred = 0
  const lookup = createKeyLog({
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

describe('the counter of rejections', () => {
  const key = (keyId: string) => ({ keyId, user: 'maria', provider: 'p' })
  const at = (seconds: number): Date =>
    new Date(Date.parse('2026-03-01T12:00:00Z') + seconds * 1000)

  test('is bounded, and evicted counts are still written', () => {
    const counter = new RejectionCounter(2)
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

  test('releases nothing that was taken already', () => {
    const counter = new RejectionCounter(10)
    counter.count(key('a'), 'expired', at(0))
    expect(counter.take()).toHaveLength(1)
    counter.release()
    expect(counter.take()).toEqual([])
    counter.count(key('a'), 'expired', at(1))
    counter.release()
    expect(counter.take()).toMatchObject([{ times: 1, at: at(1) }])
  })

  test('separates reasons and returns the latest time', () => {
    const counter = new RejectionCounter(10)
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
    const counter = new RejectionCounter(10)
    expect(counter.sweep(at(0))).toBe(false)
    counter.count(key('a'), 'expired', at(0))
    counter.take()
    counter.count(key('a'), 'expired', at(1))
    expect(counter.sweep(at(59))).toBe(false)
    expect(counter.sweep(at(60))).toBe(true)
    expect(counter.take()).toMatchObject([{ times: 1, at: at(1) }])
    expect(counter.sweep(at(119))).toBe(false)
    expect(counter.sweep(at(180))).toBe(false)
    counter.restore([{ key: key('a'), reason: 'expired', times: 5, at: at(1) }])
    counter.release()
    expect(counter.take()).toEqual([])
  })

  test('a time is recent for a minute, and never ahead of the clock', () => {
    const recent = [0, 59_999, 60_000, -1].map((ago) => isRecent(at(0).getTime() - ago, at(0)))
    expect(recent).toEqual([true, true, false, false])
    expect(isRecent(undefined, at(0))).toBe(false)
  })
})

test('the columns of a key are its record, its hash and its purpose', () => {
  const names = ['hash', 'keyId', 'start', 'provider', 'user', 'description', 'purpose']
  const all = [...names, 'created', 'expires', 'revoked', 'firstUsed', 'lastUsed']
  expect(securityCollections.keys.allNames).toEqual(all)
})
