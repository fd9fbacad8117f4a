import { describe, expect, test } from 'vitest'
import { describeContract } from './contract.ts'
import { itemsIn } from '../kit/expectations.ts'
import { eventsOnce, expectUnknown, newKey, plainKeys, withKey } from '../kit/keys.ts'
import { clockAt } from '../kit/clock.ts'

const clock = clockAt()

describe('lifetimes', () => {
  const security = plainKeys({ defaultExpiry: 60, maxExpiry: 120 })
  describeContract('the life of a key', { security, now: clock.now }, (contract) => {
    const lives = async (key: string) =>
      itemsIn(await contract.get('/countries', withKey(key))).length === 1
    const isDead = async (key: string) =>
      expectUnknown(contract, await contract.get('/countries', withKey(key)), 'expired')

    test('lasts until its expiry: at that instant it is over', async () => {
      clock.set('2024-02-29T23:30:00Z')
      const { key, expires } = await newKey(contract.service, { expiresIn: 45 })
      expect(expires).toBe('2024-03-01T00:15:00Z')
      expect(await lives(key)).toBe(true)
      clock.set('2024-03-01T00:14:59.999Z')
      expect(await lives(key)).toBe(true)
      clock.set('2024-03-01T00:15:00Z')
      await isDead(key)
      clock.pass(1_000_000)
      await isDead(key)
    })

    test('is the default expiry of its provider unless another is given', async () => {
      clock.set('2025-12-31T23:59:00Z')
      const { expires } = await newKey(contract.service)
      expect(expires).toBe('2026-01-01T00:59:00Z')
    })

    test.each([
      ['a change to summer time', '2024-03-31T00:30:00Z', '2024-03-31T01:30:00Z'],
      ['a change to winter time', '2024-10-27T00:30:00Z', '2024-10-27T01:30:00Z'],
    ])('is counted in minutes that pass, also over %s', async (_what, from, to) => {
      clock.set(from)
      const { key, expires } = await newKey(contract.service)
      expect(expires).toBe(to)
      clock.pass(59.9)
      expect(await lives(key)).toBe(true)
      clock.pass(0.1)
      await isDead(key)
    })

    test('follows the clock when it is set back: nothing is remembered', async () => {
      clock.set('2024-05-01T10:00:00Z')
      const { key } = await newKey(contract.service)
      clock.pass(61)
      await isDead(key)
      clock.pass(-61)
      expect(await lives(key)).toBe(true)
      clock.pass(-60)
      expect(await lives(key)).toBe(true)
      clock.pass(121)
      await isDead(key)
    })

    test.each([121, 0, -1, 1.5, NaN, Infinity, 1e300, '60', null])(
      'cannot be %s: it is rejected, not made to fit',
      async (expiresIn) => {
        const making = newKey(contract.service, { expiresIn: expiresIn as number })
        await expect(making).rejects.toThrow(TypeError)
        await expect(making).rejects.toThrow('keys.create.expiresIn')
        expect(await contract.service.keys.list()).toEqual([])
      },
    )

    test('can be as long as the maximum', async () => {
      clock.set('2024-05-01T10:00:00Z')
      const { expires } = await newKey(contract.service, { expiresIn: 120 })
      expect(expires).toBe('2024-05-01T12:00:00Z')
    })

    test('is logged once a minute for each reason, and not sent to the client', async () => {
      clock.set('2024-05-01T10:00:00Z')
      const { key, keyId } = await newKey(contract.service, { expiresIn: 1 })
      clock.pass(1)
      for (let turn = 0; turn < 3; turn++) await isDead(key)
      clock.pass(2)
      await isDead(key)
      const seen = await eventsOnce(
        contract.service,
        keyId,
        (events) => events.filter(({ event }) => event === 'rejected').length >= 2,
      )
      const rejected = seen.filter(({ event }) => event === 'rejected')
      expect(rejected.reduce((sum, { times }) => sum + times, 0)).toBe(4)
      for (const one of rejected) expect(one).toMatchObject({ reason: 'expired', user: 'maria' })
    })
  })

  describeContract(
    'a key without expiry',
    { security: plainKeys(), now: clock.now },
    (contract) => {
      test('does not expire', async () => {
        clock.set('2024-02-29T12:00:00Z')
        const { key, expires } = await newKey(contract.service)
        expect(expires).toBe(null)
        clock.set('9999-12-31T23:59:59Z')
        itemsIn(await contract.get('/countries', withKey(key)))
      })

      test('can be valid for decades, and expires then', async () => {
        clock.set('2024-02-29T12:00:00Z')
        const minutes = (Date.parse('2124-02-29T12:00:00Z') - clock.now().getTime()) / 60_000
        const { key, expires } = await newKey(contract.service, { expiresIn: minutes })
        expect(expires).toBe('2124-02-29T12:00:00Z')
        clock.set('2124-02-29T11:59:59.999Z')
        itemsIn(await contract.get('/countries', withKey(key)))
        clock.pass(1)
        expectUnknown(contract, await contract.get('/countries', withKey(key)), 'expired')
      })

      test('cannot be given a life beyond the calendar', async () => {
        for (const expiresIn of [Number.MAX_SAFE_INTEGER, 1e13]) {
          await expect(newKey(contract.service, { expiresIn })).rejects.toThrow('expiresIn')
        }
      })
    },
  )

  describeContract(
    'a provider with a maximum only',
    { security: plainKeys({ maxExpiry: 5 }), now: clock.now },
    (contract) => {
      test('determines the lifetime of its keys', async () => {
        clock.set('2024-02-29T12:00:00Z')
        expect(await newKey(contract.service)).toMatchObject({ expires: '2024-02-29T12:05:00Z' })
      })
    },
  )
})
