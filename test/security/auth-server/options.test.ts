import { expect, test } from 'vitest'
import { authServer, type AuthServerOptions } from '../../../src/entries/auth-server.ts'
import { requestWith } from '../basic/context.ts'

const least = {
  issuer: 'https://login.example',
  audience: 'orders',
  jwks: 'https://login.example/k',
}
const publicKey = { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }

test('a provider needs the issuer, the audience and the keys', () => {
  expect(authServer(least)).toMatchObject({
    name: 'Auth server',
    priority: 70,
    enabled: true,
    type: 'auth_server',
    challenge: 'Bearer',
    allowInsecureHttp: false,
    keeps: [],
  })
  expect(Object.isFrozen(authServer(least))).toBe(true)
  expect(authServer({ ...least, users: 'known' }).keeps).toEqual(['users'])
})

test('the options become the provider', () => {
  const given = { name: 'Login', priority: 1, enabled: false, allowInsecureHttp: true }
  expect(authServer({ ...least, ...given })).toMatchObject(given)
})

test('every mistake is listed with its place', () => {
  const options = {
    name: 'a\nb',
    priority: 'high',
    enabled: 0,
    issuer: '',
    audience: [],
    jwks: 'ftp://login.example/keys',
    algorithms: ['HS256'],
    clockTolerance: -1,
    userClaim: '',
    rolesClaim: 7,
    attributes: { region: 1 },
    requiredClaims: 'exp',
    maxTokenAge: 0,
    users: 'all',
    allowInsecureHttp: 'no',
    timeout: 0,
    cooldown: -1,
    audiance: 'x',
  } as unknown as AuthServerOptions
  let message = ''
  try {
    authServer(options)
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    message = (error as TypeError).message
  }
  const places = Array.from(message.matchAll(/- authServer\.(\w+)/g), ([, place]) => place)
  expect(Array.from(new Set(places)).sort()).toEqual(Object.keys(options).sort())
})

test.each(['none', 'HS256', 'HS384', 'HS512', 'RSA-OAEP', 'dir', 'rs256'])(
  'the algorithm %s is rejected',
  (algorithm) => {
    expect(() => authServer({ ...least, algorithms: ['ES256', algorithm] })).toThrow(TypeError)
  },
)

test.each([
  'https://login.example/keys',
  'http://localhost:8080/keys',
  'http://127.0.0.1/keys',
  'http://127.8.9.10/keys',
  'http://[::1]:1/keys',
])('keys may come from %s', (jwks) => {
  expect(() => authServer({ ...least, jwks })).not.toThrow()
})

test.each([
  'http://login.example/keys',
  'http://127.0.0.1.example/keys',
  'http://localhost.example/keys',
  'http://127.0.0.1@login.example/keys',
  'https://user:pass@login.example/keys',
  'http://0.0.0.0/keys',
  'http://[::ffff:10.0.0.1]/keys',
  'file:///etc/keys',
  'data:application/json,{"keys":[]}',
  '/keys',
  '',
])('keys must not come from %j', (jwks) => {
  expect(() => authServer({ ...least, jwks })).toThrow(TypeError)
})

test.each([
  ['no set', {}],
  ['an empty set', { keys: [] }],
  ['something that is no key', { keys: [publicKey, null] }],
  ['a key without its type', { keys: [{ kid: 'a' }] }],
  ['a private key', { keys: [{ ...publicKey, d: 'secret' }] }],
  ['a secret', { keys: [{ kty: 'oct', k: 'secret' }] }],
  ['nothing', null],
])('a key set that is %s is rejected, and not quoted', (_, jwks) => {
  const options = { ...least, jwks } as unknown as AuthServerOptions
  expect(() => authServer(options)).toThrow(TypeError)
  expect(() => authServer(options)).toThrow(/^(?!.*"?secret)/s)
})

test('options that are missing are a TypeError', () => {
  expect(() => authServer(undefined as unknown as AuthServerOptions)).toThrow(TypeError)
  expect(() => authServer({} as AuthServerOptions)).toThrow(/issuer[^]*audience[^]*jwks/)
})

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('%s tokens are found', (scheme) => {
  expect(authServer(least).find(requestWith(`${scheme} a.b.c`))).toEqual({
    place: 'header authorization',
    value: 'a.b.c',
  })
})

test('credentials of other schemes are ignored', () => {
  for (const header of [undefined, 'Basic YTpi', 'Bearers a.b.c', 'a.b.c']) {
    expect(authServer(least).find(requestWith(header))).toBeUndefined()
  }
})

test('two tokens are rejected', () => {
  expect(() => authServer(least).find(requestWith('Bearer a.b.c, Bearer a.b.c'))).toThrow(
    expect.objectContaining({ code: 'MULTIPLE_CREDENTIALS' }) as Error,
  )
})
