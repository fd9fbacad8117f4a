import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { customers, rowOf } from '../../../src/conformance/collections.ts'
import type { MaybePromise } from '../../../src/maybe-promise.ts'
import type {
  Condition,
  Row,
  StorageAdapter,
  StorageTransaction,
} from '../../../src/storage/index.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()
const writing = { mode: 'write', brief: false } as const

describe.skipIf(missing !== undefined)('a transaction of PostgreSQL', () => {
  let schema: TestSchema
  let storage: StorageAdapter

  beforeAll(async () => {
    schema = await testSchema()
    storage = postgresStorage(schema.pool, { ensureSchema: true })
    await storage.open([customers])
  })
  beforeEach(async () => {
    await schema.clear()
    await storage.transaction(writing, async (on) => {
      await on.insert(customers, rowOf(customers, { customerId: 'a', visits: 0 }))
      await on.insert(customers, rowOf(customers, { customerId: 'b', visits: 0 }))
    })
  })
  afterAll(async () => {
    await storage.close()
    await schema.drop()
  })

  const key = (value: string): readonly Condition[] => [{ field: 'customerId', is: 'equal', value }]

  function visit(on: StorageTransaction, id: string): MaybePromise<Row | undefined> {
    return on.update(customers, key(id), { visits: 1 })
  }

  async function visits(): Promise<readonly unknown[]> {
    const rows = await schema.run('select visits from customers order by 1')
    return rows.map(({ visits: value }) => Number(value))
  }

  test('of which a statement was in a deadlock is never committed', async () => {
    const began = [signal(), signal()] as const
    const run = (first: string, second: string, own: 0 | 1): Promise<unknown> =>
      storage.transaction(writing, async (on) => {
        await visit(on, first)
        began[own].resolve()
        await began[own === 0 ? 1 : 0].promise
        // The work goes on as if nothing had happened.
        await Promise.resolve(visit(on, second)).catch(() => undefined)
      })
    const results = await Promise.allSettled([run('a', 'b', 0), run('b', 'a', 1)])
    const failed = results.filter(({ status }) => status === 'rejected')
    expect(failed).toHaveLength(1)
    expect(failed[0]).toMatchObject({ reason: { kind: 'unavailable' } })
    expect(await visits()).toEqual([1, 1])
  })

  test('that has read what another one changed can not change it, and refuses further calls', async () => {
    const run = storage.transaction(writing, async (on) => {
      await on.filter(customers, everyRow)
      await storage.transaction(writing, (other) =>
        other.update(customers, key('a'), { visits: 5 }),
      )
      await expect(visit(on, 'a')).rejects.toMatchObject({ kind: 'unavailable' })
      await expect(visit(on, 'b')).rejects.toMatchObject({ kind: 'unavailable' })
    })
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await visits()).toEqual([0, 5])
  })

  test('of one write is one statement', async () => {
    const pool = schema.open(1)
    const own = postgresStorage(pool)
    await own.open([customers])
    const client = await pool.connect()
    const sent = vi.spyOn(client, 'query')
    client.release()
    const run = <Value>(work: (on: StorageTransaction) => MaybePromise<Value>): Promise<Value> =>
      own.transaction({ ...writing, oneWrite: true }, work)
    await run((on) => on.insert(customers, rowOf(customers, { customerId: 'c', visits: 7 })))
    await run((on) => visit(on, 'a'))
    await run((on) => on.delete(customers, key('b')))
    expect(sent).toHaveBeenCalledTimes(3)
    expect(await visits()).toEqual([1, 7])
    const late = own.transaction({ ...writing, oneWrite: true }, async (on) => {
      await visit(on, 'a')
      await visit(on, 'c')
    })
    await expect(late).rejects.toThrow('The transaction has ended.')
    await own.close()
  })

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

  test('whose deferred constraint fails at the end is undone', async () => {
    await schema.run(`create table later (id text references customers deferrable initially deferred);
      create function late() returns trigger language plpgsql as
        $$ begin insert into later values ('missing'); return new; end $$;
      create trigger late after update on customers for each row execute function late()`)
    const run = storage.transaction(writing, (on) => visit(on, 'a'))
    await expect(run).rejects.toMatchObject({ kind: 'invalid' })
    await schema.run('drop trigger late on customers; drop table later; drop function late()')
    expect(await visits()).toEqual([0, 0])
  })

  test('whose connection is lost is undone, and the next one has another connection', async () => {
    const pool = schema.open(1)
    const own = postgresStorage(pool)
    await own.open([customers])
    const run = own.transaction(writing, async (on) => {
      await visit(on, 'a')
      await terminate(pool)
    })
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await visits()).toEqual([0, 0])
    await own.transaction(writing, (on) => visit(on, 'a'))
    expect(await visits()).toEqual([0, 1])
    await own.close()
  })

  test('begins after an idle connection was lost', async () => {
    const pool = schema.open(1)
    const own = postgresStorage(pool)
    await own.open([customers])
    await terminate(pool)
    await vacated(pool)
    expect((await own.filter(customers, everyRow)).rows).toHaveLength(2)
    await own.close()
  })

  /** Ends the connections of a pool of one connection. */
  async function terminate(pool: { readonly options: object }): Promise<void> {
    const { application_name: name } = pool.options as { readonly application_name: string }
    const killed = await schema.run(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`,
    )
    expect(killed).toHaveLength(1)
  }

  test('waits for a connection for a limited time', async () => {
    const own = postgresStorage(schema.open(1), { acquireTimeout: 400 })
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
    const own = postgresStorage(schema.open(1), { idleTimeout: 20 })
    await own.open([customers])
    const run = own.transaction(writing, async (on) => {
      await visit(on, 'a')
      await gone(schema)
    })
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await visits()).toEqual([0, 0])
    await own.close()
  })

  async function gone({ run }: TestSchema): Promise<void> {
    const open = `select 1 from pg_locks where relation = 'customers'::regclass and mode = 'RowExclusiveLock'`
    while ((await run(open)).length > 0) await wait(5)
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

async function vacated(pool: { readonly totalCount: number }): Promise<void> {
  while (pool.totalCount > 0) await wait(5)
}

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: () => resolve() }
}
