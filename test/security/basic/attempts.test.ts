import { describe, expect, onTestFinished, test } from 'vitest'
import { createService, defineCollection, memoryStorage, text } from '../../../src/entries/index.ts'
import { createTestClient } from '../../../src/entries/testing.ts'
import { httpBasic, type HttpBasicOptions } from '../../../src/entries/security.ts'
import { passwordAttempts } from '../../../src/security/basic/attempts.ts'
import { boundedWork } from '../../../src/security/basic/password-checks.ts'
import { clockAt } from '../../kit/clock.ts'
import { cheapCost } from '../../kit/keys.ts'

const limits = { perName: 3, perAddress: 5, seconds: 60 }
const start = Date.parse('2026-01-01T00:00:00Z')

/** Attempts on a clock that stands still until it is moved. */
function attempting() {
  const attempts = passwordAttempts(limits)
  const clock = { seconds: 0 }
  const begin = (user: string, peer?: string) =>
    attempts.begin(user, peer, new Date(start + clock.seconds * 1_000))
  const rejection = (user: string, peer?: string): unknown => {
    try {
      begin(user, peer).ended(undefined)
      return undefined
    } catch (error) {
      return error
    }
  }
  return {
    clock,
    begin,
    rejection,
    wrong: (user: string, peer?: string) => begin(user, peer).ended(false),
    right: (user: string, peer?: string) => begin(user, peer).ended(true),
  }
}

const tooMany = { code: 'TOO_MANY_REQUESTS', status: 429 }

describe('attempts to find a password', () => {
  test('are limited for each name until the period is over', () => {
    const { clock, wrong, rejection } = attempting()
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) wrong('maria', address)
    clock.seconds = 20
    expect(rejection('maria', '192.0.2.4')).toMatchObject({
      ...tooMany,
      headers: { 'Retry-After': '40' },
    })
    expect(rejection('maria')).toMatchObject(tooMany)
    expect(rejection('peter', '192.0.2.4')).toBeUndefined()
    clock.seconds = 60
    expect(rejection('maria', '192.0.2.4')).toBeUndefined()
  })

  test('are limited for each address, of IPv6 for its first 64 bits', () => {
    const { wrong, rejection } = attempting()
    for (let index = 0; index < 5; index++) wrong(`user ${index}`, `2001:db8:0:1::${index}`)
    expect(rejection('another', '2001:db8:0:1:9::')).toMatchObject(tooMany)
    expect(rejection('another', '2001:db8:0:2::')).toBeUndefined()
    expect(rejection('another')).toBeUndefined()
  })

  test('count as wrong while they are checked, and right ones do not count afterwards', () => {
    const { begin, rejection } = attempting()
    const begun = [1, 2, 3].map(() => begin('maria', '192.0.2.1'))
    expect(rejection('maria', '192.0.2.1')).toMatchObject(tooMany)
    begun[0]?.ended(undefined)
    expect(rejection('maria', '192.0.2.1')).toBeUndefined()
    begun[1]?.ended(true)
    begun[2]?.ended(true)
    for (let index = 0; index < 9; index++) begin('maria', '192.0.2.1').ended(true)
    expect(rejection('maria', '192.0.2.1')).toBeUndefined()
  })

  test('from elsewhere do not lock out a user at a known address', () => {
    const { wrong, right, rejection, begin } = attempting()
    right('maria', '192.0.2.1')
    for (let index = 0; index < 3; index++) wrong('maria', `198.51.100.${index}`)
    for (let index = 0; index < 5; index++) wrong(`user ${index}`, '192.0.2.1')
    expect(rejection('maria', '198.51.100.9')).toMatchObject(tooMany)
    expect(rejection('peter', '192.0.2.1')).toMatchObject(tooMany)
    expect(begin('maria', '192.0.2.1').isKnown).toBe(true)
    expect(begin('other', '203.0.113.1').isKnown).toBe(false)
  })

  test('from a known address are limited too', () => {
    const { clock, wrong, right, rejection } = attempting()
    right('maria', '192.0.2.1')
    for (let index = 0; index < 3; index++) wrong('maria', '192.0.2.1')
    for (let index = 0; index < 3; index++) wrong('maria', '192.0.2.1')
    expect(rejection('maria', '192.0.2.1')).toMatchObject(tooMany)
    clock.seconds = 61
    expect(rejection('maria', '192.0.2.1')).toBeUndefined()
  })

  test('with the right password are remembered for a day', () => {
    const { clock, right, begin } = attempting()
    right('maria', '192.0.2.1')
    clock.seconds = 24 * 3_600 - 1
    expect(begin('maria', '192.0.2.7').isKnown).toBe(true)
    clock.seconds += 1
    expect(begin('maria', '192.0.2.7').isKnown).toBe(false)
  })
})

test('work that goes first overtakes the rest, and has places of its own', async () => {
  const bounded = boundedWork(1, 2)
  const order: string[] = []
  const work = (name: string, isFirst: boolean) =>
    bounded(() => Promise.resolve(order.push(name)), isFirst).catch(() => order.push(`no ${name}`))
  const names = ['a', 'b', 'c', 'd'].map((name) => work(name, false))
  await Promise.all([...names, ...['e', 'f', 'g'].map((name) => work(name, true))])
  expect(order.filter((name) => name.startsWith('no'))).toEqual(['no d', 'no g'])
  expect(order.filter((name) => !name.startsWith('no'))).toEqual(['a', 'e', 'f', 'b', 'c'])
})

const notes = defineCollection({ key: 'id', fields: { id: text() } })

async function openDesk(options: HttpBasicOptions = {}) {
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: httpBasic({ cost: cheapCost, ...options }),
    // A minute is one, however long the checks take.
    now: clockAt().now,
    report: false,
  })
  onTestFinished(() => service.close())
  await service.users.add({ user: 'maria', password: 'right' })
  const login = async (user: string, password: string, peer?: string) => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    const client = createTestClient(service, {
      headers: { authorization },
      ...(peer !== undefined && { peer }),
    })
    return client.get('/desk/notes')
  }
  return { service, login }
}

test('a flood of wrong passwords from many addresses does not keep out a known user', async () => {
  const { service, login } = await openDesk()
  expect((await login('maria', 'right', '192.0.2.1')).status).toBe(200)
  // The new password is not cached, so it needs a hash.
  await service.users.change('maria', { password: 'newer' })
  const flood = Array.from({ length: 300 }, (_, index) =>
    login(`user ${index}`, 'wrong', `198.51.100.${index % 200}`),
  )
  await new Promise((resolve) => setImmediate(resolve))
  const answers = Array.from({ length: 5 }, (_, index) =>
    login('maria', 'newer', `192.0.2.${index}`),
  )
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(5).fill(200))
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([401, 503]))
})

test('by default, 30 wrong passwords from one address are checked in a minute', async () => {
  const { login } = await openDesk()
  const statuses: number[] = []
  for (let index = 0; index < 32; index++) {
    statuses.push((await login(`user ${index}`, 'wrong', '192.0.2.1')).status)
  }
  expect(statuses).toEqual([...Array<number>(30).fill(401), 429, 429])
  const rejected = await login('maria', 'right', '192.0.2.1')
  expect(rejected.status).toBe(429)
  expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(50)
  expect((await login('maria', 'right', '192.0.2.2')).status).toBe(200)
  // The right password is cached.
  expect((await login('maria', 'right', '192.0.2.1')).status).toBe(200)
})

test('wrong passwords are limited with a function of the application, too', async () => {
  let calls = 0
  const verify = (_user: string, password: string): boolean => {
    calls++
    return password === 'right'
  }
  const { login } = await openDesk({ verify, attempts: { perName: 2 } })
  const statuses: number[] = []
  for (const password of ['one', 'two', 'three']) {
    statuses.push((await login('maria', password)).status)
  }
  expect(statuses).toEqual([401, 401, 429])
  expect(calls).toBe(2)
})

test('attempts: false limits nothing', async () => {
  const { login } = await openDesk({ attempts: false })
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, index) => login('maria', `${index}`)),
  )
  expect(all.map(({ status }) => status)).toEqual(Array(40).fill(401))
})
