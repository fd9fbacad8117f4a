import { expect, test } from 'vitest'
import { testStorageAdapter } from '../../src/entries/conformance.ts'
import { defineCollection } from '../../src/definition/collection.ts'
import { integer, text } from '../../src/definition/field.ts'
import { publishCollection } from '../../src/definition/published.ts'
import type { StorageAdapter, StorageTransaction } from '../../src/storage/adapter.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'

testStorageAdapter({ test, create: () => memoryStorage() })

const counters = publishCollection(
  'app',
  'counters',
  defineCollection({ key: 'name', fields: { name: text(), count: integer() } }),
)
const notes = publishCollection(
  'app',
  'notes',
  defineCollection({ key: 'number', fields: { number: integer({ generated: 'database' }) } }),
)
const named = (name: string) => [{ field: 'name', is: 'equal', value: name }] as const
const everything = {
  conditions: [],
  search: null,
  sort: [{ field: 'name', descending: false }],
  limit: 100,
  offset: 0,
  select: ['name', 'count'],
  count: false,
}
const writing = { mode: 'write', brief: false } as const
const reading = { mode: 'read', brief: false } as const

async function opened(): Promise<StorageAdapter> {
  const storage = memoryStorage()
  await storage.open([counters, notes])
  await storage.transaction(writing, async (on) => {
    await on.insert(counters, { name: 'a', count: 1 })
    await on.insert(counters, { name: 'b', count: 1 })
  })
  return storage
}

async function rowsOf(reader: Pick<StorageTransaction, 'filter'>): Promise<unknown> {
  return (await reader.filter(counters, everything)).rows
}

test('a read does not wait for an open transaction', async () => {
  const storage = await opened()
  let end = (): void => undefined
  const work = storage.transaction(writing, async (on) => {
    await on.delete(counters, named('a'))
    await new Promise<void>((resolve) => (end = resolve))
  })
  await new Promise((resolve) => setTimeout(resolve))
  expect(await rowsOf(storage)).toHaveLength(2)
  end()
  await work
  expect(await rowsOf(storage)).toHaveLength(1)
})

test('a snapshot is unaffected by commits, and its rows are not copied after its end', async () => {
  const storage = await opened()
  await storage.transaction(reading, async (on) => {
    const before = await rowsOf(on)
    for (const count of [2, 3]) {
      await storage.transaction(writing, async (other) => {
        await other.update(counters, named('a'), { count })
      })
    }
    expect(await rowsOf(on)).toEqual(before)
  })
  expect(await rowsOf(storage)).toEqual([
    { name: 'a', count: 3 },
    { name: 'b', count: 1 },
  ])
})

test('a read transaction that writes rejects if others have changed the rows that it read', async () => {
  const storage = await opened()
  const stale = storage.transaction(reading, async (on) => {
    await rowsOf(on)
    await storage.transaction(writing, async (other) => {
      await other.update(counters, named('a'), { count: 5 })
    })
    await on.update(counters, named('a'), { count: 2 })
  })
  await expect(stale).rejects.toMatchObject({ kind: 'unavailable' })
  await storage.transaction(writing, async (on) => {
    await on.update(counters, named('b'), { count: 9 })
  })
  expect(await rowsOf(storage)).toEqual([
    { name: 'a', count: 5 },
    { name: 'b', count: 9 },
  ])
})

test('a read transaction can write if others have changed only rows that it did not read', async () => {
  const storage = await opened()
  await storage.transaction(reading, async (on) => {
    await rowsOf(on)
    await storage.transaction(writing, async (other) => {
      await other.insert(notes, {})
    })
    expect(await on.insert(notes, {})).toEqual({ number: 2 })
  })
})

test('a call that is waiting for the lock rejects when its transaction ends', async () => {
  const storage = await opened()
  let late: Promise<unknown> = Promise.resolve()
  await storage.transaction(writing, async (on) => {
    await storage.transaction(reading, async (inner) => {
      late = Promise.resolve(inner.delete(counters, named('a')))
      late.catch(() => undefined)
    })
    await on.update(counters, named('b'), { count: 2 })
  })
  await expect(late).rejects.toThrow()
  await storage.transaction(writing, async (on) => {
    await on.update(counters, named('a'), { count: 7 })
  })
  expect(await rowsOf(storage)).toEqual([
    { name: 'a', count: 7 },
    { name: 'b', count: 2 },
  ])
})

test('an update may change the key of a row, but not to an existing key', async () => {
  const storage = await opened()
  await storage.transaction(writing, async (on) => {
    await on.update(counters, named('a'), { name: 'c' })
    await expect(on.update(counters, named('c'), { name: 'b' })).rejects.toMatchObject({
      kind: 'duplicate',
      fields: ['name'],
    })
  })
  expect(await rowsOf(storage)).toEqual([
    { name: 'b', count: 1 },
    { name: 'c', count: 1 },
  ])
})

test('rows are frozen', async () => {
  const storage = await opened()
  const { rows } = await storage.filter(counters, everything)
  expect(rows.every((row) => Object.isFrozen(row))).toBe(true)
})

test('a generated number beyond the last safe integer rejects as unavailable', async () => {
  const storage = await opened()
  const insert = storage.transaction(writing, async (on) => {
    await on.insert(notes, { number: Number.MAX_SAFE_INTEGER })
    await on.insert(notes, {})
  })
  await expect(insert).rejects.toMatchObject({ kind: 'unavailable', fields: ['number'] })
})

test('an unknown collection, an incomplete key and a sort field without order are TypeErrors', async () => {
  const storage = memoryStorage()
  await storage.open([notes])
  await expect(rowsOf(storage)).rejects.toThrow('app/counters')
  const open = await opened()
  await open.transaction(writing, async (on) => {
    await expect(on.delete(counters, [])).rejects.toThrow('complete key')
    const sort = [{ field: 'missing', descending: false }]
    await expect(on.filter(counters, { ...everything, sort })).rejects.toThrow('missing')
  })
})
