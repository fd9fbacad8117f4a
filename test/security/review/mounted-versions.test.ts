import { expect, test } from 'vitest'
import { memoryStorage, mount } from '../../../src/index.ts'
import type { StorageAdapter } from '../../../src/storage/index.ts'

const telling = (version: () => string): StorageAdapter => ({ ...memoryStorage(), version })

test('two storages that both changed have another version together, whatever theirs look like', () => {
  let [left, right] = ['1,2', '3']
  const storage = mount({ desk: telling(() => left), '*': telling(() => right) })
  const before = storage.version?.()
  ;[left, right] = ['1', '2,3']
  expect(storage.version?.()).not.toBe(before)
})
