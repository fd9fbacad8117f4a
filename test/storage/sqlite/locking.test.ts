import { rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findValues } from '../../../src/conformance/case.ts'
import { customers, rowOf } from '../../../src/conformance/collections.ts'
import type { StorageAdapter, StorageTransaction } from '../../../src/storage/adapter.ts'
import { sqliteStorage, type SqliteHandle } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle, rowsIn, temporaryDirectory } from '../../kit/databases.ts'

const brief = { mode: 'write', brief: true } as const

function insert(id: string, region = ''): (open: StorageTransaction) => Promise<unknown> {
  return async (open) => open.insert(customers, rowOf(customers, { customerId: id, region }))
}

describe.each(drivers)('%s: a file', (driver) => {
  let directory: string
  let storage: StorageAdapter
  let other: SqliteHandle

  beforeEach(async () => {
    directory = temporaryDirectory()
    storage = sqliteStorage(`${directory}/a.db`, { driver, ensureSchema: true, busyTimeout: 100 })
    await storage.open([customers])
    other = openHandle(driver, `${directory}/a.db`)
  })
  afterEach(async () => {
    await storage.close()
    other.close()
    rmSync(directory, { recursive: true })
  })
  const ids = async (): Promise<unknown> => findValues(storage, customers, 'customerId')

  test('that another connection locks rejects writes after busyTimeout without blocking the event loop', async () => {
    other.exec('BEGIN IMMEDIATE')
    let ticks = 0
    const timer = setInterval(() => {
      ticks += 1
    }, 5)
    const began = performance.now()
    const writes = Array.from({ length: 50 }, (_, index) => {
      const options = { mode: 'write', brief: index % 2 === 0 } as const
      return storage.transaction(options, insert(`n${index}`))
    })
    expect(await ids()).toEqual([])
    const settled = await Promise.allSettled(writes)
    const took = performance.now() - began
    clearInterval(timer)
    for (const one of settled) expect(one).toMatchObject({ reason: { kind: 'unavailable' } })
    expect(took).toBeGreaterThanOrEqual(90)
    // One after the other, they would take five seconds.
    expect(took).toBeLessThan(4_000)
    expect(ticks).toBeGreaterThan(5)
    other.exec('COMMIT')
    await storage.transaction(brief, insert('later'))
    expect(await ids()).toEqual(['later'])
  })

  test('is written if another connection releases its lock within busyTimeout', async () => {
    other.exec('BEGIN IMMEDIATE')
    const write = storage.transaction(brief, insert('a'))
    setTimeout(() => other.exec('COMMIT'), 30)
    await write
    expect(rowsIn(other, 'SELECT customerId FROM customers')).toEqual([{ customerId: 'a' }])
  })

  test('is read without uncommitted changes', async () => {
    await storage.transaction({ mode: 'write', brief: false }, async (open) => {
      await insert('a')(open)
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect(await ids()).toEqual([])
      expect(await findValues(open, customers, 'customerId')).toEqual(['a'])
    })
    expect(await ids()).toEqual(['a'])
  })

  test('that another process changes during a read transaction rejects its write', async () => {
    const run = storage.transaction({ mode: 'read', brief: false }, async (open) => {
      expect(await findValues(open, customers, 'customerId')).toEqual([])
      other.exec(`INSERT INTO customers (customerId) VALUES ('b')`)
      await insert('a')(open)
    })
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await ids()).toEqual(['b'])
  })

  test('closes', async () => {
    await storage.close()
    await storage.close()
    await expect(ids()).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

test.each(drivers)('%s: a full database keeps confirmed changes', async (driver) => {
  const handle = openHandle(driver, ':memory:')
  const storage = sqliteStorage(handle, { ensureSchema: true })
  await storage.open([customers])
  const [pages] = rowsIn(handle, 'PRAGMA page_count') as [{ page_count: number }]
  handle.exec(`PRAGMA max_page_count = ${pages.page_count + 6}`)
  const large = 'x'.repeat(1500)
  const acknowledged: string[] = []
  const rejected: unknown[] = []
  for (let round = 0; round < 8; round++) {
    await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const id = `${round}-${index}`
        await storage.transaction(brief, insert(id, large)).then(
          () => acknowledged.push(id),
          (error: unknown) => rejected.push(error),
        )
      }),
    )
  }
  expect(acknowledged.length).toBeGreaterThan(0)
  expect(rejected.length).toBeGreaterThan(0)
  for (const error of rejected) expect(error).toMatchObject({ kind: 'unavailable' })
  const kept = await findValues(storage, customers, 'customerId')
  expect(kept).toEqual(acknowledged.toSorted())
  await storage.close()
  handle.close()
})
