import { expect, test } from 'vitest'
import { describeContract } from './contract.ts'
import { itemsIn } from '../kit/expectations.ts'
import { eventsOnce, expectUnknown, newKey, plainKeys, recordOnce, withKey } from '../kit/keys.ts'
import { clockAt } from '../kit/clock.ts'

const clock = clockAt()
const options = { security: plainKeys(), now: clock.now }

describeContract('a rotated key', options, (contract) => {
  const lives = async (key: string) => void itemsIn(await contract.get('/countries', withKey(key)))
  const isDead = async (key: string, reason: 'revoked' | 'expired') =>
    expectUnknown(contract, await contract.get('/countries', withKey(key)), reason)

  test('becomes invalid immediately, and the new one valid', async () => {
    const old = await newKey(contract.service, { description: 'till 3' })
    await lives(old.key)
    const next = await contract.service.keys.rotate(old.keyId)
    expect(next).toMatchObject({ user: 'maria', description: 'till 3', provider: old.provider })
    expect(next.key).not.toBe(old.key)
    expect(next.keyId).not.toBe(old.keyId)
    await isDead(old.key, 'revoked')
    await lives(next.key)
  })

  test('with an overlap lives until its end', async () => {
    const old = await newKey(contract.service)
    const next = await contract.service.keys.rotate(old.keyId, { overlap: 10 })
    await lives(next.key)
    await lives(old.key)
    clock.pass(9.999)
    await lives(old.key)
    clock.pass(0.001)
    await isDead(old.key, 'expired')
    await lives(next.key)
  })

  test('can be rotated again: each key of three has its own expiry', async () => {
    const first = await newKey(contract.service)
    const second = await contract.service.keys.rotate(first.keyId, { overlap: 10 })
    clock.pass(5)
    const third = await contract.service.keys.rotate(second.keyId, { overlap: 10 })
    for (const { key } of [first, second, third]) await lives(key)
    clock.pass(5)
    await isDead(first.key, 'expired')
    await lives(second.key)
    clock.pass(5)
    await isDead(second.key, 'expired')
    await lives(third.key)
    const ids = (await contract.service.keys.list({ user: 'maria' })).map(({ keyId }) => keyId)
    expect(ids).toEqual([first.keyId, second.keyId, third.keyId])
  })

  test('does not live longer for an overlap than it would have', async () => {
    const old = await newKey(contract.service, { expiresIn: 3 })
    const next = await contract.service.keys.rotate(old.keyId, { overlap: 60 })
    clock.pass(3)
    await isDead(old.key, 'expired')
    await lives(next.key)
  })

  test('stays on record, and its rotation is on record', async () => {
    const old = await newKey(contract.service)
    const next = await contract.service.keys.rotate(old.keyId)
    const events = await contract.service.keys.audit({ user: 'maria' })
    expect(events).toMatchObject([
      { event: 'created', keyId: old.keyId },
      { event: 'rotated', keyId: old.keyId, reason: next.keyId },
      { event: 'created', keyId: next.keyId },
    ])
  })

  test('cannot be rotated if it is inactive', async () => {
    const revoked = await newKey(contract.service)
    const expired = await newKey(contract.service, { expiresIn: 1 })
    await contract.service.keys.revoke(revoked.keyId)
    clock.pass(1)
    for (const { keyId } of [revoked, expired]) {
      await expect(contract.service.keys.rotate(keyId)).rejects.toThrow(TypeError)
    }
    expect(await contract.service.keys.list()).toHaveLength(2)
  })

  test('that many rotate at once has one successor', async () => {
    const { keyId } = await newKey(contract.service)
    const all = await Promise.allSettled(
      Array.from({ length: 10 }, () => contract.service.keys.rotate(keyId)),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await contract.service.keys.list()).toHaveLength(2)
  })
})

describeContract('the record of a key', options, (contract) => {
  test('has its first and its last use, written off the path of the request', async () => {
    clock.set('2024-05-01T10:00:00Z')
    const made = await newKey(contract.service)
    expect(made).toMatchObject({ firstUsed: null, lastUsed: null })
    itemsIn(await contract.get('/countries', withKey(made.key)))
    const first = await recordOnce(
      contract.service,
      made.keyId,
      ({ lastUsed }) => lastUsed !== null,
    )
    expect(first).toMatchObject({
      firstUsed: '2024-05-01T10:00:00Z',
      lastUsed: '2024-05-01T10:00:00Z',
    })
    clock.pass(5)
    itemsIn(await contract.get('/countries', withKey(made.key)))
    const next = await recordOnce(
      contract.service,
      made.keyId,
      ({ lastUsed }) => lastUsed !== first.lastUsed,
    )
    expect(next).toMatchObject({
      firstUsed: '2024-05-01T10:00:00Z',
      lastUsed: '2024-05-01T10:05:00Z',
    })
    const events = await contract.service.keys.audit({ keyId: made.keyId })
    expect(events.map(({ event }) => event)).toEqual(['created', 'first-used'])
  })

  test('has one first use if several requests use it at once', async () => {
    const { key, keyId } = await newKey(contract.service)
    await Promise.all(
      Array.from({ length: 20 }, () => contract.get('/countries', withKey(key)).then(itemsIn)),
    )
    await recordOnce(contract.service, keyId, ({ firstUsed }) => firstUsed !== null)
    await recordOnce(contract.service, keyId, ({ lastUsed }) => lastUsed !== null)
    const events = await eventsOnce(contract.service, keyId, (all) => all.length > 1)
    expect(events.filter(({ event }) => event === 'first-used')).toHaveLength(1)
  })

  test('has no use by requests that were rejected', async () => {
    const { key, keyId } = await newKey(contract.service)
    await contract.service.keys.revoke(keyId)
    expectUnknown(contract, await contract.get('/countries', withKey(key)), 'revoked')
    const events = await eventsOnce(contract.service, keyId, (all) => all.length > 2)
    expect(events.map(({ event }) => event)).toEqual(['created', 'revoked', 'rejected'])
    const [record] = await contract.service.keys.list()
    expect(record).toMatchObject({ firstUsed: null, lastUsed: null })
  })

  test('never shows the key again, nor its hash', async () => {
    const { key, keyId } = await newKey(contract.service)
    const [row] = (await contract.rows())['rowgate-security/keys'] ?? []
    const next = await contract.service.keys.rotate(keyId)
    const seen = JSON.stringify([
      await contract.service.keys.list(),
      await contract.service.keys.audit(),
      await contract.service.keys.revoke(next.keyId),
      await contract.service.keys.revoke(next.keyId),
    ])
    for (const secret of [key, next.key, row?.['hash'] as string]) {
      expect(secret).toMatch(/^[A-Za-z0-9_-]{22,}$/)
      expect(seen).not.toContain(secret)
    }
    for (const shown of [JSON.stringify(next), Object.values(next).join()]) {
      expect(shown).not.toContain(next.key)
    }
  })
})
