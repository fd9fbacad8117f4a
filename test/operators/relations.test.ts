import { describe, expect, test } from 'vitest'
import {
  defineCollection,
  integer,
  memoryStorage,
  mount,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { openApiDocument } from '../../src/entries/openapi.ts'
import { mistakesIn } from '../definition/mistakes.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { limited } from '../kit/limited-storage.ts'
import { send, type Response } from '../kit/service.ts'
import { describeForCallers, openService, openStage } from '../kit/stage.ts'
import { localStorages } from '../kit/storages.ts'
import { visitor } from '../kit/visitors.ts'
import { bytesOf, valuesIn } from '../rights/responses.ts'

const customers = defineCollection({
  key: 'code',
  fields: {
    code: text({ maxLength: 9 }),
    city: text(),
    size: integer(),
    region: text(),
    salary: integer({ readableBy: ['Office'] }),
  },
  rows: { equal: { region: { attribute: 'region' } }, exceptRoles: ['Office'] },
  eventRoles: { Filter: ['Sales', 'Office'] },
})
const prices = defineCollection({
  key: ['product', 'level'],
  fields: { product: text({ maxLength: 9 }), level: integer(), note: text() },
})
const orders = defineCollection({
  key: 'id',
  cursor: true,
  fields: {
    id: integer(),
    customerId: text({ references: 'customers', maxLength: 9 }),
    sellerId: text({ references: 'customers', readableBy: ['Office'], maxLength: 9 }),
    parentId: integer({ references: 'orders' }),
    product: text({ maxLength: 9 }),
    level: integer(),
  },
  references: [{ fields: ['product', 'level'], collection: 'prices' }],
  relations: {
    customer: 'customerId',
    seller: 'sellerId',
    parent: ['parentId'],
    price: ['product', 'level'],
  },
  operators: {
    id: ['gte', 'in'],
    'customer.city': ['eq', 'ne', 'in', 'contains', 'isNull'],
    'customer.size': ['gte'],
    'customer.salary': ['gte', 'in'],
    'seller.city': ['eq'],
    'parent.product': ['eq'],
    'price.note': ['startsWith'],
  },
})
const collections: Readonly<Record<string, CollectionDefinition>> = { customers, prices, orders }
const office = visitor('olga', { roles: 'Office' })
const sales = visitor('sam', { roles: 'Sales', region: 'x' })
const nobody = visitor('ned', { region: 'x' })

const rows = {
  customers: [
    { code: 'a', city: 'Oslo', size: 5, region: 'x', salary: 1 },
    { code: 'b', city: 'Rome', size: null, region: 'x', salary: 9 },
    { code: 'c', city: 'Oslo', size: 9, region: 'y', salary: 9 },
    { code: 'd', city: null, size: 1, region: 'x' },
  ],
  prices: [{ product: 'p', level: 1, note: 'low' }],
  orders: [
    { id: 1, customerId: 'a', product: 'p', level: 1 },
    { id: 2, customerId: 'b', parentId: 1, sellerId: 'a' },
    { id: 3, customerId: 'c' },
    { id: 4, customerId: 'd', product: 'p', level: null },
    { id: 5, customerId: null },
  ],
}

const lesser = {
  name: 'an adapter with equality only',
  open: () => ({ storage: limited(), remove: () => undefined }),
}

describeForCallers(
  'conditions on referenced items',
  (on) => {
    on('hold only through items that the caller may see', async (open) => {
      const { ask, plant } = open({ collections })
      for (const [name, items] of Object.entries(rows)) await plant(name, items)
      const cases: readonly (readonly [string, readonly number[], readonly number[]])[] = [
        ['customer.city=Oslo', [1, 3], [1]],
        ['customer.city=', [4], [4]],
        ['customer.city.ne=Oslo', [2, 4], [2, 4]],
        ['customer.city.in=Oslo&customer.city.in=Rome', [1, 2, 3], [1, 2]],
        ['customer.city.contains=o', [1, 2, 3], [1, 2]],
        ['customer.city.isNull=true', [4], [4]],
        ['customer.size.gte=5', [1, 3], [1]],
        ['customer.size.gte=5&customer.city=Oslo&id.gte=2', [3], []],
        ['parent.product=p', [2], [2]],
        ['price.note.startsWith=l', [1], [1]],
      ]
      for (const [query, all, own] of cases) {
        for (const [who, ids] of [
          [office, all],
          [sales, own],
          [office, all],
        ] as const) {
          const page = await ask(who, 'GET', `/orders?$sort=id&$count=true&${query}`)
          expect([query, valuesIn(page), page.body.count]).toEqual([query, ids, ids.length])
        }
      }
      expect((await ask(sales, 'GET', '/orders/1?customer.city=Oslo')).status).toBe(200)
      expect((await ask(sales, 'GET', '/orders/3?customer.city=Oslo')).status).toBe(404)
    })

    on('change with the items, also if the same request was sent before', async (open) => {
      const { ask, plant } = open({ collections })
      for (const [name, items] of Object.entries(rows)) await plant(name, items)
      const get = async () => valuesIn(await ask(sales, 'GET', '/orders?customer.city=Oslo'))
      for (let round = 0; round < 4; round++) expect(await get()).toEqual([1])
      await ask(office, 'POST', '/customers/b', { city: 'Oslo' })
      expect(await get()).toEqual([1, 2])
      await ask(office, 'POST', '/customers/a', { region: 'y' })
      expect(await get()).toEqual([2])
    })

    on('continue with a cursor, for the same caller and conditions', async (open) => {
      const { ask, plant } = open({ collections })
      for (const [name, items] of Object.entries(rows)) await plant(name, items)
      const first = await ask(office, 'GET', '/orders?customer.city.ne=Rome&$limit=1')
      const after = first.headers['X-Svc-Next-Cursor'] as string
      expect(valuesIn(first)).toEqual([1])
      const next = await ask(office, 'GET', `/orders?customer.city.ne=Rome&$after=${after}`)
      expect(valuesIn(next)).toEqual([3, 4])
      for (const [who, query] of [
        [office, 'customer.city.ne=Oslo'],
        [office, 'customer.city=Rome'],
        [sales, 'customer.city.ne=Rome'],
      ] as const)
        expect((await ask(who, 'GET', `/orders?${query}&$after=${after}`)).status).toBe(400)
    })
  },
  { on: [...localStorages, ...serverStorages, lesser], comparesRows: false },
)

describe('a condition on referenced items', () => {
  const unknown: readonly (readonly [who: typeof sales, name: string])[] = [
    [nobody, 'customer.city'],
    [nobody, 'customer.city.in'],
    [nobody, 'customer.nosuch'],
    [sales, 'customer.salary.gte'],
    [sales, 'customer.salary.in'],
    [sales, 'seller.city'],
    [office, 'customer.region'],
    [office, 'customer.city.gte'],
    [office, 'customer.city.eq'],
    [office, 'customer.code.in'],
    [office, 'nosuch.city'],
    [office, 'customerId.city'],
    [office, 'customer.parent.city'],
    [office, 'customer.__proto__'],
    [office, 'customer.constructor.in'],
    [office, 'constructor.city'],
  ]

  test('is unknown, with the bytes of any unknown name, without a right to it', async () => {
    const { service, storageCalls } = openStage(collections)
    await service.ready()
    const before = storageCalls.length
    const get = (who: typeof sales, query: string): Promise<Response> =>
      send(service, { method: 'GET', path: `/orders?${query}`, headers: who })
    for (const [who, name] of unknown) {
      const other = 'z'.repeat(name.length)
      for (const value of ['Oslo', '5', 'abc', '', '%00', `1&${name}=2`]) {
        const expected = await get(who, `${other}=${value.replace(name, other)}`)
        const found = await get(who, `${name}=${value}`)
        expect([name, bytesOf(found)]).toEqual([name, bytesOf(expected).replaceAll(other, name)])
      }
    }
    expect(storageCalls).toHaveLength(before)
  })

  test('finds nothing if the row rule of the other collection allows no row', async () => {
    const none = { ...customers, rows: () => false }
    const { service } = openStage({ ...collections, customers: none })
    const page = await send(service, {
      method: 'GET',
      path: '/orders?customer.city=Oslo&$count=true',
      headers: office,
    })
    expect([valuesIn(page), page.body.count]).toEqual([[], 0])
  })

  test('is described for an audience that may send it', () => {
    const { service } = openService({ applications: { app: { collections } } })
    const namesFor = (roles: readonly string[]) => {
      const { paths } = openApiDocument(service, { title: 'Shop', roles })
      const { parameters } = paths['/app/orders']?.['get'] as {
        readonly parameters: readonly { readonly name?: string }[]
      }
      return parameters.flatMap(({ name }) => (name?.includes('.') === true ? [name] : []))
    }
    const common = ['id.gte', 'id.in']
    const open = ['parent.product', 'price.note.startsWith']
    const cities = [
      'customer.city',
      ...['ne', 'in', 'contains', 'isNull'].map((one) => `customer.city.${one}`),
    ]
    expect(namesFor([])).toEqual([...common, ...open])
    expect(namesFor(['Sales'])).toEqual([...common, ...cities, 'customer.size.gte', ...open])
    expect(namesFor(['Office'])).toEqual([
      ...common,
      ...cities,
      'customer.size.gte',
      'customer.salary.gte',
      'customer.salary.in',
      'seller.city',
      ...open,
    ])
  })
})

test.each<[object, readonly string[]]>([
  [
    { relations: { customer: 'customer' } },
    ['relations.customer: must name the field, or the fields, of a reference of the collection'],
  ],
  [
    { relations: { customerId: 'customerId' } },
    ['relations.customerId: customerId is a field: choose another name'],
  ],
  [
    { operators: { 'custmer.city': ['eq'] } },
    ['operators.custmer.city: custmer is not a relation; did you mean customer?'],
  ],
  [
    { operators: { 'customer.citty': ['eq'] } },
    ['operators.customer.citty: citty is not a field of things; did you mean city?'],
  ],
  [
    { operators: { 'customer.city': ['eq', 'eq'] } },
    ['operators.customer.city: name each operator once'],
  ],
  [
    { operators: { 'customer.id': ['contains'] } },
    [
      'operators.customer.id: contains does not apply to a field of type integer; its operators are eq, ne, in, notIn, isNull, lt, lte, gt, gte',
    ],
  ],
  [
    { operators: { city: ['eq'] } },
    [
      'operators.city: eq does not apply to a field of type text; its operators are ne, in, notIn, isNull, lt, lte, gt, gte, contains, startsWith',
    ],
  ],
  [
    { operators: { 'customer.city': ['eq'] }, publishes: ['Insert'] },
    [
      'operators.customer.city: things does not publish Filter, so clients cannot read it: leave it out',
    ],
  ],
  [
    { operators: { 'customer.city': ['eq'] }, events: { Filter: { before: () => undefined } } },
    [
      'operators.customer.city: things has a handler of Filter, which conditions on its items would not call: leave it out',
    ],
  ],
])('%j has its mistakes', (given, mistakes) => {
  const fields = {
    id: { type: 'integer' },
    city: { type: 'text' },
    customerId: { type: 'integer', references: 'things' },
  }
  const relations = { customer: 'customerId' }
  expect(mistakesIn({ key: 'id', fields, relations, ...given })).toEqual(mistakes)
})

test('storages of their own cannot be joined by a condition', async () => {
  const { service } = openService({
    applications: { app: { collections } },
    storage: mount({ 'app/customers': memoryStorage(), '*': memoryStorage() }),
  })
  await expect(service.ready()).rejects.toThrow(
    'A condition of app/orders goes through customers, which is in another storage',
  )
})
