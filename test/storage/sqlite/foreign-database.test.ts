import { expect, onTestFinished, test } from 'vitest'
import {
  boolean,
  createService,
  date,
  dateTime,
  decimal,
  defineCollection,
  integer,
  openAccess,
  principal,
  text,
  uuid,
} from '../../../src/entries/index.ts'
import { sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'

const orders = defineCollection(
  {
    key: 'orderId',
    table: 'Orders',
    fields: {
      orderId: integer({ column: 'OrderID' }),
      ordered: dateTime({ storedAs: 'YYYY-MM-DD[ hh:mm:ss[.fff]]' }),
      due: date({ storedAs: 'unixSeconds' }),
      freight: decimal({ precision: 10, scale: 2, storedAs: 'real', minimum: '0.00' }),
      paid: boolean({ storedAs: 'Y/N' }),
      token: uuid({ storedAs: 'blob' }),
      ship: text(),
    },
    rows: { equal: { paid: true }, exceptRoles: ['Office'] },
  },
  {
    userDefinedEvents: {
      sum: async ({ own }) => {
        const page = await own.filter({ freight: '32.38' })
        return page.items.map(({ orderId }) => orderId)
      },
    },
  },
)

async function opened() {
  const handle = openHandle(drivers[0] as SqliteDriver, ':memory:')
  handle.exec(`
    CREATE TABLE Orders (OrderID INTEGER PRIMARY KEY, ordered DATETIME, due INTEGER, freight NUMERIC,
      paid CHAR(1), token BINARY(16), ship TEXT);
    INSERT INTO Orders VALUES
      (1, '1996-07-04', 836438400, 32.38, 'Y', x'0f8fad5bd9cb469fa16570867728950e', 'Reims'),
      (2, '1996-07-05 09:30:00', NULL, 11, 'N', NULL, 'Münster'),
      (3, '1996-07-05 00:00:00', 1, 0.1 + 0.2, 'y', x'00', 'Rio');`)
  const service = createService({
    applications: { sales: { collections: { orders } } },
    storage: sqliteStorage(handle),
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
      target: `/rest/v1/sales/orders${path}`,
      header: (name) => ({ 'content-type': 'application/json' })[name],
      secure: true,
      peer: undefined,
      signal: undefined,
      body: async () => new TextEncoder().encode(JSON.stringify(values)),
    })
    return { status: reply.status, body: JSON.parse(reply.body) as Record<string, unknown> }
  }
  return {
    handle,
    service,
    send,
    office: service.as(principal('o', { roles: ['Office'] })),
  }
}

const reims = {
  orderId: 1,
  ordered: '1996-07-04T00:00:00',
  due: '1996-07-04',
  freight: '32.38',
  paid: true,
  token: '0f8fad5b-d9cb-469f-a165-70867728950e',
  ship: 'Reims',
}

test('what was read can be filtered by, searched and sent back', async () => {
  const { handle, send } = await opened()
  expect(await send('GET', '/1')).toMatchObject({ status: 200, body: { item: reims } })
  for (const [name, value] of Object.entries(reims)) {
    const page = await send('GET', `?${name}=${String(value)}&$count=true`)
    expect(page, name).toMatchObject({ status: 200, body: { items: [reims], count: 1 } })
    if (name === 'paid') continue
    const search = await send('GET', `?$q=${String(value)}&$fields=orderId`)
    expect(search, name).toMatchObject({ status: 200, body: { items: [{ orderId: 1 }] } })
  }
  const before = rowsIn(handle, 'SELECT * FROM Orders')
  handle.exec(
    `CREATE TRIGGER changed BEFORE UPDATE ON Orders BEGIN SELECT RAISE(ABORT, 'changed'); END`,
  )
  expect(await send('POST', '/1', reims)).toMatchObject({ status: 200, body: { item: reims } })
  expect(rowsIn(handle, 'SELECT * FROM Orders')).toEqual(before)
})

test('a row rule and in-process conditions are converted', async () => {
  const { service, office, send } = await opened()
  const all = await office.collection('sales', 'orders').filter({}, { limit: 2 })
  expect(all.items.map(({ orderId }) => orderId)).toEqual([1, 2])
  const own = service.as(principal('maria')).collection('sales', 'orders')
  expect((await own.filter()).items).toEqual([reims])
  expect(await own.get(2)).toBeUndefined()
  expect(await own.invoke('sum')).toMatchObject({ result: [1] })
  expect((await send('GET', '?paid=false')).status).toBe(200)
})

test('values in another form are not returned', async () => {
  const { office } = await opened()
  const own = office.collection('sales', 'orders')
  await expect(own.get(3)).rejects.toMatchObject({
    kind: 'unfit',
    fields: ['ordered', 'due', 'freight', 'paid', 'token'],
  })
})

test('values that the form cannot hold are rejected', async () => {
  const { send } = await opened()
  const rejected = await send('POST', '', {
    orderId: 9,
    paid: true,
    freight: '1.005',
    due: '2024-02-30',
  })
  expect(rejected.status).toBe(400)
  expect(rejected.body['validations']).toMatchObject([{ field: 'due' }, { field: 'freight' }])
})

test('a reference and its key may be stored in different forms', async () => {
  const handle = openHandle(drivers[0] as SqliteDriver, ':memory:')
  handle.exec(`CREATE TABLE owners (id BINARY(16) PRIMARY KEY);
    CREATE TABLE things (id INTEGER PRIMARY KEY, owner TEXT);
    INSERT INTO owners VALUES (x'0f8fad5bd9cb469fa16570867728950e'), (x'00000000000000000000000000000001');
    INSERT INTO things VALUES (1, '0F8FAD5BD9CB469FA16570867728950E'), (2, NULL),
      (3, '00000000000000000000000000000009');`)
  const owners = defineCollection({ key: 'id', fields: { id: uuid({ storedAs: 'blob' }) } })
  const things = defineCollection({
    key: 'id',
    fields: { id: integer(), owner: uuid({ storedAs: 'HEX', references: 'owners' }) },
  })
  const service = createService({
    applications: { app: { collections: { owners, things } } },
    storage: sqliteStorage(handle),
    security: openAccess(),
  })
  onTestFinished(async () => {
    await service.close()
    handle.close()
  })
  const { collection } = service.as(principal('maria'))
  const [used, free] = [
    '0f8fad5b-d9cb-469f-a165-70867728950e',
    '00000000-0000-0000-0000-000000000001',
  ]
  const all = collection('app', 'things')
  expect(await all.insert({ id: 4, owner: used })).toMatchObject({ item: { owner: used } })
  expect(await all.insert({ id: 5, owner: free.replace('1', '2') })).toMatchObject({
    rejected: true,
    validations: [{ field: 'owner' }],
  })
  await expect(collection('app', 'owners').delete(used)).rejects.toThrow()
  expect(await collection('app', 'owners').delete(free)).toMatchObject({ rejected: false })
  expect(await service.inspect()).toMatchObject([
    { kind: 'reference', fields: ['owner'], count: 1, examples: [`3: '${'0'.repeat(31)}9'`] },
  ])
})
