import { expect, test } from 'vitest'
import { createService, defineCollection, integer, memoryStorage } from '../../src/entries/index.ts'
import { openAccess, system, text } from '../../src/entries/index.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'

const customers = defineCollection({
  key: 'id',
  fields: { id: integer(), owner: text() },
  rows: { equal: { owner: { principal: 'user' } } },
})
const sellers = defineCollection({ key: 'id', fields: { id: integer() } })
const orders = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    customerId: integer({ references: 'customers' }),
    sellerId: integer({ references: 'sellers', onDelete: 'cascade' }),
  },
})

/** Notes the names of the collections that transactions read. */
function noting(storage: StorageAdapter, reads: string[]): StorageAdapter {
  return {
    ...storage,
    transaction: (options, work) =>
      storage.transaction(options, (on) =>
        work({
          ...on,
          filter: (collection, query) => {
            reads.push(collection.name)
            return on.filter(collection, query)
          },
        }),
      ),
  }
}

test.each([
  ['SQLite', () => sqliteStorage(':memory:', { ensureSchema: true }), [[], [], []]],
  [
    'memory',
    () => memoryStorage(),
    [
      ['customers', 'sellers'],
      ['orders', 'sellers'],
      ['sellers', 'orders', 'orders'],
    ],
  ],
] as const)(
  '%s is read only for references that it does not enforce',
  async (_, open, expected) => {
    const reads: string[] = []
    const service = createService({
      applications: { app: { collections: { customers, sellers, orders } } },
      storage: noting(open(), reads),
      security: openAccess(),
    })
    await service.ready()
    const own = service.as(system)
    await own.collection('app', 'customers').insert({ id: 1 })
    for (const id of [1, 2]) await own.collection('app', 'sellers').insert({ id })
    reads.length = 0
    await own.collection('app', 'orders').insert({ id: 1, customerId: 1, sellerId: 1 })
    expect(reads.splice(0)).toEqual(expected[0])
    await own.collection('app', 'orders').update(1, { sellerId: 2 })
    expect(reads.splice(0)).toEqual(expected[1])
    await own.collection('app', 'sellers').delete(2)
    expect(reads.splice(0)).toEqual(expected[2])
    await service.close()
  },
)
