import { describe, expect, test } from 'vitest'
import { equals, queryOf, store } from '../../src/conformance/case.ts'
import { everyCollection, orderLines, samples } from '../../src/conformance/collections.ts'
import { testStorageAdapter } from '../../src/entries/conformance.ts'
import type { Condition } from '../../src/storage/adapter.ts'
import { checkedStorage } from '../../src/storage/layers/checked.ts'
import { completeConditions } from '../../src/storage/layers/complete-conditions.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'
import { mount } from '../../src/storage/mount/mount.ts'
import { limited } from '../kit/limited-storage.ts'

describe('an adapter with equality only, completed', () => {
  testStorageAdapter({ test, create: () => completeConditions(limited()) })
})

describe('an adapter with some kinds, completed', () => {
  const kinds = ['equal', 'empty', 'in', 'or', 'not', 'through'] as const
  testStorageAdapter({ test, create: () => mount({ '*': limited(kinds) }) })
})

test('an adapter with all kinds is returned unchanged', () => {
  const memory = memoryStorage()
  expect(completeConditions(memory)).toBe(memory)
})

test('a query that needs more than 10,000 rows is rejected, and one that needs 10,000 is not', async () => {
  // What is checked has the selected fields only.
  const adapter = completeConditions(checkedStorage(limited()))
  await adapter.open(everyCollection)
  const rows = Array.from({ length: 10_000 }, (_, id) => ({ id, quantity: id % 2, label: 'a' }))
  await store(adapter, samples, rows)
  const low: Condition = { field: 'quantity', is: 'lt', value: 1 }
  const query = queryOf(samples, { conditions: [low], limit: 3, offset: 1, count: true })
  const page = await adapter.filter(samples, query)
  expect([page.rows.map(({ id }) => id), page.count]).toEqual([[2, 4, 6], 5_000])
  await store(adapter, samples, [{ id: 10_000, quantity: 0, label: 'b' }])
  const message =
    /memory lacks the conditions lt, .*more than 10000 rows of app\/samples.*conditions on quantity/
  await expect(adapter.filter(samples, query)).rejects.toThrow(message)
  const narrowed = { ...query, conditions: [low, ...equals({ label: 'b' })] }
  expect((await adapter.filter(samples, narrowed)).count).toBe(1)
  const listed = [{ field: 'id', is: 'in', values: [10_000, 1, 7, 7] }] as const
  const few = await adapter.filter(samples, queryOf(samples, { conditions: listed, count: true }))
  expect([few.rows.map(({ id }) => id), few.count]).toEqual([[1, 7, 10_000], 3])
  const both = [...equals({ label: 'a' }), { field: 'quantity', is: 'in', values: [0, 7] }] as const
  const narrow = queryOf(samples, { conditions: both, select: ['id'], limit: 2, count: true })
  await store(adapter, samples, [{ id: 10_001, quantity: 1, label: 'a' }])
  const found = await adapter.filter(samples, narrow)
  expect([found.rows.map(({ id }) => id), found.count]).toEqual([[0, 2], 5_000])
  const through: Condition = {
    is: 'through',
    collection: samples,
    fields: ['orderId'],
    conditions: [],
  }
  await store(adapter, orderLines, [{ orderId: 1, product: 'rum' }])
  const lines = queryOf(orderLines, { conditions: [through] })
  await expect(adapter.filter(orderLines, lines)).rejects.toThrow('rows of app/samples')
  await adapter.close()
})
