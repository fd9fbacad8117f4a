import { setTimeout as wait } from 'node:timers/promises'
import type { Pool, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { customers, rowOf } from '../../../src/conformance/collections.ts'
import type { Condition, StorageAdapter, StorageTransaction } from '../../../src/storage/index.ts'
import { mysqlStorage } from '../../../src/storage/mysql.ts'
import { missingServer, perServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const missing = await missingServer()
const writing = { mode: 'write', brief: false } as const

describe.skipIf(missing !== undefined)('a transaction of MariaDB', () => {
  let database: TestDatabase
  let storage: StorageAdapter

  beforeAll(async () => {
    database = await testDatabase()
    storage = mysqlStorage(database.pool, { ensureSchema: true })
    await storage.open([customers])
  })
  beforeEach(async () => {
    await database.clear()
    await storage.transaction(writing, async (on) => {
      await on.insert(customers, rowOf(customers, { customerId: 'a', visits: 0 }))
      await on.insert(customers, rowOf(customers, { customerId: 'b', visits: 0 }))
    })
  })
  afterAll(async () => {
    await storage.close()
    await database.drop()
  })

  const key = (value: string): readonly Condition[] => [{ field: 'customerId', is: 'equal', value }]

  function visit(on: StorageTransaction, id: string): unknown {
    return on.update(customers, key(id), { visits: 1 })
  }

  async function visits(): Promise<readonly unknown[]> {
    const rows = await database.run('select visits from customers order by 1')
    return rows.map(({ visits: value }) => Number(value))
  }

  test('of which a statement was in a deadlock is never committed, and writes nothing after it', async () => {
    const began = [signal(), signal()] as const
    const run = (first: string, second: string, own: 0 | 1): Promise<unknown> =>
      storage.transaction(writing, async (on) => {
        await visit(on, first)
        began[own].resolve()
        await began[own === 0 ? 1 : 0].promise
        // The work goes on as if nothing had happened.
        await Promise.resolve(visit(on, second)).catch(() => undefined)
        const id = `after ${own}`
        const after = async (): Promise<unknown> =>
          on.insert(customers, rowOf(customers, { customerId: id, visits: 2 }))
        await after().catch(() => undefined)
      })
    const results = await Promise.allSettled([run('a', 'b', 0), run('b', 'a', 1)])
    const failed = results.filter(({ status }) => status === 'rejected')
    expect(failed).toHaveLength(1)
    expect(failed[0]).toMatchObject({ reason: { kind: 'unavailable', isConflict: true } })
    // The server would have stored the row of the failed one at once.
    expect(await visits()).toEqual([1, 1, 2])
  })

  /** The cases of MariaDB, whose transactions see one state. */
  function testOvertaken(): void {
    test('that has read what another one changed can not change it, and refuses further calls', async () => {
      const run = storage.transaction(writing, async (on) => {
        await on.filter(customers, everyRow)
        await storage.transaction(writing, (other) =>
          other.update(customers, key('a'), { visits: 5 }),
        )
        await expect(visit(on, 'a')).rejects.toMatchObject({
          kind: 'unavailable',
          isConflict: true,
        })
        await expect(visit(on, 'b')).rejects.toMatchObject({ kind: 'unavailable' })
      })
      await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
      expect(await visits()).toEqual([0, 5])
    })

    test('that has read what another one changed can not delete it', async () => {
      const run = storage.transaction(writing, async (on) => {
        await on.filter(customers, everyRow)
        await storage.transaction(writing, (other) =>
          other.update(customers, key('a'), { visits: 5 }),
        )
        await on.delete(customers, key('a'))
      })
      await expect(run).rejects.toMatchObject({ kind: 'unavailable', isConflict: true })
      expect(await visits()).toEqual([0, 5])
    })
  }

  /** The case of MySQL, whose transactions lock what they read. */
  function testLocked(): void {
    test('that has read a row makes those wait that change it, and a change by both is a conflict', async () => {
      const own = mysqlStorage(database.open(), { lockTimeout: 1 })
      await own.open([customers])
      await storage.transaction(writing, async (on) => {
        await on.filter(customers, everyRow)
        const late = own.transaction(writing, (other) => visit(other, 'a'))
        await expect(late).rejects.toMatchObject({ kind: 'unavailable', isConflict: false })
      })
      expect(await visits()).toEqual([0, 0])
      const read = [signal(), signal()] as const
      const change = (id: string, turn: 0 | 1): Promise<unknown> =>
        storage.transaction(writing, async (on) => {
          await on.filter(customers, everyRow)
          read[turn].resolve()
          await read[turn === 0 ? 1 : 0].promise
          await visit(on, id)
        })
      const results = await Promise.allSettled([change('a', 0), change('a', 1)])
      const failed = results.filter(({ status }) => status === 'rejected')
      expect(failed).toMatchObject([{ reason: { kind: 'unavailable', isConflict: true } }])
      expect(await visits()).toEqual([0, 1])
      await own.close()
    })
  }

  perServer({ MariaDB: testOvertaken, MySQL: testLocked })()

  test('goes on after a refused row', async () => {
    await storage.transaction(writing, async (on) => {
      await visit(on, 'a')
      const again = async (): Promise<unknown> =>
        on.insert(customers, rowOf(customers, { customerId: 'b' }))
      await expect(again()).rejects.toMatchObject({ kind: 'duplicate', fields: ['customerId'] })
      await visit(on, 'b')
    })
    expect(await visits()).toEqual([1, 1])
  })

  test('that waited too long for a lock is undone as a whole', async () => {
    const own = mysqlStorage(database.open(), { lockTimeout: 1 })
    await own.open([customers])
    await storage.transaction(writing, async (on) => {
      await visit(on, 'a')
      const run = own.transaction(writing, async (other) => {
        await visit(other, 'b')
        await Promise.resolve(visit(other, 'a')).catch(() => undefined)
      })
      await expect(run).rejects.toMatchObject({ kind: 'unavailable', isConflict: false })
    })
    expect(await visits()).toEqual([0, 1])
    await own.close()
  })

  test('whose connection is lost is undone, and the next one has another connection', async () => {
    const pool = database.open({ connectionLimit: 1 })
    const own = mysqlStorage(pool)
    await own.open([customers])
    const id = await connectionOf(pool)
    const run = own.transaction(writing, async (on) => {
      await visit(on, 'a')
      await kill(id)
    })
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await visits()).toEqual([0, 0])
    await own.transaction(writing, (on) => visit(on, 'a'))
    expect(await visits()).toEqual([0, 1])
    await own.close()
  })

  test('begins after an idle connection was lost', async () => {
    const pool = database.open({ connectionLimit: 1 })
    const own = mysqlStorage(pool)
    await own.open([customers])
    const id = await connectionOf(pool)
    await kill(id)
    // The pool learns of the loss a little later.
    const read = async (): Promise<unknown> => (await own.filter(customers, everyRow)).rows
    const rows = await read().catch(read)
    expect(rows).toHaveLength(2)
    expect(await connectionOf(pool)).not.toBe(id)
    await own.close()
  })

  test('waits for a connection for a limited time', async () => {
    const own = mysqlStorage(database.open({ connectionLimit: 1 }), { acquireTimeout: 500 })
    await own.open([customers])
    await own.transaction(writing, async (on) => {
      await visit(on, 'a')
      const outside = own.filter(customers, everyRow)
      await expect(outside).rejects.toMatchObject({ kind: 'unavailable' })
    })
    expect(await visits()).toEqual([0, 1])
    await own.close()
  })

  test('that application code keeps open for too long is undone', async () => {
    const pool = database.open({ connectionLimit: 1 })
    const own = mysqlStorage(pool, { idleTimeout: 1 })
    await own.open([customers])
    const id = await connectionOf(pool)
    const run = own.transaction(writing, async (on) => {
      await visit(on, 'a')
      await gone(id)
    })
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await visits()).toEqual([0, 0])
    await own.close()
  })

  async function connectionOf(pool: Pool): Promise<number> {
    const [[row]] = await pool.query<RowDataPacket[]>('select connection_id() as id')
    return Number((row as { readonly id: unknown }).id)
  }

  async function kill(id: number): Promise<void> {
    await database.run(`kill connection ${id}`)
    await gone(id)
  }

  async function gone(id: number): Promise<void> {
    const open = `select 1 from information_schema.processlist where id = ${id}`
    while ((await database.run(open)).length > 0) await wait(5)
  }
})

const everyRow = {
  conditions: [],
  search: null,
  sort: [],
  limit: 10,
  offset: 0,
  select: ['customerId', 'visits'],
  count: true,
}

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: () => resolve() }
}
