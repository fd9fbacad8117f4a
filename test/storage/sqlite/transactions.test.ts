import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { equals, findValues } from '../../../src/conformance/case.ts'
import { customers, rowOf } from '../../../src/conformance/collections.ts'
import type { StorageAdapter, StorageTransaction } from '../../../src/storage/adapter.ts'
import { sqliteStorage, type SqliteHandle } from '../../../src/entries/sqlite.ts'
import { drivers, observed, openHandle } from '../../kit/databases.ts'

const brief = { mode: 'write', brief: true } as const
const long = { mode: 'write', brief: false } as const

function insert(id: string): (open: StorageTransaction) => Promise<unknown> {
  return async (open) => open.insert(customers, rowOf(customers, { customerId: id }))
}

describe.each(drivers)('%s: transactions', (driver) => {
  let handle: SqliteHandle
  let storage: StorageAdapter
  let commands: string[]

  beforeEach(async () => {
    handle = openHandle(driver, ':memory:')
    commands = []
    storage = sqliteStorage(observed(handle, commands), { ensureSchema: true })
    await storage.open([customers])
    commands.length = 0
  })
  afterEach(async () => {
    await storage.close()
    handle.close()
  })
  const ids = (): Promise<unknown> => findValues(storage, customers, 'customerId')

  test('that arrive together share a commit, except one that fails', async () => {
    const failure = new Error('no')
    const settled = await Promise.allSettled([
      storage.transaction(brief, insert('a')),
      storage.transaction(brief, async (open) => {
        await insert('b')(open)
        throw failure
      }),
      storage.transaction(brief, insert('c')),
      storage.transaction(brief, insert('a')),
      storage.transaction(brief, insert('d')),
    ])
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(settled[1]).toMatchObject({ reason: failure })
    expect(settled[3]).toMatchObject({ reason: { kind: 'duplicate', fields: ['customerId'] } })
    expect(await ids()).toEqual(['a', 'c', 'd'])
    // A batch also ends after 20 milliseconds, which a busy machine may take.
    expect(commands.filter((command) => command === 'COMMIT').length).toBeLessThan(3)
    expect(commands.filter((command) => command.startsWith('ROLLBACK TO'))).toHaveLength(2)
  })

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  test('that arrive in one turn of the event loop after another share a commit', async () => {
    const commitsOf = async (attempt: number): Promise<number> => {
      commands.length = 0
      const writes = ['a', 'b', 'c', 'd'].map((id) => `${id}${attempt}`)
      const running: Promise<unknown>[] = []
      for (const id of writes) {
        running.push(
          storage.transaction(brief, insert(id)),
          storage.transaction(brief, insert(`${id}+`)),
        )
        await turn()
      }
      await Promise.all(running)
      return commands.filter((command) => command === 'COMMIT').length
    }
    // The turns of a busy machine may take longer than a write waits for others.
    const commits: number[] = []
    for (let attempt = 0; attempt < 20; attempt++) commits.push(await commitsOf(attempt))
    expect(Math.min(...commits)).toBe(1)
    expect(await ids()).toHaveLength(160)
  })

  test('of which only one is waiting are not delayed', async () => {
    const order: string[] = []
    const written = storage.transaction(brief, insert('a')).then(() => order.push('written'))
    for (let turns = 0; turns < 4; turns++) await turn()
    order.push('later')
    await written
    expect(order).toEqual(['written', 'later'])
  })

  test('share a commit in bounded numbers', async () => {
    const numbers = Array.from({ length: 300 }, (_, index) => `n${index}`)
    await Promise.all(numbers.map((id) => storage.transaction(brief, insert(id))))
    const batches = commands.join().split('COMMIT')
    const sizes = batches.map((batch) => batch.split('SAVEPOINT rowgate_turn').length - 1)
    expect(Math.max(...sizes)).toBeGreaterThan(1)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(128)
    expect(await ids()).toHaveLength(300)
  })

  test('that are not brief run one after the other, in order', async () => {
    const events: string[] = []
    const run = (id: string): Promise<void> =>
      storage.transaction(long, async (open) => {
        events.push(`${id} begins`)
        await insert(id)(open)
        await new Promise((resolve) => setTimeout(resolve, 5))
        events.push(`${id} ends`)
      })
    await Promise.all([run('a'), run('b'), storage.transaction(brief, insert('c'))])
    expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
    expect(commands.filter((command) => command === 'COMMIT')).toHaveLength(3)
  })

  test('are not visible to reads before their commit', async () => {
    let read: Promise<unknown> | undefined
    const failed = storage.transaction(long, async (open) => {
      await insert('a')(open)
      read = ids()
      await new Promise((resolve) => setTimeout(resolve, 10))
      throw new Error('undone')
    })
    await expect(failed).rejects.toThrow('undone')
    expect(await read).toEqual([])
  })

  test('reject every call after their end', async () => {
    let kept: StorageTransaction | undefined
    await storage.transaction(brief, async (open) => {
      kept = open
    })
    const late = kept as StorageTransaction
    const gone = equals({ customerId: 'a' })
    await expect(insert('a')(late)).rejects.toThrow('ended')
    await expect(late.update(customers, gone, { region: 'x' })).rejects.toThrow('ended')
    await expect(late.delete(customers, gone)).rejects.toThrow('ended')
    await expect(findValues(late, customers, 'region')).rejects.toThrow('ended')
  })

  test('are rejected by close, except the running one', async () => {
    let started: () => void = () => undefined
    const starting = new Promise<void>((resolve) => {
      started = resolve
    })
    const running = storage.transaction(long, async (open) => {
      started()
      await new Promise((resolve) => setTimeout(resolve, 5))
      await insert('a')(open)
    })
    await starting
    const waiting = storage.transaction(brief, insert('b'))
    const read = ids()
    const closed = storage.close()
    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(read).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(storage.transaction(brief, insert('c'))).rejects.toMatchObject({
      kind: 'unavailable',
    })
    await expect(ids()).rejects.toMatchObject({ kind: 'unavailable' })
    await running
    await closed
    expect(commands).toContain('COMMIT')
    handle.exec('SELECT 1')
  })

  test('wait for a transaction of the application on its handle', async () => {
    handle.exec('BEGIN')
    const write = storage.transaction(brief, insert('a'))
    const read = ids()
    const rejected = { status: 'rejected', reason: { kind: 'unavailable' } }
    expect(await Promise.allSettled([write, read])).toMatchObject([rejected, rejected])
    const later = storage.transaction(brief, insert('b'))
    setTimeout(() => handle.exec('COMMIT'), 20)
    await later
    expect(await ids()).toEqual(['b'])
  })
})
