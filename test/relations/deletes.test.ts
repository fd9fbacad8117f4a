import { expect } from 'vitest'
import { defineCollection, integer, system, text } from '../../src/entries/index.ts'
import { visitor } from '../kit/visitors.ts'
import { describeRelations } from './relation-storages.ts'

const ada = visitor('ada', { roles: 'Clerk' })
const chief = visitor('carl', { roles: 'Chief' })

const id = { key: 'id', fields: { id: integer() } } as const
const customers = defineCollection(id)
const orders = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    customerId: integer({ references: 'customers', onDelete: 'cascade' }),
    seller: integer({ references: 'sellers', onDelete: 'setNull' }),
  },
})
const sellers = defineCollection(id)
const lines = defineCollection({
  key: ['orderId', 'line'],
  fields: {
    orderId: integer({ references: 'orders', onDelete: 'cascade' }),
    line: integer(),
  },
})
const invoices = defineCollection({
  key: 'id',
  fields: { id: integer(), orderId: integer({ references: 'orders' }) },
})
const collections = { customers, sellers, orders, lines, invoices }

const inUse = (names = '') => ({
  message: `Other items still refer to this one${names}.`,
  validations: [],
  status: 409,
})

describeRelations('a delete of an item to which others refer', (on) => {
  on('responds 409 and names the collections', async (open) => {
    const { ask, rows } = open({
      customers,
      orders: defineCollection({
        key: 'id',
        fields: { id: integer(), customerId: integer({ references: 'customers' }) },
      }),
      visits: defineCollection({
        key: 'id',
        fields: { id: integer(), customerId: integer({ references: 'customers' }) },
      }),
    })
    for (const one of [1, 2]) await ask(ada, 'POST', '/customers', { id: one })
    await ask(ada, 'POST', '/orders', { id: 1, customerId: 1 })
    await ask(ada, 'POST', '/visits', { id: 1, customerId: 1 })
    await ask(ada, 'POST', '/visits', { id: 2, customerId: 1 })
    const answer = await ask(ada, 'DELETE', '/customers/1')
    expect([answer.status, answer.body]).toEqual([409, inUse(': orders, visits')])
    expect((await ask(ada, 'DELETE', '/customers/2')).status).toBe(200)
    await ask(ada, 'DELETE', '/orders/1')
    expect((await ask(ada, 'DELETE', '/customers/1')).body).toEqual(inUse(': visits'))
    await ask(ada, 'POST', '/visits/1', { customerId: null })
    await ask(ada, 'DELETE', '/visits/2')
    expect((await ask(ada, 'DELETE', '/customers/1')).status).toBe(200)
    expect(await rows('visits')).toEqual([{ id: 1, customerId: null }])
    expect((await ask(ada, 'DELETE', '/customers/1')).status).toBe(404)
  })

  on('names only collections that the caller may read', async (open) => {
    const refers = (rights: object) =>
      defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          owner: text(),
          customerId: integer({ references: 'customers' }),
        },
        ...rights,
      })
    const { ask } = open({
      customers,
      secrets: refers({ eventRoles: { Filter: ['Chief'] } }),
      own: refers({ rows: { equal: { owner: { principal: 'user' } }, exceptRoles: ['Chief'] } }),
      hidden: defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          customerId: integer({ references: 'customers', readableBy: ['Chief'] }),
        },
      }),
    })
    await ask(ada, 'POST', '/customers', { id: 1 })
    await ask(chief, 'POST', '/secrets', { id: 1, customerId: 1 })
    await ask(chief, 'POST', '/own', { id: 1, owner: 'bob', customerId: 1 })
    await ask(chief, 'POST', '/hidden', { id: 1, customerId: 1 })
    expect((await ask(ada, 'DELETE', '/customers/1')).body).toEqual(inUse())
    expect((await ask(chief, 'DELETE', '/customers/1')).body).toEqual(
      inUse(': secrets, own, hidden'),
    )
    await ask(chief, 'POST', '/own', { id: 2, owner: 'ada', customerId: 1 })
    expect((await ask(ada, 'DELETE', '/customers/1')).body).toEqual(inUse(': own'))
  })

  on('deletes the items that cascade, and all that refers to them', async (open) => {
    const { ask, rows } = open(collections)
    for (const one of [1, 2]) await ask(ada, 'POST', '/customers', { id: one })
    await ask(ada, 'POST', '/sellers', { id: 1 })
    for (const [order, customerId] of [
      [1, 1],
      [2, 1],
      [3, 2],
    ]) {
      await ask(ada, 'POST', '/orders', { id: order, customerId, seller: 1 })
      for (const line of [1, 2]) await ask(ada, 'POST', '/lines', { orderId: order, line })
    }
    await ask(ada, 'POST', '/invoices', { id: 1, orderId: 2 })
    const answer = await ask(ada, 'DELETE', '/customers/1')
    expect([answer.status, answer.body]).toEqual([409, inUse(': invoices')])
    expect([await rows('orders'), await rows('lines')]).toMatchObject([
      { length: 3 },
      { length: 6 },
    ])
    await ask(ada, 'DELETE', '/invoices/1')
    expect((await ask(ada, 'DELETE', '/customers/1')).status).toBe(200)
    expect(await rows('orders')).toEqual([{ id: 3, customerId: 2, seller: 1 }])
    expect(await rows('lines')).toMatchObject([{ orderId: 3 }, { orderId: 3 }])
  })

  on('sets fields to null', async (open) => {
    const { ask, rows } = open(collections)
    await ask(ada, 'POST', '/sellers', { id: 1 })
    await ask(ada, 'POST', '/orders', { id: 1, seller: 1 })
    await ask(ada, 'POST', '/orders', { id: 2, seller: 1 })
    expect((await ask(ada, 'DELETE', '/sellers/1')).status).toBe(200)
    expect(await rows('orders')).toMatchObject([{ seller: null }, { seller: null }])
  })

  on('runs no handlers and validations of the items that cascade', async (open) => {
    const calls: string[] = []
    const { ask, rows } = open({
      customers,
      orders: defineCollection(
        {
          key: 'id',
          fields: {
            id: integer(),
            customerId: integer({ references: 'customers', onDelete: 'cascade' }),
          },
        },
        { events: { Delete: { before: () => void calls.push('before') } } },
      ),
    })
    await ask(ada, 'POST', '/customers', { id: 1 })
    await ask(ada, 'POST', '/orders', { id: 1, customerId: 1 })
    expect((await ask(ada, 'DELETE', '/customers/1')).status).toBe(200)
    expect([calls, await rows('orders')]).toEqual([[], []])
  })

  on('follows references to the same collection', async (open) => {
    const tree = (onDelete?: 'setNull' | 'cascade') =>
      defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          parent: integer({ references: onDelete ?? 'restrict', ...(onDelete && { onDelete }) }),
        },
      })
    const { ask, rows } = open({
      restrict: tree(),
      setNull: tree('setNull'),
      cascade: tree('cascade'),
    })
    for (const name of ['restrict', 'setNull', 'cascade']) {
      await ask(ada, 'POST', `/${name}`, { id: 1, parent: 1 })
      await ask(ada, 'POST', `/${name}`, { id: 2, parent: 1 })
      await ask(ada, 'POST', `/${name}`, { id: 3, parent: 2 })
    }
    expect((await ask(ada, 'DELETE', '/restrict/1')).body).toEqual(inUse(': restrict'))
    expect((await ask(ada, 'DELETE', '/restrict/3')).status).toBe(200)
    expect((await ask(ada, 'DELETE', '/setNull/1')).status).toBe(200)
    expect(await rows('setNull')).toEqual([
      { id: 2, parent: null },
      { id: 3, parent: 2 },
    ])
    expect((await ask(ada, 'DELETE', '/cascade/1')).status).toBe(200)
    expect(await rows('cascade')).toEqual([])
  })

  on('ignores references of items that are deleted as well', async (open) => {
    const { ask, rows } = open({
      customers,
      orders: defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          customerId: integer({ references: 'customers', onDelete: 'cascade' }),
        },
      }),
      notes: defineCollection({
        key: 'id',
        fields: {
          id: integer(),
          customerId: integer({ references: 'customers', onDelete: 'cascade' }),
          orderId: integer({ references: 'orders' }),
        },
      }),
    })
    await ask(ada, 'POST', '/customers', { id: 1 })
    await ask(ada, 'POST', '/orders', { id: 1, customerId: 1 })
    await ask(ada, 'POST', '/notes', { id: 1, customerId: 1, orderId: 1 })
    expect((await ask(ada, 'DELETE', '/orders/1')).body).toEqual(inUse(': notes'))
    expect((await ask(ada, 'DELETE', '/customers/1')).status).toBe(200)
    expect([await rows('orders'), await rows('notes')]).toEqual([[], []])
  })

  on('of rows of others changes nothing', async (open) => {
    const { ask, rows } = open({
      rooms: defineCollection({
        key: 'id',
        fields: { id: integer(), owner: text() },
        rows: { equal: { owner: { principal: 'user' } }, exceptRoles: ['Chief'] },
      }),
      bookings: defineCollection({
        key: 'id',
        fields: { id: integer(), room: integer({ references: 'rooms', onDelete: 'cascade' }) },
      }),
    })
    await ask(chief, 'POST', '/rooms', { id: 1, owner: 'bob' })
    await ask(chief, 'POST', '/bookings', { id: 1, room: 1 })
    expect((await ask(ada, 'DELETE', '/rooms/1')).status).toBe(404)
    expect(await rows('bookings')).toHaveLength(1)
  })

  on('in a transaction of application code is undone with it', async (open) => {
    const { service, ask, rows } = open(collections)
    await ask(ada, 'POST', '/customers', { id: 1 })
    await ask(ada, 'POST', '/orders', { id: 1, customerId: 1 })
    const work = service.as(system).transaction(async ({ collection }) => {
      await collection('app', 'customers').delete(1)
      expect((await collection('app', 'orders').filter()).items).toEqual([])
      throw new Error('undone')
    })
    await expect(work).rejects.toThrow('undone')
    expect(await rows('orders')).toHaveLength(1)
  })
})

describeRelations('cached responses', (on) => {
  on('are current after a delete that cascades or sets null', async (open) => {
    const { ask } = open(collections)
    await ask(ada, 'POST', '/customers', { id: 1 })
    await ask(ada, 'POST', '/sellers', { id: 1 })
    await ask(ada, 'POST', '/orders', { id: 1, customerId: 1, seller: 1 })
    await ask(ada, 'POST', '/orders', { id: 2, seller: 1 })
    const page = async () => {
      for (let repeat = 0; repeat < 3; repeat++) await ask(ada, 'GET', '/orders')
      return (await ask(ada, 'GET', '/orders')).body.items
    }
    expect(await page()).toHaveLength(2)
    await ask(ada, 'DELETE', '/customers/1')
    expect(await page()).toEqual([{ id: 2, customerId: null, seller: 1 }])
    await ask(ada, 'DELETE', '/sellers/1')
    expect(await page()).toEqual([{ id: 2, customerId: null, seller: null }])
  })
})

describeRelations('concurrent transactions', (on) => {
  on('never leave a reference to a deleted item', async (open) => {
    const { service, ask, rows } = open({ customers, invoices: refers() })
    const app = service.as(system)
    for (let round = 1; round <= 20; round++) {
      await ask(ada, 'POST', '/customers', { id: round })
      const insert = app.collection('app', 'invoices').insert({ id: round, customerId: round })
      const remove = app.collection('app', 'customers').delete(round)
      await Promise.allSettled(round % 2 === 0 ? [insert, remove] : [remove, insert])
    }
    const present = (await rows('customers')).map((row) => row['id'])
    for (const { customerId } of await rows('invoices')) expect(present).toContain(customerId)
  })

  on('with code that waits never leave a reference to a deleted item', async (open) => {
    const { service, ask, rows } = open({ customers, invoices: refers() })
    await ask(ada, 'POST', '/customers', { id: 1 })
    const app = service.as(system)
    let resume = (): void => undefined
    const waited = new Promise<void>((resolve) => (resume = resolve))
    const inserting = app.transaction(async ({ collection }) => {
      const found = await collection('app', 'customers').get(1)
      expect(found).toBeDefined()
      await waited
      return collection('app', 'invoices').insert({ id: 1, customerId: 1 })
    })
    // The transaction has written nothing, so it makes room for the delete while it waits.
    const removed = await app.collection('app', 'customers').delete(1)
    expect(removed).toMatchObject({ rejected: false })
    resume()
    const [inserted] = await Promise.allSettled([inserting])
    const isStored = inserted.status === 'fulfilled' && !inserted.value.rejected
    expect([isStored, await rows('customers'), await rows('invoices')]).toEqual([false, [], []])
  })
})

function refers() {
  return defineCollection({
    key: 'id',
    fields: { id: integer(), customerId: integer({ references: 'customers' }) },
  })
}
