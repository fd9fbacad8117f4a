import { expect } from 'vitest'
import {
  defineCollection,
  integer,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { describeForCallers } from '../kit/stage.ts'
import { expectForbidden, itemIn, valuesIn } from './responses.ts'
import { visitor } from '../kit/visitors.ts'

const customers = defineCollection({
  key: 'name',
  fields: { name: text(), region: text() },
  rows: { equal: { region: { attribute: 'region' } }, exceptRoles: ['Chief'] },
})
const orders = defineCollection({
  key: 'id',
  fields: { id: integer(), customer: text(), state: text() },
  rows: {
    through: { field: 'customer', collection: 'customers' },
    where: { or: [{ state: null }, { state: { ne: 'secret' } }] },
    exceptRoles: ['Chief'],
  },
})
const lines = defineCollection({
  key: ['order', 'product'],
  fields: { order: integer(), product: text(), amount: integer() },
  rows: { through: { field: 'order', collection: 'orders' } },
})
const remarks = defineCollection(
  {
    key: 'id',
    fields: { id: integer(), order: integer(), product: text(), author: text() },
  },
  {
    rows: ({ user }) => ({
      or: [
        { author: user },
        { through: { fields: ['order', 'product'], collection: 'lines' }, author: null },
      ],
    }),
  },
)
const collections = { customers, orders, lines, remarks }

const rows = {
  customers: [
    { name: 'A', region: 'north' },
    { name: 'B', region: 'south' },
  ],
  orders: [
    { id: 1, customer: 'A', state: 'open' },
    { id: 2, customer: 'B', state: 'open' },
    { id: 3, customer: 'A', state: 'secret' },
    { id: 4, customer: null, state: 'open' },
    { id: 5, customer: 'A', state: null },
  ],
  lines: [1, 2, 3, 4, 5, 9].map((order) => ({ order, product: 'rum', amount: order })),
  remarks: [
    { id: 1, order: 1, product: 'rum', author: null },
    { id: 2, order: 1, product: 'rum', author: 'sam' },
    { id: 3, order: 2, product: 'rum', author: 'nora' },
    { id: 4, order: 2, product: 'rum', author: null },
    { id: 5, order: 1, product: null, author: null },
  ],
}

const nora = visitor('nora', { region: 'north' })
const sam = visitor('sam', { region: 'south' })
const chief = visitor('chris', { region: 'west', roles: 'Chief' })
const nobody = visitor('noah', {})

describeForCallers('row rules through other collections', (on) => {
  on('limit pages, counts, searches and items', async (open) => {
    const stage = open({ collections })
    for (const [name, planted] of Object.entries(rows)) await stage.plant(name, planted)
    const read = async (who: typeof nora, path: string): Promise<unknown> =>
      valuesIn(await stage.ask(who, 'GET', path), path.startsWith('/lines') ? 'order' : 'id')
    expect(await read(nora, '/orders')).toEqual([1, 5])
    expect(await read(sam, '/orders')).toEqual([2])
    expect(await read(chief, '/orders')).toEqual([1, 2, 3, 4, 5])
    expect(await read(nora, '/lines')).toEqual([1, 5])
    expect(await read(sam, '/lines?product=rum&$sort=-amount')).toEqual([2])
    // Lines have no exception of their own: an order must exist.
    expect(await read(chief, '/lines')).toEqual([1, 2, 3, 4, 5])
    expect(await read(nora, '/lines?$q=5')).toEqual([5])
    expect(await read(nora, '/remarks')).toEqual([1, 3])
    expect(await read(sam, '/remarks')).toEqual([2, 4])
    const { body } = await stage.ask(nora, 'GET', '/lines?$count=true&$limit=1')
    expect(body).toMatchObject({ count: 2 })
    itemIn(await stage.ask(nora, 'GET', '/lines/1,rum'))
    expect((await stage.ask(nora, 'GET', '/lines/2,rum')).status).toBe(404)
    expect((await stage.ask(nora, 'GET', '/lines/3,rum')).status).toBe(404)
  })

  on('limit updates and deletes, and what they may change', async (open) => {
    const stage = open({ collections })
    for (const [name, planted] of Object.entries(rows)) await stage.plant(name, planted)
    itemIn(await stage.ask(nora, 'POST', '/lines/1,rum', { amount: 7 }))
    expect((await stage.ask(nora, 'POST', '/lines/2,rum', { amount: 7 })).status).toBe(404)
    expect((await stage.ask(nora, 'DELETE', '/lines/2,rum')).status).toBe(404)
    expectForbidden(await stage.ask(nora, 'POST', '/orders/1', { customer: 'B' }))
    expectForbidden(await stage.ask(nora, 'POST', '/orders/1', { customer: null }))
    expectForbidden(await stage.ask(nora, 'POST', '/orders/1', { customer: 'nope' }))
    expectForbidden(await stage.ask(nora, 'POST', '/orders/1', { state: 'secret' }))
    itemIn(await stage.ask(nora, 'POST', '/orders/1', { state: 'done' }))
    itemIn(await stage.ask(nora, 'DELETE', '/lines/1,rum'))
    expect((await stage.rows('lines')).map(({ order }) => order)).toEqual([2, 3, 4, 5, 9])
  })

  on('limit inserts', async (open) => {
    const stage = open({ collections })
    for (const [name, planted] of Object.entries(rows)) await stage.plant(name, planted)
    const insert = (who: typeof nora, path: string, body: object) =>
      stage.ask(who, 'POST', path, body)
    itemIn(await insert(nora, '/lines', { order: 1, product: 'tea' }))
    expectForbidden(await insert(nora, '/lines', { order: 2, product: 'tea' }))
    expectForbidden(await insert(nora, '/lines', { order: 3, product: 'tea' }))
    expectForbidden(await insert(nora, '/lines', { order: 99, product: 'tea' }))
    expectForbidden(await insert(nora, '/orders', { id: 9 }))
    itemIn(await insert(nora, '/orders', { id: 9, customer: 'A' }))
    itemIn(await insert(nora, '/remarks', { id: 9, order: 1, product: 'rum' }))
    itemIn(await insert(nora, '/remarks', { id: 10, order: 2, product: 'rum', author: 'nora' }))
    expectForbidden(await insert(nora, '/remarks', { id: 11, order: 2, product: 'rum' }))
    itemIn(await insert(chief, '/lines', { order: 2, product: 'ale' }))
  })

  on('reject a caller who may read no rows of the other collection', async (open) => {
    const secured = { ...orders, eventRoles: { Filter: ['Chief'] } } as unknown as typeof orders
    const stage = open({ collections: { ...collections, orders: secured } })
    for (const [name, planted] of Object.entries(rows)) await stage.plant(name, planted)
    expectForbidden(await stage.ask(nora, 'GET', '/lines'))
    expectForbidden(await stage.ask(nobody, 'GET', '/lines'))
    expect(valuesIn(await stage.ask(chief, 'GET', '/lines'), 'order')).toEqual([1, 2, 3, 4, 5])
    // Another condition of the rule still allows rows.
    expect(valuesIn(await stage.ask(nora, 'GET', '/remarks'))).toEqual([3])
  })

  on('fail if a function goes through a collection that does not fit', async (open) => {
    const broken: readonly (readonly [object, RegExp])[] = [
      [{ field: 'order', collection: 'nope' }, /through.collection: must be a collection/],
      [
        { field: 'product', collection: 'orders' },
        /through.field: product must be a field of type integer/,
      ],
      [{ field: 'order', collection: 'lines' }, /through.field: lines has the key order, product/],
      [{ field: 'order', collection: 'self' }, /goes through self, whose own rule/],
      [{ field: 'order', collection: 'orders', extra: 1 }, /through.extra: leave it out/],
    ]
    for (const [through, message] of broken) {
      const self = defineCollection(
        { key: 'id', fields: { id: integer(), order: integer(), product: text() } },
        { rows: () => ({ through: through as never }) },
      ) as unknown as CollectionDefinition
      const stage = open({ collections: { ...collections, self } })
      expect((await stage.ask(nora, 'GET', '/self')).status).toBe(500)
      const errors = stage.reports().map((report) => ('error' in report ? report.error : report))
      expect(errors.join()).toMatch(message)
    }
  })
})
