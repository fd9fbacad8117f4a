import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { customers, rowOf, samples } from '../../../src/conformance/collections.ts'
import type { Row, StorageAdapter } from '../../../src/entries/storage.ts'
import { equal } from '../../../src/request/query.ts'
import { pooledServers, type PooledServer } from './pooled-servers.ts'

const oneWrite = { mode: 'write', brief: true, oneWrite: true } as const
const count = 40

describe.each(pooledServers)('updates that wait for a connection of $name', (pooled) => {
  if (pooled.missing !== undefined) return
  let server: PooledServer
  const keyColumn = pooled.name === 'PostgreSQL' ? '"customerId"' : 'customerId'

  beforeAll(async () => {
    server = await pooled.start()
    const storage = server.open(1, { ensureSchema: true })
    await storage.open([customers, samples])
    await storage.close()
  })
  beforeEach(() => server.clear())
  afterAll(() => server.drop())

  async function opened(max: number): Promise<{ storage: StorageAdapter; sent: string[] }> {
    const sent: string[] = []
    const storage = server.open(max, {}, (statement) => sent.push(statement))
    await storage.open([customers, samples])
    onTestFinished(() => storage.close())
    await storage.transaction({ mode: 'write', brief: true }, async (on) => {
      for (let number = 0; number < count; number++) {
        await on.insert(customers, customer(number))
        await on.insert(samples, rowOf(samples, { id: number }))
      }
    })
    sent.length = 0
    return { storage, sent }
  }

  const customer = (number: number, values: Row = {}): Row =>
    rowOf(customers, { customerId: `c${number}`, visits: 0, ...values })
  const update = (
    storage: StorageAdapter,
    number: number,
    changes: Row,
    increments?: Record<string, string>,
  ) =>
    storage.transaction(oneWrite, (on) =>
      on.update(customers, [equal('customerId', `c${number}`)], changes, increments),
    )
  const stored = async (storage: StorageAdapter): Promise<readonly Row[]> => {
    const sort = [{ field: 'customerId', descending: false }]
    const select = customers.allNames
    const all = { conditions: [], search: null, sort, select, limit: 100, offset: 0, count: false }
    return (await storage.filter(customers, all)).rows
  }
  const updates = (sent: readonly string[]): readonly string[] =>
    sent.filter((each) => each.startsWith('update'))
  const everyNumber = Array.from({ length: count }, (_, number) => number)

  test('are fewer statements, and each returns its own row', async () => {
    const { storage, sent } = await opened(2)
    const changed = (number: number): Row => ({
      visits: number,
      companyName: `"{${number},\\}'`,
      region: number % 2 === 0 ? null : 'null',
    })
    const rows = await Promise.all(
      everyNumber.map((number) => update(storage, number, changed(number))),
    )
    const expected = everyNumber.map((number) => customer(number, changed(number)))
    expect(rows).toEqual(expected)
    expect(new Set(await stored(storage))).toEqual(new Set(expected))
    expect(updates(sent).length).toBeLessThan(count / 2)
  })

  test('keep values of every type', async () => {
    const { storage } = await opened(1)
    const values: Row = {
      label: 'NULL',
      quantity: Number.MIN_SAFE_INTEGER,
      large: '-9223372036854775808',
      amount: '-1.5000',
      ratio: 1e-7,
      flag: false,
      day: '2024-02-29',
      hour: '23:59:59',
      local: '2024-02-29T12:00:00.123',
      moment: '2024-02-29T12:00:00.123Z',
      token: '00000000-0000-4000-8000-000000000000',
      data: '{"a": ["\\"", null, "\\\\"]}',
    }
    const rows = await Promise.all(
      everyNumber.map((id) =>
        storage.transaction(oneWrite, (on) =>
          on.update(samples, [equal('id', id)], id % 2 === 0 ? values : { ...values, label: null }),
        ),
      ),
    )
    const wanted = (id: number): Row =>
      rowOf(samples, { id, ...values, ...(id % 2 === 1 && { label: null }) })
    expect(rows).toEqual(everyNumber.map(wanted))
  })

  test('of one row all count, and a missing row has no other one', async () => {
    const { storage } = await opened(2)
    const numbers = [0, 1, 0, 99, 2, 0, 98, 1]
    const rows = await Promise.all(
      numbers.map((number) => update(storage, number, {}, { visits: '1' })),
    )
    expect(rows.map((row) => row?.['customerId'])).toEqual(
      numbers.map((number) => (number < count ? `c${number}` : undefined)),
    )
    const visits = new Map((await stored(storage)).map((row) => [row['customerId'], row['visits']]))
    expect([visits.get('c0'), visits.get('c1'), visits.get('c2')]).toEqual([3, 2, 1])
  })

  test('write only rows that meet their other conditions, also if they change what these are about', async () => {
    const { storage, sent } = await opened(2)
    await update(storage, 3, { visits: 1 })
    sent.length = 0
    const changes = (number: number): Row => ({ visits: 5 + number, companyName: 'new' })
    const rows = await Promise.all(
      everyNumber.slice(0, 16).map((number) => {
        const conditions = [equal('visits', 0), equal('customerId', `c${number}`)]
        return storage.transaction(oneWrite, (on) =>
          on.update(customers, conditions, changes(number)),
        )
      }),
    )
    expect(rows).toEqual(
      everyNumber
        .slice(0, 16)
        .map((number) => (number === 3 ? undefined : customer(number, changes(number)))),
    )
    const names = (await stored(storage)).filter((row) => row['companyName'] === 'new')
    expect(names).toHaveLength(15)
    expect(updates(sent).length).toBeGreaterThan(0)
  })

  test('lock no other rows', async () => {
    const { storage, sent } = await opened(1)
    const undo = await server.hold(
      'begin',
      `update customers set visits = 9 where ${keyColumn} = 'c39'`,
    )
    onTestFinished(undo)
    const some = everyNumber.slice(0, 32)
    const rows = await Promise.all(some.map((number) => update(storage, number, { visits: 7 })))
    expect(rows.map((row) => row?.['visits'])).toEqual(some.map(() => 7))
    expect(updates(sent)).toHaveLength(2)
  })

  test('in a transaction leave out a row that is missing', async () => {
    const { storage } = await opened(1)
    const rows = await storage.transaction({ mode: 'write', brief: true }, (on) =>
      Promise.all(
        [0, 1, 99, 2].map(async (number) =>
          on.update(customers, [equal('customerId', `c${number}`)], {}, { visits: '2' }),
        ),
      ),
    )
    expect(rows.map((row) => row?.['visits'])).toEqual([2, 2, undefined, 2])
    const visits = (await stored(storage)).map((row) => row['visits'])
    expect(visits.filter((value) => value === 2)).toHaveLength(3)
  })

  test('of long texts are no statement that is too long for the server', async () => {
    const { storage } = await opened(2)
    const long = "'".repeat(900_000)
    const text = (id: number): Row => ({ label: `${id}${long}` })
    const written = Promise.all(
      Array.from({ length: 24 }, (_, id) =>
        storage.transaction(oneWrite, (on) =>
          id < 12
            ? on.update(samples, [equal('id', id)], text(id))
            : on.insert(samples, rowOf(samples, { id: 100 + id, ...text(id) })),
        ),
      ),
    )
    const lengths = (await written).map((row) => String(row?.['label']).length)
    expect(Math.min(...lengths)).toBeGreaterThan(900_000)
    const together = storage.transaction({ mode: 'write', brief: true }, (on) =>
      Promise.all(
        Array.from({ length: 24 }, async (_, id) =>
          on.update(samples, [equal('id', id)], text(id)),
        ),
      ),
    )
    expect(await together).toHaveLength(24)
  })

  test('one that fails fails alone', async () => {
    const { storage } = await opened(2)
    await server.run('alter table customers add constraint few check (visits < 100)')
    onTestFinished(async () => {
      await server.run('alter table customers drop constraint few')
    })
    const outcomes = await Promise.allSettled(
      everyNumber.map((number) => update(storage, number, { visits: number === 17 ? 100 : 5 })),
    )
    const failed = outcomes.flatMap((one, number) => (one.status === 'rejected' ? [number] : []))
    expect(failed).toEqual([17])
    const visits = (await stored(storage)).map((row) => row['visits'])
    expect(visits.filter((value) => value === 5)).toHaveLength(count - 1)
  })

  test('a row that another transaction has locked holds up no other one for long', async () => {
    const { storage } = await opened(3)
    const undo = await server.hold('begin', `update customers set visits = 9 where visits = 0`)
    const waiting = everyNumber.map((number) => update(storage, number, { visits: 7 }))
    setTimeout(() => {
      void undo()
    }, 200)
    await Promise.all(waiting)
    expect((await stored(storage)).map((row) => row['visits'])).toEqual(everyNumber.map(() => 7))
  })

  test('in one turn are full statements', async () => {
    const { storage, sent } = await opened(5)
    await Promise.all(everyNumber.map((number) => update(storage, number, { visits: 1 })))
    expect(updates(sent)).toHaveLength(3)
  })

  test('wait only for a moment for statements that wait for locks', async () => {
    const { storage, sent } = await opened(5)
    const undo = await server.hold(
      'begin',
      `update customers set visits = 9 where ${keyColumn} in ('c0', 'c1')`,
    )
    const stuck: Promise<unknown>[] = []
    for (const number of [0, 1]) {
      stuck.push(update(storage, number, { visits: 7 }))
      await expect.poll(() => updates(sent)).toHaveLength(number + 1)
    }
    const rows = await Promise.all([2, 3].map((number) => update(storage, number, { visits: 8 })))
    expect(rows.map((row) => row?.['visits'])).toEqual([8, 8])
    expect(updates(sent)).toHaveLength(3)
    await undo()
    expect(await Promise.all(stuck)).toMatchObject([{ visits: 7 }, { visits: 7 }])
  })
})
