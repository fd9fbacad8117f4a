import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  dateTime,
  defineCollection,
  instant,
  integer,
  openAccess,
  principal,
  text,
} from '../../../src/entries/index.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'

const spaced = 'YYYY-MM-DD hh:mm:ss[.ffffff]'
const events = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    at: dateTime({ storedAs: spaced }),
    fixed: dateTime({ storedAs: 'YYYY-MM-DD hh:mm:ss.ffffff' }),
    iso: dateTime({ storedAs: 'YYYY-MM-DDThh:mm:ss[.ffffff]' }),
    moment: instant({ storedAs: 'YYYY-MM-DDThh:mm:ss[.ffffff]Z' }),
    naive: instant({ storedAs: spaced }),
    plain: dateTime(),
    note: text(),
  },
})
const columns = ['at', 'fixed', 'iso', 'moment', 'naive'] as const

describe.each(drivers)('with %s', (driver) => {
  async function open(ensureSchema = false) {
    const handle = openHandle(driver, ':memory:')
    if (!ensureSchema)
      handle.exec(`
        CREATE TABLE events (id INTEGER PRIMARY KEY, at DATETIME, fixed DATETIME(6), iso TEXT, moment VARCHAR(40), naive TIMESTAMP, plain TEXT, note TEXT);
        INSERT INTO events (id, at, fixed, iso, moment, naive, note) VALUES
          (1, '2024-03-10 09:30:00.123456', '2024-03-10 09:30:00.123456', '2024-03-10T09:30:00.123456', '2024-03-10T09:30:00.123456Z', '2024-03-10 09:30:00.123456', 'a'),
          (2, '2024-03-10 09:30:00.123999', '2024-03-10 09:30:00.123999', '2024-03-10T09:30:00.123999123', '2024-03-10T09:30:00.123999123Z', '2024-03-10 09:30:00.1239991', 'b'),
          (3, '2024-03-10 09:30:00', '2024-03-10 09:30:00.000000', '2024-03-10T09:30:00', '2024-03-10T09:30:00Z', '2024-03-10 09:30:00.000', 'c'),
          (4, '2024-03-10 09:30:00.000456', '2024-03-10 09:30:00.000456', '2024-03-10T09:30:00.000456', '2024-03-10T09:30:00.000456Z', '2024-03-10 09:30:00.000456', 'd'),
          (5, '2024-03-10 09:30:00.5', '2024-03-10 09:30:00.500000', '2024-03-10T09:30:00.50', '2024-03-10T09:30:00.5Z', '2024-03-10 09:30:00.500', 'e'),
          (6, NULL, NULL, NULL, NULL, NULL, 'f')`)
    const service = createService({
      applications: { app: { collections: { events } } },
      storage: sqliteStorage(handle, { ensureSchema }),
      security: openAccess(),
    })
    await service.ready()
    onTestFinished(async () => {
      await service.close()
      handle.close()
    })
    const send = async (method: string, path: string, values?: unknown) => {
      const reply = await service.handle({
        method,
        target: `/rest/v1/app/events${path}`,
        header: (name) => ({ 'content-type': 'application/json' })[name],
        secure: true,
        peer: undefined,
        signal: undefined,
        body: async () => new TextEncoder().encode(JSON.stringify(values)),
      })
      return JSON.parse(reply.body) as { items: Item[]; item: Item; status: number }
    }
    const stored = (id: number, column: string) =>
      (rowsIn(handle, `SELECT ${column} AS value FROM events WHERE id = ?`, id)[0] as Item)['value']
    return { service, send, stored, handle }
  }
  type Item = Record<string, unknown> & { readonly id: number }
  const expected = [
    '2024-03-10T09:30:00.123',
    '2024-03-10T09:30:00.123',
    '2024-03-10T09:30:00',
    '2024-03-10T09:30:00',
    '2024-03-10T09:30:00.500',
  ]
  const zoneOf = (column: string): string => (['moment', 'naive'].includes(column) ? 'Z' : '')

  test('items have the times without the digits after the milliseconds', async () => {
    const { send, service } = await open()
    const { items } = await send('GET', '?$limit=5')
    for (const column of columns)
      expect(items.map((item) => item[column])).toEqual(
        expected.map((time) => time + zoneOf(column)),
      )
    expect((await send('GET', '/1')).item).toEqual(items[0])
    expect(await service.inspect()).toEqual([])
  })

  test.each(columns)('conditions and orders of %s compare these times', async (column) => {
    const { send, service } = await open()
    const ids = async (query: string) => (await send('GET', query)).items.map(({ id }) => id)
    const z = zoneOf(column)
    expect(await ids(`?${column}=2024-03-10T09:30:00.123${z}`)).toEqual([1, 2])
    expect(await ids(`?${column}=2024-03-10T09:30:00${z}`)).toEqual([3, 4])
    expect(await ids(`?${column}=2024-03-10T09:30:00.500${z}`)).toEqual([5])
    // Rows with equal values have the order of their keys.
    expect(await ids(`?$sort=${column},-id`)).toEqual([6, 4, 3, 2, 1, 5])
    expect(await ids(`?$sort=-${column},id`)).toEqual([5, 1, 2, 3, 4, 6])
    const events = service.as(principal('any')).collection('app', 'events')
    const found = async (condition: object) =>
      (await events.filter({ [column]: condition })).items.map(({ id }) => id)
    expect(await found({ gt: `2024-03-10T09:30:00${z}` })).toEqual([1, 2, 5])
    expect(await found({ lte: `2024-03-10T09:30:00.123${z}` })).toEqual([1, 2, 3, 4])
    expect(await found({ in: [`2024-03-10T09:30:00.500${z}`, `2024-03-10T09:30:00${z}`] })).toEqual(
      [3, 4, 5],
    )
  })

  test.each(columns)('a save of the same time keeps the digits of %s', async (column) => {
    const { send, stored } = await open()
    const before = [1, 2, 3, 4, 5].map((id) => stored(id, column))
    for (const id of [1, 2, 3, 4, 5]) {
      const { item } = await send('GET', `/${id}`)
      const saved = await send('POST', `/${id}`, { ...item, note: 'changed' })
      expect(saved).toMatchObject({ status: 200, item: { ...item, note: 'changed' } })
    }
    expect([1, 2, 3, 4, 5].map((id) => stored(id, column))).toEqual(before)
  })

  test.each([false, true])('another time is stored in the form (own table: %s)', async (own) => {
    const { send, stored, service } = await open(own)
    const values = (time: string) =>
      Object.fromEntries(columns.map((column) => [column, time + zoneOf(column)]))
    const first = { id: 9, ...values('2025-01-01T00:00:00.250'), plain: null, note: null }
    expect(await send('POST', '', first)).toMatchObject({ status: 200, item: first })
    expect(columns.map((column) => stored(9, column))).toEqual([
      '2025-01-01 00:00:00.250000',
      '2025-01-01 00:00:00.250000',
      '2025-01-01T00:00:00.250000',
      '2025-01-01T00:00:00.250000Z',
      '2025-01-01 00:00:00.250000',
    ])
    const second = values('2025-01-01T00:00:00')
    expect(await send('POST', '/9', second)).toMatchObject({ status: 200, item: second })
    expect(columns.map((column) => stored(9, column))).toEqual([
      '2025-01-01 00:00:00',
      '2025-01-01 00:00:00.000000',
      '2025-01-01T00:00:00',
      '2025-01-01T00:00:00Z',
      '2025-01-01 00:00:00',
    ])
    expect(await service.inspect()).toEqual([])
  })

  test.each([
    ['at', '2024-03-10T09:30:00'],
    ['plain', '2024-03-10T24:00:00'],
    ['plain', '2024-03-10T24:00:00.500'],
    ['at', '2024-03-10 09:30:00.'],
    ['at', '2024-03-10 09:30:00.1x'],
    ['at', '2024-03-10 09:30:00.1234567890'],
    ['at', '2024-03-10 24:00:00.000000'],
    ['at', '2023-02-29 09:30:00.123456'],
    ['at', '2024-03-10 09:30:00.123456Z'],
    ['fixed', '2024-03-10 09:30:00'],
    ['fixed', '2024-03-10 09:30:00.123'],
    ['moment', '2024-03-10T09:30:00.123456'],
    ['moment', '2024-03-10T09:30:00ZZ'],
    ['moment', '2024-03-10T09:30:00.123456+00:00'],
  ])('a value of %s does not fit: %s', async (column, value) => {
    const { handle, service } = await open()
    handle.exec(`UPDATE events SET ${column} = '${value}' WHERE id = 1`)
    expect(await service.inspect()).toMatchObject([{ kind: 'unfit', fields: [column], count: 1 }])
  })
})
