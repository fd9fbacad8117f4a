import crypto from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isKeyText } from '../../../src/security/keys/key-form.ts'
import { sha256, sha256With } from '../../../src/security/keys/key-text.ts'
import { provider } from './fixture.ts'

test('100 000 keys are unique, have 22 characters of base64url, and favour none', () => {
  const { mint } = provider()
  const keys = new Set<string>()
  // The last of 22 characters carries two bits only.
  const counts = new Map<string, number>()
  for (let made = 0; made < 100_000; made++) {
    const { key } = mint()
    keys.add(key)
    for (const character of key.slice(0, 21)) {
      counts.set(character, (counts.get(character) ?? 0) + 1)
    }
  }
  expect(keys.size).toBe(100_000)
  expect([...keys].filter((key) => !/^[A-Za-z0-9_-]{22}$/.test(key))).toEqual([])
  expect(counts.size).toBe(64)
  const expected = (100_000 * 21) / 64
  let chiSquare = 0
  for (const count of counts.values()) chiSquare += (count - expected) ** 2 / expected
  // 63 degrees of freedom: more than 160 has a probability below 1e-9.
  expect(chiSquare).toBeLessThan(160)
})

test.each([
  [16, 22],
  [17, 23],
  [32, 43],
  [128, 171],
])(
  'a length of %i bytes makes %i characters, and a key that is looked up',
  (length, characters) => {
    const { key, hash } = provider({ length }).mint()
    expect(key).toHaveLength(characters)
    expect(isKeyText(key)).toBe(true)
    expect(hash).toBe(sha256(key))
    expect(hash).toMatch(/^[\w-]{43}$/)
  },
)

test('the hash follows the standard, with and without the one-shot function', () => {
  expect(sha256('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(sha256With(undefined)(text)).toBe(sha256With(crypto.hash)(text))
    }),
  )
})

test.each([
  '',
  'a'.repeat(21),
  'a'.repeat(172),
  `${'a'.repeat(21)}=`,
  `${'a'.repeat(22)}=`,
  `${'a'.repeat(22)}\n`,
  ` ${'a'.repeat(22)}`,
  `${'a'.repeat(11)} ${'a'.repeat(11)}`,
  `${'a'.repeat(21)}+`,
  `${'a'.repeat(21)}/`,
  `${'a'.repeat(21)}é`,
])('%j is not a key', (text) => {
  expect(isKeyText(text)).toBe(false)
})
