import { expect, test } from 'vitest'
import { boundedMap, keepBySize } from '../src/keep-latest.ts'

/** Values whose text is their size, and the keys in the order in which values were created. */
function keeping(maxSize: number) {
  const created: string[] = []
  const keep = keepBySize<string>(maxSize, (value) => value.length)
  return {
    created,
    get: (key: string, size = 1) =>
      keep(key, () => {
        created.push(key)
        return 'x'.repeat(size)
      }),
  }
}

test('a value is created once while it is kept', () => {
  const { created, get } = keeping(3)
  for (const key of ['a', 'b', 'c', 'a', 'b', 'c']) get(key)
  expect(created).toEqual(['a', 'b', 'c'])
})

test('the value that was not requested for the longest time is evicted first', () => {
  const { created, get } = keeping(3)
  for (const key of ['a', 'b', 'c', 'a', 'd', 'a', 'c', 'd']) get(key)
  expect(created).toEqual(['a', 'b', 'c', 'd'])
  get('b')
  expect(created).toEqual(['a', 'b', 'c', 'd', 'b'])
})

test('a value that is larger than everything allowed is kept alone', () => {
  const { created, get } = keeping(3)
  get('a')
  expect(get('large', 10)).toHaveLength(10)
  get('large')
  expect(created).toEqual(['a', 'large'])
  get('a')
  get('large', 10)
  expect(created).toEqual(['a', 'large', 'a', 'large'])
})

test('a bounded map evicts what was not used for the longest time, by entries and by bytes', () => {
  const evicted: number[] = []
  const map = boundedMap<number>({
    maxEntries: () => 4,
    maxBytes: () => 100,
    evicted: (value) => void evicted.push(value),
  })
  for (const value of [1, 2, 3]) map.set(`${value}`, value, 10)
  expect(map.get('1')).toBe(1)
  map.set('4', 4, 10)
  map.set('5', 5, 10)
  expect(evicted).toEqual([2])
  map.set('6', 6, 85)
  expect(evicted).toEqual([2, 3, 1, 4])
  expect(map.size()).toEqual({ entries: 2, bytes: 95 })
  map.set('6', 6, 20)
  expect(map.size()).toEqual({ entries: 2, bytes: 30 })
  map.delete('5')
  expect(map.size()).toEqual({ entries: 1, bytes: 20 })
  map.clear()
  expect(map.size()).toEqual({ entries: 0, bytes: 0 })
})

test('a bounded map does not store a value that is larger than all its bytes', () => {
  const map = boundedMap<number>({ maxEntries: () => 4, maxBytes: () => 100 })
  map.set('a', 1, 10)
  map.set('a', 2, 101)
  map.set('b', 3, 101)
  expect([map.get('a'), map.get('b')]).toEqual([undefined, undefined])
  expect(map.size()).toEqual({ entries: 0, bytes: 0 })
})
