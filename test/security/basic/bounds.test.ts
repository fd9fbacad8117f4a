import { describe, expect, test } from 'vitest'
import { boundedWork } from '../../../src/security/basic/password-checks.ts'
import { contextOf, people, person } from './context.ts'
import { basic, isUnavailable, occupied, provider, settle } from './provider.ts'

describe('bounded work', () => {
  test('runs up to the limit at once, and the rest in the order of arrival', async () => {
    const bounded = boundedWork(2, 10)
    const started: number[] = []
    let running = 0
    let most = 0
    const work = (index: number) => async () => {
      started.push(index)
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return index
    }
    const results = await Promise.all([0, 1, 2, 3, 4, 5].map((index) => bounded(work(index))))
    expect({ results, started, most }).toEqual({
      results: [0, 1, 2, 3, 4, 5],
      started: [0, 1, 2, 3, 4, 5],
      most: 2,
    })
  })

  test('rejects work beyond the queue, and accepts work again when there is room', async () => {
    const bounded = boundedWork(1, 1)
    const gate = withResolvers<string>()
    const first = bounded(() => gate.promise)
    const second = bounded(() => Promise.resolve('second'))
    await expect(bounded(() => Promise.resolve('third'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      status: 503,
      headers: { 'Retry-After': '1' },
    })
    gate.resolve('first')
    expect(await Promise.all([first, second])).toEqual(['first', 'second'])
    expect(await bounded(() => Promise.resolve('fourth'))).toBe('fourth')
  })

  test('a place that was passed on is occupied', async () => {
    const bounded = boundedWork(1, 1)
    const [one, two] = [withResolvers<string>(), withResolvers<string>()]
    const first = bounded(() => one.promise)
    const second = bounded(() => two.promise)
    one.resolve('first')
    await first
    const third = bounded(() => Promise.resolve('third'))
    await expect(bounded(() => Promise.resolve('fourth'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
    two.resolve('second')
    expect(await Promise.all([second, third])).toEqual(['second', 'third'])
  })

  test('work that fails releases its place', async () => {
    const bounded = boundedWork(1, 0)
    for (const attempt of [1, 2, 3]) {
      await expect(bounded(() => Promise.reject(new Error(String(attempt))))).rejects.toThrow(
        String(attempt),
      )
    }
    expect(await bounded(() => Promise.resolve('done'))).toBe('done')
  })
})

describe('passwords that are checked at the same time', () => {
  test('are rejected above the limits for every user', async () => {
    const given = provider({ concurrency: 2, waiting: 3 })
    const context = contextOf(people(person('maria', { password: await given.hash('secret') })))
    const credentials = ['maria', 'nobody', 'maria', 'nobody', 'maria', 'nobody', 'maria']
    const answers = await Promise.all(
      credentials.map((user, index) => settle(given.identify(basic(user, `${index}`), context))),
    )
    expect(answers.map(({ error }) => error !== undefined && isUnavailable(error))).toEqual([
      ...[false, false, false, false, false],
      ...[true, true],
    ])
    expect(await given.identify(basic('maria', 'secret'), context)).toMatchObject({ user: 'maria' })
  })

  test('share one hash when they are the same', async () => {
    const given = provider({ concurrency: 1, waiting: 0 })
    const context = contextOf(people(person('maria', { password: await given.hash('secret') })))
    const wrong = await Promise.all(
      [1, 2, 3].map(() => settle(given.identify(basic('maria', 'wrong'), context))),
    )
    expect(wrong).toEqual(Array(3).fill({ value: { rejected: 'unknown', user: 'maria' } }))
    const right = await Promise.all(
      [1, 2, 3].map(() => settle(given.identify(basic('maria', 'secret'), context))),
    )
    expect(right).toEqual(
      Array(3).fill({ value: expect.objectContaining({ provider: 'HTTP Basic' }) as unknown }),
    )
  })

  test('new hashes count as well', async () => {
    const given = provider({ concurrency: 1, waiting: 0 })
    const both = await Promise.allSettled([given.hash('one'), given.hash('two')])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  })
})

describe('a password', () => {
  test('that was right takes no second hash', async () => {
    const { given, needsHash } = occupied()
    const context = contextOf(people(person('maria', { password: await given.hash('secret') })))
    expect(await needsHash(basic('maria', 'secret'), context)).toBe(true)
    expect(await given.identify(basic('maria', 'secret'), context)).toMatchObject({ user: 'maria' })
    expect(await needsHash(basic('maria', 'secret'), context)).toBe(false)
  })

  test('that was wrong takes a hash each time', async () => {
    const { given, needsHash } = occupied()
    const context = contextOf(people(person('maria', { password: await given.hash('secret') })))
    expect(await given.identify(basic('maria', 'wrong'), context)).toHaveProperty('rejected')
    expect(await needsHash(basic('maria', 'wrong'), context)).toBe(true)
    expect(await given.identify(basic('maria', 'secret'), context)).toMatchObject({ user: 'maria' })
    expect(await needsHash(basic('maria', 'wrong'), context)).toBe(true)
  })

  test('that was changed is wrong at once, and the new one is right', async () => {
    const { given, needsHash } = occupied()
    const users = people(person('maria', { password: await given.hash('old') }))
    const context = contextOf(users)
    expect(await given.identify(basic('maria', 'old'), context)).toMatchObject({ user: 'maria' })
    users.set('maria', person('maria', { password: await given.hash('new') }))
    expect(await given.identify(basic('maria', 'old'), context)).toHaveProperty(
      'rejected',
      'unknown',
    )
    expect(await needsHash(basic('maria', 'new'), context)).toBe(true)
    expect(await given.identify(basic('maria', 'new'), context)).toMatchObject({ user: 'maria' })
  })

  test('that is hashed again is not remembered for the old hash', async () => {
    const { given, needsHash } = occupied()
    const users = people(person('maria', { password: await given.hash('secret') }))
    const context = contextOf(users)
    await given.identify(basic('maria', 'secret'), context)
    users.set('maria', person('maria', { password: await given.hash('secret') }))
    expect(await needsHash(basic('maria', 'secret'), context)).toBe(true)
  })

  test('is remembered for its user only', async () => {
    const { given, needsHash } = occupied()
    const password = await given.hash('secret')
    const context = contextOf(people(person('maria', { password }), person('max', { password })))
    await given.identify(basic('maria', 'secret'), context)
    expect(await needsHash(basic('max', 'secret'), context)).toBe(true)
  })

  test('of a user who was disabled or removed, or no longer has a password, is rejected', async () => {
    const { given, needsHash } = occupied()
    const users = people(person('maria', { password: await given.hash('secret') }))
    const context = contextOf(users)
    const credential = basic('maria', 'secret')
    const before = users.get('maria') ?? person('maria')
    expect(await given.identify(credential, context)).toMatchObject({ user: 'maria' })

    users.set('maria', { ...before, enabled: false })
    expect(await given.identify(credential, context)).toHaveProperty('rejected', 'user-disabled')
    expect(await needsHash(credential, context)).toBe(true)
    users.set('maria', { ...before, password: null })
    expect(await given.identify(credential, context)).toHaveProperty('rejected', 'unknown')
    expect(await needsHash(credential, context)).toBe(true)
    users.delete('maria')
    expect(await given.identify(credential, context)).toHaveProperty('rejected', 'user-unknown')
    expect(await needsHash(credential, context)).toBe(true)
  })

  test('is remembered with the roles of the moment', async () => {
    const { given } = occupied()
    const users = people(person('maria', { password: await given.hash('secret') }))
    const context = contextOf(users)
    const credential = basic('maria', 'secret')
    expect(await given.identify(credential, context)).toHaveProperty('roles', [])
    users.set('maria', { ...(users.get('maria') ?? person('maria')), roles: ['Sales'] })
    expect(await given.identify(credential, context)).toHaveProperty('roles', ['Sales'])
  })

  test('is forgotten when a thousand others were used since', async () => {
    const { given, needsHash } = occupied()
    const password = await given.hash('secret')
    const names = Array.from({ length: 1_000 }, (_, index) => `user ${index}`)
    const accounts = [...names, 'one more'].map((name) => person(name, { password }))
    const context = contextOf(people(...accounts))
    for (const name of names) await given.identify(basic(name, 'secret'), context)
    expect(await needsHash(basic('user 0', 'secret'), context)).toBe(false)
    await given.identify(basic('one more', 'secret'), context)
    expect(await needsHash(basic('user 0', 'secret'), context)).toBe(false)
    expect(await needsHash(basic('user 1', 'secret'), context)).toBe(true)
    expect(await needsHash(basic('user 2', 'secret'), context)).toBe(false)
  })
})

test.each([
  ['is unknown', people()],
  ['is disabled', people(person('maria', { enabled: false }))],
  ['has no password', people(person('maria'))],
])('a user who %s costs a hash like all others', async (_, users) => {
  const { given, needsHash } = occupied()
  expect(await needsHash(basic('maria', 'secret'), contextOf(users))).toBe(true)
  expect(await given.identify(basic('maria', 'secret'), contextOf(users))).toHaveProperty(
    'rejected',
  )
  expect(await needsHash(basic('maria', 'secret'), contextOf(users))).toBe(true)
})

test('a malformed credential takes none', async () => {
  const { needsHash } = occupied()
  const credential = { place: 'header authorization', value: 'YTpiYw' }
  expect(await needsHash(credential, contextOf(people()))).toBe(false)
})

function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((settled) => {
    resolve = settled
  })
  return { promise, resolve }
}
