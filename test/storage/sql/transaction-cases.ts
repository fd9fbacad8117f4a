import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { customers, rowOf } from '../../../src/conformance/collections.ts'
import type { MaybePromise } from '../../../src/maybe-promise.ts'
import type {
  Condition,
  Row,
  StorageAdapter,
  StorageTransaction,
} from '../../../src/entries/storage.ts'

export const writing = { mode: 'write', brief: false } as const

/** A query for every customer. */
export const everyRow = {
  conditions: [],
  search: null,
  sort: [],
  limit: 10,
  offset: 0,
  select: ['customerId', 'visits'],
  count: true,
}

/** Returns the condition of a customer. */
export function key(value: string): readonly Condition[] {
  return [{ field: 'customerId', is: 'equal', value }]
}

/** Updates a customer. */
export function visit(on: StorageTransaction, id: string): MaybePromise<Row | undefined> {
  return on.update(customers, key(id), { visits: 1 })
}

/** A storage of customers whose pool has one connection, in use or not. */
export interface SingleConnection {
  readonly storage: StorageAdapter
  /** Ends the connection, and resolves when the server has ended it. */
  lose(): Promise<unknown>
  /** Resolves when the server has undone the transaction of the connection. */
  undone(): Promise<void>
}

/** The server of a database in which the tests create tables of their own. */
export interface TransactionServer {
  /** A storage of customers with several connections. */
  readonly storage: StorageAdapter
  /** Runs a statement. */
  run(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Removes every row. */
  clear(): Promise<unknown>
  single(options?: {
    readonly acquireTimeout?: number
    readonly idleTimeout?: number
  }): Promise<SingleConnection>
  drop(): Promise<void>
}

/** What the tests of one server need. */
export interface TransactionsUnderTest<Server extends TransactionServer> {
  /** Returns the server. */
  server(): Server
  /** Returns the visits of the customers, in the order of their numbers. */
  visits(): Promise<readonly unknown[]>
}

/** What differs between servers. */
export interface TransactionDifferences {
  /** The option of the storage. */
  readonly idleTimeout: number
  /** Whether transactions lock what they read, so that nobody can change it meanwhile. Default false. */
  readonly locksReads?: boolean
}

/** Tests the transactions of a server, of which two customers `a` and `b` are stored. */
export function testTransactions<Server extends TransactionServer>(
  open: () => Promise<Server>,
  { idleTimeout, locksReads = false }: TransactionDifferences,
): TransactionsUnderTest<Server> {
  let server: Server

  beforeAll(async () => {
    server = await open()
  })
  beforeEach(async () => {
    await server.clear()
    await server.storage.transaction(writing, async (on) => {
      await on.insert(customers, rowOf(customers, { customerId: 'a', visits: 0 }))
      await on.insert(customers, rowOf(customers, { customerId: 'b', visits: 0 }))
    })
  })
  afterAll(async () => {
    await server.storage.close()
    await server.drop()
  })

  async function visits(): Promise<readonly unknown[]> {
    const rows = await server.run('select visits from customers order by 1')
    return rows.map(({ visits: value }) => Number(value))
  }

  test('of which a statement was in a deadlock is never committed, and writes nothing after it', async () => {
    const { storage } = server
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
    // MariaDB would have stored the row of the failed one at once.
    expect(await visits()).toEqual([1, 1, 2])
  })

  test.skipIf(locksReads)(
    'that has read what another one changed cannot change it, and rejects further calls',
    async () => {
      const { storage } = server
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
    },
  )

  test.skipIf(locksReads)('that has read what another one changed cannot delete it', async () => {
    const { storage } = server
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

  test('goes on after a rejected row', async () => {
    await server.storage.transaction(writing, async (on) => {
      await visit(on, 'a')
      const again = async (): Promise<unknown> =>
        on.insert(customers, rowOf(customers, { customerId: 'b' }))
      await expect(again()).rejects.toMatchObject({ kind: 'duplicate', fields: ['customerId'] })
      await visit(on, 'b')
    })
    expect(await visits()).toEqual([1, 1])
  })

  test('whose connection is lost is undone, and the next one has another connection', async () => {
    const own = await server.single()
    const run = own.storage.transaction(writing, async (on) => {
      await visit(on, 'a')
      await own.lose()
    })
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await visits()).toEqual([0, 0])
    await own.storage.transaction(writing, (on) => visit(on, 'a'))
    expect(await visits()).toEqual([0, 1])
    await own.storage.close()
  })

  test('waits for a connection for a limited time', async () => {
    const { storage } = await server.single({ acquireTimeout: 1_500 })
    await storage.transaction(writing, async (on) => {
      await visit(on, 'a')
      const outside = storage.filter(customers, everyRow)
      await expect(outside).rejects.toMatchObject({ kind: 'unavailable' })
    })
    expect(await visits()).toEqual([0, 1])
    await storage.close()
  })

  test('that application code keeps open for too long is undone', async () => {
    const own = await server.single({ idleTimeout })
    const run = own.storage.transaction(writing, async (on) => {
      await visit(on, 'a')
      await own.undone()
    })
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await visits()).toEqual([0, 0])
    await own.storage.close()
  })

  return { server: () => server, visits }
}

/** Returns a promise that `resolve` resolves. */
export function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: () => resolve() }
}
