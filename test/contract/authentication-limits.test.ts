import { Agent } from 'node:http'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { beforeEach, expect, test } from 'vitest'
import type { Limiter } from '../../src/entries/security.ts'
import { rawRequest, send } from '../kit/http-client.ts'
import { base, describeContract } from './contract.ts'
import { expectError, itemsIn } from '../kit/expectations.ts'
import { expectUnknown, flipped, newKey, plainKeys, withKey } from '../kit/keys.ts'
import { clockAt } from '../kit/clock.ts'

/** A limiter that starts empty for each case. */
function renewed(make: () => Limiter): Limiter {
  let current = make()
  beforeEach(() => void (current = make()))
  return { consume: (key) => current.consume(key) }
}

const requests = renewed(() => new RateLimiterMemory({ points: 3, duration: 60 }))
const failures = renewed(() => new RateLimiterMemory({ points: 3, duration: 60 }))

describeContract(
  'a limit on requests',
  { security: plainKeys(), limits: { requests } },
  (contract) => {
    test('rejects more of one key with 429 and the whole seconds to wait', async () => {
      const { key } = await newKey(contract.service)
      for (let turn = 0; turn < 3; turn++) itemsIn(await contract.get('/orders', withKey(key)))
      for (const path of ['/orders', '/orders/1', '/nothing', '/orders?nope=1']) {
        const answer = await contract.get(path, withKey(key))
        expectError(answer, 429, /^There were too many requests/)
        expect(answer.headers['retry-after']).toMatch(/^(60|59|58)$/)
      }
      expectError(await contract.post('/orders', { orderId: 9 }, withKey(key)), 429)
    })

    test('counts each key separately, even if two keys belong to one user', async () => {
      const one = await newKey(contract.service)
      const two = await newKey(contract.service)
      for (let turn = 0; turn < 3; turn++) {
        itemsIn(await contract.get('/orders', withKey(one.key)))
        itemsIn(await contract.get('/orders', withKey(two.key)))
      }
      expectError(await contract.get('/orders', withKey(one.key)), 429)
      const third = await newKey(contract.service)
      itemsIn(await contract.get('/orders', withKey(third.key)))
    })

    test('counts all requests that arrive at once', async () => {
      const { key } = await newKey(contract.service)
      const all = await Promise.all(
        Array.from({ length: 12 }, () => contract.get('/orders', withKey(key))),
      )
      expect(all.filter(({ status }) => status === 200)).toHaveLength(3)
      expect(all.filter(({ status }) => status === 429)).toHaveLength(9)
    })

    test('does not count requests that were rejected before', async () => {
      const { key } = await newKey(contract.service)
      for (let turn = 0; turn < 5; turn++) {
        expectUnknown(contract, await contract.get('/orders', withKey(flipped(key))), 'unknown')
        expectError(await contract.get('/customers/', withKey(key)), 404)
      }
      itemsIn(await contract.get('/orders', withKey(key)))
    })
  },
)

const clock = clockAt()

describeContract(
  'a limit on failures',
  { security: plainKeys(), limits: { failures }, now: clock.now },
  (contract) => {
    const elsewhere = new Agent({ localAddress: '127.0.0.2' })
    const askElsewhere = (key: string) => {
      const sent = { method: 'GET', target: `${base}/orders`, headers: withKey(key) }
      return send(contract.port, elsewhere, sent)
    }
    const failTooOften = async (key: string) => {
      for (let turn = 0; turn < 3; turn++) {
        expectUnknown(contract, await contract.get('/orders', withKey(flipped(key))), 'unknown')
      }
      const answer = await contract.get('/orders', withKey(flipped(key)))
      expectError(answer, 429, /^There were too many requests/)
      expect(answer.headers['retry-after']).toMatch(/^(60|59|58)$/)
      expect(answer.headers).not.toHaveProperty('www-authenticate')
      expect(contract.reports()).toMatchObject([{ reason: 'unknown', peer: '127.0.0.1' }])
    }

    test('rejects a client even with the right key, until its time is over', async () => {
      const { key } = await newKey(contract.service)
      await failTooOften(key)
      for (let turn = 0; turn < 5; turn++) {
        expectError(await contract.get('/orders', withKey(key)), 429)
        expectError(await contract.get('/orders', withKey(flipped(key))), 429)
      }
      clock.pass(0.9)
      expectError(await contract.get('/orders', withKey(key)), 429)
      clock.pass(0.1)
      itemsIn(await contract.get('/orders', withKey(key)))
      expect(contract.reports()).toEqual([])
    })

    test('does not keep out a key that the client has used before, until it is revoked', async () => {
      const { key, keyId } = await newKey(contract.service)
      itemsIn(await contract.get('/orders', withKey(key)))
      await failTooOften(key)
      itemsIn(await contract.get('/orders', withKey(key)))
      expectError(await contract.get('/orders', withKey(flipped(key))), 429)
      const other = await newKey(contract.service)
      expectError(await contract.get('/orders', withKey(other.key)), 429)
      await contract.service.keys.revoke(keyId)
      expectError(await contract.get('/orders', withKey(key)), 429)
      expect(contract.reports()).toMatchObject([{ reason: 'revoked' }])
    })

    test('does not touch other clients, nor clients without a key', async () => {
      const { key } = await newKey(contract.service)
      await failTooOften(key)
      expectUnknown(contract, await contract.get('/orders'), 'missing')
      itemsIn(await askElsewhere(key))
      expectUnknown(contract, await askElsewhere(flipped(key)), 'unknown', { peer: '127.0.0.2' })
      expectError(await contract.get('/orders', withKey(key)), 429)
    })

    test('is not reached by requests without a key, or by right ones', async () => {
      const { key } = await newKey(contract.service)
      for (let turn = 0; turn < 5; turn++) {
        expectUnknown(contract, await contract.get('/orders'), 'missing')
        itemsIn(await contract.get('/orders', withKey(key)))
        expectError(await contract.get('/orders', withKey('x, y')), 400)
      }
      expectUnknown(contract, await contract.get('/orders', withKey(flipped(key))), 'unknown')
    })

    test('ignores a forged address of the client', async () => {
      const { key } = await newKey(contract.service)
      await failTooOften(key)
      for (const header of ['X-Forwarded-For', 'X-Real-IP', 'Client-IP']) {
        const headers = { ...withKey(key), [header]: '203.0.113.9' }
        expectError(await contract.get('/orders', headers), 429)
      }
      const raw = await contract.raw(
        rawRequest(`GET ${base}/orders`, [`X-API-Key: ${key}`, 'Forwarded: for=203.0.113.9']),
      )
      expect(raw).toMatch(/^HTTP\/1\.1 429 /)
    })
  },
)

const storeDown = new Error('the store of the limiter cannot be reached')
const broken: Limiter = { consume: () => Promise.reject(storeDown) }

describeContract(
  'a limiter whose store fails',
  { security: plainKeys(), limits: { requests: broken, failures: broken } },
  (contract) => {
    test('is reported, and the request is served', async () => {
      const { key } = await newKey(contract.service)
      itemsIn(await contract.get('/orders', withKey(key)))
      expect(contract.reports()).toEqual([{ type: 'limiter-failed', error: storeDown }])
    })

    test('is reported, and a wrong key is rejected as usual', async () => {
      const { key } = await newKey(contract.service)
      for (let turn = 0; turn < 5; turn++) {
        expectError(await contract.get('/orders', withKey(flipped(key))), 401)
        const types = contract.reports().map(({ type }) => type)
        expect(types).toEqual(['credential-rejected', 'limiter-failed'])
      }
    })
  },
)

describeContract('no limits', { security: plainKeys() }, (contract) => {
  test('is the default', async () => {
    const { key } = await newKey(contract.service)
    for (let turn = 0; turn < 100; turn++) {
      expectError(await contract.get('/countries', withKey('wrong')), 401)
      itemsIn(await contract.get('/countries', withKey(key)))
    }
    expect(contract.reports()).toHaveLength(100)
  })
})
