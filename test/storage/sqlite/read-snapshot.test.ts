import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { statSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection, text } from '../../../src/entries/index.ts'
import { sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'

const notes = publishCollection(
  'shop',
  'notes',
  defineCollection({ key: 'id', fields: { id: text(), body: text() } }),
)
const everything = queryOf(notes, { count: true, limit: 100 })

/** Opens a storage, and a connection of another program that writes to the same file. */
async function open(driver: SqliteDriver, maxStaleness: number) {
  const file = join(temporaryFolder(), 'data.db')
  const storage = sqliteStorage(file, { driver, maxStaleness, scanRows: false, ensureSchema: true })
  await storage.open([notes])
  const other = openHandle(driver, file)
  onTestFinished(async () => {
    await storage.close()
    other.close()
  })
  let inserted = 0
  return {
    file,
    storage,
    /** Returns how many items a response counts. The reads of one turn are synchronous. */
    shown: () => {
      const page = storage.filterText?.(notes, everything)
      if (page === undefined || page instanceof Promise) throw new Error('It is not synchronous.')
      expect(page.items).toHaveLength(Math.min(Number(page.count), 100))
      return page.count
    },
    /** Returns how many items application code reads. */
    read: () => {
      const page = storage.filter(notes, everything)
      if (page instanceof Promise) throw new Error('It is not synchronous.')
      return page.rows.length
    },
    /** Inserts as another program does. */
    insertElsewhere: (body = '') => {
      inserted += 1
      other.exec(`INSERT INTO notes (id, body) VALUES ('other ${inserted}', '${body}')`)
    },
    insert: async () => {
      inserted += 1
      const row = { id: `own ${inserted}`, body: '' }
      await storage.transaction({ mode: 'write', brief: true }, async (on) => on.insert(notes, row))
    },
  }
}

describe.each(drivers)('%s: the reads of one turn', (driver) => {
  test('share a read transaction, which ends with the turn', async () => {
    const { shown, insertElsewhere } = await open(driver, 60_000)
    expect([shown(), shown()]).toEqual([0, 0])
    insertElsewhere()
    expect(shown()).toBe(0)
    await nextTurn()
    expect(shown()).toBe(1)
  })

  test('see a commit of another program after maxStaleness, also in a long turn', async () => {
    const { shown, insertElsewhere } = await open(driver, 20)
    expect([shown(), shown()]).toEqual([0, 0])
    insertElsewhere()
    const began = performance.now()
    while (performance.now() - began < 25);
    expect(shown()).toBe(1)
  })

  test('see every commit if maxStaleness is 0', async () => {
    const { shown, insertElsewhere } = await open(driver, 0)
    for (const expected of [0, 1, 2, 3]) {
      expect([shown(), shown()]).toEqual([expected, expected])
      insertElsewhere()
    }
  })

  test('see every commit of this storage', async () => {
    const { shown, insert } = await open(driver, 60_000)
    for (let turn = 0; turn < 20; turn += 1) {
      const before = Number(shown())
      expect(shown()).toBe(before)
      const inserts = [insert(), insert(), insert()]
      expect(shown()).toBeGreaterThanOrEqual(before)
      await Promise.all(inserts)
      expect([shown(), shown()]).toEqual([before + 3, before + 3])
    }
  })

  test('share nothing with application code', async () => {
    const { shown, read, insertElsewhere } = await open(driver, 60_000)
    expect([shown(), shown()]).toEqual([0, 0])
    insertElsewhere()
    expect(read()).toBe(1)
    expect(shown()).toBe(1)
  })

  test('see the commits that the version of the tables counts', async () => {
    const { storage, shown, insertElsewhere } = await open(driver, 60_000)
    expect([shown(), shown()]).toEqual([0, 0])
    insertElsewhere()
    expect(storage.version?.([notes])).toBeTypeOf('number')
    expect(shown()).toBe(1)
  })

  test('let the log of the file be written again', async () => {
    const { file, shown, insertElsewhere } = await open(driver, 60_000)
    const body = 'x'.repeat(4_000)
    for (let turn = 0; turn < 1_000; turn += 1) {
      shown()
      shown()
      insertElsewhere(body)
      await nextTurn()
      insertElsewhere(body)
    }
    // Without an end of the read transactions, it would be over 30 MB.
    expect(statSync(`${file}-wal`).size).toBeLessThan(8_000_000)
  })

  test('end with the storage', async () => {
    const { storage, shown, insertElsewhere } = await open(driver, 60_000)
    expect([shown(), shown()]).toEqual([0, 0])
    await storage.close()
    insertElsewhere()
    await expect(storage.filterText?.(notes, everything)).rejects.toMatchObject({
      kind: 'unavailable',
    })
    await sleep(5)
  })
})
