import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  system,
} from '../../src/entries/index.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { visitor } from '../kit/visitors.ts'
import { describeRelations } from './relation-storages.ts'

const ada = visitor('ada')
const plain = defineCollection({ key: 'id', fields: { id: integer() } })

describeRelations('a delete', (on) => {
  const tree = defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      above: integer({ references: 'tree', onDelete: 'cascade' }),
      first: integer({ references: 'members' }),
    },
  })
  const members = defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      tree: integer({ references: 'tree', onDelete: 'cascade' }),
      room: integer({ references: 'rooms' }),
      next: integer({ references: 'members' }),
    },
  })
  const rooms = defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      tree: integer({ references: 'tree', onDelete: 'cascade' }),
      owner: integer({ references: 'members' }),
    },
  })

  on('of items that refer to each other deletes them all', async (open) => {
    const { ask, rows } = open({ tree, members, rooms })
    await ask(ada, 'POST', '/tree', { id: 1 })
    await ask(ada, 'POST', '/tree', { id: 2, above: 1 })
    await ask(ada, 'POST', '/members', { id: 1, tree: 1 })
    await ask(ada, 'POST', '/members', { id: 2, tree: 2, next: 1 })
    await ask(ada, 'POST', '/members/1', { next: 2 })
    await ask(ada, 'POST', '/rooms', { id: 1, tree: 1, owner: 1 })
    await ask(ada, 'POST', '/members/1', { room: 1 })
    await ask(ada, 'POST', '/tree/1', { first: 1 })
    const answer = await ask(ada, 'DELETE', '/tree/1')
    expect(answer.body.item).toEqual({ id: 1, above: null, first: 1 })
    expect([await rows('tree'), await rows('members'), await rows('rooms')]).toEqual([[], [], []])
  })

  on('of the item of several references obeys all of them as they were', async (open) => {
    const parts = (onDelete: 'restrict' | 'cascade') =>
      defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          order: integer({ references: 'orders', onDelete: 'setNull' }),
          line: integer(),
        },
        references: [{ fields: ['order', 'line'], collection: 'lines', onDelete }],
      })
    const lines = defineCollection({
      key: ['order', 'line'],
      fields: { order: integer({ references: 'orders', onDelete: 'cascade' }), line: integer() },
    })
    const { ask, rows } = open({
      orders: plain,
      lines,
      notes: parts('restrict'),
      parts: parts('cascade'),
    })
    for (const id of [1, 2]) {
      await ask(ada, 'POST', '/orders', { id })
      await ask(ada, 'POST', '/lines', { order: id, line: 1 })
    }
    await ask(ada, 'POST', '/notes', { id: 1, order: 1, line: 1 })
    await ask(ada, 'POST', '/parts', { id: 1, order: 2, line: 1 })
    expect((await ask(ada, 'DELETE', '/orders/1')).body.message).toBe(
      'Other items still refer to this one: notes.',
    )
    expect((await ask(ada, 'DELETE', '/orders/2')).status).toBe(200)
    expect(await rows('parts')).toEqual([])
  })
})

test.each([
  ['', 'notes first'],
  ['', 'orders first'],
  [', parent INTEGER REFERENCES customers ON DELETE CASCADE', 'notes first'],
  [', parent INTEGER REFERENCES customers ON DELETE CASCADE', 'orders first'],
])(
  'foreign keys with ON DELETE RESTRICT do not reject a cascade that deletes all referring items%s, %s',
  async (parent, order) => {
    const [driver = 'node:sqlite'] = drivers
    const file = join(mkdtempSync(join(tmpdir(), 'rowgate-')), 'data.db')
    const handle = openHandle(driver, file)
    const tables = [
      `CREATE TABLE notes (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers ON DELETE CASCADE,
      "order" INTEGER REFERENCES orders ON DELETE RESTRICT);`,
      'CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers ON DELETE CASCADE);',
    ]
    if (order === 'orders first') tables.reverse()
    handle.exec(`
    CREATE TABLE customers (id INTEGER PRIMARY KEY${parent}); ${tables.join('\n')}
    INSERT INTO customers (id) VALUES (1); INSERT INTO orders VALUES (1, 1); INSERT INTO notes VALUES (1, 1, 1);`)
    handle.close()
    const customer = integer({ references: 'customers', onDelete: 'cascade' })
    const withParent = defineCollection({
      key: 'id',
      fields: { id: integer(), parent: integer({ references: 'customers', onDelete: 'cascade' }) },
    })
    const collections = {
      customers: parent === '' ? plain : withParent,
      orders: defineCollection({ key: 'id', fields: { id: integer(), customer } }),
      notes: defineCollection({
        key: 'id',
        fields: { id: integer(), customer, order: integer({ references: 'orders' }) },
      }),
    }
    const service = createService({
      applications: { app: { collections } },
      storage: sqliteStorage(file, { driver }),
      security: openAccess(),
    })
    const own = service.as(system)
    await expect(own.collection('app', 'orders').delete(1)).rejects.toMatchObject({
      message: 'Other items still refer to this one: notes.',
    })
    expect(await own.collection('app', 'customers').delete(1)).toMatchObject({ rejected: false })
    expect((await own.collection('app', 'notes').filter()).items).toEqual([])
    await service.close()
  },
)

test('an item that a cascade of the database would delete with another one is deleted', async () => {
  const [driver = 'node:sqlite'] = drivers
  const file = join(mkdtempSync(join(tmpdir(), 'rowgate-')), 'data.db')
  const handle = openHandle(driver, file)
  handle.exec(`
    CREATE TABLE nodes (id INTEGER PRIMARY KEY, next INTEGER REFERENCES nodes ON DELETE CASCADE);
    CREATE TABLE logs (id INTEGER PRIMARY KEY, node INTEGER);
    INSERT INTO nodes VALUES (1, NULL), (2, 1); UPDATE nodes SET next = 2 WHERE id = 1;
    INSERT INTO logs VALUES (1, 2);`)
  handle.close()
  const next = integer({ references: 'nodes', onDelete: 'cascade' })
  const service = createService({
    applications: {
      app: {
        collections: {
          nodes: defineCollection({ key: 'id', fields: { id: integer(), next } }),
          logs: defineCollection({
            key: 'id',
            fields: { id: integer(), node: integer({ references: 'nodes', onDelete: 'setNull' }) },
          }),
        },
      },
    },
    storage: sqliteStorage(file, { driver }),
    security: openAccess(),
  })
  const own = service.as(system)
  expect(await own.collection('app', 'nodes').delete(1)).toMatchObject({
    item: { id: 1, next: 2 },
  })
  expect((await own.collection('app', 'nodes').filter()).items).toEqual([])
  expect((await own.collection('app', 'logs').filter()).items).toEqual([{ id: 1, node: null }])
  await service.close()
})

test('a cascade in memory reads the items of a level together', async () => {
  const children = defineCollection({
    key: 'id',
    fields: { id: integer(), above: integer({ references: 'plain', onDelete: 'cascade' }) },
  })
  const leaves = defineCollection({
    key: 'id',
    fields: { id: integer(), above: integer({ references: 'children', onDelete: 'cascade' }) },
  })
  const storage = memoryStorage()
  let reads = 0
  const service = createService({
    applications: { app: { collections: { plain, children, leaves } } },
    storage: {
      ...storage,
      transaction: (options, work) =>
        storage.transaction(options, (transaction) =>
          work({
            ...transaction,
            filter: (collection, query) => {
              reads++
              return transaction.filter(collection, query)
            },
          }),
        ),
    },
    security: openAccess(),
  })
  const own = service.as(system)
  await own.collection('app', 'plain').insert({ id: 1 })
  const many = Array.from({ length: 2000 }, (_, id) => ({ id, above: 1 }))
  await own.collection('app', 'children').insertMany(many)
  await own.collection('app', 'leaves').insertMany(many.map(({ id }) => ({ id, above: id })))
  reads = 0
  await own.collection('app', 'plain').delete(1)
  expect(reads).toBeLessThan(30)
  expect((await own.collection('app', 'leaves').filter()).items).toEqual([])
  await service.close()
})
