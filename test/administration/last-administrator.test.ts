import { describe, expect, test } from 'vitest'
import type { StorageAdapter, StorageTransaction } from '../../src/entries/storage.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { equal } from '../../src/request/query.ts'
import { securityCollections } from '../../src/security/collections.ts'
import { plainKeys } from '../kit/keys.ts'
import { openStorage } from '../kit/storages.ts'
import {
  confirmed,
  entriesOf,
  everywhere,
  itemOf,
  itemsOf,
  openAdministered,
} from './administered.ts'

const path = '/svc-admin/keys'
const last =
  'At least one enabled user with the role Administrator must keep a password, or a key that is valid for 60 minutes.'

describe.each(everywhere)('the last administrator on $name', (on) => {
  test('keeps a key that is valid for a while', async () => {
    const { ada, service, clock } = await openAdministered(on)
    const [own] = await service.keys.list({ user: 'ada' })
    const id = `${path}/${String(own?.keyId)}`
    const shortened = (expires: string) => confirmed(ada, 'post', id, { expires })
    for (const expires of ['2026-03-01T12:00:00.001Z', '2026-03-01T12:59:59Z'])
      expect(entriesOf(await shortened(expires))).toEqual([`error expires: ${last}`])
    const rotation = { rotates: own?.keyId, expiresIn: 59 }
    expect(entriesOf(await confirmed(ada, 'post', path, rotation))).toEqual([
      `error rotates: ${last}`,
    ])
    itemOf(await ada.post(id, { description: 'mine' }))
    expect(itemOf(await shortened('2026-03-01T13:00:00Z'))).toMatchObject({
      expires: '2026-03-01T13:00:00Z',
    })
    // What does not make it worse is allowed also in the last minutes.
    clock.pass(50)
    itemOf(await ada.post(id, { description: 'still mine' }))
    expect(entriesOf(await shortened('2026-03-01T12:55:00Z'))).toEqual([`error expires: ${last}`])
    expect(entriesOf(await confirmed(ada, 'delete', id))).toEqual([`error -: ${last}`])
    const next = itemOf(await ada.post(path, { user: 'ada', provider: 'API Key', expiresIn: 600 }))
    expect((await confirmed(ada, 'delete', id)).status).toBe(200)
    const again = createTestClient(service, { key: String(next['key']) })
    expect((await again.get(path)).status).toBe(200)
  })

  test('may have any number of other keys', async () => {
    const storage = openStorage(on)
    const { ada, service } = await openAdministered(on, { storage })
    await service.users.add({ user: 'bob', roles: ['Administrator'] })
    const { keyId } = await service.keys.create({ user: 'bob', provider: 'API Key' })
    const { keys } = securityCollections
    await storage.transaction({ mode: 'write', brief: true }, async (on) => {
      const { rows } = await on.filter(keys, {
        ...{ conditions: [equal('keyId', keyId)], search: null, sort: [], limit: 1, offset: 0 },
        ...{ select: keys.allNames, count: false },
      })
      for (let count = 0; count < 1_500; count++)
        await on.insert(keys, {
          ...rows[0],
          ...{ hash: `!${count}`, expires: '2026-02-01T00:00:00Z' },
          keyId: `019cb7a0-0000-7000-8000-${String(count).padStart(12, '0')}`,
        })
    })
    expect((await confirmed(ada, 'delete', '/svc-admin/users/ada')).status).toBe(200)
  }, 20_000)
})

test('where keys do not last an hour, half of their life is enough', async () => {
  const { service, client } = await openAdministered(everywhere[0] as never, {
    security: [plainKeys({ name: 'API Key', maxExpiry: 30 })],
  })
  const bob = await client('bob', 'Administrator')
  for (const { keyId, user } of await service.keys.list())
    if (user === 'ada') expect((await bob.delete(`${path}/${keyId}`)).status).toBe(200)
  const [own] = await service.keys.list({ user: 'bob' })
  const id = `${path}/${String(own?.keyId)}`
  expect(
    entriesOf(await confirmed(bob, 'post', id, { expires: '2026-03-01T12:14:00Z' })),
  ).toHaveLength(1)
  expect((await confirmed(bob, 'post', id, { expires: '2026-03-01T12:15:00Z' })).status).toBe(200)
})

/** Opens a service on a storage in which other transactions make a change after the next transaction has read a user. */
async function openRacing(change: (on: StorageTransaction) => Promise<unknown>) {
  const on = everywhere[0] as never
  const storage = openStorage(on)
  const state = { isRacing: false }
  const transaction: StorageAdapter['transaction'] = async (options, work) => {
    const isRacing = state.isRacing && options.mode === 'write'
    let hasRaced = false
    return storage.transaction(options, (on) => {
      // On a busy machine, storage may undo the work and run it again: the change belongs to each attempt.
      hasRaced = false
      return work({
        ...on,
        filter: async (collection, query) => {
          const page = await on.filter(collection, query)
          const isNow = isRacing && !hasRaced && collection === securityCollections.users
          if (!isNow) return page
          hasRaced = true
          state.isRacing = false
          await change(on)
          return page
        },
      })
    })
  }
  return { state, ...(await openAdministered(on, { storage: { ...storage, transaction } })) }
}

test('a user who becomes the last administrator meanwhile keeps the only key', async () => {
  const { ada, service, state } = await openRacing(async (on) => {
    for (const [user, roles] of Object.entries({ bob: '["Administrator"]', ada: '[]' }))
      await on.update(securityCollections.users, [equal('user', user)], { roles })
  })
  await service.users.add({ user: 'bob' })
  const { keyId } = await service.keys.create({ user: 'bob', provider: 'API Key' })
  state.isRacing = true
  expect(entriesOf(await ada.delete(`${path}/${keyId}`))).toEqual([`error -: ${last}`])
  expect(state.isRacing).toBe(false)
})

test('a key that is revoked meanwhile cannot be exchanged for a session', async () => {
  const { ada, service, state } = await openRacing(async (on) => {
    const { keys } = securityCollections
    const query = { conditions: [], search: null, sort: [], limit: 1, offset: 0, count: false }
    const { rows } = await on.filter(keys, { ...query, select: ['hash'] })
    const key = equal('hash', rows[0]?.['hash'] as string)
    await on.update(keys, [key], { revoked: '2026-03-01T12:00:00Z' })
  })
  state.isRacing = true
  expect(entriesOf(await ada.post('/svc-admin/sessions', {}))).toEqual([
    'error -: There can be no session for this account.',
  ])
  expect(state.isRacing).toBe(false)
  expect(await service.keys.list({ user: 'ada' })).toHaveLength(1)
})

test('a password that is changed meanwhile cannot be exchanged for a session', async () => {
  const { ada, service, state } = await openRacing(async (on) => {
    await on.update(securityCollections.users, [equal('user', 'ada')], { password: 'another' })
  })
  await service.users.change('ada', { password: 'a secret' })
  const anyone = createTestClient(service)
  const credential = Buffer.from('ada:a secret').toString('base64')
  const signIn = () =>
    anyone.post('/svc-admin/sessions', {}, { headers: { Authorization: `Basic ${credential}` } })
  itemOf(await signIn())
  state.isRacing = true
  expect(entriesOf(await signIn())).toEqual(['error -: There can be no session for this account.'])
  expect(state.isRacing).toBe(false)
  expect(itemsOf(await ada.get('/svc-admin/keys?isSession=true'))).toHaveLength(1)
})

test('a user who was changed since he was read is not overwritten', async () => {
  const { ada, service } = await openAdministered(everywhere[0] as never)
  await service.users.add({ user: 'maria', roles: ['Sales'] })
  const user = '/svc-admin/users/maria'
  const read = await ada.get(user)
  const tag = String(read.headers.get('ETag'))
  const headers = { 'If-Match': tag }
  const changed = await ada.post(user, { roles: [] }, { headers })
  expect(itemOf(changed)).toMatchObject({ roles: [] })
  expect((await ada.post(user, { enabled: false }, { headers })).status).toBe(412)
  expect((await ada.delete(user, { headers })).status).toBe(412)
  const now = { 'If-Match': String(changed.headers.get('ETag')) }
  const disabled = await ada.post(user, { enabled: false }, { headers: now })
  itemOf(disabled)
  // The password is a part of the user that no response contains.
  const last = { 'If-Match': String(disabled.headers.get('ETag')) }
  await service.users.change('maria', { password: 'one' })
  expect((await ada.post(user, { password: 'two' }, { headers: last })).status).toBe(412)
  const again = { 'If-Match': String((await ada.get(user)).headers.get('ETag')) }
  await service.users.change('maria', { password: 'three' })
  expect((await ada.post(user, { password: 'two' }, { headers: again })).status).toBe(412)
})

describe.each(everywhere)('sessions of a user on $name', (on) => {
  test('do not outlive a password or a key that ends at the same time', async () => {
    const { ada, client, service } = await openAdministered(on)
    await client('bob')
    const anyone = createTestClient(service)
    for (let turn = 0; turn < 6; turn++) {
      await service.users.change('bob', { password: `old ${turn}` })
      const { key, keyId } = await service.keys.create({ user: 'bob', provider: 'API Key' })
      const basic = `Basic ${Buffer.from(`bob:old ${turn}`).toString('base64')}`
      const credentials = [{ Authorization: basic }, { 'X-API-Key': key }, { Authorization: basic }]
      const signIns = credentials.map((headers) =>
        anyone.post('/svc-admin/sessions', {}, { headers }),
      )
      const changes = [
        // Over HTTP, the transaction has read users before it waits for a lock.
        ada.post('/svc-admin/users/bob', { password: `new ${turn}` }),
        ada.delete(`${path}/${keyId}`),
      ]
      await Promise.all(signIns)
      for (const change of changes) expect((await change).status).toBe(200)
      expect(itemsOf(await ada.get(`${path}?isSession=true`))).toEqual([])
    }
  })

  test('are limited, and removed when they have ended', async () => {
    const { ada, service, clock } = await openAdministered(on)
    const path = '/svc-admin/sessions'
    const signIn = async () => {
      clock.pass(0.01)
      return itemOf(await ada.post(path, {}))
    }
    const first = await signIn()
    for (let count = 0; count < 100; count++) await signIn()
    const old = createTestClient(service, { key: String(first['key']) })
    expect((await old.get('/svc-admin/me')).status).toBe(401)
    const { body } = await ada.get(`${path}?$count=true`)
    expect(body).toMatchObject({ count: 100 })
    expect(itemsOf(await ada.get('/svc-admin/revoked-keys?isSession=true'))).toMatchObject([
      { keyId: first['keyId'] },
    ])
    clock.pass(30)
    await signIn()
    expect(itemsOf(await ada.get('/svc-admin/keys?isSession=true'))).toHaveLength(1)
    expect(itemsOf(await ada.get('/svc-admin/revoked-keys?isSession=true'))).toEqual([])
    const trail = await ada.get(
      `/svc-admin/events?keyId=${String(first['keyId'])}&actor=ada&$sort=at`,
    )
    expect(itemsOf(trail).map(({ event }) => event)).toEqual(['created', 'revoked'])
  }, 20_000)
})
