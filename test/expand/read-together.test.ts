import Database from 'better-sqlite3'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  computed,
  defineCollection,
  integer,
  mount,
  openAccess,
  system,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { sqliteStorage, type SqliteOptions } from '../../src/entries/sqlite.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { folderOf } from '../kit/folder.ts'
import { withServices } from '../kit/service.ts'
import { openService, openStage } from '../kit/stage.ts'
import { localStorages } from '../kit/storages.ts'

const orders = defineCollection({
  key: 'orderId',
  fields: { orderId: integer(), note: text() },
  expand: { lines: { from: 'lines', limit: 2 } },
})
const fields = { lineId: integer(), orderId: integer({ references: 'orders' }), product: text() }
const lines = defineCollection({ key: 'lineId', fields })

const count = 200

/** Opens a service over a file in which each order has three lines, and order 7 has none. */
async function open(own: CollectionDefinition = lines, options: SqliteOptions = {}) {
  const path = join(folderOf(), 'orders.db')
  const file = new Database(path)
  file.exec(`
    create table orders (orderId integer primary key not null, note text);
    create table "lines" (lineId integer primary key not null, orderId integer, product text);
    create index lines_order on "lines" (orderId);
    with recursive n (n) as (select 1 union all select n + 1 from n where n < ${count})
      insert into orders select n, null from n;
    insert into "lines" select orderId * 10 + n, orderId, 'Line ' || n
      from orders join (select 1 as n union all select 2 union all select 3) where orderId <> 7`)
  onTestFinished(() => void file.close())
  const storage = sqliteStorage(path, options)
  const stage = openStage({ orders, lines: own }, { storage, cache: false, maxPageSize: count })
  await stage.service.ready()
  const read = async (query = '') => {
    const before = stage.storageCalls.length
    const target = `/app/orders?$expand=lines&$limit=${count}${query}`
    const { status, body } = await stage.client.get(target)
    const items = (body.items ?? []) as unknown as readonly Item[]
    return { status, items, calls: stage.storageCalls.slice(before) }
  }
  return { ...stage, file, read }
}

interface Item {
  readonly orderId: number
  readonly lines: { readonly items: readonly object[]; readonly more: boolean }
}

function listOf(orderId: number): Item['lines'] {
  if (orderId === 7) return { items: [], more: false }
  const items = [1, 2].map((n) => ({ lineId: orderId * 10 + n, orderId, product: `Line ${n}` }))
  return { items, more: true }
}

test('the lists of a page are read together', async () => {
  const { read } = await open()
  const { items, calls } = await read()
  expect(items).toHaveLength(count)
  for (const item of items) expect(item.lines).toEqual(listOf(item.orderId))
  expect(calls).toEqual(['filter orders', `filter ${count} times lines`])
  expect((await read('&$fields=note')).items[6]).toEqual({ note: null, lines: listOf(7) })
})

test('a list with a value that does not fit is read alone, so that the failure names it', async () => {
  const { read, file, reports } = await open()
  file.exec(`update "lines" set product = x'00' where lineId = 411`)
  const { status, calls } = await read()
  expect(status).toBe(500)
  expect(calls.slice(0, 2)).toEqual(['filter orders', `filter ${count} times lines`])
  expect(calls.slice(2)).toContain('filter lines')
  expect(JSON.stringify(reports, (_, value: unknown) => String(value))).toBeDefined()
  expect(String((reports.at(-1) as { error?: unknown }).error)).toContain('411')
})

test('lists that may visit a whole table are read in the thread', async () => {
  const { read, file } = await open(lines, { scanRows: 100 })
  file.exec('drop index lines_order')
  const { items, calls } = await read('&orderId=41')
  expect(items).toEqual([{ orderId: 41, note: null, lines: listOf(41) }])
  expect(calls).toEqual(['filter orders', 'filter 1 times lines', 'filter lines as text'])
})

test.each<[string, CollectionDefinition]>([
  [
    'a handler of Filter',
    defineCollection({ key: 'lineId', fields }, { events: { Filter: { after: () => undefined } } }),
  ],
  [
    'a computed field',
    defineCollection(
      { key: 'lineId', fields },
      { computed: { label: computed(text({ includeByDefault: true }), ['product'], () => 'x') } },
    ),
  ],
])('the lists of a collection with %s are read one by one', async (_, own) => {
  const { read } = await open(own)
  const { items, calls } = await read()
  expect(items[7]?.lines).toMatchObject(listOf(8))
  expect(items[6]?.lines).toMatchObject(listOf(7))
  expect(calls).not.toContain(`filter ${count} times lines`)
})

const rules: readonly (readonly [string, () => object])[] = [
  [
    'lists of many values',
    () => ({ product: { in: Array.from({ length: 5_000 }, (_, n) => `Line ${n}`) } }),
  ],
  [
    'many alternatives',
    () => ({ or: Array.from({ length: 400 }, (_, n) => ({ product: `Line ${n}` })) }),
  ],
]

test.each(
  rules.flatMap(([name, rows]) => [
    [name, 'possibly in the thread', rows, {}] as const,
    [name, 'in the process', rows, { scanRows: false }] as const,
  ]),
)('a row rule with %s, %s, is bound once for all lists', async (_name, _place, rows, options) => {
  const { read } = await open(
    defineCollection({ key: 'lineId', fields }, { rows: rows as never }),
    options,
  )
  const { status, items } = await read()
  expect(status).toBe(200)
  for (const item of items) expect(item.lines).toEqual(listOf(item.orderId))
})

test.each([
  ['as the storage', (storage: StorageAdapter) => storage],
  ['in a mount', (storage: StorageAdapter) => mount({ '*': storage })],
])('a copy of an adapter that replaces its reads is asked for each list, %s', async (_, within) => {
  const storage = sqliteStorage(':memory:', { ensureSchema: true })
  const reads: string[] = []
  const copy: StorageAdapter = {
    ...storage,
    filterText: () => undefined,
    filter: (collection, query) => {
      reads.push(collection.name)
      return storage.filter(collection, query)
    },
  }
  const { service } = openService({
    applications: { app: { collections: { orders, lines } } },
    security: openAccess(),
    storage: within(copy),
  })
  await service.ready()
  const client = createTestClient(service)
  for (const orderId of [1, 2]) {
    await client.post('/app/orders', { orderId })
    await client.post('/app/lines', { lineId: orderId, orderId })
  }
  reads.length = 0
  const { body } = await client.get('/app/orders?$expand=lines')
  expect(body.items).toMatchObject([{ lines: { items: [{}] } }, { lines: { items: [{}] } }])
  expect(reads).toEqual(['orders', 'lines', 'lines'])
})

test('application code reads the same lists', async () => {
  const { service, client } = await open()
  const page = await service
    .as(system)
    .collection('app', 'orders')
    .filter({}, { expand: ['lines'], limit: count })
  const { body } = await client.get(`/app/orders?$expand=lines&$limit=${count}`)
  expect(page.items).toEqual(body.items)
})

describe.each([...localStorages, ...serverStorages])('on $name', (storage) => {
  test.each([
    ['before', ['page', 'lists']],
    ['after', ['lists', 'page']],
  ] as const)('a page like the lists has its own fields, also %s them', (_, order) =>
    withServices(storage, async (open) => {
      const { service } = open({
        collections: {
          orders,
          // The lists have all fields but the first and the last one.
          lines: defineCollection({
            key: 'lineId',
            fields: {
              orderId: integer({ references: 'orders', includeByDefault: false }),
              lineId: integer(),
              product: text(),
              note: text({ includeByDefault: false }),
            },
            operators: { orderId: ['in'] },
          }),
        },
      })
      const inside = service.as(system)
      await inside.collection('app', 'orders').insertMany([{ orderId: 1 }, { orderId: 2 }])
      await inside
        .collection('app', 'lines')
        .insertMany([1, 2].map((id) => ({ lineId: id, orderId: id, product: `Line ${id}` })))
      const given = {
        page: '/app/lines?orderId.in=1&orderId.in=2&$fields=orderId,lineId,product&$sort=orderId',
        lists: '/app/orders?$expand=lines',
      }
      const expected = {
        page: [1, 2].map((id) => ({ orderId: id, lineId: id, product: `Line ${id}` })),
        lists: [1, 2].map((id) => ({
          ...{ orderId: id, note: null },
          lines: { items: [{ lineId: id, product: `Line ${id}` }], more: false },
        })),
      }
      const client = createTestClient(service)
      for (const name of order) {
        const { body } = await client.get(given[name])
        expect((body as { items: unknown }).items).toEqual(expected[name])
      }
    }),
  )
})
