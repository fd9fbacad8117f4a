import { expect, test } from 'vitest'
import { anonymous, ServiceError } from '../../../src/entries/index.ts'
import { stage, tiny, type TinyParts } from './fixture.ts'

const secret = 'no-log-may-have-this'
const one = { headers: { 'x-ticket': secret } }
const both = { headers: { 'x-ticket': secret, 'x-other': secret } }
const inClear = { allowInsecureHttp: true }

function pair(first: TinyParts = {}, second: TinyParts = {}) {
  return [tiny('first', first), tiny('second', { header: 'x-other', ...second })] as const
}

test('credentials in two places are rejected with 400, and neither is looked at', async () => {
  const providers = pair()
  for (const rest of [{}, { anyone: anonymous }]) {
    const { rejection, reports } = stage(providers, rest)
    expect(await rejection(both)).toMatchObject({ status: 400, code: 'MULTIPLE_CREDENTIALS' })
    expect(reports()).toEqual([])
  }
  expect(providers.map(({ asked }) => asked)).toEqual([[], []])
})

test('the credential of a disabled provider counts towards multiple credentials', async () => {
  const { rejection } = stage(pair({ enabled: false }))
  expect(await rejection(both)).toMatchObject({ status: 400 })
})

test('a credential over plain HTTP is rejected with 403, and is not looked at', async () => {
  const provider = tiny('one')
  const { rejection, reports } = stage([provider], { anyone: anonymous })
  const rejected = await rejection({ ...one, secure: false })
  expect(rejected).toMatchObject({ status: 403, code: 'HTTPS_REQUIRED', headers: {} })
  expect(rejected.message).toBe('HTTPS is required.')
  expect(provider.asked).toEqual([])
  expect(reports()).toEqual([{ type: 'credential-in-clear', provider: 'one', peer: '192.0.2.1' }])
  await rejection({ ...one, secure: false, peer: undefined })
  expect(reports()).toMatchObject([{ peer: null }])
})

test('a disabled provider rejects credentials over plain HTTP just the same', async () => {
  const { rejection } = stage([tiny('one', { enabled: false })])
  expect(await rejection({ ...one, secure: false })).toMatchObject({ status: 403 })
})

test('a provider that allows plain HTTP is called over it', async () => {
  const { ask, reports } = stage([tiny('one', inClear)])
  expect(await ask({ ...one, secure: false })).toMatchObject({ provider: 'one' })
  expect(reports()).toEqual([])
})

test('over plain HTTP only the providers that allow it are called', async () => {
  const strict = tiny('strict')
  const lax = tiny('lax', inClear)
  const { ask } = stage([strict, lax])
  expect(await ask({ ...one, secure: false })).toMatchObject({ provider: 'lax' })
  expect(strict.asked).toEqual([])
  expect(await ask(one)).toMatchObject({ provider: 'strict' })
})

test.each([
  ['neither', {}, {}, 403],
  ['the first', inClear, {}, 403],
  ['the second', {}, inClear, 403],
  ['both', inClear, inClear, 400],
])('two credentials over plain HTTP, which %s may be', async (_who, first, second, status) => {
  const providers = pair(first, second)
  expect(await stage(providers).rejection({ ...both, secure: false })).toMatchObject({ status })
  expect(providers.map(({ asked }) => asked)).toEqual([[], []])
})

test('several credentials in one place are rejected with 400, in clear with 403', async () => {
  const find = () => {
    throw new ServiceError('MULTIPLE_CREDENTIALS', 'Two.')
  }
  const { rejection, reports } = stage([tiny('one', { find })])
  expect(await rejection()).toMatchObject({ status: 400, message: 'Two.' })
  expect(reports()).toEqual([])
  expect(await rejection({ secure: false })).toMatchObject({ status: 403 })
  expect(reports()).toMatchObject([{ type: 'credential-in-clear', provider: 'one' }])
  const lax = stage([tiny('one', { find, ...inClear })])
  expect(await lax.rejection({ secure: false })).toMatchObject({ status: 400 })
})

test('other errors of find do not depend on HTTPS', async () => {
  const failure = new Error('a mistake')
  const { ask } = stage([
    tiny('one', {
      find: () => {
        throw failure
      },
    }),
  ])
  await expect(ask({ secure: false })).rejects.toBe(failure)
})

test('another ServiceError of find is not changed over plain HTTP', async () => {
  const failure = new ServiceError('UNAVAILABLE', 'Later.')
  const find = () => {
    throw failure
  }
  const { rejection, reports } = stage([tiny('one', { find })])
  expect(await rejection({ secure: false })).toBe(failure)
  expect(await rejection()).toBe(failure)
  expect(reports()).toEqual([])
})

test.each([
  ['one', [tiny('A')], 'A'],
  ['each one once, in order', [tiny('B'), tiny('A'), tiny('C', { challenge: 'B' })], 'B, A'],
  ['no disabled one', [tiny('A', { enabled: false }), tiny('B')], 'B'],
  ['disabled ones where there is no other', [tiny('A', { enabled: false })], 'A'],
])('the challenge of a rejection names %s', async (_what, providers, challenge) => {
  const { rejection } = stage(providers)
  const headers = { 'WWW-Authenticate': challenge }
  expect((await rejection()).headers).toEqual(headers)
})

test('a rejection is the same for every reason', async () => {
  const reasons = ['malformed', 'unknown', 'revoked', 'expired', 'user-disabled'] as const
  const providers = reasons.map((rejected) =>
    tiny(rejected, { header: `x-${rejected}`, answer: () => ({ rejected, user: 'ann' }) }),
  )
  const { rejection, reports } = stage([...providers, tiny('off', { enabled: false })])
  const askings = reasons.map((reason) => ({ headers: { [`x-${reason}`]: secret } }))
  for (const asking of [...askings, one]) {
    const expected = await rejection()
    const { message, headers, status, code } = await rejection(asking)
    expect({ message, headers, status, code }).toEqual({
      message: expected.message,
      headers: expected.headers,
      status: expected.status,
      code: expected.code,
    })
  }
  const told = reports()
  expect(told).toHaveLength(12)
  expect(new Set(told.map((one) => 'reason' in one && one.reason))).toEqual(
    new Set(['missing', ...reasons, 'provider-disabled']),
  )
})

test('no report and no rejection has the credential', async () => {
  const { rejection, reports } = stage(pair({ answer: () => undefined }))
  const rejections = [
    await rejection(one),
    await rejection(both),
    await rejection({ ...one, secure: false }),
  ]
  const told = JSON.stringify([reports(), rejections, rejections.map(({ message }) => message)])
  expect(told).toContain('credential-in-clear')
  expect(told).not.toContain(secret)
})
