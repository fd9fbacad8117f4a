import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  mount,
  openAccess,
  system,
  text,
  type Observation,
} from '../../src/entries/index.ts'
import { checkedStorage } from '../../src/storage/layers/checked.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle, rowsIn } from '../kit/databases.ts'

const seen: unknown[] = []
const tickets = defineCollection(
  {
    key: 'id',
    fields: {
      id: integer({ generated: 'database' }),
      title: text({ required: true }),
      status: text({ required: true, default: 'database', enumeration: ['new', 'open'] }),
      priority: integer({ default: 'database' }),
      owner: text({ readOnly: true, default: 'database' }),
      word: text({ default: () => 'database' }),
    },
  },
  {
    validations: [
      {
        name: 'seen',
        severity: 'error',
        check: (item) => void seen.push(['check', item.status, item.priority]),
      },
    ],
    events: {
      Insert: {
        before({ item }) {
          seen.push(['before', item.status])
          if (item.title === 'urgent') item.priority = 1
        },
        after({ item }) {
          seen.push(['after', item.status, item.priority])
        },
      },
    },
  },
)
const table = `CREATE TABLE tickets (id INTEGER PRIMARY KEY, title TEXT, status TEXT NOT NULL DEFAULT 'new',
  priority INTEGER DEFAULT (1 + 2), owner TEXT DEFAULT 'nobody', word TEXT)`

describe.each(drivers)('%s: the defaults of columns', (driver) => {
  async function withService(
    run: (service: Awaited<ReturnType<typeof opened>>) => Promise<void>,
  ): Promise<void> {
    const on = await opened()
    try {
      await run(on)
    } finally {
      await on.service.close()
      on.handle.close()
    }
  }
  async function opened() {
    const handle = openHandle(driver, ':memory:')
    handle.exec(table)
    const reports: Observation[] = []
    const service = createService({
      applications: { app: { collections: { tickets } } },
      storage: sqliteStorage(handle),
      security: openAccess(),
      report: (observation) => void reports.push(observation),
    })
    await service.ready()
    return { handle, service, reports }
  }
  const insert = async (
    { service }: Awaited<ReturnType<typeof opened>>,
    values: Readonly<Record<string, unknown>>,
  ) => {
    const reply = await service.handle({
      method: 'POST',
      target: '/rest/v1/app/tickets',
      header: (name) => ({ 'content-type': 'application/json' })[name],
      secure: true,
      peer: undefined,
      signal: undefined,
      body: async () => new TextEncoder().encode(JSON.stringify(values)),
    })
    return { status: reply.status, body: JSON.parse(reply.body) as Record<string, unknown> }
  }

  test('an absent value is left to its column, and the response has it', async () => {
    await withService(async (on) => {
      seen.length = 0
      const item = { id: 1, title: 'a', status: 'new', priority: 3, owner: 'nobody' }
      expect(await insert(on, { title: 'a' })).toMatchObject({
        status: 200,
        body: { item: { ...item, word: 'database' } },
      })
      expect(seen).toEqual([
        ['before', null],
        ['check', null, null],
        ['after', 'new', 3],
      ])
      expect(rowsIn(on.handle, 'SELECT * FROM tickets')).toEqual([{ ...item, word: 'database' }])
    })
  })

  test('a given value is stored, also null and the value of a handler', async () => {
    await withService(async (on) => {
      const given = { title: 'a', status: 'open', priority: null }
      expect(await insert(on, given)).toMatchObject({ body: { item: given } })
      const urgent = await insert(on, { title: 'urgent' })
      expect(urgent).toMatchObject({ body: { item: { priority: 1, status: 'new' } } })
      // A client may send back the null of a read-only field.
      expect(await insert(on, { title: 'b', owner: null })).toMatchObject({
        body: { item: { owner: 'nobody' } },
      })
      const stored = rowsIn(on.handle, 'SELECT status, priority, owner FROM tickets')
      expect(stored).toEqual([
        { status: 'open', priority: null, owner: 'nobody' },
        { status: 'new', priority: 1, owner: 'nobody' },
        { status: 'new', priority: 3, owner: 'nobody' },
      ])
    })
  })

  test('several items are inserted with the defaults of their columns', async () => {
    await withService(async ({ service }) => {
      const own = service.as(system).collection('app', 'tickets')
      const result = await own.insertMany([{ title: 'a' }, { title: 'b', status: 'open' }])
      expect(result).toMatchObject({
        rejected: false,
        items: [
          { title: 'a', status: 'new', priority: 3 },
          { title: 'b', status: 'open', priority: 3 },
        ],
      })
    })
  })

  test('null is rejected for a required field', async () => {
    await withService(async (on) => {
      const rejected = await insert(on, { title: 'a', status: null })
      expect(rejected).toMatchObject({
        status: 400,
        body: { validations: [{ field: 'status', message: 'status is required.' }] },
      })
      const both = await insert(on, { status: null })
      expect(both.body['validations']).toHaveLength(2)
      expect(rowsIn(on.handle, 'SELECT id FROM tickets')).toEqual([])
    })
  })

  test('a new item that is not stored has null', async () => {
    await withService(async ({ service }) => {
      const own = service.as(system).collection('app', 'tickets')
      expect(await own.new()).toMatchObject({ status: null, priority: null, word: 'database' })
      expect(await own.change({ title: 'a' })).toMatchObject({ rejected: false })
    })
  })

  test('the column must have a default', async () => {
    const { tickets: published } = { tickets }
    const messageOf = async (sql: string): Promise<string> => {
      const handle = openHandle(driver, ':memory:')
      handle.exec(sql)
      const service = createService({
        applications: { app: { collections: { tickets: published } } },
        storage: sqliteStorage(handle, { ensureSchema: 'columns' }),
        security: openAccess(),
      })
      try {
        await service.ready()
        return ''
      } catch (error) {
        return (error as Error).message
      } finally {
        expect(rowsIn(handle, 'SELECT count(*) AS n FROM sqlite_schema')).toEqual([
          { n: sql === '' ? 0 : 1 },
        ])
        await service.close()
        handle.close()
      }
    }
    expect(await messageOf(table.replace(`DEFAULT 'nobody'`, ''))).toContain(
      'app/tickets.owner: column "owner" of table "tickets" has no default.',
    )
    expect(await messageOf('')).toContain(
      'and with defaults of the columns "status", "priority", "owner".',
    )
    expect(await messageOf(table)).toBe('')
  })
})

test('a storage without columns rejects them at start', () => {
  const applications = { app: { collections: { tickets } } }
  const storage = memoryStorage()
  const start = (given: typeof storage) =>
    createService({ applications, storage: given, security: openAccess() })
  const message = `default is 'database' for app/tickets.status, app/tickets.priority, app/tickets.owner.`
  expect(() => start(memoryStorage())).toThrow(`The storage memory has no columns`)
  expect(() => start({ ...storage, name: 'own' })).toThrow(message)
  expect(() => checkedStorage({ ...storage, name: 'own' }).open([])).not.toThrow()
})

test('a mounted storage is checked with its own collections', async () => {
  const service = createService({
    applications: { app: { collections: { tickets } } },
    storage: mount({ '*': memoryStorage() }),
    security: openAccess(),
  })
  await expect(service.ready()).rejects.toThrow('The storage memory has no columns')
  await service.close()
})
