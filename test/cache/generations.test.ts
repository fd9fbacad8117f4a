import { assert, constantFrom, integer, array, property, record, boolean } from 'fast-check'
import { expect, test } from 'vitest'
import { generations } from '../../src/cache/generations.ts'

const call = record({
  key: constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
  bytes: integer({ min: 1, max: 60 }),
  isRead: boolean(),
})

test('returns the last value of a key or nothing, and never keeps more bytes than its maximum', () => {
  assert(
    property(array(call, { maxLength: 200 }), (calls) => {
      const kept = generations<number>(100)
      const last = new Map<string, number>()
      calls.forEach(({ key, bytes, isRead }, index) => {
        if (isRead) expect([undefined, last.get(key)]).toContain(kept.get(key))
        else {
          kept.set(key, index, bytes)
          last.set(key, index)
          expect(kept.get(key)).toBe(bytes <= 50 ? index : undefined)
        }
        expect(kept.bytes()).toBeLessThanOrEqual(100)
      })
      for (const key of last.keys()) kept.delete(key)
      expect([kept.bytes(), kept.entries()]).toEqual([0, 0])
    }),
  )
})

test('evicts what was not used, and keeps what was', () => {
  const kept = generations<string>(100)
  kept.set('used', 'u', 10)
  for (let index = 0; index < 20; index++) {
    kept.set(`once ${index}`, 'o', 10)
    expect(kept.get('used')).toBe('u')
  }
  expect(kept.get('once 0')).toBeUndefined()
  expect(kept.get('once 19')).toBe('o')
  expect(kept.entries()).toBeLessThanOrEqual(10)
})

test('replaces a value in place', () => {
  const kept = generations<string>(100)
  kept.set('a', 'first', 40)
  kept.set('a', 'second', 10)
  expect([kept.get('a'), kept.bytes(), kept.entries()]).toEqual(['second', 10, 1])
})
