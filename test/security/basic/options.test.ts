import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import type { PasswordCost } from '../../../src/security/basic/password.ts'
import { httpBasic, type HttpBasicOptions } from '../../../src/security/basic/http-basic.ts'

test('a provider of HTTP Basic needs no options', () => {
  expect(httpBasic()).toMatchObject({
    name: 'HTTP Basic',
    priority: 60,
    enabled: true,
    type: 'http_basic_auth',
    challenge: 'Basic realm="rowgate", charset="UTF-8"',
    allowInsecureHttp: false,
    keeps: ['users'],
  })
  expect(Object.isFrozen(httpBasic())).toBe(true)
})

test('the options become the provider', () => {
  const given = { name: 'Intranet', priority: 7, enabled: false, allowInsecureHttp: true }
  expect(httpBasic({ ...given, realm: 'Orders' })).toMatchObject({
    ...given,
    challenge: 'Basic realm="Orders", charset="UTF-8"',
  })
})

test('quotes in the realm do not end it', () => {
  expect(httpBasic({ realm: 'a "b" \\c' }).challenge).toBe(
    'Basic realm="a \\"b\\" \\\\c", charset="UTF-8"',
  )
})

test('every mistake is listed with its place', () => {
  const options = {
    name: '',
    priority: 1.5,
    enabled: 'yes',
    realm: 'Käse',
    allowInsecureHttp: 1,
    verify: true,
    cost: { N: 1000 },
    concurrency: 0,
    waiting: -1,
    relam: 'x',
  } as unknown as HttpBasicOptions
  const message = messageOf(() => httpBasic(options))
  const places = Array.from(message.matchAll(/- httpBasic\.(\w+):/g), ([, place]) => place)
  expect(places.sort()).toEqual(Object.keys(options).sort())
})

test.each([
  ['not a power of two', { N: 1000 }],
  ['no work at all', { N: 1 }],
  ['half a block', { r: 0.5 }],
  ['no block', { r: 0 }],
  ['too much memory', { N: 2 ** 19 }],
  ['too much time', { N: 2 ** 17, r: 8, p: 9 }],
  ['too many passes', { N: 2, r: 1, p: 17 }],
  ['a block too small for scrypt', { N: 2 ** 16, r: 1 }],
  ['no number', { N: Number.NaN }],
  ['an unknown part', { M: 1 }],
])('a cost of %s is rejected', (_, cost) => {
  expect(() => httpBasic({ cost: cost as Partial<PasswordCost> })).toThrow(TypeError)
})

test.each([{ N: 2 ** 17, r: 8, p: 1 }, { N: 2 ** 13, r: 8, p: 10 }, { N: 2 ** 18 }, { p: 3 }])(
  'a cost of %o is taken',
  (cost) => {
    expect(() => httpBasic({ cost })).not.toThrow()
  },
)

test('options that are not an object are a TypeError', () => {
  expect(() => httpBasic(null as unknown as HttpBasicOptions)).toThrow(TypeError)
  expect(() => httpBasic('realm' as unknown as HttpBasicOptions)).toThrow(TypeError)
})

test('printing a provider shows nothing but its options', () => {
  expect(Object.keys(httpBasic()).sort()).toEqual(
    [
      'allowInsecureHttp',
      'challenge',
      'checksItself',
      'enabled',
      'find',
      'hash',
      'identify',
      'keeps',
      'limitsAttempts',
      'name',
      'priority',
      'type',
    ].sort(),
  )
  expect(inspect(httpBasic(), { showHidden: true, depth: 9 })).not.toMatch(/scrypt|secret/)
})

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return (error as TypeError).message
  }
  throw new Error('Nothing was thrown.')
}
