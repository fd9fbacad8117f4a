import { expect, test } from 'vitest'
import { keepBySize } from '../src/keep-latest.ts'

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
