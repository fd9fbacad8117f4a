import { createPool, type Pool } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { customers } from '../../src/conformance/collections.ts'
import { testStorageAdapter } from '../../src/entries/conformance.ts'
import { isStorageError, type StorageAdapter } from '../../src/entries/storage.ts'
import { mysqlStorage, type MysqlOptions } from '../../src/entries/mysql.ts'
import { table, tableReader } from '../../src/storage/table.ts'
import { missingPackages } from './kit/packages.ts'
import type { ServerProgram } from './kit/server-program.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('mariadb-server', 'galera-4', 'rsync')
const reads = tableReader

describe.skipIf(missing !== undefined)('three nodes of Galera', () => {
  const { galera } = servers()
  const pools: Pool[] = []
  let nodes: readonly ServerProgram[] = []
  beforeAll(async () => {
    nodes = await galera(3)
  })
  afterAll(async () => {
    for (const pool of pools) await pool.end().catch(() => undefined)
  })

  function poolOf(node: number, connectionLimit: number): Pool {
    const { host = '', port = 0 } = nodes[node] ?? {}
    const pool = createPool({ host, port, user: 'root', database: 'test', connectionLimit })
    pools.push(pool)
    return pool
  }

  /** Opens a storage on each of the nodes, and stores one customer without visits. */
  async function opened(of: readonly number[], options: MysqlOptions = {}) {
    const storages: StorageAdapter[] = []
    for (const node of of) {
      const storage = mysqlStorage(poolOf(node, 4), { ensureSchema: true, ...options })
      await storage.open([customers])
      storages.push(storage)
    }
    const [first] = storages as [StorageAdapter]
    const customerId = crypto.randomUUID()
    await first.transaction({ mode: 'write', brief: false }, (transaction) =>
      table(transaction, customers).insert({ customerId, visits: 0 }),
    )
    for (const storage of storages) {
      const stored = () => reads(storage, customers).one({ customerId })
      await expect.poll(stored).toBeDefined()
    }
    return { storages, customerId }
  }

  /** Adds a visit. Resolves to false if the storage is `unavailable`. */
  async function visit(
    storage: StorageAdapter,
    customerId: string,
    between: () => Promise<void> = () => Promise.resolve(),
  ): Promise<boolean> {
    try {
      await storage.transaction({ mode: 'write', brief: false }, async (transaction) => {
        const own = table(transaction, customers)
        const visits = Number((await own.one({ customerId }))?.['visits']) + 1
        await own.change({ customerId }, { visits })
        await between()
      })
      return true
    } catch (error) {
      if (isStorageError(error) && error.kind === 'unavailable') return false
      throw error
    }
  }

  const visitsOf = async (storage: StorageAdapter, customerId: string): Promise<number> =>
    Number((await reads(storage, customers).one({ customerId }))?.['visits'])

  describe('one of them', () => {
    let pool: Pool
    beforeAll(() => {
      pool = poolOf(0, 12)
    })
    const open = () => mysqlStorage(pool, { ensureSchema: true })
    testStorageAdapter({
      test,
      create: async () => {
        const [tables] = await pool.query('show tables')
        for (const one of tables as readonly Readonly<Record<string, string>>[]) {
          await pool.query('delete from ??', Object.values(one))
        }
        return open()
      },
      reopen: open,
      another: open,
    })
  })

  test('keep every acknowledged increment over two nodes', async () => {
    const { storages, customerId } = await opened([0, 1])
    let [kept, given] = [0, 0]
    const clients = [...storages, ...storages].map(async (storage) => {
      for (let count = 0; count < 30; count++) {
        if (await visit(storage, customerId)) kept++
        else given++
      }
    })
    await Promise.all(clients)
    console.log(`increments over two nodes: ${kept} acknowledged, ${given} unavailable`)
    const [first, second] = storages as [StorageAdapter, StorageAdapter]
    await expect.poll(() => visitsOf(second, customerId)).toBe(kept)
    expect(await visitsOf(first, customerId)).toBe(kept)
    expect(kept).toBeGreaterThan(0)
  })

  test('end one of two transactions that change a row on two nodes', async () => {
    const { storages, customerId } = await opened([0, 1])
    const [first, second] = storages as [StorageAdapter, StorageAdapter]
    const ends: number[] = []
    for (let pair = 0; pair < 40; pair++) {
      let changed = 0
      // Both have changed the row before one of them commits.
      const both = async (): Promise<void> => {
        changed++
        for (let turn = 0; changed < 2 && turn < 100; turn++) {
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
      }
      const kept = await Promise.all(
        [first, second].map((storage) => visit(storage, customerId, both)),
      )
      ends.push(kept.filter(Boolean).length)
    }
    const kept = ends.reduce((sum, count) => sum + count, 0)
    console.log(`pairs on two nodes: ${ends.filter((count) => count === 1).length} of 40 lost one`)
    await expect.poll(() => visitsOf(second, customerId)).toBe(kept)
    expect(ends).toContain(1)
  })

  test('show a write on another node at once with wsrepSyncWait', async () => {
    const { storages, customerId } = await opened([0, 2], { wsrepSyncWait: 1 })
    const [first, last] = storages as [StorageAdapter, StorageAdapter]
    for (let visits = 1; visits <= 100; visits++) {
      expect(await visit(first, customerId)).toBe(true)
      expect(await visitsOf(last, customerId)).toBe(visits)
    }
  })

  test('leave a node unavailable that has lost the others', async () => {
    const { storages, customerId } = await opened([0])
    const [first] = storages as [StorageAdapter]
    for (const node of nodes.slice(1)) node.signal('SIGKILL')
    const kindOf = async (): Promise<unknown> => {
      try {
        return await visitsOf(first, customerId)
      } catch (error) {
        return isStorageError(error) ? error.kind : error
      }
    }
    await expect.poll(kindOf, { timeout: 60_000, interval: 500 }).toBe('unavailable')
    expect(await visit(first, customerId)).toBe(false)
  })
})
