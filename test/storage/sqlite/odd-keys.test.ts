import { describe, expect, test } from 'vitest'
import {
  createService,
  dateTime,
  decimal,
  defineCollection,
  instant,
  integer,
  openAccess,
  system,
  text,
} from '../../../src/entries/index.ts'
import { toFetchHandler } from '../../../src/entries/fetch.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

describe.each(drivers)('%s: a key of another program', (driver) => {
  const keys = [`x'c3a9'`, `'a' || char(0) || 'b'`, `cast(x'61ff62' as text)`]

  test.each([
    ['TEXT', [...keys, 'null']],
    ['TEXT NOT NULL', keys],
  ])('that does not fit is found in a column %s', async (type, odd) => {
    const handle = openHandle(driver, ':memory:')
    handle.exec(`CREATE TABLE notes (id ${type} PRIMARY KEY, label TEXT)`)
    const notes = defineCollection({ key: 'id', fields: { id: text(), label: text() } })
    const service = createService({
      applications: { shop: { collections: { notes } } },
      storage: sqliteStorage(handle),
      security: openAccess(),
      report: () => undefined,
    })
    const handler = toFetchHandler(service)
    const all = service.as(system).collection('shop', 'notes')
    for (const key of odd) {
      handle.exec(`DELETE FROM notes; INSERT INTO notes VALUES ('tea', 'x'), (${key}, 'x')`)
      await expect(all.filter()).rejects.toMatchObject({ kind: 'unfit', fields: ['id'] })
      const { status } = await handler(new Request('http://localhost/rest/v1/shop/notes'))
      expect(status).toBe(500)
      expect(await all.get('tea')).toEqual({ id: 'tea', label: 'x' })
    }
    await service.close()
    handle.close()
  })
})

const fraction = { dateTime: '2020-01-01T12:34:56.789', instant: '2020-01-01T12:34:56.789Z' }

describe.each(drivers)('%s: a fraction that no key can have', (driver) => {
  test.each(['dateTime', 'instant'] as const)(
    'refers to no item of a collection with keys of whole seconds: %s',
    async (type) => {
      const handle = openHandle(driver, ':memory:')
      const field = type === 'dateTime' ? dateTime : instant
      const days = defineCollection({
        key: 'day',
        fields: { day: field({ storedAs: 'unixSeconds' }) },
      })
      const notes = defineCollection({
        key: 'id',
        fields: { id: integer(), day: field({ references: 'days' }) },
      })
      const service = createService({
        applications: { desk: { collections: { days, notes } } },
        storage: sqliteStorage(handle, { ensureSchema: true }),
        security: openAccess(),
      })
      await service.ready()
      const saved = await service
        .as(system)
        .collection('desk', 'notes')
        .insert({ id: 1, day: fraction[type] })
      expect(saved).toMatchObject({
        rejected: true,
        validations: [{ message: 'day must be the key of an item of days.' }],
      })
      await service.close()
      handle.close()
    },
  )

  test('is not accepted as the number of a row', async () => {
    const handle = openHandle(driver, ':memory:')
    handle.exec('CREATE TABLE prices (id INTEGER PRIMARY KEY)')
    const id = decimal({ precision: 9, scale: 2, storedAs: 'real' })
    const service = createService({
      applications: {
        desk: { collections: { prices: defineCollection({ key: 'id', fields: { id } }) } },
      },
      storage: sqliteStorage(handle),
      security: openAccess(),
    })
    await service.ready()
    const prices = service.as(system).collection('desk', 'prices')
    expect(await prices.insert({ id: '12.00' })).toMatchObject({ rejected: false })
    expect(await prices.insert({ id: '12.01' })).toMatchObject({ rejected: true })
    expect(await prices.count()).toBe(1)
    await service.close()
    handle.close()
  })
})
