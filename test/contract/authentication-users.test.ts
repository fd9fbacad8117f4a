import { expect, test } from 'vitest'
import { defineCollection, text } from '../../src/entries/index.ts'
import type { FindUser, User } from '../../src/entries/security.ts'
import { describeContract } from './contract.ts'
import { expectError, itemIn, itemsIn } from '../kit/expectations.ts'
import { applications } from './fixture.ts'
import { expectUnknown, newKey, plainKeys, withKey } from '../kit/keys.ts'

const { app, other } = applications

/** Countries are for readers only. */
const guarded = {
  app: {
    collections: {
      ...app.collections,
      countries: defineCollection({
        key: 'code',
        publishes: ['Filter'],
        eventRoles: { Filter: ['Reader'] },
        fields: { code: text(), name: text() },
      }),
    },
  },
  other,
} as const

const options = { applications: guarded, security: plainKeys() }

describeContract('the user of a key', options, (contract) => {
  const reader = async () => {
    await contract.service.users.add({ user: 'maria', roles: ['Reader'] })
    return withKey((await newKey(contract.service)).key)
  }

  test('has the roles that are stored now', async () => {
    const { users } = contract.service
    const header = await reader()
    itemsIn(await contract.get('/countries', header))
    await users.change('maria', { roles: ['Writer'] })
    expectError(await contract.get('/countries', header), 403, /right/)
    itemsIn(await contract.get('/orders', header))
    await users.change('maria', { roles: ['Writer', 'Reader'] })
    itemsIn(await contract.get('/countries', header))
  })

  test('is known only while it is enabled', async () => {
    const { users } = contract.service
    const header = await reader()
    for (let turn = 0; turn < 3; turn++) {
      itemsIn(await contract.get('/countries', header))
      await users.change('maria', { enabled: false })
      const rejected = await contract.get('/countries', header)
      expectUnknown(contract, rejected, 'user-disabled', { user: 'maria', provider: 'keys' })
      await users.change('maria', { enabled: true })
    }
  })

  test('takes its keys along: a later user of the same name has none of them', async () => {
    const { users, keys } = contract.service
    const header = await reader()
    itemsIn(await contract.get('/countries', header))
    await users.remove('maria')
    expectError(await contract.get('/countries', header), 401)
    await users.add({ user: 'maria', roles: ['Reader'] })
    expectError(await contract.get('/countries', header), 401)
    expect(contract.reports()).toHaveLength(2)
    expect(await keys.list({ user: 'maria' })).toHaveLength(1)
    const { key } = await newKey(contract.service)
    itemsIn(await contract.get('/countries', withKey(key)))
  })

  test('is the user of the key, also when others have keys', async () => {
    const { users, keys } = contract.service
    await users.add({ user: 'jo', roles: [] })
    const header = await reader()
    const jo = withKey((await keys.create({ user: 'jo' })).key)
    expectError(await contract.get('/countries', jo), 403)
    itemsIn(await contract.get('/countries', header))
    await users.change('jo', { enabled: false })
    itemsIn(await contract.get('/countries', header))
    expectUnknown(contract, await contract.get('/countries', jo), 'user-disabled', { user: 'jo' })
  })

  test('has to exist before it has a key', async () => {
    const { keys } = contract.service
    for (const user of ['nobody', 'maria ', '']) {
      await expect(keys.create({ user })).rejects.toThrow('keys.create.user')
    }
    await expect(keys.create({} as never)).rejects.toThrow('keys.create.user')
    await expect(keys.create({ user: 'maria', userId: 'x' } as never)).rejects.toThrow('userId')
    expect(await keys.list()).toEqual([])
    expect(await keys.audit()).toEqual([])
  })

  test('may have several keys of one description', async () => {
    const made = [
      await newKey(contract.service, { description: 'till' }),
      await newKey(contract.service, { description: 'till' }),
    ]
    expect(new Set(made.map(({ keyId }) => keyId)).size).toBe(2)
    for (const { key } of made) itemsIn(await contract.get('/orders', withKey(key)))
    await contract.service.keys.revoke(made[0]?.keyId ?? '')
    itemsIn(await contract.get('/orders', withKey(made[1]?.key ?? '')))
  })

  test('creates no keys by request, for any caller', async () => {
    const header = await reader()
    const targets = ['rowgate-security/keys', 'rowgate-security/users', 'app/keys', 'app/api-keys']
    for (const path of targets) {
      for (const method of ['GET', 'POST']) {
        const target = `/rest/v1/${path}`
        const answer = await contract.send({
          method,
          target,
          headers: { ...header, 'Content-Type': 'application/json' },
          ...(method === 'POST' ? { body: '{"user":"maria"}' } : {}),
        })
        expectError(answer, 404)
      }
    }
    expect(await contract.service.keys.list()).toHaveLength(1)
  })
})

describeContract('a revoked key', { security: plainKeys() }, (contract) => {
  test('is rejected from the next request on, and stays on record', async () => {
    const { keys } = contract.service
    const { key, keyId } = await newKey(contract.service)
    itemsIn(await contract.get('/orders', withKey(key)))
    expect((await keys.revoke(keyId)).revoked).not.toBe(null)
    const rejected = await contract.get('/orders', withKey(key))
    expectUnknown(contract, rejected, 'revoked', { keyId, user: 'maria', provider: 'keys' })
    expect(await keys.list()).toMatchObject([{ keyId }])
  })

  test('admits no request that began after its revocation', async () => {
    const { keys } = contract.service
    await newKey(contract.service)
    for (let turn = 0; turn < 100; turn++) {
      const { key, keyId } = await keys.create({ user: 'maria' })
      const ask = () => contract.get('/countries', withKey(key))
      const before = [ask(), ask()]
      const revoking = keys.revoke(keyId)
      const meanwhile = [ask(), ask()]
      await revoking
      const after = [ask(), ask(), ask()]
      for (const { status } of await Promise.all(after)) expect(status).toBe(401)
      for (const { status } of await Promise.all([...before, ...meanwhile])) {
        expect([200, 401]).toContain(status)
      }
    }
    for (const told of contract.reports()) expect(told).toMatchObject({ reason: 'revoked' })
  })
})

const friends = new Map<string, User>()
const find: FindUser = (user) => friends.get(user)

describeContract(
  "users of the host's own",
  { applications: guarded, security: plainKeys(), users: async (user) => find(user) },
  (contract) => {
    test('are read at each request', async () => {
      const { keys, users } = contract.service
      const maria = { user: 'maria', enabled: true, roles: ['Reader'], attributes: {} }
      friends.set('maria', maria)
      const { key, keyId } = await keys.create({ user: 'maria' })
      const ask = () => contract.get('/countries', withKey(key))
      itemsIn(await ask())
      friends.set('maria', { ...maria, roles: [] })
      expectError(await ask(), 403)
      friends.set('maria', { ...maria, enabled: false })
      expectUnknown(contract, await ask(), 'user-disabled')
      friends.delete('maria')
      expectUnknown(contract, await ask(), 'user-unknown', { user: 'maria', keyId })
      await expect(keys.create({ user: 'maria' })).rejects.toThrow('keys.create.user')
      friends.set('maria', maria)
      itemsIn(await ask())
      await expect(users.list()).rejects.toThrow('the option users of createService')
      expect(Object.keys(await contract.rows())).not.toContain('rowgate-security/users')
    })
  },
)

describeContract(
  'two providers with one header',
  {
    security: [
      plainKeys({ name: 'first', priority: 1, length: 32 }),
      plainKeys({ name: 'second', priority: 2 }),
      plainKeys({ name: 'off', priority: 3, enabled: false }),
    ],
  },
  (contract) => {
    test('know each their own keys', async () => {
      const { keys } = contract.service
      const made = [
        await newKey(contract.service, { provider: 'second' }),
        await newKey(contract.service, { provider: 'first' }),
      ]
      for (const { key } of made) itemIn(await contract.get('/orders/1', withKey(key)))
      expect(made.map(({ key }) => key.length)).toEqual([22, 43])
      expect(await keys.list({ provider: 'first' })).toHaveLength(1)
      await expect(keys.create({ user: 'maria' })).rejects.toThrow(/provider must be one of first/)
    })

    test('a key of the disabled one is rejected', async () => {
      const off = await newKey(contract.service, { provider: 'off' })
      const answer = await contract.get('/orders', withKey(off.key))
      expectUnknown(contract, answer, 'provider-disabled', { provider: 'off' })
    })

    test('an inactive key is reported with its own reason', async () => {
      const { key, keyId } = await newKey(contract.service, { provider: 'first' })
      await contract.service.keys.revoke(keyId)
      const answer = await contract.get('/orders', withKey(key))
      expectUnknown(contract, answer, 'revoked', { provider: 'first', keyId })
    })
  },
)
