import { describe, expect, test } from 'vitest'
import { equal } from '../../../src/request/query.ts'
import { securityCollections } from '../../../src/security/collections.ts'
import type { KeyRequest } from '../../../src/security/keys/key-store.ts'
import { createKeyring } from '../../../src/security/keys/keyring.ts'
import { createFixture, openFixture, provider, storageNames } from './fixture.ts'

const identified = { user: 'maria' }

describe.each(storageNames)('the keyring over %s', (storage) => {
  test('creates a key that acts for its user', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria', roles: ['Sales'], attributes: { region: 'WA' } })
    const made = await fixture.keys.create({ user: 'maria', description: 'for the till' })
    expect(made).toEqual({
      keyId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as unknown,
      start: made.key.slice(0, 4),
      provider: provider().identifier,
      user: 'maria',
      description: 'for the till',
      created: '2026-03-01T12:00:00Z',
      expires: null,
      revoked: null,
      firstUsed: null,
      lastUsed: null,
    })
    expect(Object.isFrozen(made)).toBe(true)
    expect(made.key).toMatch(/^[\w-]{22}$/)
    const principal = await fixture.ask(made.key)
    expect(principal).toEqual({
      kind: 'user',
      user: 'maria',
      roles: ['Sales'],
      attributes: { region: 'WA' },
      provider: 'API Key',
      keyId: made.keyId,
    })
    expect(Object.isFrozen(principal)).toBe(true)
  })

  test('no other key is good', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const { key } = await fixture.keys.create({ user: 'maria' })
    const flipped = (key.startsWith('A') ? 'B' : 'A') + key.slice(1)
    const swapped = Array.from(key)
      .map((one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()))
      .join('')
    expect(await fixture.fate(key)).toEqual(identified)
    expect(await fixture.fate(flipped)).toBe('unknown')
    expect(await fixture.fate(`${key}A`)).toBe('unknown')
    expect(swapped === key ? 'unknown' : await fixture.fate(swapped)).toBe('unknown')
    for (const broken of [
      key.slice(1),
      `${key}=`,
      ` ${key}`,
      `${key.slice(0, 9)} ${key.slice(9)}`,
    ]) {
      expect(await fixture.fate(broken)).toBe('malformed')
    }
  })

  test('lists the keys on record, the oldest first, by user and provider', async () => {
    const partners = provider({ name: 'Partners', priority: 60 })
    const fixture = await openFixture(storage, [provider(), partners])
    await fixture.users.add({ user: 'maria' })
    await fixture.users.add({ user: 'john' })
    const requests: readonly KeyRequest[] = [
      { user: 'maria', provider: 'API Key' },
      { user: 'john', provider: 'Partners' },
      { user: 'maria', provider: partners.identifier.toUpperCase() },
      { user: 'maria', provider: 'API Key', expiresIn: 1 },
    ]
    const made = []
    for (const request of requests) made.push(await fixture.keys.create(request))
    const [first, second, third, fourth] = made.map(({ keyId }) => keyId)
    fixture.clock.pass(1)
    await fixture.keys.revoke(first ?? '')

    const idsOf = async (filter?: { user?: string; provider?: string }): Promise<unknown> =>
      (await fixture.keys.list(filter)).map(({ keyId }) => keyId)
    expect(await idsOf()).toEqual([first, second, third, fourth])
    expect(await idsOf({ user: 'maria' })).toEqual([first, third, fourth])
    expect(await idsOf({ provider: 'Partners' })).toEqual([second, third])
    expect(await idsOf({ user: 'maria', provider: partners.identifier })).toEqual([third])
    expect(await idsOf({ user: 'nobody' })).toEqual([])
    expect(await idsOf({ provider: crypto.randomUUID() })).toEqual([])
    await expect(idsOf({ provider: 'Partnerz' })).rejects.toThrow('one of API Key (')
    await expect(idsOf({ usr: 'maria' } as object)).rejects.toThrow(
      'keys.list.usr is not an option; did you mean user?',
    )
    const [record] = await fixture.keys.list()
    expect(Object.isFrozen(record)).toBe(true)
    expect(Object.keys(record ?? {})).toEqual(Object.keys(made[0] ?? {}))
    expect(record).toEqual({ ...made[0], revoked: '2026-03-01T12:01:00Z' })
  })

  test('lists keys by their creation, also after the clock was set back', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const made = []
    for (const minutes of [5, -3, 1]) {
      fixture.clock.pass(minutes)
      made.push(await fixture.keys.create({ user: 'maria' }))
    }
    const [last, first, second] = made.map(({ keyId }) => keyId)
    const listed = (await fixture.keys.list()).map(({ keyId }) => keyId)
    expect(listed).toEqual([first, second, last])
  })

  test('names its providers', async () => {
    const partners = provider({ name: 'Partners', priority: 60, enabled: false })
    const { keys } = await openFixture(storage, [provider(), partners])
    expect(keys.providers).toEqual([
      { name: provider().name, identifier: provider().identifier, enabled: true },
      { name: 'Partners', identifier: partners.identifier, enabled: false },
    ])
  })

  test('stores no key of a built-in user who was removed in between', async () => {
    const { storage: shared, clock } = await openFixture(storage)
    // The user is found, and then removed before the key is stored.
    const users = {
      find: () => ({ user: 'maria', roles: [], attributes: {}, password: null, enabled: true }),
    }
    const options = { storage: shared, providers: [provider()], users, now: clock.now }
    const checking = createKeyring({ ...options, keepsUsers: true })
    await expect(checking.create({ user: 'maria' })).rejects.toThrow(
      'keys.create.user: the user maria does not exist; add the user first',
    )
    expect(await checking.list()).toEqual([])
    // Users that are kept elsewhere are not in the storage.
    const other = createKeyring(options)
    expect(await other.create({ user: 'maria' })).toMatchObject({ user: 'maria' })
  })

  test('a chosen key of one provider does not work for another', async () => {
    const partners = provider({ name: 'Partners', priority: 60 })
    const { keys, users } = await openFixture(storage, [provider(), partners])
    await users.add({ user: 'maria' })
    const chosen = { user: 'maria', key: 'uN3x7Qm2Zr8Lk5Tw9Yb4Vd' }
    const first = await keys.ensure({ ...chosen, provider: 'API Key' })
    expect(await keys.ensure({ ...chosen, provider: 'API Key' })).toEqual(first)
    await expect(keys.ensure({ ...chosen, provider: 'Partners' })).rejects.toThrow(
      'keys.ensure.key is the key of another user or provider; choose another key',
    )
    const other = await keys.ensure({ ...chosen, provider: 'API Key', key: `${chosen.key}x` })
    expect((await keys.list()).map(({ keyId }) => keyId)).toEqual([first.keyId, other.keyId])
  })

  test('lists more keys than a page of storage holds', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const made = []
    for (let count = 0; count < 1_001; count++) made.push(fixture.keys.create({ user: 'maria' }))
    const ids = (await Promise.all(made)).map(({ keyId }) => keyId)
    const listed = (await fixture.keys.list()).map(({ keyId }) => keyId)
    expect(listed).toHaveLength(1_001)
    expect(new Set(listed)).toEqual(new Set(ids))
    expect(await fixture.keys.audit()).toHaveLength(1_001)
  })

  test('revokes a key for good, once', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const { key, keyId } = await fixture.keys.create({ user: 'maria', expiresIn: 60 })
    fixture.clock.pass(1)
    const revoked = await fixture.keys.revoke(keyId)
    expect(revoked).toMatchObject({ keyId, revoked: '2026-03-01T12:01:00Z' })
    expect(Object.isFrozen(revoked)).toBe(true)
    expect(await fixture.fate(key)).toBe('revoked')
    fixture.clock.pass(1)
    expect(await fixture.keys.revoke(keyId)).toEqual(revoked)
    fixture.clock.pass(-600)
    expect(await fixture.fate(key)).toBe('revoked')
    expect((await fixture.keys.audit({ keyId })).map(({ event }) => event)).toEqual([
      'created',
      'revoked',
    ])
  })

  test('revokes an expired key, which stays on record', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const { keyId } = await fixture.keys.create({ user: 'maria', expiresIn: 1 })
    fixture.clock.pass(2)
    expect(await fixture.keys.revoke(keyId)).toMatchObject({ revoked: '2026-03-01T12:02:00Z' })
  })

  test('lists the events, the oldest first, by key and user', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    await fixture.users.add({ user: 'john' })
    const first = await fixture.keys.create({ user: 'maria' })
    const second = await fixture.keys.create({ user: 'john' })
    fixture.clock.pass(1)
    const third = await fixture.keys.rotate(first.keyId)
    const audit = await fixture.keys.audit()
    const rest = {
      provider: first.provider,
      ...{ times: 1, actor: null, actorKey: null, changed: [] },
    }
    const [now, then] = ['2026-03-01T12:01:00Z', '2026-03-01T12:00:00Z']
    const [a, b, c] = [first.keyId, second.keyId, third.keyId]
    expect(audit).toEqual([
      { at: then, event: 'created', keyId: a, user: 'maria', reason: null, ...rest },
      { at: then, event: 'created', keyId: b, user: 'john', reason: null, ...rest },
      { at: now, event: 'rotated', keyId: a, user: 'maria', reason: c, ...rest },
      { at: now, event: 'created', keyId: c, user: 'maria', reason: null, ...rest },
    ])
    expect(Object.isFrozen(audit[0])).toBe(true)
    expect(await fixture.keys.audit({ keyId: a })).toEqual([audit[0], audit[2]])
    expect(await fixture.keys.audit({ user: 'maria' })).toEqual([audit[0], audit[2], audit[3]])
    expect(await fixture.keys.audit({ user: 'maria', keyId: b })).toEqual([])
  })

  test('chooses the only enabled provider', async () => {
    const off = { enabled: false, priority: 1 }
    const own = provider()
    const fixture = await openFixture(storage, [own, provider({ name: 'B', ...off })])
    await fixture.users.add({ user: 'maria' })
    expect(await fixture.keys.create({ user: 'maria' })).toMatchObject({ provider: own.identifier })
    const none = createFixture(fixture.storage, [provider(off), provider({ name: 'B', ...off })])
    await expect(none.keys.create({ user: 'maria' })).rejects.toThrow('provider must be one of')
  })

  test('rejects impossible calls, and writes nothing', async () => {
    const fixture = await openFixture(storage, [provider(), provider({ name: 'B', priority: 1 })])
    await fixture.users.add({ user: 'maria' })
    const ok = { user: 'maria', provider: 'B' }
    const cases: readonly (readonly [request: unknown, message: string])[] = [
      [undefined, 'keys.create is missing: must be an object'],
      [
        { ...ok, user: 'john' },
        'keys.create.user: the user john does not exist; add the user first',
      ],
      [{ ...ok, user: '' }, 'keys.create.user must be a non-empty string'],
      [{ provider: 'B' }, 'keys.create.user must be a non-empty string'],
      [{ user: 'maria' }, 'keys.create.provider must be one of API Key ('],
      [{ ...ok, provider: 'b' }, 'keys.create.provider must be one of API Key ('],
      [
        { ...ok, description: 'x'.repeat(201) },
        'keys.create.description must be a string of 0 to 200',
      ],
      [{ ...ok, description: 'a\nb' }, 'without control characters'],
      [{ ...ok, description: 5 }, 'keys.create.description must be'],
      [{ ...ok, expires: 5 }, 'keys.create.expires is not an option; did you mean expiresIn?'],
    ]
    for (const [request, message] of cases) {
      const creating = fixture.keys.create(request as KeyRequest)
      await expect(creating).rejects.toThrow(TypeError)
      await expect(creating).rejects.toThrow(message)
    }
    for (const keyId of ['', null, 5, ['x']] as string[]) {
      const advice = 'must be the identifier of a key, as returned by list'
      await expect(fixture.keys.revoke(keyId)).rejects.toThrow(`keys.revoke ${advice}`)
      await expect(fixture.keys.rotate(keyId)).rejects.toThrow(`keys.rotate ${advice}`)
      const reading = fixture.keys.audit({ keyId })
      await expect(reading).rejects.toThrow(`keys.audit.keyId ${advice}`)
    }
    for (const call of ['revoke', 'rotate'] as const) {
      const calling = fixture.keys[call](crypto.randomUUID())
      await expect(calling).rejects.toThrow(TypeError)
      await expect(calling).rejects.toThrow(`keys.${call}: no key has this identifier; call list`)
    }
    const [one, other] = fixture.keys.providers.map((it) => `${it.name} (${it.identifier})`)
    await expect(fixture.keys.create({ user: 'maria' })).rejects.toThrow(
      `keys.create.provider must be one of ${one}, ${other}`,
    )
    expect(await fixture.keys.list()).toEqual([])
    expect(await fixture.keys.audit()).toEqual([])
  })

  test('accepts complete identifiers only', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const { keyId } = await fixture.keys.create({ user: 'maria' })
    for (const part of [keyId.slice(0, 8), keyId.slice(0, -1), `${keyId} `]) {
      await expect(fixture.keys.revoke(part)).rejects.toThrow('no key has this identifier')
    }
  })

  test('the length of a description is in characters, and an empty one is null', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const long = '😀'.repeat(200)
    expect(await fixture.keys.create({ user: 'maria', description: long })).toMatchObject({
      description: long,
    })
    expect(await fixture.keys.create({ user: 'maria', description: '' })).toMatchObject({
      description: null,
    })
  })

  test('each provider accepts its own keys only, and a disabled one none', async () => {
    const disabled = provider({ name: 'Off', priority: 1, enabled: false })
    const fixture = await openFixture(storage, [provider(), disabled])
    await fixture.users.add({ user: 'maria' })
    const { key } = await fixture.keys.create({ user: 'maria', provider: 'API Key' })
    const off = await fixture.keys.create({ user: 'maria', provider: 'Off' })
    expect(await fixture.fate(key)).toEqual(identified)
    expect(await fixture.fate(key, disabled)).toBe('unknown')
    expect(await fixture.fate(off.key)).toBe('unknown')
    expect(await fixture.fate(off.key, disabled)).toBe('provider-disabled')
    expect(await fixture.fate(off.key, provider({ name: 'Off' }))).toEqual(identified)
  })

  test('key and user are looked at with each request', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria', roles: ['Sales'] })
    const { key, keyId } = await fixture.keys.create({ user: 'maria' })
    expect(await fixture.ask(key)).toMatchObject({ roles: ['Sales'] })
    await fixture.users.change('maria', { roles: [] })
    expect(await fixture.ask(key)).toMatchObject({ roles: [] })
    await fixture.users.change('maria', { enabled: false })
    expect(await fixture.ask(key)).toEqual({ rejected: 'user-disabled', user: 'maria', keyId })
    await fixture.users.change('maria', { enabled: true })
    expect(await fixture.fate(key)).toEqual(identified)
  })

  test.each(['add', 'ensure'] as const)(
    'a key that was stored while its user was removed does not work for a new one: %s',
    async (how) => {
      const fixture = await openFixture(storage)
      await fixture.users.add({ user: 'maria' })
      const { key } = await fixture.keys.create({ user: 'maria' })
      // The removal has not seen the key.
      await fixture.storage.transaction({ mode: 'write', brief: true }, async (on) => {
        await on.delete(securityCollections.users, [equal('user', 'maria')])
      })
      await fixture.users[how]({ user: 'maria' })
      expect(await fixture.fate(key)).toBe('revoked')
      const later = await fixture.keys.create({ user: 'maria' })
      await fixture.users.ensure({ user: 'maria' })
      expect(await fixture.fate(later.key)).toEqual({ user: 'maria' })
    },
  )

  test('a user that is removed takes the keys along for good', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    await fixture.users.add({ user: 'john' })
    const { key, keyId } = await fixture.keys.create({ user: 'maria' })
    const other = await fixture.keys.create({ user: 'john' })
    await fixture.users.remove('maria')
    await fixture.users.add({ user: 'maria', roles: ['Administrator'] })
    expect(await fixture.fate(key)).toBe('revoked')
    expect(await fixture.fate(other.key)).toEqual({ user: 'john' })
    expect((await fixture.keys.audit({ keyId })).at(-1)).toMatchObject({ event: 'revoked' })
  })
})
