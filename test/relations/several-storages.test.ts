import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  mount,
  openAccess,
  system,
  text,
} from '../../src/entries/index.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { localStorages } from '../kit/storages.ts'
import { withServices } from '../kit/service.ts'

const customers = defineCollection({ key: 'id', fields: { id: integer() } })
const orders = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    customerId: integer({ references: 'customers', onDelete: 'cascade' }),
  },
})
const lines = defineCollection({
  key: 'id',
  fields: { id: integer(), orderId: integer({ references: 'orders' }) },
})

test.each([
  ['memory and SQLite', () => memoryStorage()],
  ['two databases', () => sqliteStorage(':memory:', { ensureSchema: true })],
])('references hold between %s', async (_, open) => {
  const service = createService({
    applications: { app: { collections: { customers, orders, lines } } },
    storage: mount({
      'app/customers': open(),
      '*': sqliteStorage(':memory:', { ensureSchema: true }),
    }),
    security: openAccess(),
  })
  await service.ready()
  const own = service.as(system)
  const rejected = await own.collection('app', 'orders').insert({ id: 1, customerId: 1 })
  expect(rejected).toMatchObject({ rejected: true, validations: [{ field: 'customerId' }] })
  await own.collection('app', 'customers').insert({ id: 1 })
  await own.collection('app', 'orders').insert({ id: 1, customerId: 1 })
  await own.collection('app', 'lines').insert({ id: 1, orderId: 1 })
  const remove = () => own.collection('app', 'customers').delete(1)
  await expect(remove()).rejects.toMatchObject({
    code: 'ITEM_IN_USE',
    message: 'Other items still refer to this one: lines.',
  })
  await own.collection('app', 'lines').delete(1)
  expect(await remove()).toMatchObject({ rejected: false })
  expect((await own.collection('app', 'orders').filter()).items).toEqual([])
  await service.close()
})

test('tables with one name in two storages do not share their relations', async () => {
  const service = createService({
    applications: {
      app: { collections: { customers, orders, others: { ...customers, table: 'customers' } } },
    },
    storage: mount({ 'app/others': memoryStorage(), '*': memoryStorage() }),
    security: openAccess(),
  })
  await service.ready()
  const own = service.as(system)
  await own.collection('app', 'customers').insert({ id: 1 })
  await own.collection('app', 'others').insert({ id: 1 })
  await own.collection('app', 'orders').insert({ id: 1, customerId: 1 })
  await own.collection('app', 'others').delete(1)
  expect((await own.collection('app', 'orders').filter()).items).toHaveLength(1)
  await service.close()
})

const all = [...localStorages, ...serverStorages]

test.each(all)('collections with one table share its relations on $name', async (storage) => {
  const table = 'people'
  const collections = {
    people: defineCollection({
      key: 'id',
      fields: { id: integer({ column: 'no' }), email: text({ unique: true }), boss: integer() },
      table,
    }),
    contacts: defineCollection({
      key: 'number',
      fields: { number: integer({ column: 'NO' }), mail: text({ column: 'Email' }) },
      table,
    }),
    visits: defineCollection({
      key: 'id',
      fields: { id: integer(), person: integer({ references: 'people' }) },
    }),
  }
  await withServices(storage, async (open) => {
    const { service } = open({ collections })
    await service.ready()
    const own = service.as(system)
    await own.collection('app', 'people').insert({ id: 1, email: 'a' })
    await own.collection('app', 'visits').insert({ id: 1, person: 1 })
    const contacts = own.collection('app', 'contacts')
    expect(await contacts.insert({ number: 2, mail: 'a' })).toMatchObject({
      rejected: true,
      validations: [{ message: 'Another item of contacts has this mail.', field: 'mail' }],
    })
    await expect(contacts.delete(1)).rejects.toMatchObject({
      message: 'Other items still refer to this one: visits.',
    })
    await own.collection('app', 'visits').delete(1)
    expect(await contacts.delete(1)).toMatchObject({ rejected: false })
  })
})
