import { expect, test } from 'vitest'
import type { PublishedCollection } from '../../../src/definition/published.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection, memoryStorage, mount, text } from '../../../src/entries/index.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'

const items = defineCollection({ key: 'id', fields: { id: text() } })
const [inDesk, inShop] = ['desk', 'shop'].map((application) =>
  publishCollection(application, 'items', items),
) as [PublishedCollection, PublishedCollection]

/** Mounts two storages with versions that the test sets. */
async function openMount() {
  const versions = { desk: '1,2', shop: '3' }
  const telling = (name: keyof typeof versions): StorageAdapter => ({
    ...memoryStorage(),
    version: () => versions[name],
  })
  const storage = mount({ desk: telling('desk'), '*': telling('shop') })
  await storage.open([inDesk, inShop])
  return { storage, versions }
}

test('two storages that both changed have another version together, whatever theirs look like', async () => {
  const { storage, versions } = await openMount()
  const before = storage.version?.([inDesk, inShop])
  versions.desk = '1'
  versions.shop = '2,3'
  expect(storage.version?.([inDesk, inShop])).not.toBe(before)
})

test('a collection has the version of its own storage', async () => {
  const { storage, versions } = await openMount()
  const [desk, shop] = [storage.version?.([inDesk]), storage.version?.([inShop])]
  versions.shop = '4'
  expect(storage.version?.([inDesk])).toBe(desk)
  expect(storage.version?.([inShop])).not.toBe(shop)
})
