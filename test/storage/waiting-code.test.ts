import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findValues } from '../../src/conformance/case.ts'
import { customers, orderLines, rowOf } from '../../src/conformance/collections.ts'
import type { StorageAdapter, StorageTransaction } from '../../src/storage/adapter.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle, temporaryDirectory } from '../kit/databases.ts'
import { gate } from '../kit/gate.ts'
import { temporaryFolder } from '../kit/storages.ts'

const writing = { mode: 'write', brief: false } as const
const urgent = { mode: 'write', brief: true, priority: 'high' } as const
const key = [{ field: 'customerId', is: 'equal', value: 'A' }] as const
const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds))
const insert = (id: string, visits = 0) => {
  return async (on: StorageTransaction) =>
    on.insert(customers, rowOf(customers, { customerId: id, visits }))
}

interface Opened {
  readonly storage: StorageAdapter
  remove(): void
}

/** The options of a storage in a file or handle. */
interface Limits {
  readonly queueTimeout?: number
}

const soon: Limits = { queueTimeout: 400 }
const kinds: readonly (readonly [string, (limits: Limits) => Opened])[] = [
  ['memory', () => ({ storage: memoryStorage(), remove: () => undefined })],
  ...drivers.flatMap((driver) => [
    [
      `${driver}: a file`,
      (limits: Limits) => {
        const directory = temporaryDirectory()
        const options = { ensureSchema: true, ...limits, driver }
        const storage = sqliteStorage(`${directory}/a.db`, options)
        return { storage, remove: () => rmSync(directory, { recursive: true }) }
      },
    ] as const,
    [
      `${driver}: a handle`,
      (limits: Limits) => {
        const handle = openHandle(driver, ':memory:')
        const storage = sqliteStorage(handle, { ensureSchema: true, ...limits })
        return { storage, remove: () => handle.close() }
      },
    ] as const,
  ]),
]

describe.each(kinds)('%s: application code that waits', (name, open) => {
  async function on(
    run: (storage: StorageAdapter) => Promise<void>,
    limits: Limits = {},
  ): Promise<void> {
    const { storage, remove } = open(limits)
    await storage.open([customers, orderLines])
    try {
      await run(storage)
    } finally {
      await storage.close()
      remove()
    }
  }
  const visits = (storage: StorageAdapter) => findValues(storage, customers, 'visits')

  test('before its first write lets other writes commit, and then continues', () =>
    on(async (storage) => {
      const { opened: written, open: goOn } = gate()
      const waiting = Array.from({ length: 5 }, (_, index) =>
        storage.transaction(writing, async (transaction) => {
          await findValues(transaction, orderLines, 'product')
          await written
          return insert(`w${index}`)(transaction)
        }),
      )
      await storage.transaction(writing, insert('A'))
      goOn()
      await Promise.all(waiting)
      expect(await visits(storage)).toHaveLength(6)
    }))

  test('continues if the rows that it has read were written with the same values', () =>
    on(async (storage) => {
      await storage.transaction(writing, insert('A', 1))
      const { opened: changed, open: goOn } = gate()
      const waiting = storage.transaction(writing, async (transaction) => {
        await findValues(transaction, customers, 'visits')
        await changed
        await transaction.update(customers, key, { visits: 2 })
      })
      await storage.transaction(writing, async (other) =>
        other.update(customers, key, { visits: 1 }),
      )
      await storage.transaction(writing, async (other) =>
        other.insert(orderLines, rowOf(orderLines, { orderId: 1, product: 'x' })),
      )
      goOn()
      await waiting
      expect(await visits(storage)).toEqual([2])
    }))

  test.each(['changed', 'inserted', 'deleted'])(
    'is given up when a row of what it has read was %s',
    (how) =>
      on(async (storage) => {
        await storage.transaction(writing, insert('A', 1))
        const seen: unknown[] = []
        const { opened: changed, open: goOn } = gate()
        const waiting = storage.transaction(writing, async (transaction) => {
          const rows = await findValues(transaction, customers, 'visits')
          await changed
          try {
            await transaction.insert(customers, rowOf(customers, { visits: rows.length }))
          } catch (error) {
            seen.push((error as { kind?: unknown }).kind)
            throw error
          }
        })
        const outcome = waiting.then(
          () => 'committed',
          (error: unknown) => error,
        )
        await storage.transaction(writing, async (other) => {
          if (how === 'changed') await other.update(customers, key, { visits: 5 })
          else if (how === 'deleted') await other.delete(customers, key)
          else await insert('B', 7)(other)
        })
        goOn()
        expect(await outcome).toMatchObject({ kind: 'unavailable' })
        expect(seen).toEqual(['unavailable'])
        const left = { changed: [5], inserted: [1, 7], deleted: [] }[how]
        expect(await visits(storage)).toEqual(left)
      }),
  )

  test('and then fails or ends without writing needs no lock', () =>
    on(async (storage) => {
      const reason = new Error('of the work')
      const failing = storage.transaction(writing, async () => {
        await pause(60)
        throw reason
      })
      const done = storage.transaction(writing, async () => {
        await pause(60)
        return 'done'
      })
      const outcome = failing.catch((error: unknown) => error)
      await storage.transaction(writing, insert('A'))
      expect(await done).toBe('done')
      expect(await outcome).toBe(reason)
    }))

  test('keeps the lock after its first write', () =>
    on(async (storage) => {
      const order: string[] = []
      const waiting = storage.transaction(writing, async (transaction) => {
        await insert('A')(transaction)
        await pause(100)
        order.push('first')
      })
      const other = storage.transaction(writing, insert('B')).then(() => order.push('second'))
      await Promise.all([waiting, other])
      expect(order).toEqual(['first', 'second'])
    }))

  test('cannot write after its transaction has ended', () =>
    on(async (storage) => {
      const { opened: ended, open: end } = gate()
      let late: Promise<unknown> = Promise.resolve()
      await storage.transaction(writing, async (transaction) => {
        late = ended.then(() => insert('late')(transaction))
        late.catch(() => undefined)
        await pause(40)
      })
      end()
      await expect(late).rejects.toThrow(/ended/)
      expect(await visits(storage)).toEqual([])
    }))

  test('after its first write delays others for a bounded time, and high priority goes first', () =>
    on(async (storage) => {
      const order: string[] = []
      const slow = Array.from({ length: 4 }, (_, index) =>
        storage
          .transaction(writing, async (transaction) => {
            await insert(`s${index}`)(transaction)
            await pause(name === 'memory' ? 900 : 300)
          })
          .then(
            () => order.push('slow'),
            (error: unknown) => error,
          ),
      )
      // It waits as long as the slow ones do: it can't be served in time if these are rejected.
      const last = storage.transaction(writing, insert('last')).catch((error: unknown) => error)
      await pause(60)
      const high = storage.transaction(urgent, insert('high')).then(() => order.push('high'))
      expect(await last).toMatchObject({ kind: 'unavailable' })
      await Promise.all([...slow, high])
      expect(order.slice(0, 2)).toEqual(['slow', 'high'])
    }, soon))

  test('for too long after a write is undone for a write with high priority', () =>
    on(async (storage) => {
      const { opened: isOver, open: end } = gate()
      const slow = storage.transaction(writing, async (transaction) => {
        await insert('slow')(transaction)
        await isOver
      })
      const outcome = slow.catch((error: unknown) => error)
      await pause(60)
      await storage.transaction(urgent, insert('high', 1))
      end()
      expect(await outcome).toMatchObject({ kind: 'unavailable' })
      expect(await visits(storage)).toEqual([1])
    }))
})

test.each(drivers)(
  '%s: a write waits no longer than queueTimeout, also soon after one with high priority',
  async (driver) => {
    const storage = sqliteStorage(`${temporaryFolder()}/a.db`, {
      ensureSchema: true,
      ...soon,
      driver,
    })
    await storage.open([customers])
    await storage.transaction(urgent, insert('high'))
    const slow = storage.transaction(writing, async (transaction) => {
      await insert('slow')(transaction)
      await pause(1_500)
    })
    const order: string[] = []
    const ended = slow.then(() => order.push('slow'))
    const waiting = storage.transaction(writing, insert('waiting'))
    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' })
    order.push('expired')
    await ended
    expect(order).toEqual(['expired', 'slow'])
    await storage.close()
  },
)

describe.each(drivers)('%s: two processes', (driver) => {
  test('share a file whose write lock is kept busy by one of them', async () => {
    const directory = temporaryDirectory()
    const open = async (): Promise<StorageAdapter> => {
      const storage = sqliteStorage(`${directory}/a.db`, { driver, ensureSchema: true })
      await storage.open([customers])
      return storage
    }
    const busy = await open()
    const other = await open()
    let goesOn = true
    const loops = Array.from({ length: 5 }, async (_, loop) => {
      for (let index = 0; goesOn; index++) {
        await busy.transaction(writing, async (transaction) => {
          await insert(`${loop} ${index}`)(transaction)
          await pause(30)
        })
      }
    })
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await other.transaction(writing, insert(id))
    // Nothing is missing, so the start does not wait for the lock.
    const late = await open()
    goesOn = false
    await Promise.all(loops)
    for (const storage of [busy, other, late]) await storage.close()
    rmSync(directory, { recursive: true })
  })

  test('a transaction that keeps the lock for longer than lockTimeout is undone', async () => {
    const directory = temporaryDirectory()
    const storage = sqliteStorage(`${directory}/a.db`, {
      driver,
      ensureSchema: true,
      lockTimeout: 100,
    })
    await storage.open([customers])
    const slow = storage.transaction(writing, async (transaction) => {
      await insert('slow')(transaction)
      await pause(1000)
    })
    await expect(slow).rejects.toMatchObject({ kind: 'unavailable' })
    await storage.transaction(writing, insert('next', 1))
    expect(await findValues(storage, customers, 'visits')).toEqual([1])
    await storage.close()
    rmSync(directory, { recursive: true })
  })
})
