import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { equal } from '../../../src/request/query.ts'
import { securityCollections } from '../../../src/security/collections.ts'
import { revokeKey } from '../../../src/security/keys/key-revocation.ts'
import { findKey, type StoredKey } from '../../../src/security/keys/key-row.ts'
import type { NewKey } from '../../../src/security/keys/key-store.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'
import { furnish, openHouse, openStorage, provider, storageNames, type House } from './house.ts'

const good = { user: 'maria' }
const writing = { mode: 'write', brief: true } as const

async function withKey(
  storage: (typeof storageNames)[number],
  expiresIn?: number,
): Promise<{ house: House; key: NewKey }> {
  const house = await openHouse(storage, [provider({ maxExpiry: 10_000 })])
  await house.users.add({ user: 'maria' })
  const request = { user: 'maria', description: 'till', ...(expiresIn && { expiresIn }) }
  return { house, key: await house.keys.create(request) }
}

/** How many were done, and the messages of the others. */
async function outcomes(work: readonly Promise<unknown>[]) {
  const settled = await Promise.allSettled(work)
  const failures = settled.flatMap((one) =>
    one.status === 'rejected' ? [one.reason as Error] : [],
  )
  return { done: settled.length - failures.length, failures }
}

describe.each(storageNames)('rotation over %s', (storage) => {
  test('makes a new key for the same user, provider and description', async () => {
    const { house, key } = await withKey(storage, 60)
    house.clock.pass(10)
    const next = await house.keys.rotate(key.keyId)
    expect(next).toEqual({
      ...key,
      keyId: expect.not.stringMatching(key.keyId) as unknown,
      start: next.key.slice(0, 4),
      created: '2026-03-01T12:10:00Z',
      expires: '2026-03-08T10:50:00Z',
    })
    expect(next.key).not.toBe(key.key)
    expect(await house.fate(next.key)).toEqual(good)
    expect(await house.fate(key.key)).toBe('revoked')
    const [old] = await house.keys.list()
    expect(old).toEqual({ ...key, revoked: '2026-03-01T12:10:00Z' })
  })

  test('with an overlap the old key dies at its end', async () => {
    const { house, key } = await withKey(storage, 60)
    const next = await house.keys.rotate(key.keyId, { overlap: 10, expiresIn: 20 })
    expect(next.expires).toBe('2026-03-01T12:20:00Z')
    const [old] = await house.keys.list()
    expect(old).toEqual({ ...key, expires: '2026-03-01T12:10:00Z' })
    house.clock.set('2026-03-01T12:09:59.999Z')
    expect([await house.fate(key.key), await house.fate(next.key)]).toEqual([good, good])
    house.clock.set('2026-03-01T12:10:00Z')
    expect([await house.fate(key.key), await house.fate(next.key)]).toEqual(['expired', good])
  })

  test('never prolongs the life of the old key', async () => {
    const { house, key } = await withKey(storage, 5)
    await house.keys.rotate(key.keyId, { overlap: 10 })
    const [old] = await house.keys.list()
    expect(old).toEqual(key)
  })

  test('twice in a row: three keys behave', async () => {
    const { house, key: first } = await withKey(storage)
    const second = await house.keys.rotate(first.keyId, { overlap: 10 })
    house.clock.pass(5)
    const third = await house.keys.rotate(second.keyId, { overlap: 10 })
    const fates = async (): Promise<unknown> =>
      Promise.all([first, second, third].map(({ key }) => house.fate(key)))
    expect(await fates()).toEqual([good, good, good])
    house.clock.pass(5)
    expect(await fates()).toEqual(['expired', good, good])
    house.clock.pass(5)
    expect(await fates()).toEqual(['expired', 'expired', good])
    await house.keys.revoke(third.keyId)
    expect(await fates()).toEqual(['expired', 'expired', 'revoked'])
    const audit = await house.keys.audit()
    expect(audit.map(({ event, reason }) => [event, reason])).toEqual([
      ['created', null],
      ['rotated', second.keyId],
      ['created', null],
      ['rotated', third.keyId],
      ['created', null],
      ['revoked', null],
    ])
  })

  test('the same key can be rotated again while it lives', async () => {
    const { house, key } = await withKey(storage, 5)
    const second = await house.keys.rotate(key.keyId, { overlap: 10 })
    const third = await house.keys.rotate(key.keyId, { overlap: 10 })
    for (const one of [key, second, third]) expect(await house.fate(one.key)).toEqual(good)
  })

  test('refuses a dead key', async () => {
    const { house, key } = await withKey(storage, 60)
    const revoked = await house.keys.create({ user: 'maria' })
    await house.keys.revoke(revoked.keyId)
    await expect(house.keys.rotate(revoked.keyId)).rejects.toThrow('was revoked; create a new one')
    house.clock.pass(60)
    await expect(house.keys.rotate(key.keyId, { overlap: 5 })).rejects.toThrow('has expired')
    expect(await house.keys.list()).toHaveLength(2)
  })

  test('refuses a key whose user is gone', async () => {
    const shared = await openStorage(storage)
    const { keys, users } = furnish(shared, [provider()])
    await users.add({ user: 'maria' })
    const key = await keys.create({ user: 'maria' })
    await shared.transaction({ mode: 'write', brief: true }, async (transaction) => {
      const named = [{ field: 'user', is: 'equal', value: 'maria' }] as const
      await transaction.delete(securityCollections.users, named)
    })
    await expect(keys.rotate(key.keyId)).rejects.toThrow(
      'keys.rotate.user: the user maria does not exist',
    )
    expect(await keys.list()).toEqual([{ ...key }])
  })

  test('refuses a key whose provider is gone', async () => {
    const shared = await openStorage(storage)
    const house = furnish(shared, [provider()])
    await house.users.add({ user: 'maria' })
    const { keyId, provider: gone } = await house.keys.create({ user: 'maria' })
    const { keys } = furnish(shared, [provider({ name: 'Other' })])
    expect(await keys.list({ provider: gone.toUpperCase() })).toHaveLength(1)
    await expect(keys.rotate(keyId)).rejects.toThrow('no provider for this key')
    expect(await keys.list()).toHaveLength(1)
    await keys.revoke(keyId)
  })

  test.each([
    [{ overlap: -1 }, 'keys.rotate.overlap must be a whole number of minutes, at least 0'],
    [{ overlap: 0.5 }, 'keys.rotate.overlap must be'],
    [{ overlap: Number.NaN }, 'keys.rotate.overlap must be'],
    [{ overlap: null }, 'keys.rotate.overlap must be'],
    [{ overlap: 1e12 }, 'keys.rotate.overlap must be fewer minutes'],
    [{ expiresIn: 0 }, 'keys.rotate.expiresIn must be'],
    [{ expiresIn: 10_001 }, 'keys.rotate.expiresIn must not be above'],
    [{ overlaps: 1 }, 'keys.rotate.overlaps is not an option; did you mean overlap?'],
    [5, 'keys.rotate must be an object'],
  ])('refuses %j', async (rotation, message) => {
    const { house, key } = await withKey(storage)
    await expect(house.keys.rotate(key.keyId, rotation as object)).rejects.toThrow(message)
    await expect(house.keys.rotate(key.keyId, rotation as object)).rejects.toThrow(TypeError)
    expect(await house.keys.list()).toEqual([{ ...key }])
    expect(await house.fate(key.key)).toEqual(good)
  })

  test.each([0, 10, 10_000])(
    '100 at once with an overlap of %i make one successor',
    async (overlap) => {
      const { house, key } = await withKey(storage)
      const rotating = Array.from({ length: 100 }, () => house.keys.rotate(key.keyId, { overlap }))
      const { done, failures } = await outcomes(rotating)
      expect(done).toBe(1)
      expect(failures.filter((one) => !(one instanceof TypeError))).toEqual([])
      expect(await house.keys.list()).toHaveLength(2)
      expect((await house.keys.audit()).map(({ event }) => event)).toEqual([
        'created',
        'rotated',
        'created',
      ])
    },
  )

  test('100 revocations at once are one', async () => {
    const { house, key } = await withKey(storage)
    const revoking = Array.from({ length: 100 }, () => house.keys.revoke(key.keyId))
    expect(await outcomes(revoking)).toEqual({ done: 100, failures: [] })
    expect((await house.keys.audit()).map(({ event }) => event)).toEqual(['created', 'revoked'])
  })

  test.each([0, 10])(
    'revoked while rotated with an overlap of %i: one of both is told',
    async (overlap) => {
      const { house, key } = await withKey(storage)
      const work = Array.from({ length: 100 }, (_, index) =>
        index % 2 === 1 ? house.keys.rotate(key.keyId, { overlap }) : house.keys.revoke(key.keyId),
      )
      const { failures } = await outcomes(work)
      expect(failures.filter((one) => !(one instanceof TypeError))).toEqual([])
      const keys = await house.keys.list()
      const events = (await house.keys.audit()).map(({ event }) => event)
      const rotations = events.filter((event) => event === 'rotated').length
      expect(keys).toHaveLength(1 + rotations)
      expect(failures).toHaveLength(50 - rotations)
      expect(rotations).toBeLessThan(2)
      expect(keys[0]?.revoked).not.toBeNull()
      expect(await house.fate(key.key)).toBe('revoked')
    },
  )

  test('a key that was changed between both steps of a rotation is not rotated', async () => {
    const { house, key } = await withKey(storage)
    const [rotating, other] = [house.keys.rotate(key.keyId), house.keys.rotate(key.keyId)]
    const { failures } = await outcomes([rotating, other])
    expect(failures.map(({ message }) => message)).toEqual([
      'keys.rotate: the key was changed meanwhile; look at it and try again',
    ])
  })

  test('who revokes what somebody else has revoked meanwhile changes nothing', async () => {
    const { house, key } = await withKey(storage)
    await house.keys.create({ user: 'maria', description: 'another' })
    const stale = await house.storage.transaction(writing, (on) => findKey(on, key.keyId))
    const revoked = await house.keys.revoke(key.keyId)
    house.clock.pass(1)
    const { now } = house.clock
    const late = await house.storage.transaction(writing, (on) =>
      revokeKey(on, stale as StoredKey, now()),
    )
    expect(late).toMatchObject({ keyId: key.keyId, revoked: revoked.revoked })
    expect((await house.keys.audit()).map(({ event }) => event)).toEqual([
      'created',
      'created',
      'revoked',
    ])
  })

  test('a key that was deleted meanwhile is returned as it was seen', async () => {
    const { house, key } = await withKey(storage)
    await house.keys.create({ user: 'maria', description: 'another' })
    const seen = await house.storage.transaction(writing, (on) => findKey(on, key.keyId))
    await house.storage.transaction(writing, async (on) =>
      on.delete(securityCollections.keys, [equal('hash', (seen as StoredKey).hash)]),
    )
    const { now } = house.clock
    const late = await house.storage.transaction(writing, (on) =>
      revokeKey(on, seen as StoredKey, now()),
    )
    expect(late).toEqual(seen)
    expect((await house.keys.audit()).map(({ event }) => event)).toEqual(['created', 'created'])
  })

  test('a use that begins after a revocation was answered is refused', async () => {
    const { house, key } = await withKey(storage)
    const before = Array.from({ length: 50 }, () => house.fate(key.key))
    const revoking = house.keys.revoke(key.keyId)
    const during = Array.from({ length: 50 }, () => house.fate(key.key))
    await revoking
    const after = await Promise.all(Array.from({ length: 100 }, () => house.fate(key.key)))
    expect(new Set(after)).toEqual(new Set(['revoked']))
    expect(await Promise.all(before)).toEqual(Array.from({ length: 50 }, () => good))
    await Promise.all(during)
    await house.settle()
  })
})

test('two that share a database make one successor', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rowgate-rotation-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const houses: House[] = []
  for (const name of ['one', 'other']) {
    const file = join(directory, 'keys.db')
    const shared = sqliteStorage(file, { ensureSchema: true, busyTimeout: 10_000 })
    onTestFinished(async () => shared.close())
    await shared.open(Object.values(securityCollections))
    houses.push(furnish(shared, [provider()]))
    if (name === 'one') await houses[0]?.users.add({ user: 'maria' })
  }
  const key = (await houses[0]?.keys.create({ user: 'maria', expiresIn: 5 })) as NewKey
  for (const overlap of [10, 2, 0]) {
    const before = (await houses[0]?.keys.list())?.length ?? 0
    const { done, failures } = await outcomes(
      Array.from({ length: 10 }, () =>
        houses.map(({ keys }) => keys.rotate(key.keyId, { overlap })),
      ).flat(),
    )
    expect(failures.filter((one) => !(one instanceof TypeError))).toEqual([])
    expect(done).toBe(1)
    expect(await houses[1]?.keys.list()).toHaveLength(before + 1)
  }
})
