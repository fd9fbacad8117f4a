import { afterAll, expect, test } from 'vitest'
import { verifiedTokens } from '../../../src/security/auth-server/verified-tokens.ts'
import type { SecurityProvider } from '../../../src/security/provider.ts'
import { contextOf, people, person, requestWith } from '../basic/context.ts'
import { ask, provider } from './fixture.ts'
import { keySetOf, now, pairOf, seconds, sign, startAuthority } from './authority.ts'

const pair = await pairOf('one')
const next = await pairOf('two')
const jwks = await keySetOf(pair)
const authority = await startAuthority(pair)

afterAll(() => authority.stop())

const at = (time: number): Date => new Date(time * 1000)

/** Whether a token is accepted without verifying its signature again, which takes a promise. */
function isRemembered(given: SecurityProvider, token: string, time: Date = now): boolean {
  const credential = given.find(requestWith(`Bearer ${token}`))
  if (credential === undefined) throw new Error('There was no credential.')
  const result = given.identify(
    credential,
    contextOf(people(), () => time),
  )
  if (!(result instanceof Promise)) return true
  result.catch(() => undefined)
  return false
}

test('a token is verified once, and is the same caller each time', async () => {
  const given = provider({ jwks })
  const token = await sign(pair)
  expect(isRemembered(given, token)).toBe(false)
  const caller = await ask(given, token)
  expect(isRemembered(given, token)).toBe(true)
  expect(await ask(given, token)).toBe(caller)
  expect(isRemembered(given, await sign(pair))).toBe(false)
})

test('a rejected token is verified again', async () => {
  const given = provider({ jwks })
  for (const token of [
    await sign(next),
    await sign(pair, { exp: 1 }),
    await sign(pair, { sub: '' }),
  ]) {
    const rejection = await ask(given, token)
    expect(rejection).toHaveProperty('rejected')
    expect(isRemembered(given, token)).toBe(false)
    expect(await ask(given, token)).toEqual(rejection)
  }
})

test.each([0, 5, 30])(
  'it expires in the same second, with a tolerance of %d',
  async (tolerance) => {
    const given = provider({ jwks, clockTolerance: tolerance })
    const token = await sign(pair, { exp: seconds + 100 })
    await ask(given, token)
    const last = at(seconds + 100 + tolerance - 0.001)
    expect(isRemembered(given, token, last)).toBe(true)
    const end = at(seconds + 100 + tolerance)
    expect(isRemembered(given, token, end)).toBe(false)
    expect(await ask(given, token, end)).toEqual({ rejected: 'expired' })
  },
)

test('it is not valid before its time, if the clock is set back', async () => {
  const given = provider({ jwks, clockTolerance: 5 })
  const token = await sign(pair, { nbf: seconds - 10 })
  await ask(given, token)
  expect(isRemembered(given, token, at(seconds - 15))).toBe(true)
  expect(await ask(given, token, at(seconds - 15.001))).toEqual({ rejected: 'unknown' })
})

test('it has a maximum age', async () => {
  const given = provider({ jwks, clockTolerance: 5, maxTokenAge: 300 })
  const token = await sign(pair, { iat: seconds - 60 })
  await ask(given, token)
  const last = seconds - 60 + 300 + 5
  expect(isRemembered(given, token, at(last))).toBe(true)
  expect(await ask(given, token, at(last + 1))).toEqual({ rejected: 'expired' })
  await ask(given, token)
  expect(isRemembered(given, token, at(seconds - 65))).toBe(true)
  expect(await ask(given, token, at(seconds - 66))).toEqual({ rejected: 'unknown' })
})

test('it is verified with an invalid clock, which fails', async () => {
  const given = provider({ jwks })
  const token = await sign(pair)
  await ask(given, token)
  expect(isRemembered(given, token, new Date(Number.NaN))).toBe(false)
})

test('it is verified again after each fetch of the keys', async () => {
  const given = provider({ jwks: authority.jwks, cooldown: 0 })
  const token = await sign(pair)
  // The first one waits for the keys, so its key set is not known before.
  await ask(given, token)
  await ask(given, token)
  expect(isRemembered(given, token)).toBe(true)
  await authority.serve(pair, next)
  await ask(given, await sign(next))
  expect(isRemembered(given, token)).toBe(false)
  expect(await ask(given, token)).toMatchObject({ user: 'maria' })
  expect(isRemembered(given, token)).toBe(true)
  // The key is withdrawn, and another token makes the service fetch the keys.
  await authority.serve(next)
  expect(await ask(given, await sign(await pairOf('three')))).toEqual({ rejected: 'unknown' })
  expect(await ask(given, token)).toEqual({ rejected: 'unknown' })
})

test('a user who must be known is looked up for each request', async () => {
  const given = provider({ jwks, users: 'known' })
  const token = await sign(pair)
  const known = people(person('maria', { roles: ['Office'] }))
  const disabled = people(person('maria', { enabled: false }))
  for (let round = 0; round < 2; round++) {
    expect(await ask(given, token, now, known)).toMatchObject({ roles: ['Office'] })
    expect(await ask(given, token, now, disabled)).toEqual({
      rejected: 'user-disabled',
      user: 'maria',
    })
    expect(await ask(given, token, now, people())).toEqual({ rejected: 'user-unknown' })
  }
})

test('the number and the length of the tokens are limited', () => {
  const tokens = verifiedTokens<number>({ clockTolerance: 0 })
  const keySet = {}
  const claims = { exp: seconds + 1 }
  const isKept = (token: string) => tokens.find(token, keySet, now) !== undefined
  tokens.keep('x'.repeat(4_096), { caller: 0, claims, keySet })
  tokens.keep('y'.repeat(4_097), { caller: 0, claims, keySet })
  expect(isKept('x'.repeat(4_096))).toBe(true)
  expect(isKept('y'.repeat(4_097))).toBe(false)
  for (let caller = 0; caller < 4_000; caller++)
    tokens.keep(`t${caller}`, { caller, claims, keySet })
  expect(isKept('x'.repeat(4_096))).toBe(false)
  expect(isKept('t0')).toBe(true)
  tokens.keep('one more', { caller: 0, claims, keySet })
  expect(isKept('t0')).toBe(false)
  expect(tokens.find('t1', {}, now)).toBe(undefined)
  expect(tokens.find('t2', undefined, now)).toBe(undefined)
})
