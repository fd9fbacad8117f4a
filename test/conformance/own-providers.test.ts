import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, test } from 'vitest'
import { credentials, testSecurityProvider } from '../../src/entries/conformance.ts'
import type { Credentials } from '../../src/request/request.ts'
import { apiKeys } from '../../src/security/keys/api-key.ts'
import { authServer } from '../../src/entries/auth-server.ts'
import { httpBasic } from '../../src/security/basic/http-basic.ts'
import type { KeyRecord } from '../../src/security/keys/key-store.ts'
import type { Account } from '../../src/security/users/user-store.ts'

const now = new Date('2026-03-01T12:00:00Z')
const secret = 'Straße 9, hinten links'

function account(user: string, rest: Partial<Account> = {}): Account {
  const attributes = { region: 'North' }
  return { user, enabled: true, roles: ['Sales'], attributes, password: null, ...rest }
}

function usersOf(accounts: readonly Account[]) {
  const byName = new Map(accounts.map((one) => [one.user, one]))
  return { find: (user: string) => byName.get(user) }
}

describe('API keys', () => {
  const provider = apiKeys({
    name: 'API Key',
    properties: { AllowApiKeyInQueryString: true, HttpHeaderName: 'X-Our-Key' },
  })
  const records = new Map<string, KeyRecord>()
  const keyOf = (user: string, rest: Partial<KeyRecord> = {}): string => {
    const { key, hash } = provider.mint()
    records.set(hash, {
      keyId: `key ${records.size + 1}`,
      start: key.slice(0, 4),
      provider: provider.identifier,
      user,
      description: null,
      created: '2026-01-01T00:00:00Z',
      expires: null,
      revoked: null,
      firstUsed: null,
      lastUsed: null,
      ...rest,
    })
    return key
  }
  const inHeader = (key: string): Credentials => credentials({ headers: { 'X-Our-Key': key } })
  const inQuery = (key: string): Credentials => credentials({ target: `/rest/v1/?apiKey=${key}` })
  const principal = { user: 'maria', roles: ['Sales'], attributes: { region: 'North' } }
  const [first, second] = [keyOf('maria'), keyOf('maria', { expires: '2026-03-01T12:00:01Z' })]
  const invalid = [
    inHeader(keyOf('maria', { expires: '2026-03-01T12:00:00Z' })),
    inHeader(keyOf('maria', { revoked: '2026-02-01T00:00:00Z' })),
    inQuery(keyOf('maria', { provider: '00000000-0000-8000-8000-000000000000' })),
    inQuery(keyOf('unknown')),
    inHeader(keyOf('jonas')),
    inHeader(provider.mint().key),
    inHeader('far too short'),
    inHeader(''),
  ]
  testSecurityProvider({
    test,
    create: () => ({
      provider,
      context: {
        keys: {
          find: (hash) => records.get(hash),
          used: () => undefined,
          rejected: () => undefined,
        },
        users: usersOf([account('maria'), account('jonas', { enabled: false })]),
        now: () => now,
      },
      valid: [
        { request: inHeader(first), principal: { ...principal, keyId: 'key 1' } },
        { request: inQuery(second), principal: { ...principal, keyId: 'key 2' } },
      ],
      invalid,
    }),
  })
})

describe('HTTP Basic', () => {
  // Cheap hashes, and room for a hundred at once.
  const provider = httpBasic({ cost: { N: 16 }, waiting: 1000 })
  const hashed = provider.hash(secret)
  const basic = (user: string, password: string, scheme = 'Basic'): Credentials => {
    const value = Buffer.from(`${user}:${password}`).toString('base64')
    return credentials({ headers: { authorization: `${scheme} ${value}` } })
  }
  testSecurityProvider({
    test,
    create: async () => {
      const password = await hashed
      const accounts = [
        account('maria', { password }),
        account('jonas', { password, enabled: false }),
        account('without'),
      ]
      return {
        provider,
        context: { users: usersOf(accounts), now: () => now },
        valid: [
          { request: basic('maria', secret), principal: { user: 'maria', roles: ['Sales'] } },
          { request: basic('maria', secret, 'bASIC'), principal: { user: 'maria', keyId: null } },
        ],
        invalid: [
          basic('maria', 'a wrong password'),
          basic('Maria', secret),
          basic('jonas', secret),
          basic('unknown', secret),
          basic('without', ''),
          basic('maria', ''),
          credentials({ headers: { authorization: 'Basic' } }),
          credentials({ headers: { authorization: 'Basic bm8gY29sb24=' } }),
          credentials({ headers: { authorization: 'Basic not base64 at all' } }),
        ],
        foreign: [credentials({ headers: { authorization: 'Basically bWFyaWE6eA==' } })],
        secrets: [secret, Buffer.from(`maria:${secret}`).toString('base64'), 'a wrong password'],
      }
    },
  })
})

describe.each(['ES256', 'RS256', 'EdDSA'])('tokens of an authorization server (%s)', (alg) => {
  const keys = generateKeyPair(alg, { extractable: true })
  const strangers = generateKeyPair(alg)
  const issuer = 'https://login.example.test/'
  const claims = { sub: 'maria', roles: ['Sales'], region: 'North' }
  const token = async (
    change: Readonly<Record<string, unknown>> = {},
    key = keys,
  ): Promise<Credentials> => {
    const times = { iat: now.getTime() / 1000 - 60, exp: now.getTime() / 1000 + 60 }
    const payload = { iss: issuer, aud: 'rowgate', ...times, ...claims, ...change }
    const jwt = new SignJWT(payload).setProtectedHeader({ alg, kid: 'one' })
    const text = await jwt.sign((await key).privateKey)
    return credentials({ headers: { authorization: `Bearer ${text}` } })
  }
  const requests = Promise.all([
    token(),
    token({ exp: now.getTime() / 1000 - 60 }),
    token({ iss: 'https://elsewhere.example.test/' }),
    token({ aud: 'another' }),
    token({ sub: undefined }),
    token({ sub: 7 }),
    token({}, strangers),
  ])
  testSecurityProvider({
    test,
    create: async () => {
      const [valid, ...invalid] = await requests
      const jwk = { ...(await exportJWK((await keys).publicKey)), kid: 'one', alg }
      return {
        provider: authServer({
          issuer,
          audience: 'rowgate',
          jwks: { keys: [jwk] },
          attributes: { region: 'region' },
        }),
        context: { now: () => now },
        valid: [
          {
            request: valid,
            principal: { user: 'maria', roles: ['Sales'], attributes: { region: 'North' } },
          },
        ],
        invalid: [...invalid, credentials({ headers: { authorization: 'Bearer' } })],
      }
    },
  })
})
