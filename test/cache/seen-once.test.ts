import { expect, test } from 'vitest'
import { seenOnce } from '../../src/cache/seen-once.ts'

test('a key is repeated from its second time on, in the same version', () => {
  const seen = seenOnce(64)
  expect(seen.isRepeated('/a', 1)).toBe(false)
  expect(seen.isRepeated('/a', 1)).toBe(true)
  expect(seen.isRepeated('/a', 1)).toBe(true)
  expect(seen.isRepeated('/a', 2)).toBe(false)
  expect(seen.isRepeated('/a', 'two')).toBe(false)
  expect(seen.isRepeated('/a', 'two')).toBe(true)
  expect(seen.isRepeated('/b', 2)).toBe(false)
})

test.each(['', 'a', 0, -1, 2 ** 31, 2 ** 40])('a key is repeated in the version %j', (version) => {
  const seen = seenOnce(64)
  expect([seen.isRepeated('/a', version), seen.isRepeated('/a', version)]).toEqual([false, true])
})

const keysOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `/rest/v1/app/items?$offset=${index}`)

test('all of a few keys in turn are repeated after some rounds, also those that share a place', () => {
  const seen = seenOnce(4096)
  const left = new Set(keysOf(1_000))
  for (let round = 0; round < 20; round++)
    for (const key of left) if (seen.isRepeated(key, 7)) left.delete(key)
  expect([...left]).toEqual([])
})

test('few of many keys in turn are repeated', () => {
  const seen = seenOnce(4096)
  const keys = keysOf(100_000)
  for (const key of keys) seen.isRepeated(key, 7)
  const repeated = keys.filter((key) => seen.isRepeated(key, 7)).length
  expect(repeated).toBeLessThan(5_000)
})

test.each([0, 1, 100, 2 ** 40])('has a bounded table for %j slots', (slots) => {
  const seen = seenOnce(slots)
  expect([seen.isRepeated('/a', 1), seen.isRepeated('/a', 1)]).toEqual([false, true])
})
