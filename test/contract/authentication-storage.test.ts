import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openAccess, type Observation } from '../../src/entries/index.ts'
import type { NewKey } from '../../src/entries/security.ts'
import { StorageError } from '../../src/entries/storage.ts'
import type { Answer } from '../kit/http-client.ts'
import { base } from './contract.ts'
import { expectError, itemsIn } from '../kit/expectations.ts'
import { flipped, newKey, plainKeys, withKey } from '../kit/keys.ts'
import { cells } from '../kit/cells.ts'
import { start, type Running } from './running.ts'
import { checkAnswer } from './universal.ts'
import { watched } from './wrapped.ts'

const everything = ['rowgate-security/keys', 'rowgate-security/users', 'a transaction']

describe.each(cells)('the store of keys on $name', (cell) => {
  const broken = new Map<string, unknown>()
  const reports: Observation[] = []
  let running: Running
  let made: NewKey

  beforeEach(async () => {
    const fragile = watched(cell, (reads) => {
      if (broken.has(reads)) throw broken.get(reads)
    })
    running = await start(fragile, {
      security: [plainKeys(), openAccess()],
      report: (one) => reports.push(one),
    })
    made = await newKey(running.service)
  })
  afterEach(async () => {
    broken.clear()
    await running.stop()
    expect(reports.splice(0)).toEqual([])
  })

  const breakDown = (names: readonly string[], error: unknown) => {
    for (const name of names) broken.set(name, error)
  }
  const ask = async (headers: Readonly<Record<string, string>>): Promise<Answer> => {
    const sent = { method: 'GET', target: `${base}/orders`, headers }
    const answer = await running.send(sent)
    checkAnswer('GET', answer, { fails: true })
    return answer
  }
  const typesOf = () => reports.splice(0).map(({ type }) => type)

  test.each([
    ['the keys', ['rowgate-security/keys']],
    ['the users', ['rowgate-security/users']],
    ['everything', everything],
  ])('that cannot be reached for %s answers 503, and serves when it is back', async (_w, names) => {
    itemsIn(await ask(withKey(made.key)))
    breakDown(names, new StorageError('unavailable', { cause: new Error('10.0.0.1 rejected') }))
    for (let turn = 0; turn < 3; turn++) {
      const answer = await ask(withKey(made.key))
      expectError(answer, 503, /not available at the moment/)
      expect(answer.headers['retry-after']).toMatch(/^[1-9][0-9]*$/)
      expect(answer.headers).not.toHaveProperty('www-authenticate')
      expect(answer.text).not.toContain('10.0.0.1')
    }
    // The use of the key may have been written down before.
    const told = typesOf().filter((type) => type !== 'security-record-failed')
    expect(told).toEqual(Array(3).fill('storage-unavailable'))
    broken.clear()
    itemsIn(await ask(withKey(made.key)))
  })

  test('that cannot be reached responds 503 to a wrong key too, and 401 to what is not a key', async () => {
    breakDown(everything, new StorageError('unavailable'))
    expectError(await ask(withKey(flipped(made.key))), 503)
    expectError(await ask(withKey('no key')), 401)
    expect(typesOf()).toEqual(['storage-unavailable', 'credential-rejected'])
    itemsIn(await ask({}))
  })

  test.each([
    ['an error', new Error('s3cret table is gone')],
    ['a text', 's3cret'],
    ['nothing', undefined],
    ['a rejection of another kind', new StorageError('duplicate', { fields: ['s3cret'] })],
  ])('that throws %s causes 500, and only the report has the error', async (_what, error) => {
    breakDown(['rowgate-security/keys'], error)
    const answer = await ask(withKey(made.key))
    expectError(answer, 500, /^The request could not be served/)
    expect(answer.text).not.toContain('s3cret')
    expect(reports.splice(0)).toMatchObject([{ type: 'request-failed', error }])
  })

  test('whose database denies its role the keys causes 500, because the client is not at fault', async () => {
    const error = new StorageError('forbidden', { cause: new Error('permission denied') })
    breakDown(['rowgate-security/keys'], error)
    const answer = await ask(withKey(made.key))
    expectError(answer, 500, /^The request could not be served/)
    expect(reports.splice(0)).toMatchObject([{ type: 'request-failed', error: { cause: error } }])
  })

  test('that cannot write a use serves the request and reports the failure', async () => {
    const error = new StorageError('unavailable')
    breakDown(['a transaction'], error)
    itemsIn(await ask(withKey(made.key)))
    await expect.poll(() => reports.length).toBe(1)
    expect(reports.splice(0)).toEqual([{ type: 'security-record-failed', error }])
    broken.clear()
    expect(await running.service.keys.list()).toMatchObject([{ lastUsed: null }])
  })

  test('that fails creates, revokes or rotates no key partially', async () => {
    const { keys } = running.service
    const error = new StorageError('unavailable')
    breakDown(['a transaction'], error)
    await expect(keys.create({ user: 'maria' })).rejects.toBe(error)
    await expect(keys.revoke(made.keyId)).rejects.toBe(error)
    await expect(keys.rotate(made.keyId)).rejects.toBe(error)
    broken.clear()
    expect(await keys.list()).toMatchObject([{ keyId: made.keyId, revoked: null, expires: null }])
    expect(await keys.audit()).toMatchObject([{ event: 'created' }])
    itemsIn(await ask(withKey(made.key)))
  })

  test('of a service that closes responds 503 at once', async () => {
    const closed = running.service.close()
    const answer = await ask(withKey(made.key))
    expectError(answer, 503)
    await closed
    expectError(await ask(withKey(made.key)), 503)
    await expect(running.service.keys.list()).rejects.toThrow()
  })
})
