import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { customers, rowOf } from '../../../src/conformance/collections.ts'
import type { Condition, StorageAdapter, StorageQuery } from '../../../src/entries/storage.ts'
import { pooledServers, type PooledServer } from './pooled-servers.ts'

const writing = { mode: 'write', brief: false } as const

describe.each(pooledServers)('reads that wait for a connection of $name', ({ missing, start }) => {
  if (missing !== undefined) return
  let server: PooledServer

  beforeAll(async () => {
    server = await start()
    const storage = server.open(1, { ensureSchema: true })
    await storage.open([customers])
    await storage.close()
  })
  beforeEach(async () => {
    await server.run('delete from customers')
    await server.run(`insert into customers values ('a', 'A', null, 0), ('b', 'B', null, 0)`)
  })
  afterAll(() => server.drop())

  async function opened(
    max: number,
    options: { acquireTimeout?: number } = {},
  ): Promise<{ storage: StorageAdapter; sent: string[] }> {
    const sent: string[] = []
    const storage = server.open(max, options, (text) => sent.push(text))
    await storage.open([customers])
    onTestFinished(() => storage.close())
    return { storage, sent }
  }

  /** Runs work while every connection of a storage with one connection is in use. */
  async function whileBusy<Result>(
    storage: StorageAdapter,
    begin: () => readonly Promise<Result>[],
    then?: () => Promise<unknown>,
  ): Promise<readonly PromiseSettledResult<Result>[]> {
    let begun: readonly Promise<Result>[] = []
    await storage.transaction(writing, async (on) => {
      await on.update(customers, whose('b'), { visits: 1 })
      begun = begin()
      await then?.()
    })
    return Promise.allSettled(begun)
  }

  const reads = (sent: readonly string[]): readonly string[] =>
    sent.filter((text) => /^\(?select/.test(text) && text.includes('customers'))

  test('are one statement, and each has its rows', async () => {
    const { storage, sent } = await opened(1)
    const results = await whileBusy<unknown>(storage, () => {
      sent.length = 0
      return [
        ...Array.from({ length: 5 }, async () => storage.filterText?.(customers, one('a'))),
        ...Array.from({ length: 5 }, async () => storage.filter(customers, one('a'))),
        ...Array.from({ length: 2 }, async () => storage.filterText?.(customers, one('b'))),
      ]
    })
    const text = (id: string, visits: number) => ({
      items: [
        `{"customerId":"${id}","companyName":"${id.toUpperCase()}","region":null,"visits":${visits}}`,
      ],
      count: null,
    })
    const row = { customerId: 'a', companyName: 'A', region: null, visits: 0 }
    expect(results.map((result) => result.status === 'fulfilled' && result.value)).toEqual([
      ...Array.from({ length: 5 }, () => text('a', 0)),
      ...Array.from({ length: 5 }, () => ({ rows: [row], count: null })),
      // The transaction that held the connection had ended when they were sent.
      ...Array.from({ length: 2 }, () => text('b', 1)),
    ])
    // Pages as text, and rows.
    expect(reads(sent)).toHaveLength(2)
    const [first, second] = results.slice(5) as readonly { value: { rows: readonly unknown[] } }[]
    expect(first?.value.rows[0]).not.toBe(second?.value.rows[0])
  })

  test('are one statement if only their values differ, and each has its own rows', async () => {
    const { storage, sent } = await opened(1)
    const lists = [['a', 'b'], ['a,b'], ['b', 'a'], ['a', 'c'], ['', 'ab']]
    const queries = lists.map((values) => ({
      ...one('a'),
      conditions: [{ field: 'customerId', is: 'in', values }] as const,
    }))
    const results = await whileBusy(storage, () => {
      sent.length = 0
      return queries.map(async (query) => (await storage.filter(customers, query)).rows.length)
    })
    const found = results.map((result) => result.status === 'fulfilled' && result.value)
    expect(found).toEqual([2, 0, 2, 1, 0])
    // A list of several values has more parameters than one of a single value where a list is no parameter itself.
    expect(reads(sent).length).toBeLessThanOrEqual(2)
  })

  test(
    'show every write that was acknowledged before they began',
    { timeout: 30_000 },
    async () => {
      const { storage, sent } = await opened(3)
      sent.length = 0
      let acknowledged = 0
      let isOver = false
      let count = 0
      const reader = async (): Promise<void> => {
        while (!isOver) {
          const before = acknowledged
          const page = await storage.filterText?.(customers, one('a'))
          const { visits } = JSON.parse(page?.items[0] ?? '') as { visits: number }
          count++
          expect(visits).toBeGreaterThanOrEqual(before)
        }
      }
      const readers = Array.from({ length: 24 }, reader)
      for (let visits = 1; visits <= 100; visits++) {
        await storage.transaction({ ...writing, oneWrite: visits % 2 === 0 }, (on) =>
          on.update(customers, whose('a'), { visits }),
        )
        acknowledged = visits
      }
      isOver = true
      await Promise.all(readers)
      expect(reads(sent).length).toBeLessThan(count)
    },
  )

  test('all reject if the statement fails, and the next ones are read again', async () => {
    const { storage } = await opened(1)
    const fail = () =>
      Array.from({ length: 3 }, async () => storage.filterText?.(customers, one('a')))
    await server.run('alter table customers rename to hidden')
    const results = await Promise.allSettled([
      ...fail(),
      ...Array.from({ length: 3 }, async () => storage.filter(customers, one('a'))),
    ])
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'rejected'))
    await server.run('alter table hidden rename to customers')
    expect((await Promise.all(fail())).map((page) => page?.items.length)).toEqual([1, 1, 1])
  })

  test('wait for a connection as long as each may, and are rejected by close', async () => {
    const { storage } = await opened(1, { acquireTimeout: 600 })
    const read = async (from = storage): Promise<number> => {
      const start = performance.now()
      await expect(from.filter(customers, one('a'))).rejects.toMatchObject({
        kind: 'unavailable',
      })
      return performance.now() - start
    }
    const pause = (milliseconds: number) =>
      new Promise((resolve) => setTimeout(resolve, milliseconds))
    const late: Promise<number>[] = []
    const results = await whileBusy(
      storage,
      () => [read(), read()],
      async () => {
        await pause(300)
        late.push(read())
        await pause(800)
      },
    )
    for (const result of [...results, ...(await Promise.allSettled(late))]) {
      expect(result.status === 'fulfilled' && result.value).toBeGreaterThan(530)
    }
    const { storage: patient } = await opened(1, { acquireTimeout: 20_000 })
    const closing = await whileBusy(
      patient,
      () => [read(patient), read(patient)],
      async () => void patient.close(),
    )
    for (const result of closing) {
      expect(result.status === 'fulfilled' && result.value).toBeLessThan(10_000)
    }
  })
})

function whose(value: string): readonly Condition[] {
  return [{ field: 'customerId', is: 'equal', value }]
}

function one(id: string): StorageQuery {
  return {
    conditions: whose(id),
    search: null,
    sort: [],
    limit: 10,
    offset: 0,
    select: Object.keys(rowOf(customers, {})),
    count: false,
  }
}
