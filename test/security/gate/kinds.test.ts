import { expect, test } from 'vitest'
import {
  anonymous,
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  principal,
  system,
  text,
  type Principal,
} from '../../../src/entries/index.ts'
import { asPrincipal, becomeSystem, forgedSystems, harmlessClaims } from '../../kit/forgeries.ts'
import { stage, tiny } from './fixture.ts'

const request = { headers: { 'x-ticket': 'x' } }
const forged = Object.entries(forgedSystems)
const harmless = Object.entries(harmlessClaims)

function gateOf(answer: unknown) {
  return stage([tiny('one', { answer: () => answer as Principal })])
}

function openService() {
  const notes = defineCollection({ key: 'id', roles: ['Editor'], fields: { id: text() } })
  return createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
}

test.each(forged)('a provider that returns %s causes a TypeError', async (_, make) => {
  for (const answer of [make(), Promise.resolve(make())]) {
    await expect(gateOf(answer).ask(request)).rejects.toThrow(
      'The provider one must return a principal',
    )
  }
})

test('a provider that returns system itself causes a TypeError', async () => {
  await expect(gateOf(system).ask(request)).rejects.toThrow(TypeError)
})

test.each(harmless)('a provider that returns %s grants no rights of system', async (_, make) => {
  const caller = await gateOf(make()).ask(request)
  expect(caller.kind).toBe(caller.user === null ? 'anonymous' : 'user')
  expect(caller.kind).toBe(caller.user === null ? 'anonymous' : 'user')
})

test.each(forged)('as() throws a TypeError for %s', (_, make) => {
  expect(() => openService().as(asPrincipal(make()))).toThrow('as: the caller must be a principal')
})

test.each(harmless)('as() gives %s no rights of system', async (_, make) => {
  const notes = openService().as(asPrincipal(make())).collection('desk', 'notes')
  for (const call of [() => notes.filter(), () => notes.insert({ id: 'a' })]) {
    await expect(call()).rejects.toMatchObject({ code: 'FORBIDDEN' })
  }
})

test('as() accepts system itself', async () => {
  const notes = openService().as(system).collection('desk', 'notes')
  expect(await notes.insert({ id: 'a' })).toMatchObject({ rejected: false })
})

test('a principal that is changed after it was accepted keeps its rights', async () => {
  const given = { user: 'eve', roles: [] as string[], attributes: {}, provider: null, keyId: null }
  const notes = openService().as(asPrincipal(given)).collection('desk', 'notes')
  const caller = await gateOf(given).ask(request)
  given.roles.push('Editor')
  becomeSystem(given)
  await expect(notes.filter()).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(caller).toMatchObject({ kind: 'user', user: 'eve', roles: [] })
})

test.each([...forged, ['system itself', () => system] as const])(
  'open access with %s as everyone is a mistake at start',
  (_, make) => {
    expect(() => stage([], { anyone: asPrincipal(make()) })).toThrow(
      'security: the principal of open access',
    )
  },
)

test('roles are copied without the methods of their list', async () => {
  const roles = Object.assign(['Reader'], {
    includes: () => true,
    *[Symbol.iterator]() {
      yield 'Editor'
    },
  })
  for (const list of [roles, Object.freeze(roles), new Proxy(roles, {})]) {
    const claim = { user: 'eve', roles: list, attributes: {}, provider: null, keyId: null }
    const caller = await gateOf(claim).ask(request)
    expect(caller.roles).toEqual(['Reader'])
    expect(caller.roles.includes('Editor')).toBe(false)
    expect(principal('eve', { roles: list }).roles.includes('Editor')).toBe(false)
  }
})

test('roles that are not strings are a mistake', async () => {
  const claim = { user: 'eve', roles: [{ toString: () => 'Editor' }], attributes: {} }
  await expect(gateOf(claim).ask(request)).rejects.toThrow(TypeError)
  expect(() => principal('eve', { roles: [5] as never })).toThrow('roles must be a list')
})

test('principals of the library pass the gate as they are', async () => {
  const maria = principal('maria', { roles: ['Editor'] })
  expect(await gateOf(maria).ask(request)).toBe(maria)
  expect(await gateOf(anonymous).ask(request)).toBe(anonymous)
  expect([maria.kind, anonymous.kind, system.kind]).toEqual(['user', 'anonymous', 'system'])
})

test('every principal is immutable', () => {
  for (const one of [
    principal('maria', { roles: ['A'], attributes: { a: 1 } }),
    anonymous,
    system,
  ]) {
    for (const value of [one, one.roles, one.attributes]) expect(Object.isFrozen(value)).toBe(true)
  }
})

test('principal() creates users only', () => {
  expect(() => principal('eve', system)).toThrow('its kind is always user')
  expect(() => principal('eve', { kind: 'system' })).toThrow('its kind is always user')
  expect(principal('eve', principal('maria', { roles: ['A'] }))).toMatchObject({
    kind: 'user',
    user: 'eve',
    roles: ['A'],
  })
})
