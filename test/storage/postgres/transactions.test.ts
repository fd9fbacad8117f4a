import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { customers, rowOf } from '../../../src/conformance/collections.ts'
import type { MaybePromise } from '../../../src/maybe-promise.ts'
import type { StorageTransaction } from '../../../src/entries/storage.ts'
import { postgresStorage, type PostgresOptions } from '../../../src/entries/postgres.ts'
import { missingServer, testSchema } from '../../kit/postgres.ts'
import { everyRow, key, testTransactions, visit, writing } from '../sql/transaction-cases.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('a transaction of PostgreSQL', () => {
  const { server, visits } = testTransactions(openServer, { idleTimeout: 20 })

  test('of one write is one statement', async () => {
    const { pool, storage } = await server().single()
    const client = await pool.connect()
    const sent = vi.spyOn(client, 'query')
    client.release()
    const run = <Value>(work: (on: StorageTransaction) => MaybePromise<Value>): Promise<Value> =>
      storage.transaction({ ...writing, oneWrite: true }, work)
    await run((on) => on.insert(customers, rowOf(customers, { customerId: 'c', visits: 7 })))
    await run((on) => visit(on, 'a'))
    await run((on) => on.delete(customers, key('b')))
    expect(sent).toHaveBeenCalledTimes(3)
    expect(await visits()).toEqual([1, 7])
    const late = storage.transaction({ ...writing, oneWrite: true }, async (on) => {
      await visit(on, 'a')
      await visit(on, 'c')
    })
    await expect(late).rejects.toThrow('The transaction has ended.')
    await storage.close()
  })

  test('whose deferred constraint fails at the end is undone', async () => {
    const { run, storage } = server()
    await run(`create table later (id text references customers deferrable initially deferred);
      create function late() returns trigger language plpgsql as
        $$ begin insert into later values ('missing'); return new; end $$;
      create trigger late after update on customers for each row execute function late()`)
    const update = storage.transaction(writing, (on) => visit(on, 'a'))
    await expect(update).rejects.toMatchObject({ kind: 'invalid' })
    await run('drop trigger late on customers; drop table later; drop function late()')
    expect(await visits()).toEqual([0, 0])
  })

  const read = (on: StorageTransaction) => on.filter(customers, everyRow)
  const write = (on: StorageTransaction) => visit(on, 'a')
  test.each<[boolean, string, (on: StorageTransaction) => MaybePromise<unknown>, string[]]>([
    [false, 'read', read, ['begin', 'ended', 'select', 'ended', 'commit', 'ended']],
    [true, 'read', read, ['begin', 'select', 'ended', 'ended', 'commit', 'ended']],
    [false, 'write', write, ['begin', 'ended', 'update', 'ended', 'commit', 'ended']],
    [true, 'write', write, ['begin', 'ended', 'update', 'ended', 'commit', 'ended']],
  ])('where pipeline is %s begins with a %s', async (pipeline, _, work, expected) => {
    const { pool, storage } = await server().single({ pipeline })
    const client = await pool.connect()
    const query = client.query.bind(client) as (sent: Sent, ended: Ended) => void
    const log: string[] = []
    vi.spyOn(client, 'query').mockImplementation(((sent: Sent, ended: Ended) => {
      log.push((/^(begin|commit|select|update)/.exec(sent.text) ?? [])[0] ?? sent.text)
      query(sent, (...outcome) => {
        log.push('ended')
        ended(...outcome)
      })
    }) as never)
    client.release()
    await storage.transaction(writing, async (on) => {
      await work(on)
    })
    expect(log).toEqual(expected)
    await storage.close()
  })

  // A server may fail after its BEGIN, or cancel that.
  test.each([
    ['after', '$&; select 1 / 0'],
    ['before', 'select 1 / 0; $&'],
  ])('that pipelines writes nothing if an error is %s the begin', async (_, failing) => {
    const { pool, storage } = await server().single({ pipeline: true })
    const client = await pool.connect()
    const query = client.query.bind(client) as (sent: Sent, ended: Ended) => void
    vi.spyOn(client, 'query').mockImplementation(((sent: Sent, ended: Ended) => {
      const text = sent.text.replace(/^begin[^;]*/, failing)
      query({ ...sent, text }, ended)
    }) as never)
    client.release()
    const update = storage.transaction(writing, (on) => visit(on, 'a'))
    await expect(update).rejects.toThrow()
    expect(await visits()).toEqual([0, 0])
    vi.restoreAllMocks()
    await storage.transaction(writing, (on) => visit(on, 'a'))
    expect((await visits()).toSorted()).toEqual([0, 1])
    await storage.close()
  })

  test('begins after an idle connection was lost', async () => {
    const { pool, storage, lose } = await server().single()
    await lose()
    while (pool.totalCount > 0) await wait(5)
    expect((await storage.filter(customers, everyRow)).rows).toHaveLength(2)
    await storage.close()
  })
})

interface SingleOptions extends PostgresOptions {
  readonly pipeline?: boolean
}

interface Sent {
  readonly text: string
}

type Ended = (...outcome: readonly unknown[]) => void

async function openServer() {
  const schema = await testSchema()
  const { run, clear, drop } = schema
  const storage = postgresStorage(schema.pool, { ensureSchema: true })
  await storage.open([customers])
  return {
    ...{ storage, run, clear, drop },
    async single({ pipeline = false, ...options }: SingleOptions = {}) {
      const pool = schema.open(1, { pipeline })
      const own = postgresStorage(pool, options)
      await own.open([customers])
      return {
        pool,
        storage: own,
        async lose() {
          const { application_name: name } = pool.options as unknown as {
            readonly application_name: string
          }
          const killed = await run(
            `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`,
          )
          expect(killed).toHaveLength(1)
        },
        async undone() {
          const open = `select 1 from pg_locks where relation = 'customers'::regclass and mode = 'RowExclusiveLock'`
          while ((await run(open)).length > 0) await wait(5)
        },
      }
    },
  }
}
