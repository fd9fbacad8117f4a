import { describe, expect, test } from 'vitest'
import { createService, principal, system } from '../../src/entries/index.ts'
import { httpBasic } from '../../src/entries/security.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { cheapCost, plainKeys } from '../kit/keys.ts'
import { clockAt } from '../kit/clock.ts'
import { openStorage, storages, type Storage } from '../kit/storages.ts'
import { openService } from '../kit/stage.ts'

const everywhere = [...new Set([...storages, ...serverStorages])]

async function openStage(on: Storage) {
  const clock = clockAt('2026-03-01T12:00:00Z')
  const { service } = openService({
    applications: {},
    storage: openStorage(on),
    security: [plainKeys(), httpBasic({ name: 'Password', cost: cheapCost })],
    now: clock.now,
  })
  await service.ready()
  return { service, clock, users: service.users, keys: service.keys }
}

const nobody = { actor: null, actorKey: null }

describe.each(everywhere)('the audit trail on $name', (on) => {
  test('names who added, changed and removed a user, and what was changed', async () => {
    const { users, clock } = await openStage(on)
    const admin = principal('ada', { keyId: '0192c7a0-0000-7000-8000-000000000000' })
    const by = { actor: 'ada', actorKey: admin.keyId }
    await users.add({ user: 'maria', roles: ['Sales', 'Office'] }, { actor: admin })
    clock.pass(1)
    await users.change('maria', { roles: ['Office', 'Boss'] }, { actor: admin })
    clock.pass(1)
    await users.change('maria', { enabled: false, attributes: { a: 1 } }, { actor: 'cli:root' })
    clock.pass(1)
    await users.change('maria', { password: 'a secret' }, { actor: system })
    clock.pass(1)
    await users.remove('maria')
    const none = { addedRoles: [], removedRoles: [] }
    const trail = await users.audit({ user: 'maria' })
    expect(trail).toEqual([
      {
        ...{ at: '2026-03-01T12:00:00Z', event: 'added', user: 'maria', ...by },
        ...{ changed: ['roles'], addedRoles: ['Sales', 'Office'], removedRoles: [] },
      },
      {
        ...{ at: '2026-03-01T12:01:00Z', event: 'changed', user: 'maria', ...by },
        ...{ changed: ['roles'], addedRoles: ['Boss'], removedRoles: ['Sales'] },
      },
      {
        ...{ at: '2026-03-01T12:02:00Z', event: 'changed', user: 'maria' },
        ...{ actor: 'cli:root', actorKey: null, changed: ['enabled', 'attributes'], ...none },
      },
      {
        ...{ at: '2026-03-01T12:03:00Z', event: 'changed', user: 'maria' },
        ...{ actor: 'system', actorKey: null, changed: ['password'], ...none },
      },
      {
        ...{ at: '2026-03-01T12:04:00Z', event: 'removed', user: 'maria' },
        ...{ ...nobody, changed: [], ...none },
      },
    ])
    expect(JSON.stringify(trail)).not.toContain('secret')
    expect(Object.isFrozen(trail[0])).toBe(true)
  })

  test('has no event for a change that changes nothing, or that fails', async () => {
    const { users, keys } = await openStage(on)
    await users.add({ user: 'maria', roles: ['Sales'], attributes: { b: 1, a: 2 } })
    await users.ensure({ user: 'maria', roles: ['Boss'] }, { actor: 'ada' })
    await users.change('maria', {})
    await users.change('maria', { roles: ['Sales'], enabled: true, attributes: { b: 1, a: 2 } })
    await expect(users.add({ user: 'maria' }, { actor: 'ada' })).rejects.toThrow('already exists')
    await expect(users.change('nobody', { enabled: false })).rejects.toThrow('does not exist')
    await expect(users.remove('nobody')).rejects.toThrow('does not exist')
    expect((await users.audit()).map(({ event }) => event)).toEqual(['added'])
    const { keyId } = await keys.create({ user: 'maria', description: 'till' })
    await keys.change(keyId, { description: 'till' })
    await keys.revoke(keyId)
    await keys.revoke(keyId, { actor: 'ada' })
    expect((await keys.audit()).map(({ event }) => event)).toEqual(['created', 'revoked'])
  })

  test('names who created, changed, rotated and revoked a key', async () => {
    const { users, keys } = await openStage(on)
    await users.add({ user: 'maria' })
    const actor = principal('ada', { keyId: 'k1' })
    const first = await keys.create({ user: 'maria' }, { actor })
    await keys.change(first.keyId, { description: 'till' }, { actor: 'cli:root' })
    const second = await keys.rotate(first.keyId, undefined, { actor })
    await keys.revoke(second.keyId, { actor })
    const third = await keys.create({ user: 'maria' })
    await users.remove('maria', { actor })
    const events = await keys.audit({ user: 'maria' })
    expect(events.map((one) => [one.keyId, one.event, one.actor, one.actorKey])).toEqual([
      [first.keyId, 'created', 'ada', 'k1'],
      [first.keyId, 'changed', 'cli:root', null],
      [first.keyId, 'rotated', 'ada', 'k1'],
      [second.keyId, 'created', 'ada', 'k1'],
      [second.keyId, 'revoked', 'ada', 'k1'],
      [third.keyId, 'created', null, null],
      [third.keyId, 'revoked', 'ada', 'k1'],
    ])
    expect((await keys.audit({ actor: 'cli:root' })).map(({ changed }) => changed)).toEqual([
      ['description'],
    ])
  })

  test('and lists of users and keys are read in pages', async () => {
    const { users, keys, clock } = await openStage(on)
    for (const user of ['a', 'b', 'c', 'd']) {
      await users.add({ user }, { actor: 'ada' })
      await keys.create({ user }, { actor: 'ada' })
      clock.pass(1)
    }
    const names = async (...page: Parameters<typeof users.list>) =>
      (await users.list(...page)).map(({ user }) => user).join('')
    expect([
      await names(),
      await names({ limit: 2 }),
      await names({ limit: 2, offset: 1 }),
    ]).toEqual(['abcd', 'ab', 'bc'])
    expect([
      await names({ offset: 3 }),
      await names({ limit: 0 }),
      await names({ offset: 9 }),
    ]).toEqual(['d', '', ''])
    expect((await keys.list({ limit: 2, offset: 1 })).map(({ user }) => user)).toEqual(['b', 'c'])
    expect((await keys.audit({ limit: 1, offset: 2 })).map(({ user }) => user)).toEqual(['c'])
    const latest = await users.audit({ limit: 2, latestFirst: true })
    expect(latest.map(({ user }) => user)).toEqual(['d', 'c'])
    expect((await keys.audit({ latestFirst: true, limit: 1, user: 'b' }))[0]?.user).toBe('b')
    await expect(users.list({ limit: -1 })).rejects.toThrow('users.list.limit')
    await expect(keys.audit({ offset: 0.5 })).rejects.toThrow('keys.audit.offset')
  })

  test('a key gets another description, and an earlier end', async () => {
    const { users, keys, clock } = await openStage(on)
    await users.add({ user: 'maria' })
    const { keyId } = await keys.create({ user: 'maria', expiresIn: 60 })
    const shorter = await keys.change(keyId, {
      description: 'till',
      expires: '2026-03-01T12:30:00.000Z',
    })
    expect(shorter).toMatchObject({ description: 'till', expires: '2026-03-01T12:30:00Z' })
    expect(await keys.list()).toEqual([shorter])
    expect((await keys.audit({ keyId })).at(-1)?.changed).toEqual(['description', 'expires'])
    const later = keys.change(keyId, { expires: '2026-03-01T12:31:00Z' })
    await expect(later).rejects.toThrow(
      'keys.change.expires must be earlier than 2026-03-01T12:30:00Z; to extend the key, rotate it',
    )
    const past = keys.change(keyId, { expires: '2026-03-01T12:00:00Z' })
    await expect(past).rejects.toThrow('keys.change.expires must be later than now')
    for (const expires of ['2026-03-01', '', null, 5]) {
      const wrong = keys.change(keyId, { expires } as never)
      await expect(wrong).rejects.toThrow('keys.change.expires must be an instant')
    }
    expect(await keys.change(keyId, { description: '' })).toMatchObject({ description: null })
    clock.pass(30)
    await expect(keys.change(keyId, { description: 'x' })).rejects.toThrow('the key has expired')
    const other = await keys.create({ user: 'maria' })
    const ending = await keys.change(other.keyId, { expires: '2027-01-01T00:00:00Z' })
    expect(ending.expires).toBe('2027-01-01T00:00:00Z')
    await keys.revoke(other.keyId)
    const revoked = keys.change(other.keyId, { description: 'x' })
    await expect(revoked).rejects.toThrow('keys.change: the key was revoked; create a new one')
  })

  test('text that is not the identifier of a key names no key', async () => {
    const { users, keys } = await openStage(on)
    await users.add({ user: 'maria' })
    const { keyId } = await keys.create({ user: 'maria' })
    const unknown = 'no key has this identifier'
    for (const id of ['nothing', "'", keyId.slice(1), '0192c7a0-0000-7000-8000-000000000000']) {
      await expect(keys.change(id, {})).rejects.toThrow(unknown)
      await expect(keys.revoke(id)).rejects.toThrow(unknown)
      await expect(keys.rotate(id)).rejects.toThrow(unknown)
      expect(await keys.audit({ keyId: id })).toEqual([])
    }
    expect(await keys.audit({ keyId: keyId.toUpperCase() })).toHaveLength(1)
    expect(await keys.revoke(keyId.toUpperCase())).toMatchObject({ keyId })
  })
})

test.each([
  [null, 'users.add must be'],
  [{ actor: '' }, 'users.add.actor must be a principal, or a string'],
  [{ actor: 'a\nb' }, 'users.add.actor must be a principal, or a string'],
  [{ actor: {} }, 'users.add.actor must be a principal, or a string'],
  [{ actor: { ...system } }, 'users.add.actor must be a principal, or a string'],
  [{ author: 'ada' }, 'author'],
])('the actor %j is rejected', async (by, message) => {
  const { users } = await openStage(storages[0] as Storage)
  await expect(users.add({ user: 'maria' }, by as never)).rejects.toThrow(message)
  expect(await users.list()).toEqual([])
})

test('without built-in users, users have no trail', async () => {
  const service = createService({
    applications: {},
    storage: openStorage(storages[0]),
    security: plainKeys(),
    users: () => undefined,
  })
  await expect(service.users.audit()).rejects.toThrow('The users of this service come from')
  await service.close()
})
