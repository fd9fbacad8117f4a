import { expect, test } from 'vitest'
import { anonymous, ServiceError } from '../../../src/index.ts'
import { stage, tiny, type TinyParts } from './stage.ts'

const secret = 'no-log-may-have-this'
const one = { headers: { 'x-ticket': secret } }
const both = { headers: { 'x-ticket': secret, 'x-other': secret } }
const inClear = { allowInsecureHttp: true }

function pair(first: TinyParts = {}, second: TinyParts = {}) {
  return [tiny('first', first), tiny('second', { header: 'x-other', ...second })] as const
}

test('credentials in two places are refused with 400, and neither is looked at', async () => {
  const providers = pair()
  for (const rest of [{}, { anyone: anonymous }]) {
    const { refusal, reports } = stage(providers, rest)
    expect(await refusal(both)).toMatchObject({ status: 400, code: 'MULTIPLE_CREDENTIALS' })
    expect(reports()).toEqual([])
  }
  expect(providers.map(({ asked }) => asked)).toEqual([[], []])
})

test('a disabled provider counts: its credential beside another one is one too many', async () => {
  const { refusal } = stage(pair({ enabled: false }))
  expect(await refusal(both)).toMatchObject({ status: 400 })
})

test('a credential over plain HTTP is refused with 403, and is not looked at', async () => {
  const provider = tiny('one')
  const { refusal, reports } = stage([provider], { anyone: anonymous })
  const refused = await refusal({ ...one, secure: false })
  expect(refused).toMatchObject({ status: 403, code: 'HTTPS_REQUIRED', headers: {} })
  expect(refused.message).toBe('HTTPS is required.')
  expect(provider.asked).toEqual([])
  expect(reports()).toEqual([{ type: 'credential-in-clear', provider: 'one', peer: '192.0.2.1' }])
  await refusal({ ...one, secure: false, peer: undefined })
  expect(reports()).toMatchObject([{ peer: null }])
})

test('a disabled provider refuses credentials over plain HTTP just the same', async () => {
  const { refusal } = stage([tiny('one', { enabled: false })])
  expect(await refusal({ ...one, secure: false })).toMatchObject({ status: 403 })
})

test('a provider that allows plain HTTP is asked over it', async () => {
  const { ask, reports } = stage([tiny('one', inClear)])
  expect(await ask({ ...one, secure: false })).toMatchObject({ provider: 'one' })
  expect(reports()).toEqual([])
})

test('over plain HTTP only those providers are asked that allow it', async () => {
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
  expect(await stage(providers).refusal({ ...both, secure: false })).toMatchObject({ status })
  expect(providers.map(({ asked }) => asked)).toEqual([[], []])
})

test('several credentials in one place are refused with 400, in clear with 403', async () => {
  const find = () => {
    throw new ServiceError('MULTIPLE_CREDENTIALS', 'Two.')
  }
  const { refusal, reports } = stage([tiny('one', { find })])
  expect(await refusal()).toMatchObject({ status: 400, message: 'Two.' })
  expect(reports()).toEqual([])
  expect(await refusal({ secure: false })).toMatchObject({ status: 403 })
  expect(reports()).toMatchObject([{ type: 'credential-in-clear', provider: 'one' }])
  const lax = stage([tiny('one', { find, ...inClear })])
  expect(await lax.refusal({ secure: false })).toMatchObject({ status: 400 })
})

test('what find throws otherwise is no matter of HTTPS', async () => {
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

test('another ServiceError of find stays itself over plain HTTP', async () => {
  const failure = new ServiceError('UNAVAILABLE', 'Later.')
  const find = () => {
    throw failure
  }
  const { refusal, reports } = stage([tiny('one', { find })])
  expect(await refusal({ secure: false })).toBe(failure)
  expect(await refusal()).toBe(failure)
  expect(reports()).toEqual([])
})

test.each([
  ['one', [tiny('A')], 'A'],
  ['each one once, in order', [tiny('B'), tiny('A'), tiny('C', { challenge: 'B' })], 'B, A'],
  ['no disabled one', [tiny('A', { enabled: false }), tiny('B')], 'B'],
  ['disabled ones where there is no other', [tiny('A', { enabled: false })], 'A'],
])('the challenge of a refusal names %s', async (_what, providers, challenge) => {
  const { refusal } = stage(providers)
  const headers = { 'WWW-Authenticate': challenge }
  expect((await refusal()).headers).toEqual(headers)
})

test('a refusal is the same for every reason', async () => {
  const reasons = ['malformed', 'unknown', 'revoked', 'expired', 'user-disabled'] as const
  const providers = reasons.map((refused) =>
    tiny(refused, { header: `x-${refused}`, answer: () => ({ refused, user: 'ann' }) }),
  )
  const { refusal, reports } = stage([...providers, tiny('off', { enabled: false })])
  const askings = reasons.map((reason) => ({ headers: { [`x-${reason}`]: secret } }))
  for (const asking of [...askings, one]) {
    const expected = await refusal()
    const { message, headers, status, code } = await refusal(asking)
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

test('no report and no refusal has the credential', async () => {
  const { refusal, reports } = stage(pair({ answer: () => undefined }))
  const refusals = [
    await refusal(one),
    await refusal(both),
    await refusal({ ...one, secure: false }),
  ]
  const told = JSON.stringify([reports(), refusals, refusals.map(({ message }) => message)])
  expect(told).toContain('credential-in-clear')
  expect(told).not.toContain(secret)
})
