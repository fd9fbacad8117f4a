import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readClaims, type ClaimNames } from '../../../src/security/auth-server/bearer-token.ts'
import { people, person } from '../basic/context.ts'
import { ask, provider } from './fixture.ts'
import { keySetOf, now, pairOf, sign } from './authority.ts'

const names: ClaimNames = { userClaim: 'sub', rolesClaim: 'roles', attributes: {} }
const pair = await pairOf('one', 'EdDSA')
const jwks = await keySetOf(pair)

describe('roles', () => {
  test.each([
    ['a list', ['Sales', 'Support'], ['Sales', 'Support']],
    ['one text', 'Sales Support', ['Sales', 'Support']],
    ['one text with more spaces', '  Sales  Support ', ['Sales', 'Support']],
    ['an empty list', [], []],
    ['an empty text', '', []],
    ['null', null, []],
    ['nothing', undefined, []],
    ['a list with one of them twice', ['Sales', 'Sales', ''], ['Sales']],
    ['a list with spaces within', ['Key Account'], ['Key Account']],
  ])('may be %s', (_, roles, expected) => {
    expect(readClaims({ sub: 'maria', roles }, names)?.roles).toEqual(expected)
  })

  test.each([[7], [true], [{ Sales: true }], [['Sales', 7]], [[['Sales']]], [[null]]])(
    'of the form %j are not understood',
    (roles) => {
      expect(readClaims({ sub: 'maria', roles }, names)).toBeUndefined()
    },
  )

  test.each([
    ['a path', 'realm_access.roles', { realm_access: { roles: ['a'] } }, ['a']],
    [
      'a longer path',
      'resource.orders.roles',
      { resource: { orders: { roles: 'a b' } } },
      ['a', 'b'],
    ],
    ['a URL', 'https://example.com/roles', { 'https://example.com/roles': ['a'] }, ['a']],
    ['a name before a path', 'a.b', { 'a.b': ['name'], a: { b: ['path'] } }, ['name']],
    ['a path that ends early', 'a.b.c', { a: { b: 'c' } }, []],
    ['a path through nothing', 'a.b', { a: null }, []],
    ['what every object has', 'valueOf', {}, []],
    ['the prototype', '__proto__.constructor', {}, []],
    ['the length of a text', 'sub.length', {}, []],
  ])('may be found by %s', (_, rolesClaim, claims, expected) => {
    expect(readClaims({ sub: 'maria', ...claims }, { ...names, rolesClaim })?.roles).toEqual(
      expected,
    )
  })
})

describe('attributes', () => {
  const attributes = { region: 'https://example.com/region', level: 'profile.level' }

  test('are the claims that are named, and no others', () => {
    const claims = {
      sub: 'maria',
      'https://example.com/region': 'North',
      profile: { level: 3 },
      secret: 'x',
    }
    expect(readClaims(claims, { ...names, attributes })?.attributes).toEqual({
      region: 'North',
      level: 3,
    })
  })

  test.each([['text'], [0], [-1.5], [true], [false], [null]])('may be %j', (value) => {
    const claims = { sub: 'maria', profile: { level: value } }
    expect(readClaims(claims, { ...names, attributes })?.attributes).toStrictEqual({ level: value })
  })

  test.each([[[]], [{}], [['North']], [Infinity]])('must not be %j', (value) => {
    const claims = { sub: 'maria', profile: { level: value } }
    expect(readClaims(claims, { ...names, attributes })).toBeUndefined()
  })

  test('of any name stay on the object itself', () => {
    const odd = JSON.parse('{"__proto__": "sub"}') as Record<string, string>
    const read = readClaims({ sub: 'maria' }, { ...names, attributes: odd })
    expect(Object.entries(read?.attributes ?? {})).toEqual([['__proto__', 'maria']])
  })
})

test('the user may be another claim', () => {
  const userClaim = 'preferred_username'
  const claims = { sub: '1', preferred_username: 'maria' }
  expect(readClaims(claims, { ...names, userClaim })?.user).toBe('maria')
  expect(readClaims({ sub: '1' }, { ...names, userClaim })).toBeUndefined()
})

test('reading any claims does not throw', () => {
  const path = fc.oneof(fc.constantFrom('a', 'a.b', 'a.b.c', '.', '..', '__proto__.a'), fc.string())
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), path, path, (claims, one, other) => {
      const read = readClaims(claims, {
        userClaim: one,
        rolesClaim: other,
        attributes: { attribute: other },
      })
      if (read === undefined) return
      expect(read.user).not.toBe('')
      expect(read.roles.every((role) => typeof role === 'string')).toBe(true)
    }),
  )
})

describe('a token', () => {
  test('brings roles and attributes along', async () => {
    const given = provider({
      jwks,
      rolesClaim: 'realm_access.roles',
      attributes: { region: 'https://example.com/region' },
    })
    const token = await sign(pair, {
      realm_access: { roles: ['Sales'] },
      'https://example.com/region': 'North',
    })
    expect(await ask(given, token)).toMatchObject({
      roles: ['Sales'],
      attributes: { region: 'North' },
    })
  })

  test('whose roles are not understood is rejected', async () => {
    const token = await sign(pair, { roles: { Sales: true } })
    expect(await ask(provider({ jwks }), token)).toEqual({ rejected: 'malformed' })
  })
})

describe('with known users', () => {
  const given = provider({ jwks, users: 'known', name: 'Login' })

  test('roles and attributes come from the user’s record', async () => {
    const users = people(person('maria', { roles: ['Support'], attributes: { region: 'South' } }))
    expect(await ask(given, await sign(pair), now, users)).toEqual({
      user: 'maria',
      roles: ['Support'],
      attributes: { region: 'South' },
      provider: 'Login',
      keyId: null,
      kind: 'user',
    })
  })

  test('an unknown user and a disabled one are rejected', async () => {
    const users = people(person('max', { enabled: false }))
    expect(await ask(given, await sign(pair), now, users)).toEqual({ rejected: 'user-unknown' })
    expect(await ask(given, await sign(pair, { sub: 'max' }), now, users)).toEqual({
      rejected: 'user-disabled',
      user: 'max',
    })
  })

  test('a bad token is rejected before the user is looked up', async () => {
    const token = await sign(pair, { exp: 1 })
    const find = () => Promise.reject(new Error('The store is down.'))
    const context = { now: () => now, users: { find }, keys: {} as never }
    const credential = { place: 'header authorization', value: token }
    expect(await given.identify(credential, context)).toEqual({ rejected: 'expired' })
    const good = { ...credential, value: await sign(pair) }
    await expect(given.identify(good, context)).rejects.toThrow('The store is down.')
  })
})
