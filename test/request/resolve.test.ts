import { expect, test } from 'vitest'
import { integer } from '../../src/index.ts'
import { publishCollection } from '../../src/storage/index.ts'
import { resolveSort } from '../../src/request/resolve.ts'

const names = Array.from({ length: 11 }, (_, index) => `f${index}`)
const wide = publishCollection('app', 'wide', {
  key: 'id',
  fields: {
    id: integer(),
    ...Object.fromEntries(names.map((name) => [name, integer()] as const)),
  },
})
const keys = names.map((field) => ({ field, descending: false }))

test('a sort order may name 10 fields, and not 11', () => {
  const sorted = resolveSort(wide, keys.slice(0, 10))
  expect(sorted.map(({ field }) => field)).toEqual([...names.slice(0, 10), 'id'])
  expect(() => resolveSort(wide, keys)).toThrow('at most 10 fields')
})
