import { describe, expect, test } from 'vitest'
import { administration } from '../../src/entries/administration.ts'
import {
  createService,
  memoryStorage,
  openAccess,
  principal,
  system,
  type Principal,
} from '../../src/entries/index.ts'
import { httpBasic, type SecurityProvider, type User } from '../../src/entries/security.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { cheapCost, plainKeys } from '../kit/keys.ts'
import { openService } from '../kit/stage.ts'
import { openStorage, storages, type Storage } from '../kit/storages.ts'
import { entriesOf, itemOf, itemsOf, openAdministered, providers } from './administered.ts'

const memory = storages[0] as Storage
const lists = ['providers', 'roles', 'users', 'keys', 'revoked-keys', 'events', 'problems']

test('administration is for administrators, and for auditors to read', async () => {
  const { client, ada } = await openAdministered(memory, {
    options: { roles: { auditor: 'Auditor' } },
  })
  const [eve, bob] = [await client('eve', 'Auditor'), await client('bob', 'Sales')]
  for (const name of [...lists, 'statistics']) {
    const path = `/svc-admin/${name}`
    expect((await ada.get(path)).status).toBe(200)
    expect((await eve.get(path)).status).toBe(200)
    expect((await bob.get(path)).status).toBe(403)
    expect(
      (await createTestClient((await openAdministered(memory)).service).get(path)).status,
    ).toBe(401)
  }
  for (const path of ['/svc-admin/users', '/svc-admin/keys', '/svc-admin/users/ada']) {
    expect((await eve.post(path, {})).status).toBe(403)
    expect((await bob.post(path, {})).status).toBe(403)
  }
  expect((await eve.delete('/svc-admin/users/ada')).status).toBe(403)
  const { attributes: _, ...seen } = itemOf(await ada.get('/svc-admin/users/bob'))
  expect(itemOf(await eve.get('/svc-admin/users/bob'))).toEqual(seen)
  // Examples are values of any field, also of attributes.
  for (const path of ['users?$fields=attributes', 'problems?$fields=examples']) {
    expect((await eve.get(`/svc-admin/${path}`)).status).toBe(400)
    expect((await ada.get(`/svc-admin/${path}`)).status).toBe(200)
  }
  expect(itemOf(await bob.get('/svc-admin/me'))).toMatchObject({
    ...{ user: 'bob', roles: ['Sales'], provider: 'API Key', isAdministrator: false },
    ...{ isAuditor: false, isSession: false, environment: null, serviceVersion: '4.54' },
  })
  expect(itemOf(await eve.get('/svc-admin/me'))).toMatchObject({ isAuditor: true })
})

test('an auditor reads attributes only if that is configured', async () => {
  const { client } = await openAdministered(memory, {
    options: { roles: { auditor: 'Auditor', auditorReadsAttributes: true } },
  })
  const eve = await client('eve', 'Auditor')
  expect(itemOf(await eve.get('/svc-admin/users/eve'))).toHaveProperty('attributes', {})
})

test('nobody grants more than he has', async () => {
  const { client, ada, service } = await openAdministered(memory, {
    options: {
      roles: {
        also: {
          users: {
            Filter: ['Support'],
            Insert: ['Support'],
            Update: ['Support'],
            Delete: ['Support'],
          },
          keys: {
            Filter: ['Support'],
            Insert: ['Support'],
            Update: ['Support'],
            Delete: ['Support'],
          },
        },
      },
    },
  })
  const sam = await client('sam', 'Support')
  const sales = { user: 'bob', roles: ['Sales'] }
  const cant = "error roles: You can't grant the role Sales, because you do not have it."
  expect(entriesOf(await sam.post('/svc-admin/users', sales))).toEqual([cant])
  expect(
    itemOf(await sam.post('/svc-admin/users', { user: 'bob', roles: ['Support'] })),
  ).toBeDefined()
  expect(
    entriesOf(await sam.post('/svc-admin/users/sam', { roles: ['Support', 'Administrator'] }))[0],
  ).toBe("error roles: You can't grant the role Administrator, because you do not have it.")
  const lacked = 'error user: The user has the role Administrator, which you do not have.'
  const [key] = await service.keys.list({ user: 'ada' })
  const attempts = [
    () => sam.post('/svc-admin/users/ada', { password: 'mine' }),
    () => sam.post('/svc-admin/users/ada', { enabled: false }),
    () => sam.delete('/svc-admin/users/ada'),
    () => sam.post('/svc-admin/keys', { user: 'ada' }),
    () => sam.post('/svc-admin/keys', { rotates: key?.keyId }),
    () => sam.post(`/svc-admin/keys/${String(key?.keyId)}`, { description: 'x' }),
    () => sam.delete(`/svc-admin/keys/${String(key?.keyId)}`),
  ]
  for (const attempt of attempts) expect(entriesOf(await attempt())).toContain(lacked)
  expect((await ada.get('/svc-admin/users')).status).toBe(200)
  expect(entriesOf(await sam.post('/svc-admin/users/bob', { attributes: { a: 1 } }))).toHaveLength(
    1,
  )
})

test.each([
  ['fewer roles', { roles: ['Sales'], attributes: { region: 'North' } }],
  ['more roles', { roles: ['Administrator', 'Sales', 'More'], attributes: { region: 'North' } }],
  ['another attribute', { roles: ['Administrator', 'Sales'], attributes: { region: 'South' } }],
  ['fewer attributes', { roles: ['Administrator', 'Sales'], attributes: {} }],
  ['more attributes', { roles: ['Administrator', 'Sales'], attributes: { region: 'North', x: 1 } }],
])('a credential of another system that gives %s is not exchanged', async (_, rights) => {
  const given = { roles: ['Sales', 'Administrator'], attributes: { region: 'North' } }
  let granted: Partial<Principal> = rights
  const token: SecurityProvider = {
    ...{ name: 'Tokens', priority: 9, challenge: 'Token', allowInsecureHttp: true },
    find: (request) => {
      const value = request.header('x-token')
      return value === undefined ? undefined : { place: 'header x-token', value }
    },
    identify: ({ value }) => principal(value, granted),
  }
  const { service } = await openAdministered(memory, { security: [...providers(), token] })
  await service.users.change('ada', { ...given, roles: ['Administrator', 'Sales'] })
  const create = () =>
    createTestClient(service).post('/svc-admin/sessions', {}, { headers: { 'X-Token': 'ada' } })
  expect(entriesOf(await create())).toEqual([
    'error -: Your credential gives you other rights than the user of this name has, so it can have no session.',
  ])
  granted = given
  expect(itemOf(await create())).toMatchObject({ user: 'ada' })
})

test('sessions share the limit of requests of their user', async () => {
  const counted: string[] = []
  const requests = { consume: (key: string) => Promise.resolve(counted.push(key)) }
  const { client, service } = await openAdministered(memory, { more: { limits: { requests } } })
  const bob = await client('bob', 'Sales')
  for (let turn = 0; turn < 2; turn++) {
    const { key } = itemOf(await bob.post('/svc-admin/sessions', {}))
    const session = createTestClient(service, { key: String(key) })
    for (let call = 0; call < 2; call++) await session.get('/shop/orders')
  }
  const [own] = await service.keys.list({ user: 'bob' })
  const id = own?.keyId
  expect(counted).toEqual([id, 'bob', 'bob', id, 'bob', 'bob'])
})

test('an inspection that takes long is not begun again', async () => {
  let begun = 0
  let end = (): void => undefined
  const inspect = () => {
    begun++
    return new Promise<readonly []>((resolve) => (end = () => resolve([])))
  }
  const { ada, clock } = await openAdministered(memory, {
    storage: { ...openStorage(memory), inspect },
  })
  const read = () => ada.get('/svc-admin/problems')
  const first = read()
  await expect.poll(() => begun).toBe(1)
  clock.pass(5)
  const second = read()
  await new Promise((resolve) => setTimeout(resolve, 20))
  end()
  expect(itemsOf(await first)).toEqual(itemsOf(await second))
  clock.pass(0.9)
  await read()
  expect(begun).toBe(1)
  clock.pass(0.2)
  const third = read()
  await expect.poll(() => begun).toBe(2)
  end()
  expect((await third).status).toBe(200)
})

test('roles are listed with where they are named and how many users have them', async () => {
  const { ada, client } = await openAdministered(memory)
  await client('bob', 'Sales', 'Sale')
  const roles = itemsOf(await ada.get('/svc-admin/roles'))
  expect(roles.map(({ role, isNamed, users }) => [role, isNamed, users])).toEqual([
    ['Administrator', true, 1],
    ['Sale', false, 1],
    ['Sales', true, 1],
  ])
  expect(roles[2]).toMatchObject({ namedBy: ['shop/orders'] })
})

test('providers are listed in the order of priority', async () => {
  const { ada } = await openAdministered(memory)
  expect(itemsOf(await ada.get('/svc-admin/providers'))).toMatchObject([
    {
      ...{ name: 'API Key', type: 'api_key', priority: 1, enabled: true, length: 16 },
      ...{ maxExpiry: 525_600, defaultExpiry: 525_600, header: 'X-API-Key' },
    },
    { name: 'Password', type: 'http_basic_auth', identifier: null, length: null, header: null },
  ])
})

describe('what a service cannot have is not published', () => {
  test('users of the application', async () => {
    const user: User = { user: 'ada', enabled: true, roles: ['Administrator'], attributes: {} }
    const { service } = openService({
      applications: administration().applications,
      security: providers(),
      users: (name) => (name === 'ada' ? user : undefined),
    })
    const { key } = await service.keys.create({ user: 'ada' })
    const ada = createTestClient(service, { key })
    expect((await ada.get('/svc-admin/users')).status).toBe(404)
    expect(itemsOf(await ada.get('/svc-admin/roles'))).toMatchObject([{ users: null }])
    const made = itemOf(await ada.post('/svc-admin/keys', { user: 'ada' }))
    expect(entriesOf(await ada.post('/svc-admin/keys', { user: 'bob' }))).toHaveLength(1)
    const path = `/svc-admin/keys/${String(made['keyId'])}`
    expect(itemOf(await ada.delete(path))).toMatchObject({ user: 'ada' })
    expect(itemOf(await ada.post('/svc-admin/sessions', {}))).toMatchObject({ user: 'ada' })
  })

  test('keys without a provider of keys', async () => {
    const { service } = openService({
      applications: administration().applications,
      security: httpBasic({ cost: cheapCost }),
    })
    for (const name of ['keys', 'revoked-keys', 'sessions', 'builds', 'solutions', 'deliveries'])
      expect(() => service.as(system).collection('svc-admin', name as never)).toThrow(
        'publishes no',
      )
    expect(service.as(system).collection('svc-admin', 'users' as never)).toBeDefined()
  })
})

describe('at start', () => {
  test('administration with open access is a mistake', () => {
    const options = {
      applications: administration().applications,
      storage: memoryStorage(),
      security: [plainKeys(), openAccess()],
    }
    expect(() => createService(options)).toThrow(
      'options.security: administration needs callers who are known: leave out openAccess()',
    )
  })

  test.each(['svc-admin', 'SVC-Admin'])('the name %s belongs to administration', (name) => {
    const applications = { [name]: { collections: {} } }
    expect(() =>
      createService({ applications, storage: memoryStorage(), security: plainKeys() }),
    ).toThrow(`applications.${name}: the name belongs to administration`)
  })

  test('one administration belongs to one service', () => {
    const { applications } = administration()
    openService({ applications, security: plainKeys() })
    expect(() => openService({ applications, security: plainKeys() })).toThrow(
      'administration: another service publishes it already',
    )
  })

  test('it has the brand prefix of the service', async () => {
    const { service } = openService({
      applications: administration().applications,
      security: plainKeys(),
      brand: 'acme',
    })
    expect(service.serves('/rest/v1/acme-admin/me')).toBe(true)
    expect(service.serves('/rest/v1/svc-admin/me')).toBe(false)
  })

  test('passwords that can be guessed without limit are reported', async () => {
    const { reports } = await openAdministered(memory, {
      security: [plainKeys({ name: 'API Key' }), httpBasic({ cost: cheapCost, attempts: false })],
    })
    await expect
      .poll(() => reports)
      .toContainEqual({ type: 'passwords-without-limit', provider: 'HTTP Basic' })
    const { reports: none } = await openAdministered(memory)
    expect(none).toEqual([])
  })

  test.each([
    [{ roles: { administrator: '' } }, 'administration.roles.administrator'],
    [{ outboxes: { main: {} } }, 'administration.outboxes.main'],
    [{ deployment: {} }, 'administration.deployment'],
    [{ roles: { also: { user: {} } } }, 'user'],
  ])('the options %j are rejected', (options, message) => {
    expect(() => administration(options as never)).toThrow(message)
  })
})
