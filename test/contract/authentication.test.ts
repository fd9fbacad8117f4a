import { describe, expect, test } from 'vitest'
import type { CollectionDefinition } from '../../src/entries/index.ts'
import { rawRequest, statusesIn, type Answer } from '../kit/http-client.ts'
import { base, describeContract, type Contract } from './contract.ts'
import { expectError, itemsIn } from '../kit/expectations.ts'
import { applications } from './fixture.ts'
import { expectUnknown, flipped, newKey, plainKeys, withKey } from '../kit/keys.ts'
import { clockAt } from '../kit/clock.ts'

/** The events of section 6 by method, for each shape of path. */
const events: Readonly<Record<'collection' | 'item', Readonly<Record<string, string>>>> = {
  collection: { GET: 'Filter', POST: 'Insert' },
  item: { GET: 'Filter', POST: 'Update', DELETE: 'Delete' },
}
const methods = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS']
const collections: readonly (readonly [string, CollectionDefinition])[] = Object.entries(
  applications,
).flatMap(([application, one]) =>
  Object.entries(one.collections).map(
    ([name, collection]) => [`/rest/v1/${application}/${name}`, collection] as const,
  ),
)

/**
 * The status of each method on each kind of path without a key: 405 if the path does not support it, else 401. A path
 * below a collection without key is that of an unknown item.
 */
const routes = collections.flatMap(([path, { key, publishes }]) =>
  (['collection', 'item'] as const).flatMap((shape) =>
    methods.map((method) => {
      const event = events[shape][method]
      const isUnknown = shape === 'item' && key === undefined
      const isOpen = isUnknown || publishes === undefined || publishes.some((one) => one === event)
      const status = event !== undefined && isOpen ? 401 : 405
      return { method, target: shape === 'item' ? `${path}/1` : path, status }
    }),
  ),
)

describeContract('requests without a key', { security: plainKeys() }, (contract) => {
  test('are rejected with 401 and a challenge', async () => {
    const answer = await contract.get('/orders')
    expectUnknown(contract, answer, 'missing', { provider: null, user: null, keyId: null })
    expect(answer.headers['www-authenticate']).toBe('ApiKey header="X-API-Key"')
  })

  test('are rejected by every method on every collection and item', async () => {
    expect(routes).toHaveLength(7 * 2 * 7)
    for (const { method, target, status } of routes) {
      const body = method === 'POST' ? { body: '{}' } : {}
      const answer = await contract.send({ method, target, ...body })
      expect(answer.status, `${method} ${target}`).toBe(status)
      expect(answer.headers).toHaveProperty(status === 401 ? 'www-authenticate' : 'allow')
      expect(contract.reports()).toHaveLength(status === 401 ? 1 : 0)
    }
    expect(routes.filter(({ status }) => status === 401).length).toBeGreaterThan(25)
  })

  test.each([
    '/nothing',
    '/customers.json',
    '/customers/login',
    '/login',
    '/health',
    '/openapi.json',
    '/customers/ALFKI?apiKey=',
    '/customers?public=true',
    '/%63ustomers',
    '/customers%3B',
  ])('are rejected wherever they look: %s', async (path) => {
    expectUnknown(contract, await contract.get(path), 'missing')
  })

  test('leave no data behind', async () => {
    const json = { 'Content-Type': 'application/json' }
    const sent = { method: 'POST', target: `${base}/orders`, headers: json, body: '{"orderId":9}' }
    expectUnknown(contract, await contract.send(sent), 'missing')
    expectUnknown(contract, await contract.delete('/orders/1'), 'missing')
    const { key } = await newKey(contract.service)
    expect(itemsIn(await contract.get('/orders', withKey(key)))).toHaveLength(3)
  })
})

describeContract('the text of a key', { security: plainKeys() }, (contract) => {
  test('opens the service, also between spaces', async () => {
    const { key } = await newKey(contract.service)
    for (const value of [key, `${key}  `, `\t ${key} \t`]) {
      itemsIn(await contract.get('/orders', withKey(value)))
    }
    for (const line of [`X-API-Key:${key}`, `x-api-KEY: \t${key} \t`]) {
      const received = await contract.raw(rawRequest(`GET ${base}/orders`, [line]))
      expect(statusesIn(received)).toEqual([200])
    }
  })

  const wrong: Readonly<Record<string, (key: string) => string>> = {
    'another key': () => 'AAAAAAAAAAAAAAAAAAAAAA',
    'one character flipped': (key) => flipped(key),
    'the last character flipped': (key) => flipped(key, key.length - 1),
    'upper case': (key) => (key === key.toUpperCase() ? key.toLowerCase() : key.toUpperCase()),
    'lower case': (key) => (key === key.toLowerCase() ? key.toUpperCase() : key.toLowerCase()),
    padding: (key) => `${key}==`,
    'an inner space': (key) => `${key.slice(0, 9)} ${key.slice(9)}`,
    'one character less': (key) => key.slice(0, -1),
    'one character more': (key) => `${key}A`,
    'the key twice': (key) => key + key,
    'quotes around it': (key) => `"${key}"`,
    'a scheme before it': (key) => `ApiKey ${key}`,
    nothing: () => '',
    'the visible start': (key) => key.slice(0, 4),
    'a character outside ASCII': (key) => `${key.slice(0, -1)}\u00e9`,
    'a percent-encoded character': (key) =>
      `%${key.charCodeAt(0).toString(16).toUpperCase()}${key.slice(1)}`,
    '7000 characters': () => 'A'.repeat(7000),
    'a wildcard': () => '%%%%%%%%%%%%%%%%%%%%%%',
  }

  test.each(Object.entries(wrong))('is not accepted with %s', async (_what, spoil) => {
    const { key } = await newKey(contract.service)
    const answer = await contract.get('/orders', withKey(spoil(key)))
    expect(answer.text).not.toContain(key)
    expectError(answer, 401)
    const [told, ...more] = contract.reports()
    expect(more).toEqual([])
    expect(['malformed', 'unknown']).toContain(told && 'reason' in told && told.reason)
    expect(JSON.stringify(told)).not.toContain(key)
  })

  test('is not its hash, and not its identifier', async () => {
    const { keyId } = await newKey(contract.service)
    const [row] = (await contract.rows())['rowgate-security/keys'] ?? []
    for (const value of [keyId, row?.['hash'] as string]) {
      expectError(await contract.get('/orders', withKey(value)), 401)
    }
    expect(contract.reports()).toHaveLength(2)
  })

  test('is not accepted twice, whichever comes first', async () => {
    const { key } = await newKey(contract.service)
    const other = flipped(key)
    for (const pair of [[key, other] as const, [other, key] as const, [key, key] as const]) {
      const lines = pair.map((one) => `X-API-Key: ${one}`)
      const received = await contract.raw(rawRequest(`GET ${base}/orders`, lines))
      expect(statusesIn(received)).toEqual([400])
      expect(received).toContain('more than one credential')
      const joined = await contract.get('/orders', withKey(pair.join(', ')))
      expectError(joined, 400, 'The request carries more than one credential.')
    }
  })

  test('with line breaks or escapes in it cannot forge a line of the log', async () => {
    const escapes = 'k\u001b[31m'
    const received = await contract.raw(
      rawRequest(`GET ${base}/orders`, [`X-API-Key: ${escapes}`, 'X-Other: 1']),
    )
    for (const status of statusesIn(received)) expect([400, 401]).toContain(status)
    await contract.get('/a%0D%0Aforged%1B%5B31m', withKey('A'.repeat(22)))
    for (const told of contract.reports()) {
      for (const value of Object.values(told)) expect(String(value)).not.toMatch(/\p{Cc}|forged/u)
    }
  })
})

describe('every rejected key', () => {
  const clock = clockAt()
  const properties = { HttpHeaderName: 'X-Off-Key' }
  const security = [
    plainKeys(),
    plainKeys({ name: 'off', priority: 60, enabled: false, properties }),
  ]
  describeContract('has the same answer', { security, now: clock.now }, (contract) => {
    test('byte for byte, and only the report has the reason', async () => {
      const { service } = contract
      const { key } = await newKey(service, { provider: 'keys' })
      const revoked = await newKey(service, { provider: 'keys' })
      const expired = await newKey(service, { provider: 'keys', expiresIn: 1 })
      const off = await newKey(service, { provider: 'off' })
      const disabled = await newKey(service, { provider: 'keys', user: 'disabled' })
      const gone = await newKey(service, { provider: 'keys', user: 'gone' })
      await service.keys.revoke(revoked.keyId)
      await service.users.change('disabled', { enabled: false })
      await service.users.remove('gone')
      clock.pass(2)

      const missing = await contract.get('/orders')
      expectUnknown(contract, missing, 'missing')
      const same = async (value: string, name = 'X-API-Key') => {
        const answer = await contract.get('/orders', { [name]: value })
        expect(visible(answer)).toEqual(visible(missing))
        return told(contract)
      }
      expect(await same('x')).toMatchObject({ reason: 'malformed', keyId: null })
      expect(await same(flipped(key))).toMatchObject({ reason: 'unknown', keyId: null })
      expect(await same(revoked.keyId)).toMatchObject({ reason: 'unknown', keyId: null })
      const dead = { user: 'maria', provider: 'keys' }
      expect(await same(revoked.key)).toMatchObject({
        ...dead,
        reason: 'revoked',
        keyId: revoked.keyId,
      })
      expect(await same(expired.key)).toMatchObject({
        ...dead,
        reason: 'expired',
        keyId: expired.keyId,
      })
      expect(await same(disabled.key)).toMatchObject({ reason: 'user-disabled', user: 'disabled' })
      // With a user go its keys.
      expect(await same(gone.key)).toMatchObject({ keyId: gone.keyId, user: 'gone' })
      expect(await same(off.key, 'X-Off-Key')).toMatchObject({
        reason: 'provider-disabled',
        provider: 'off',
      })
      itemsIn(await contract.get('/orders', withKey(key)))
    })
  })
})

/** Everything in a response that a client can read. */
function visible({ status, headers, bytes }: Answer) {
  const { date: _date, ...rest } = headers
  return { status, headers: rest, bytes: bytes.toString('hex') }
}

/** The one thing that was reported. */
function told(contract: Contract) {
  const reports = contract.reports()
  expect(reports).toHaveLength(1)
  return reports[0]
}
