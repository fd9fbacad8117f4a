import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { equal } from '../../../src/request/query.ts'
import { optionOf } from '../../../src/security/actor.ts'
import { securityCollections } from '../../../src/security/collections.ts'
import {
  findRotated,
  retireKey,
  revokeKey,
  type RotatedKey,
} from '../../../src/security/keys/key-changes.ts'
import { findKey, type StoredKey } from '../../../src/security/keys/key-row.ts'
import type { NewKey } from '../../../src/security/keys/key-store.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import {
  createFixture,
  openFixture,
  openStorage,
  provider,
  storageNames,
  type KeyFixture,
} from './fixture.ts'

const good = { user: 'maria' }
const writing = { mode: 'write', brief: true } as const

async function withKey(
  storage: (typeof storageNames)[number],
  expiresIn?: number,
): Promise<{ fixture: KeyFixture; key: NewKey }> {
  const fixture = await openFixture(storage, [provider({ maxExpiry: 10_000 })])
  await fixture.users.add({ user: 'maria' })
  const request = { user: 'maria', description: 'till', ...(expiresIn && { expiresIn }) }
  return { fixture, key: await fixture.keys.create(request) }
}

/** How many were done, and the messages of the others. */
async function outcomes(work: readonly Promise<unknown>[]) {
  const settled = await Promise.allSettled(work)
  const failures = settled.flatMap((one) =>
    one.status === 'rejected' ? [one.reason as Error] : [],
  )
  return { done: settled.length - failures.length, failures }
}

const nobody = { actor: null, actorKey: null }

describe.each(storageNames)('rotation over %s', (storage) => {
  test('makes a new key for the same user, provider and description', async () => {
    const { fixture, key } = await withKey(storage, 60)
    fixture.clock.pass(10)
    const next = await fixture.keys.rotate(key.keyId)
    expect(next).toEqual({
      ...key,
      keyId: expect.not.stringMatching(key.keyId) as unknown,
      start: next.key.slice(0, 4),
      created: '2026-03-01T12:10:00Z',
      expires: '2026-03-08T10:50:00Z',
    })
    expect(next.key).not.toBe(key.key)
    expect(await fixture.fate(next.key)).toEqual(good)
    expect(await fixture.fate(key.key)).toBe('revoked')
    const [old] = await fixture.keys.list()
    expect(old).toEqual({ ...key, revoked: '2026-03-01T12:10:00Z' })
  })

  // Guards lock users. If the key were changed first, two administrators could wait for each other.
  test('writes nothing before what runs within its transaction', async () => {
    const { fixture, key } = await withKey(storage)
    const seen: unknown[] = []
    const by = optionOf({
      ...nobody,
      within: async (transaction, change) => {
        const read = async () => (await findKey(transaction, key.keyId))?.revoked
        seen.push(await read())
        const row = await change()
        seen.push(await read())
        return row
      },
    })
    await fixture.keys.rotate(key.keyId, {}, by)
    expect(seen).toEqual([null, '2026-03-01T12:00:00Z'])
  })

  test('with an overlap the old key becomes inactive at its end', async () => {
    const { fixture, key } = await withKey(storage, 60)
    const next = await fixture.keys.rotate(key.keyId, { overlap: 10, expiresIn: 20 })
    expect(next.expires).toBe('2026-03-01T12:20:00Z')
    const [old] = await fixture.keys.list()
    expect(old).toEqual({ ...key, expires: '2026-03-01T12:10:00Z' })
    fixture.clock.set('2026-03-01T12:09:59.999Z')
    expect([await fixture.fate(key.key), await fixture.fate(next.key)]).toEqual([good, good])
    fixture.clock.set('2026-03-01T12:10:00Z')
    expect([await fixture.fate(key.key), await fixture.fate(next.key)]).toEqual(['expired', good])
  })

  test('never prolongs the life of the old key', async () => {
    const { fixture, key } = await withKey(storage, 5)
    await fixture.keys.rotate(key.keyId, { overlap: 10 })
    const [old] = await fixture.keys.list()
    expect(old).toEqual(key)
  })

  test('twice in a row: three keys behave', async () => {
    const { fixture, key: first } = await withKey(storage)
    const second = await fixture.keys.rotate(first.keyId, { overlap: 10 })
    fixture.clock.pass(5)
    const third = await fixture.keys.rotate(second.keyId, { overlap: 10 })
    const fates = async (): Promise<unknown> =>
      Promise.all([first, second, third].map(({ key }) => fixture.fate(key)))
    expect(await fates()).toEqual([good, good, good])
    fixture.clock.pass(5)
    expect(await fates()).toEqual(['expired', good, good])
    fixture.clock.pass(5)
    expect(await fates()).toEqual(['expired', 'expired', good])
    await fixture.keys.revoke(third.keyId)
    expect(await fates()).toEqual(['expired', 'expired', 'revoked'])
    const audit = await fixture.keys.audit()
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
    const { fixture, key } = await withKey(storage, 5)
    const second = await fixture.keys.rotate(key.keyId, { overlap: 10 })
    const third = await fixture.keys.rotate(key.keyId, { overlap: 10 })
    for (const one of [key, second, third]) expect(await fixture.fate(one.key)).toEqual(good)
  })

  test('rejects an inactive key', async () => {
    const { fixture, key } = await withKey(storage, 60)
    const revoked = await fixture.keys.create({ user: 'maria' })
    await fixture.keys.revoke(revoked.keyId)
    await expect(fixture.keys.rotate(revoked.keyId)).rejects.toThrow(
      'was revoked; create a new one',
    )
    fixture.clock.pass(60)
    await expect(fixture.keys.rotate(key.keyId, { overlap: 5 })).rejects.toThrow('has expired')
    expect(await fixture.keys.list()).toHaveLength(2)
  })

  test('rejects a key whose user is gone', async () => {
    const shared = await openStorage(storage)
    const { keys, users } = createFixture(shared, [provider()])
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

  test('rejects a key whose provider is gone', async () => {
    const shared = await openStorage(storage)
    const fixture = createFixture(shared, [provider()])
    await fixture.users.add({ user: 'maria' })
    const { keyId, provider: gone } = await fixture.keys.create({ user: 'maria' })
    const { keys } = createFixture(shared, [provider({ name: 'Other' })])
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
  ])('rejects %j', async (rotation, message) => {
    const { fixture, key } = await withKey(storage)
    await expect(fixture.keys.rotate(key.keyId, rotation as object)).rejects.toThrow(message)
    await expect(fixture.keys.rotate(key.keyId, rotation as object)).rejects.toThrow(TypeError)
    expect(await fixture.keys.list()).toEqual([{ ...key }])
    expect(await fixture.fate(key.key)).toEqual(good)
  })

  test.each([0, 10, 10_000])(
    '100 at once with an overlap of %i make one successor',
    async (overlap) => {
      const { fixture, key } = await withKey(storage)
      const rotating = Array.from({ length: 100 }, () =>
        fixture.keys.rotate(key.keyId, { overlap }),
      )
      const { done, failures } = await outcomes(rotating)
      expect(done).toBe(1)
      expect(failures.filter((one) => !(one instanceof TypeError))).toEqual([])
      expect(await fixture.keys.list()).toHaveLength(2)
      expect((await fixture.keys.audit()).map(({ event }) => event)).toEqual([
        'created',
        'rotated',
        'created',
      ])
    },
  )

  test('100 revocations at once are one', async () => {
    const { fixture, key } = await withKey(storage)
    const revoking = Array.from({ length: 100 }, () => fixture.keys.revoke(key.keyId))
    expect(await outcomes(revoking)).toEqual({ done: 100, failures: [] })
    expect((await fixture.keys.audit()).map(({ event }) => event)).toEqual(['created', 'revoked'])
  })

  test.each([0, 10])(
    'revoked while rotated with an overlap of %i: one of both is told',
    async (overlap) => {
      const { fixture, key } = await withKey(storage)
      const work = Array.from({ length: 100 }, (_, index) =>
        index % 2 === 1
          ? fixture.keys.rotate(key.keyId, { overlap })
          : fixture.keys.revoke(key.keyId),
      )
      const { failures } = await outcomes(work)
      expect(failures.filter((one) => !(one instanceof TypeError))).toEqual([])
      const keys = await fixture.keys.list()
      const events = (await fixture.keys.audit()).map(({ event }) => event)
      const rotations = events.filter((event) => event === 'rotated').length
      expect(keys).toHaveLength(1 + rotations)
      expect(failures).toHaveLength(50 - rotations)
      expect(rotations).toBeLessThan(2)
      expect(keys[0]?.revoked).not.toBeNull()
      expect(await fixture.fate(key.key)).toBe('revoked')
    },
  )

  test('a key that was changed between both steps of a rotation is not rotated', async () => {
    const { fixture, key } = await withKey(storage)
    const [rotating, other] = [fixture.keys.rotate(key.keyId), fixture.keys.rotate(key.keyId)]
    const { failures } = await outcomes([rotating, other])
    expect(failures.map(({ message }) => message)).toEqual([
      'keys.rotate: the key was changed at the same time; list the keys and try again',
    ])
  })

  test('events of other keys do not stop a rotation', async () => {
    const { fixture, key } = await withKey(storage, 5)
    const { storage: shared, clock } = fixture
    const seen = await findRotated(shared, key.keyId)
    const retire = retireKey(seen as RotatedKey, { overlap: 10, at: clock.now(), by: nobody })
    await fixture.keys.create({ user: 'maria' })
    await shared.transaction(writing, (on) => retire(on, 'successor'))
    const [event] = (await fixture.keys.audit({ keyId: key.keyId })).slice(-1)
    expect(event).toMatchObject({ event: 'rotated', reason: 'successor' })
  })

  test('a revocation of a key that was revoked in between changes nothing', async () => {
    const { fixture, key } = await withKey(storage)
    await fixture.keys.create({ user: 'maria', description: 'another' })
    const stale = await fixture.storage.transaction(writing, (on) => findKey(on, key.keyId))
    const revoked = await fixture.keys.revoke(key.keyId)
    fixture.clock.pass(1)
    const { now } = fixture.clock
    const late = await fixture.storage.transaction(writing, (on) =>
      revokeKey(on, stale as StoredKey, { at: now(), by: nobody }),
    )
    expect(late).toMatchObject({ keyId: key.keyId, revoked: revoked.revoked })
    expect((await fixture.keys.audit()).map(({ event }) => event)).toEqual([
      'created',
      'created',
      'revoked',
    ])
  })

  test('a key that was deleted meanwhile is returned as it was read', async () => {
    const { fixture, key } = await withKey(storage)
    await fixture.keys.create({ user: 'maria', description: 'another' })
    const seen = await fixture.storage.transaction(writing, (on) => findKey(on, key.keyId))
    await fixture.storage.transaction(writing, async (on) =>
      on.delete(securityCollections.keys, [equal('hash', (seen as StoredKey).hash)]),
    )
    const { now } = fixture.clock
    const late = await fixture.storage.transaction(writing, (on) =>
      revokeKey(on, seen as StoredKey, { at: now(), by: nobody }),
    )
    expect(late).toEqual(seen)
    expect((await fixture.keys.audit()).map(({ event }) => event)).toEqual(['created', 'created'])
  })

  test('a use that begins after a revocation has resolved is rejected', async () => {
    const { fixture, key } = await withKey(storage)
    const before = Array.from({ length: 50 }, () => fixture.fate(key.key))
    const revoking = fixture.keys.revoke(key.keyId)
    const during = Array.from({ length: 50 }, () => fixture.fate(key.key))
    await revoking
    const after = await Promise.all(Array.from({ length: 100 }, () => fixture.fate(key.key)))
    expect(new Set(after)).toEqual(new Set(['revoked']))
    expect(await Promise.all(before)).toEqual(Array.from({ length: 50 }, () => good))
    await Promise.all(during)
    await fixture.settle()
  })
})

test('two that share a database make one successor', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rowgate-rotation-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const fixtures: KeyFixture[] = []
  for (const name of ['one', 'other']) {
    const file = join(directory, 'keys.db')
    const shared = sqliteStorage(file, { ensureSchema: true, busyTimeout: 10_000 })
    onTestFinished(async () => shared.close())
    await shared.open(Object.values(securityCollections))
    fixtures.push(createFixture(shared, [provider()]))
    if (name === 'one') await fixtures[0]?.users.add({ user: 'maria' })
  }
  const key = (await fixtures[0]?.keys.create({ user: 'maria', expiresIn: 5 })) as NewKey
  for (const overlap of [10, 2, 0]) {
    const before = (await fixtures[0]?.keys.list())?.length ?? 0
    const { done, failures } = await outcomes(
      Array.from({ length: 10 }, () =>
        fixtures.map(({ keys }) => keys.rotate(key.keyId, { overlap })),
      ).flat(),
    )
    expect(failures.filter((one) => !(one instanceof TypeError))).toEqual([])
    expect(done).toBe(1)
    expect(await fixtures[1]?.keys.list()).toHaveLength(before + 1)
  }
})
