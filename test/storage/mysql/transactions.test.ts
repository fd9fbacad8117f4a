import { setTimeout as wait } from 'node:timers/promises'
import type { Pool, RowDataPacket } from 'mysql2/promise'
import { describe, expect, test } from 'vitest'
import { customers } from '../../../src/conformance/collections.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { missingServer, perServer, testDatabase } from '../../kit/mysql.ts'
import { everyRow, signal, testTransactions, visit, writing } from '../sql/transaction-cases.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('a transaction of MariaDB', () => {
  // Transactions of MySQL lock what they read.
  const locksReads = perServer({ MariaDB: false, MySQL: true })
  const { server, visits } = testTransactions(openServer, { idleTimeout: 1, locksReads })

  test.runIf(locksReads)(
    'that has read a row makes those wait that change it, and a change by both is a conflict',
    async () => {
      const { database, storage } = server()
      const own = mysqlStorage(database.open(), { lockTimeout: 1 })
      await own.open([customers])
      await storage.transaction(writing, async (on) => {
        await on.filter(customers, everyRow)
        const late = own.transaction(writing, (other) => visit(other, 'a'))
        await expect(late).rejects.toMatchObject({ kind: 'unavailable', isConflict: false })
      })
      expect(await visits()).toEqual([0, 0])
      const read = [signal(), signal()] as const
      const change = (turn: 0 | 1): Promise<unknown> =>
        storage.transaction(writing, async (on) => {
          await on.filter(customers, everyRow)
          read[turn].resolve()
          await read[turn === 0 ? 1 : 0].promise
          await visit(on, 'a')
        })
      const results = await Promise.allSettled([change(0), change(1)])
      const failed = results.filter(({ status }) => status === 'rejected')
      expect(failed).toMatchObject([{ reason: { kind: 'unavailable', isConflict: true } }])
      expect(await visits()).toEqual([0, 1])
      await own.close()
    },
  )

  test('that waited too long for a lock is undone as a whole', async () => {
    const own = mysqlStorage(server().database.open(), { lockTimeout: 1 })
    await own.open([customers])
    await server().storage.transaction(writing, async (on) => {
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

  test('begins after an idle connection was lost', async () => {
    const { storage, pool, lose } = await server().single()
    const id = await connectionOf(pool)
    await lose()
    // The pool learns of the loss a little later.
    const read = async (): Promise<unknown> => (await storage.filter(customers, everyRow)).rows
    const rows = await read().catch(read)
    expect(rows).toHaveLength(2)
    expect(await connectionOf(pool)).not.toBe(id)
    await storage.close()
  })
})

async function openServer() {
  const database = await testDatabase()
  const { run, clear, drop } = database
  const storage = mysqlStorage(database.pool, { ensureSchema: true })
  await storage.open([customers])

  const gone = async (id: number): Promise<void> => {
    const open = `select 1 from information_schema.processlist where id = ${id}`
    while ((await run(open)).length > 0) await wait(5)
  }
  return {
    ...{ database, storage, run, clear, drop },
    async single(options: Parameters<typeof mysqlStorage>[1] = {}) {
      const pool = database.open({ connectionLimit: 1 })
      const own = mysqlStorage(pool, options)
      await own.open([customers])
      const id = await connectionOf(pool)
      return {
        pool,
        storage: own,
        async lose() {
          await run(`kill connection ${id}`)
          await gone(id)
        },
        undone: () => gone(id),
      }
    },
  }
}

async function connectionOf(pool: Pool): Promise<number> {
  const [[row]] = await pool.query<RowDataPacket[]>('select connection_id() as id')
  return Number((row as { readonly id: unknown }).id)
}
