import { describe, expect, test } from 'vitest'
import {
  hashPassword,
  isPassword,
  passwordMatches,
  unmatchable,
} from '../../../src/security/basic/password.ts'
import { httpBasic } from '../../../src/security/basic/http-basic.ts'
import { cheapCost } from '../../kit/keys.ts'
import { provider } from './provider.ts'

const salt = 'AAAAAAAAAAAAAAAAAAAAAA'
const hash = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

test('a stored password contains all parameters of its hash', async () => {
  expect(await hashPassword('secret', { N: 4, r: 2, p: 3 })).toMatch(
    /^scrypt\$N=4,r=2,p=3\$[\w-]{22}\$[\w-]{43}$/,
  )
})

test('two hashes of one password differ, and both match it alone', async () => {
  const [one, other] = await Promise.all([
    hashPassword('secret', cheapCost),
    hashPassword('secret', cheapCost),
  ])
  expect(one).not.toBe(other)
  for (const stored of [one, other]) {
    expect(await passwordMatches('secret', stored)).toBe(true)
    expect(await passwordMatches('Secret', stored)).toBe(false)
    expect(await passwordMatches('', stored)).toBe(false)
  }
})

test('the hash is the one of the standard', async () => {
  // RFC 7914, section 12.
  const stored = [
    'scrypt',
    'N=16384,r=8,p=1',
    Buffer.from('SodiumChloride').toString('base64url'),
    Buffer.from(
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2' +
        'd5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
      'hex',
    ).toString('base64url'),
  ].join('$')
  expect(await passwordMatches('pleaseletmein', stored)).toBe(true)
  expect(await passwordMatches('pleaseletmeout', stored)).toBe(false)
})

test('a password is checked at the cost that it was stored with', async () => {
  const old = await hashPassword('secret', { N: 2, r: 1, p: 2 })
  expect(await passwordMatches('secret', old)).toBe(true)
  expect(await passwordMatches('secret', old.replace('p=2', 'p=3'))).toBe(false)
})

test('a letter matches in any Unicode composition', async () => {
  const stored = await hashPassword('Caf\u00e9', cheapCost)
  expect(await passwordMatches('Cafe\u0301', stored)).toBe(true)
})

test('by default a hash costs 32 MiB', async () => {
  const stored = await httpBasic().hash('secret')
  expect(stored).toMatch(/^scrypt\$N=32768,r=8,p=3\$/)
  expect(await passwordMatches('secret', stored)).toBe(true)
})

test('no password matches the value that is stored for none', async () => {
  expect(await passwordMatches('', unmatchable(cheapCost))).toBe(false)
  expect(await passwordMatches('secret', unmatchable(cheapCost))).toBe(false)
})

describe('a stored text is rejected unread', () => {
  test.each([
    ['plain text', 'secret'],
    ['nothing', ''],
    ['another kind of hash', '$2b$10$abcdefghijklmnopqrstuv'],
    ['too much memory', `scrypt$N=1048576,r=8,p=1$${salt}$${hash}`],
    ['too much time', `scrypt$N=131072,r=8,p=16$${salt}$${hash}`],
    ['a number out of bounds', `scrypt$N=99999999,r=8,p=1$${salt}$${hash}`],
    ['no power of two', `scrypt$N=1000,r=8,p=1$${salt}$${hash}`],
    ['no work', `scrypt$N=0,r=0,p=0$${salt}$${hash}`],
    ['a salt that is too short', `scrypt$N=2,r=1,p=1$AAAAAAAAAA$${hash}`],
    ['a hash that is too short', `scrypt$N=2,r=1,p=1$${salt}$AAAA`],
    ['a hash that is too long', `scrypt$N=2,r=1,p=1$${salt}$${'A'.repeat(87)}`],
    ['no hash', `scrypt$N=2,r=1,p=1$${salt}$`],
    ['something after it', `scrypt$N=2,r=1,p=1$${salt}$${hash}\n`],
  ])('for %s, and not quoted', async (_, stored) => {
    await expect(passwordMatches('hunter2', stored)).rejects.toThrow(
      /^The stored password of a user is invalid; set the password again\.$/,
    )
  })
})

describe('hash', () => {
  test.each(['a', 'a'.repeat(1024), 'é'.repeat(512), 'with: colon', '🔑 of many scripts ключ'])(
    'takes %j',
    async (password) => {
      expect(await passwordMatches(password, await provider().hash(password))).toBe(true)
    },
  )

  test.each([
    '',
    'hunter2'.repeat(147),
    'é'.repeat(513),
    'hunter2\n',
    'hunter2\u0000',
    'hunter2\ud800',
  ])('rejects %j with a TypeError that does not quote it', async (password) => {
    const rejection = provider().hash(password)
    await expect(rejection).rejects.toThrow(TypeError)
    await expect(rejection).rejects.toThrow(/^(?!.*(hunter2|é))/)
  })

  test.each<unknown>([undefined, null, 1, {}, ['secret']])(
    'rejects %j, which is no text',
    async (given) => {
      await expect(provider().hash(given as string)).rejects.toThrow(TypeError)
      expect(isPassword(given)).toBe(false)
    },
  )
})
