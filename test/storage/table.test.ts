import { describe, expect, test } from 'vitest'
import { orderLines, rowOf } from '../../src/conformance/collections.ts'
import type { StorageAdapter } from '../../src/storage/adapter.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { table, tableReader, type Table } from '../../src/storage/table.ts'
import { drivers } from '../kit/databases.ts'

const [driver] = drivers
const storages: readonly (readonly [string, () => StorageAdapter])[] = [
  ['memory', memoryStorage],
  ['sqlite', () => sqliteStorage(':memory:', { ensureSchema: true, ...(driver && { driver }) })],
]

describe.each(storages)('a table in %s', (_name, create) => {
  async function opened(): Promise<StorageAdapter> {
    const storage = create()
    await storage.open([orderLines])
    return storage
  }

  function write<Result>(
    storage: StorageAdapter,
    work: (lines: Table) => Promise<Result>,
  ): Promise<Result> {
    return storage.transaction({ mode: 'write', brief: true }, (on) => work(table(on, orderLines)))
  }

  test('inserts rows, completed with null, and reads one of them', async () => {
    const storage = await opened()
    const row = rowOf(orderLines, { orderId: 1, product: 'tea' })
    expect(
      await write(storage, async (lines) => lines.insert({ orderId: 1, product: 'tea' })),
    ).toEqual(row)
    const lines = tableReader(storage, orderLines)
    expect(await lines.one({ product: 'tea' })).toEqual(row)
    expect(await lines.one({ product: 'tea' }, ['orderId'])).toMatchObject({ orderId: 1 })
    expect(await lines.one({ product: 'rum' })).toBeUndefined()
  })

  test('changes the row that meets all conditions', async () => {
    const storage = await opened()
    await write(storage, async (lines) => {
      await lines.insert({ orderId: 1, product: 'tea', quantity: 1 })
      const key = { orderId: 1, product: 'tea' }
      expect(await lines.change({ ...key, quantity: 2 }, { quantity: 3 })).toBeUndefined()
      expect(await lines.change({ ...key, quantity: 1 }, { quantity: 3 })).toMatchObject({
        quantity: 3,
      })
      expect(await lines.change({ ...key, note: null }, { note: 'cold' })).toMatchObject({
        note: 'cold',
      })
    })
  })

  test('reads all rows beyond the size of a batch, sorted, and parts of them', async () => {
    const storage = await opened()
    await write(storage, async (lines) => {
      for (let orderId = 1200; orderId > 0; orderId--) {
        await lines.insert({ orderId, product: 'tea', quantity: -orderId, note: `n${orderId % 2}` })
      }
    })
    const lines = tableReader(storage, orderLines)
    const ids = async (...given: Parameters<typeof lines.all>): Promise<readonly unknown[]> =>
      (await lines.all(...given)).map(({ orderId }) => orderId)
    const expected = Array.from({ length: 1200 }, (_, index) => index + 1)
    expect(await ids({})).toEqual(expected)
    expect(await ids({}, { sort: ['quantity'] })).toEqual(expected.toReversed())
    expect(await ids({}, { limit: 700, offset: 300 })).toEqual(expected.slice(300, 1000))
    expect(await ids({}, { limit: 500 })).toEqual(expected.slice(0, 500))
    expect(await ids({}, { limit: 0 })).toEqual([])
    expect(await lines.count({ note: 'n0' })).toBe(600)
    expect(await lines.count({})).toBe(1200)
  })
})
