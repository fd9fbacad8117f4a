import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { defineCollection, integer, text } from '../../../src/index.ts'
import { customers, rowOf } from '../../../src/conformance/collections.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../../src/storage/index.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const oneWrite = { mode: 'write', brief: true, oneWrite: true } as const
const missing = await missingServer()

const numbered = publishCollection(
  'app',
  'numbered',
  defineCollection({
    key: 'id',
    fields: { id: integer({ generated: 'database' }), label: text() },
  }),
)

describe.skipIf(missing !== undefined)('inserts that wait for a connection together', () => {
  let schema: TestSchema

  beforeAll(async () => {
    schema = await testSchema()
    const storage = postgresStorage(schema.pool, { ensureSchema: true })
    await storage.open([customers, numbered])
  })
  beforeEach(() => schema.clear())
  afterAll(() => schema.drop())

  /** Opens a storage with some connections, and notes what they send. */
  async function opened(
    max: number,
    options: Parameters<typeof postgresStorage>[1] = {},
  ): Promise<{ storage: StorageAdapter; pool: Pool; sent: string[] }> {
    const pool = schema.open(max)
    const sent: string[] = []
    pool.on('connect', (client) => {
      const sender = client as unknown as { query(given: { text: string }, done: unknown): unknown }
      const query = sender.query.bind(client)
      sender.query = (given, done) => {
        sent.push(given.text)
        return query(given, done)
      }
    })
    const storage = postgresStorage(pool, options)
    await storage.open([customers, numbered])
    onTestFinished(() => storage.close())
    sent.length = 0
    return { storage, pool, sent }
  }

  const insert = (storage: StorageAdapter, collection: PublishedCollection, row: Row) =>
    storage.transaction(oneWrite, (on) => on.insert(collection, row))
  const customer = (number: number): Row =>
    rowOf(customers, { customerId: `c${number}`, companyName: `Company ${number}`, visits: number })
  const change = async (statements: string): Promise<void> => {
    await schema.run(statements)
  }
  const inserts = (sent: readonly string[]): readonly string[] =>
    sent.filter((each) => each.startsWith('insert'))
  const stored = async (): Promise<readonly unknown[]> =>
    (await schema.run('select "customerId" as id from customers order by id')).map(({ id }) => id)

  test('run in a few statements, and each returns its own row', async () => {
    const { storage, sent } = await opened(2)
    const labels = Array.from({ length: 100 }, (_, index) => `label ${index}`)
    const rows = await Promise.all(
      labels.map((label) => insert(storage, numbered, { id: null, label })),
    )
    expect(rows.map(({ label }) => label)).toEqual(labels)
    const found = await schema.run('select id, label from numbered')
    const labelOf = new Map(found.map(({ id, label }) => [id, label]))
    expect(found).toHaveLength(100)
    expect(rows.map(({ id }) => labelOf.get(String(id)))).toEqual(labels)
    expect(inserts(sent).length).toBeLessThan(20)
  })

  test('fail only for the row that can not be inserted', async () => {
    await schema.run(`alter table customers add constraint few check (visits < 90)`)
    onTestFinished(() => change('alter table customers drop constraint few'))
    const { storage } = await opened(1)
    await insert(storage, customers, customer(3))
    const rows = [1, 2, 3, 4, 95, 5, 5].map(customer)
    const broken = { ...customer(6), companyName: 'a\0b' }
    const results = await Promise.allSettled(
      [...rows, broken, customer(7)].map((row) => insert(storage, customers, row)),
    )
    const outcomes = results.map((result) =>
      result.status === 'fulfilled'
        ? result.value['customerId']
        : ((result.reason as { kind?: string }).kind ?? 'rejected'),
    )
    expect(outcomes).toEqual([
      ...['c1', 'c2', 'duplicate', 'c4', 'invalid', 'c5', 'duplicate', 'rejected', 'c7'],
    ])
    expect(await stored()).toEqual(['c1', 'c2', 'c3', 'c4', 'c5', 'c7'])
  })

  test.each([
    {
      what: 'a trigger',
      make: `create function nothing() returns trigger language plpgsql as $$ begin return new; end $$;
        create trigger nothing before insert on customers for each row execute function nothing()`,
      undo: 'drop function nothing cascade',
    },
    {
      what: 'a rule',
      make: 'create rule other as on insert to customers do also select 1',
      undo: 'drop rule other on customers',
    },
    {
      what: 'parts',
      make: `alter table customers rename to plain;
        create table customers (like plain including all) partition by hash ("customerId");
        create table part partition of customers for values with (modulus 1, remainder 0)`,
      undo: 'drop table customers; alter table plain rename to customers',
    },
  ])('run alone in a table with $what', async ({ make, undo }) => {
    await change(make)
    onTestFinished(() => change(undo))
    const { storage, sent } = await opened(1)
    await Promise.all([1, 2, 3, 4].map((number) => insert(storage, customers, customer(number))))
    expect(inserts(sent)).toHaveLength(4)
    expect(await stored()).toEqual(['c1', 'c2', 'c3', 'c4'])
  })

  test('are rejected if a trigger that is new skips one, and run alone after that', async () => {
    const { storage } = await opened(1)
    await schema.run(`create function skip() returns trigger language plpgsql as
        $$ begin return case when new.visits = 2 then null else new end; end $$;
      create trigger skip before insert on customers for each row execute function skip()`)
    onTestFinished(() => change('drop function skip cascade'))
    const all = (numbers: readonly number[]) =>
      Promise.allSettled(numbers.map((number) => insert(storage, customers, customer(number))))
    const first = await all([1, 2])
    expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const second = await all([2, 4])
    expect(second).toMatchObject([
      { status: 'rejected', reason: { kind: 'invalid' } },
      { status: 'fulfilled', value: { customerId: 'c4' } },
    ])
  })

  test('do not wait for a row that another transaction has locked for longer than it does', async () => {
    const { storage } = await opened(1, { lockTimeout: 200 })
    const other = await schema.open(1).connect()
    onTestFinished(() => other.release())
    await other.query(`begin; insert into customers ("customerId") values ('c2')`)
    const results = await Promise.allSettled(
      [1, 2, 3].map((number) => insert(storage, customers, customer(number))),
    )
    await other.query('rollback')
    expect(results).toMatchObject([
      { value: { customerId: 'c1' } },
      { reason: { kind: 'unavailable' } },
      { value: { customerId: 'c3' } },
    ])
    expect(await stored()).toEqual(['c1', 'c3'])
  })

  test('are all rejected, and not repeated, if their connection is lost', async () => {
    const { storage, pool } = await opened(1)
    const other = await schema.open(1).connect()
    onTestFinished(() => other.release())
    await other.query(`begin; lock table customers`)
    const all = Promise.allSettled(
      [1, 2, 3, 4].map((number) => insert(storage, customers, customer(number))),
    )
    const { application_name: name } = pool.options as { application_name?: string }
    const waiting = `select pid from pg_stat_activity where application_name = '${name}' and wait_event_type = 'Lock'`
    while ((await schema.run(waiting)).length === 0);
    await schema.run(`select pg_terminate_backend(pid) from (${waiting}) as one`)
    const results = await all
    await other.query('rollback')
    expect(results).toMatchObject(
      results.map(() => ({ status: 'rejected', reason: { kind: 'unavailable' } })),
    )
    expect(await stored()).toEqual([])
    await insert(storage, customers, customer(5))
    expect(await stored()).toEqual(['c5'])
  })

  test('that got no connection in time are rejected, and never run', async () => {
    const { storage } = await opened(1, { acquireTimeout: 100 })
    let rejected: readonly PromiseSettledResult<Row>[] = []
    await storage.transaction({ mode: 'write', brief: false }, async (on) => {
      await on.insert(customers, customer(1))
      rejected = await Promise.allSettled(
        [2, 3].map((number) => insert(storage, customers, customer(number))),
      )
    })
    expect(rejected).toMatchObject(
      [2, 3].map(() => ({ status: 'rejected', reason: { kind: 'unavailable' } })),
    )
    await insert(storage, customers, customer(4))
    expect(await stored()).toEqual(['c1', 'c4'])
  })
})
