import { describe, expect, test } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import { plainKeys } from '../kit/keys.ts'
import {
  confirmed,
  entriesOf,
  everywhere,
  itemOf,
  itemsOf,
  openAdministered,
  providers,
} from './administered.ts'

const path = '/svc-admin/keys'
const revokedPath = '/svc-admin/revoked-keys'

describe.each(everywhere)('keys of administration on $name', (on) => {
  test('are shown once, used, described, shortened and revoked', async () => {
    const { ada, service, clock } = await openAdministered(on)
    await service.users.add({ user: 'maria', roles: ['Sales'] })
    const made = itemOf(
      await ada.post(path, { user: 'maria', description: 'laptop', expiresIn: 60 }),
    )
    const { key, keyId } = made as { key: string; keyId: string }
    expect(made).toEqual({
      ...{ keyId, key, user: 'maria', provider: 'API Key', start: key.slice(0, 4) },
      ...{
        description: 'laptop',
        created: '2026-03-01T12:00:00Z',
        expires: '2026-03-01T13:00:00Z',
      },
      ...{ firstUsed: null, lastUsed: null, isSession: false, state: 'active' },
      requests: expect.any(Array) as unknown,
    })
    const none = { day: '2026-03-01', requests: 0 }
    expect((made as { requests: readonly unknown[] }).requests.at(-1)).toEqual(none)
    expect((await createTestClient(service, { key }).get('/shop/orders')).status).toBe(200)
    const again = itemOf(await ada.get(`${path}/${keyId}`))
    expect(again['key']).toBeNull()
    const [listed] = itemsOf(await ada.get(`${path}?user=maria`))
    expect(listed).not.toHaveProperty('key')
    expect(JSON.stringify([again, listed])).not.toContain(key)
    const sooner = { expires: '2026-03-01T12:30:00Z', description: 'phone' }
    expect(itemOf(await ada.post(`${path}/${keyId}`, sooner))).toMatchObject(sooner)
    clock.pass(30)
    expect(itemsOf(await ada.get(`${path}?state=expired`))).toMatchObject([{ keyId }])
    expect(itemsOf(await ada.get(`${path}?state=active`))).toMatchObject([{ user: 'ada' }])
    expect(itemOf(await ada.delete(`${path}/${keyId}`))).toMatchObject({ keyId })
    expect((await ada.delete(`${path}/${keyId}`)).status).toBe(404)
    expect((await ada.get(`${path}/${keyId}`)).status).toBe(404)
    expect(itemsOf(await ada.get(revokedPath))).toMatchObject([
      { keyId, revoked: '2026-03-01T12:30:00Z', description: 'phone' },
    ])
    // The first use is recorded in the background.
    const events = itemsOf(await ada.get(`/svc-admin/events?keyId=${keyId}&actor=ada&$sort=at`))
    expect(events.map(({ event, actor, changed }) => [event, actor, changed])).toMatchObject([
      ['created', 'ada', []],
      ['changed', 'ada', ['description', 'expires']],
      ['revoked', 'ada', []],
    ])
  })

  test('count their requests by day, without those of sessions', async () => {
    const { ada, service, clock } = await openAdministered(on)
    const [own] = await service.keys.list()
    const id = String(own?.keyId)
    const session = itemOf(await ada.post('/svc-admin/sessions', {}))
    const person = createTestClient(service, { key: String(session['key']) })
    const lastDays = async (path: string) => {
      const { requests } = itemOf(await person.get(path)) as {
        requests: readonly { day: string; requests: number }[]
      }
      expect(requests).toHaveLength(30)
      return requests.slice(-2).map(({ day, requests }) => `${day} ${requests}`)
    }
    // The first use is written in the background.
    const first = ['2026-02-28 0', '2026-03-01 1']
    await expect.poll(() => lastDays(`${path}/${id}`)).toEqual(first)
    for (let count = 0; count < 2; count++) await ada.get('/svc-admin/me')
    clock.pass(1)
    await ada.get('/svc-admin/me')
    const second = ['2026-02-28 0', '2026-03-01 4']
    // An earlier write that ends only now has taken some of them; the rest follows a minute later.
    const minuteLater = () => {
      clock.pass(1)
      return lastDays(`${path}/${id}`)
    }
    await expect.poll(minuteLater, { interval: 200 }).toEqual(second)
    expect(await lastDays('/svc-admin/statistics')).toEqual(second)
    const sessionPath = `${path}/${String(session['keyId'])}`
    expect(itemOf(await person.get(sessionPath))['requests']).toBeNull()
    const page = itemsOf(await person.get(path))
    expect(page[0]).not.toHaveProperty('requests')
    const next = itemOf(await person.post(path, { rotates: id }))
    expect(itemOf(await person.get(`${revokedPath}/${id}`))['requests']).toHaveLength(30)
    expect(next['requests']).toHaveLength(30)
  })

  test('are replaced, at once or with an overlap', async () => {
    const { ada, service } = await openAdministered(on)
    await service.users.add({ user: 'maria' })
    const old = await service.keys.create({ user: 'maria', description: 'till' })
    const next = itemOf(await ada.post(path, { rotates: old.keyId, overlap: 10 }))
    expect(next).toMatchObject({ user: 'maria', description: 'till', provider: 'API Key' })
    expect(itemOf(await ada.get(`${path}/${old.keyId}`))).toMatchObject({
      expires: '2026-03-01T12:10:00Z',
    })
    const last = itemOf(await ada.post(path, { rotates: next['keyId'], description: 'new till' }))
    expect(last).toMatchObject({ user: 'maria', description: 'new till' })
    const trail = itemsOf(await ada.get(`/svc-admin/events?keyId=${String(last['keyId'])}`))
    expect(trail).toMatchObject([{ event: 'created', changed: [] }])
    expect((await ada.get(`${path}/${String(next['keyId'])}`)).status).toBe(404)
    const both = { rotates: last['keyId'], user: 'maria', provider: 'API Key' }
    expect(entriesOf(await ada.post(path, both))).toEqual([
      'error user: The new key has the user of the key that it replaces.',
      'error provider: The new key has the provider of the key that it replaces.',
    ])
  })

  test('are rejected with an entry for the field', async () => {
    const { ada, service } = await openAdministered(on, {
      security: [...providers(), plainKeys({ name: 'Partners', priority: 3 })],
    })
    await service.users.add({ user: 'maria', enabled: false })
    const { keyId } = await service.keys.create({
      ...{ user: 'maria', provider: 'API Key', expiresIn: 60 },
    })
    const rejected = async (body: object, id = '') => entriesOf(await ada.post(path + id, body))
    const provider = 'API Key'
    expect(await rejected({ provider })).toEqual(['error user: Choose the user of the key.'])
    expect(await rejected({ user: 'nobody', provider })).toEqual([
      'error user: There is no such user.',
    ])
    expect(await rejected({ user: 'ada' })).toEqual([
      'error provider: Choose the provider of the key.',
    ])
    expect(await rejected({ user: 'ada', provider: 'None' })).toEqual([
      'error provider: There is no such provider.',
    ])
    expect(await rejected({ user: 'ada', provider, expiresIn: 525_601 })).toEqual([
      'error expiresIn: The provider allows at most 525600 minutes.',
    ])
    expect(await rejected({ user: 'ada', provider: 'Partners', expiresIn: 2 ** 50 })).toEqual([
      'error expiresIn: The key must expire before the year 10000.',
    ])
    expect(await rejected({ user: 'ada', provider, expiresIn: 0 })).toHaveLength(1)
    expect(await rejected({ user: 'ada', provider, overlap: 5 })).toEqual([
      'error overlap: Only a key that replaces another one has an overlap.',
    ])
    expect(await rejected({ rotates: '0192c7a0-0000-7000-8000-000000000000' })).toEqual([
      'error rotates: There is no such key.',
    ])
    expect(await rejected({ user: 'maria', provider })).toEqual([
      'warning user: The user is disabled, so the key will be rejected.',
    ])
    expect(await rejected({ user: 'ada', provider, description: 'a\u0007b' })).toHaveLength(1)
    expect(await rejected({ key: 'AAAAAAAAAAAAAAAAAAAAAA', user: 'ada', provider })).toHaveLength(1)
    const id = `/${keyId}`
    for (const expires of ['2026-03-01T13:00:01Z', null]) {
      expect(await rejected({ expires }, id)).toEqual([
        'error expires: A key cannot be extended. Rotate it instead.',
      ])
    }
    expect(await rejected({ expires: '2026-03-01T12:00:00Z' }, id)).toEqual([
      'error expires: The time must be in the future. To end the key now, revoke it.',
    ])
    expect(await rejected({ user: 'ada', rotates: keyId, expiresIn: 5 }, id)).toEqual([
      'error user: The user of a key cannot be changed.',
      'error expiresIn: Only a new key can have this.',
      'error rotates: Only a new key can have this.',
    ])
    expect(itemsOf(await ada.get(path))).toHaveLength(2)
    expect(itemsOf(await ada.get(`${path}?provider=Partners`))).toEqual([])
    expect(itemsOf(await ada.get(`${path}?provider=API Key`))).toHaveLength(2)
    const { identifier } = service.keys.providers[0] ?? {}
    for (const absent of ['None', identifier, '-'.repeat(36)])
      expect(itemsOf(await ada.get(`${path}?provider=${String(absent)}`))).toEqual([])
  })

  test('have the only enabled provider if the request has none', async () => {
    const off = plainKeys({ name: 'Partners', priority: 3, enabled: false })
    const { ada } = await openAdministered(on, { security: [...providers(), off] })
    const created = await ada.post(path, { user: 'ada' })
    expect(created).toMatchObject({ status: 200, body: { item: { provider: 'API Key' } } })
    expect(entriesOf(await ada.post(path, { user: 'ada', expiresIn: 525_601 }))).toEqual([
      'error expiresIn: The provider allows at most 525600 minutes.',
    ])
  })

  test('of the request, and the last ones of the last administrator, are kept', async () => {
    const { ada, service } = await openAdministered(on)
    const [own] = await service.keys.list({ user: 'ada' })
    const id = `${path}/${String(own?.keyId)}`
    const warning = 'warning -: This is the key that you are using.'
    expect(entriesOf(await ada.delete(id))).toEqual([warning])
    expect(entriesOf(await confirmed(ada, 'delete', id))).toEqual([
      'error -: At least one enabled user with the role Administrator must keep a password, or a key that is valid for 60 minutes.',
    ])
    const other = await service.keys.create({ user: 'ada' })
    expect(itemOf(await ada.delete(`${path}/${other.keyId}`))).toMatchObject({ user: 'ada' })
    expect(entriesOf(await ada.post(path, { rotates: own?.keyId }))).toEqual([warning])
    expect((await confirmed(ada, 'post', path, { rotates: own?.keyId })).status).toBe(200)
    expect((await ada.get(path)).status).toBe(401)
  })

  test('are read in pages', async () => {
    const { ada, service, clock } = await openAdministered(on)
    for (const user of ['a', 'b', 'c']) {
      clock.pass(1)
      await service.users.add({ user })
      await service.keys.create({ user, description: `of ${user}` })
    }
    const users = async (query: string) =>
      itemsOf(await ada.get(`${path}?${query}`)).map(({ user }) => user)
    expect(await users('$limit=2&$offset=1')).toEqual(['a', 'b'])
    expect(await users('$sort=-created&$limit=2')).toEqual(['c', 'b'])
    expect(await users('$q=OF%20b')).toEqual(['b'])
    expect(await users('$sort=state,-user&$limit=1')).toEqual(['c'])
    const { body } = await ada.get(`${path}?$count=true&$limit=1`)
    expect(body).toMatchObject({ count: 4 })
    const [latest] = itemsOf(await ada.get('/svc-admin/events?event=created&$limit=1'))
    expect(latest).toMatchObject({ about: 'key', event: 'created', user: 'c', provider: 'API Key' })
    const added = itemsOf(await ada.get('/svc-admin/events?about=user&$limit=1'))
    expect(added).toMatchObject([{ event: 'added', user: 'c', keyId: null, provider: null }])
  })
})

describe.each(everywhere)('sessions on $name', (on) => {
  const basic = (user: string, password: string) => ({
    headers: { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
  })

  test('exchange a password for a short key, and end when their owner signs out', async () => {
    const { ada, service, clock } = await openAdministered(on)
    await service.users.change('ada', { password: 'a secret' })
    const anyone = createTestClient(service)
    const made = itemOf(await anyone.post('/svc-admin/sessions', {}, basic('ada', 'a secret')))
    const { key, keyId } = made as { key: string; keyId: string }
    expect(made).toEqual({
      ...{ keyId, key, header: 'X-API-Key', user: 'ada', start: key.slice(0, 4) },
      ...{ created: '2026-03-01T12:00:00Z', expires: '2026-03-01T12:30:00Z' },
      ...{ lastUsed: null, isCurrent: false },
    })
    const session = createTestClient(service, { key })
    expect(itemOf(await session.get('/svc-admin/me'))).toMatchObject({
      ...{ user: 'ada', roles: ['Administrator'], keyId, keyStart: key.slice(0, 4) },
      ...{ keyExpires: '2026-03-01T12:30:00Z', isSession: true, isAdministrator: true },
    })
    expect(itemsOf(await session.get('/svc-admin/sessions'))).toMatchObject([
      { keyId, isCurrent: true },
    ])
    expect(itemsOf(await session.get('/svc-admin/keys'))).toMatchObject([{ isSession: false }])
    expect(itemsOf(await session.get('/svc-admin/keys?isSession=true'))).toMatchObject([{ keyId }])
    expect(entriesOf(await session.post('/svc-admin/sessions', {}))).toEqual([
      'error -: A session cannot create another one. Sign in again.',
    ])
    expect(itemOf(await session.delete(`/svc-admin/sessions/${keyId}`))).toMatchObject({ keyId })
    expect((await session.get('/svc-admin/me')).status).toBe(401)
    expect((await ada.delete(`/svc-admin/sessions/${keyId}`)).status).toBe(404)
    const short = itemOf(await ada.post('/svc-admin/sessions', { expiresIn: 1 }))
    clock.pass(1)
    const late = createTestClient(service, { key: String(short['key']) })
    expect((await late.get('/svc-admin/me')).status).toBe(401)
    expect(entriesOf(await ada.post('/svc-admin/sessions', { expiresIn: 31 }))).toHaveLength(1)
  })

  test('end when the password changes, except the one that changes it', async () => {
    const { ada, client, service } = await openAdministered(on)
    const bob = await client('bob', 'Administrator')
    const open = async (of: typeof ada) =>
      createTestClient(service, {
        key: String(itemOf(await of.post('/svc-admin/sessions', {}))['key']),
      })
    const [first, second, other] = [await open(ada), await open(ada), await open(bob)]
    itemOf(await first.post('/svc-admin/users/ada', { password: 'new' }))
    const statuses = async () =>
      Promise.all(
        [first, second, other, ada].map(async (one) => (await one.get('/svc-admin/me')).status),
      )
    expect(await statuses()).toEqual([200, 401, 200, 200])
    itemOf(await other.post('/svc-admin/users/ada', { hasPassword: false }))
    expect(await statuses()).toEqual([401, 401, 200, 200])
  })

  test('end with the key for which they were exchanged, except the one that ends it', async () => {
    const { ada, service, clock } = await openAdministered(on)
    const exchange = async (key: string) => {
      const client = createTestClient(service, { key })
      return itemOf(await client.post('/svc-admin/sessions', {}))
    }
    const statusOf = async ({ key }: Record<string, unknown>) =>
      (await createTestClient(service, { key: String(key) }).get('/svc-admin/me')).status
    const make = () => service.keys.create({ user: 'ada', provider: 'API Key', expiresIn: 10 })
    const [first, second, third] = [await make(), await make(), await make()]
    const sessions = [
      await exchange(first.key),
      await exchange(second.key),
      await exchange(third.key),
    ] as const
    expect(sessions[0]).toMatchObject({ expires: '2026-03-01T12:10:00Z' })
    await service.keys.revoke(first.keyId)
    await service.keys.rotate(second.keyId, { overlap: 5 })
    expect(await Promise.all(sessions.map(statusOf))).toEqual([401, 200, 200])
    await service.keys.rotate(third.keyId)
    expect(await Promise.all(sessions.map(statusOf))).toEqual([401, 200, 401])
    const own = createTestClient(service, { key: String(sessions[1]['key']) })
    itemOf(await own.delete(`${path}/${second.keyId}`))
    expect(await statusOf(sessions[1])).toBe(200)
    expect((await ada.get('/svc-admin/me')).status).toBe(200)
    const late = await make()
    clock.pass(9.5)
    const client = createTestClient(service, { key: late.key })
    expect(entriesOf(await client.post('/svc-admin/sessions', {}))).toEqual([
      'error -: Your key expires in less than a minute, so it can have no session.',
    ])
  })

  test('belong to their owner', async () => {
    const { ada, client, service } = await openAdministered(on)
    const bob = await client('bob')
    const { keyId } = itemOf(await bob.post('/svc-admin/sessions', {}))
    expect(itemsOf(await ada.get('/svc-admin/sessions'))).toEqual([])
    expect((await ada.get(`/svc-admin/sessions/${String(keyId)}`)).status).toBe(404)
    expect((await ada.delete(`/svc-admin/sessions/${String(keyId)}`)).status).toBe(404)
    // A session is no credential with which an administrator can come back.
    const made = itemOf(await ada.post('/svc-admin/sessions', {}))
    const [own] = await service.keys.list({ user: 'ada' })
    const session = createTestClient(service, { key: String(made['key']) })
    expect(entriesOf(await session.delete(`/svc-admin/keys/${String(own?.keyId)}`))).toHaveLength(1)
  })
})
