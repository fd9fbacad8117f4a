import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'
import { customers, rowOf } from '../../../src/conformance/collections.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../../src/entries/storage.ts'
import { pooledServers, type PooledServer } from './pooled-servers.ts'

const oneWrite = { mode: 'write', brief: true, oneWrite: true } as const

const numbered = publishCollection(
  'app',
  'numbered',
  defineCollection({
    key: 'id',
    fields: { id: integer({ generated: 'database' }), label: text() },
  }),
)

describe.each(pooledServers)('inserts that wait for a connection of $name together', (pooled) => {
  if (pooled.missing !== undefined) return
  let server: PooledServer

  beforeAll(async () => {
    server = await pooled.start()
    const storage = server.open(1, { ensureSchema: true })
    await storage.open([customers, numbered])
    await storage.close()
  })
  beforeEach(() => server.clear())
  afterAll(() => server.drop())

  async function opened(
    max: number,
    options: Parameters<PooledServer['open']>[1] = {},
  ): Promise<{ storage: StorageAdapter; sent: string[] }> {
    const sent: string[] = []
    const storage = server.open(max, options, (statement) => sent.push(statement))
    await storage.open([customers, numbered])
    onTestFinished(() => storage.close())
    return { storage, sent }
  }

  const change = async (...statements: readonly string[]): Promise<void> => {
    await server.run(...statements)
  }
  const insert = (storage: StorageAdapter, collection: PublishedCollection, row: Row) =>
    storage.transaction(oneWrite, (on) => on.insert(collection, row))
  const customer = (number: number): Row =>
    rowOf(customers, { customerId: `c${number}`, companyName: `Company ${number}`, visits: number })
  const inserts = (sent: readonly string[]): readonly string[] =>
    sent.filter((each) => each.includes('insert into'))
  const stored = async (): Promise<readonly unknown[]> =>
    (await server.run('select * from customers order by 1')).map(({ customerId }) => customerId)

  test('run in a few statements, and each returns its own row', async () => {
    const { storage, sent } = await opened(2)
    const labels = Array.from({ length: 100 }, (_, index) => `label ${index}`)
    const rows = await Promise.all(
      labels.map((label) => insert(storage, numbered, { id: null, label })),
    )
    expect(rows.map(({ label }) => label)).toEqual(labels)
    const found = await server.run('select id, label from numbered')
    const labelOf = new Map(found.map(({ id, label }) => [Number(id), label]))
    expect(found).toHaveLength(100)
    expect(rows.map(({ id }) => labelOf.get(Number(id)))).toEqual(labels)
    expect(inserts(sent).length).toBeLessThan(20)
  })

  test('run even if connections that are new serve earlier ones later', async () => {
    const { storage, sent } = await opened(3)
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    // The only open connection is in use until two others have begun to open. On a busy machine, one may serve all inserts.
    setTimeout(() => release(), 1_000)
    const using = storage.transaction({ mode: 'write', brief: false }, () => gate)
    sent.length = 0
    const push = sent.push.bind(sent)
    sent.push = (text) => {
      const length = push(text)
      if (sent.filter((one) => one === sent[0]).length === 2) release()
      return length
    }
    const rows = await Promise.all([1, 2, 3].map((n) => insert(storage, customers, customer(n))))
    await using
    expect(rows.map(({ customerId }) => customerId)).toEqual(['c1', 'c2', 'c3'])
    expect(await stored()).toEqual(['c1', 'c2', 'c3'])
  })

  test('do not end with the request of another one', async () => {
    const { storage } = await opened(1)
    const within = (number: number, milliseconds: number) =>
      storage.transaction({ ...oneWrite, deadline: performance.now() + milliseconds }, (on) =>
        on.insert(customers, customer(number)),
      )
    const using = storage.transaction({ mode: 'write', brief: false }, () => Promise.resolve())
    const all = Promise.allSettled([within(1, 1), within(2, 20_000), within(3, 20_000)])
    // The time of the first one ends before its connection is free.
    const began = performance.now()
    while (performance.now() - began < 5);
    await using
    expect(await all).toMatchObject([
      { reason: { kind: 'unavailable' } },
      { value: { customerId: 'c2' } },
      { value: { customerId: 'c3' } },
    ])
    expect(await stored()).toEqual(['c2', 'c3'])
  })

  test('fail only for the row that cannot be inserted', async () => {
    await change('alter table customers add constraint few check (visits < 90)')
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

  test('do not wait for the lock of another one for longer than it does', async () => {
    const { storage } = await opened(1, { lockTimeout: 1_000 })
    const undo = await server.hold('begin', `insert into customers values ('c2', null, null, null)`)
    const results = await Promise.allSettled(
      [1, 2, 3].map((number) => insert(storage, customers, customer(number))),
    )
    await undo()
    expect(results).toMatchObject([
      { value: { customerId: 'c1' } },
      { reason: { kind: 'unavailable' } },
      { value: { customerId: 'c3' } },
    ])
    expect(await stored()).toEqual(['c1', 'c3'])
  })

  test('are all rejected, and not repeated, if their connection is lost', async () => {
    const { storage } = await opened(1)
    const undo = await server.hold(...pooled.lock('customers'))
    const all = Promise.allSettled(
      [1, 2, 3, 4].map((number) => insert(storage, customers, customer(number))),
    )
    await expect.poll(() => server.killWaiting()).toBe(1)
    const results = await all
    await undo()
    expect(results).toMatchObject(
      results.map(() => ({ status: 'rejected', reason: { kind: 'unavailable' } })),
    )
    expect(await stored()).toEqual([])
    await insert(storage, customers, customer(5))
    expect(await stored()).toEqual(['c5'])
  })

  test('that got no connection in time are rejected, and never run', async () => {
    const { storage } = await opened(1, { acquireTimeout: 1_000 })
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

  if (pooled.name !== 'PostgreSQL') return

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
})
