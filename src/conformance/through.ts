import type { PublishedCollection } from '../definition/published.ts'
import type { Condition } from '../request/query.ts'
import { equal } from './assertion.ts'
import { equals, findValues, store, write, writing, type ConformanceCase } from './case.ts'
import { customers, orderLines, orders, remarks } from './collections.ts'

/** Conditions on the row of another collection whose key the fields are. */
export const throughCases: readonly ConformanceCase[] = [
  {
    name: 'through finds the rows whose fields are the key of a row that meets the conditions',
    conditions: ['through'],
    run: async ({ adapter }) => {
      await storeOrders(adapter)
      const of = (customerId: string) => [through(orders, equals({ customerId }))]
      equal(await linesWhere(adapter, of('ALFKI')), ['1 rum', '1 tea', '2 rum'], 'of ALFKI')
      equal(await linesWhere(adapter, of('BERGS')), ['3 rum'], 'of BERGS')
      equal(await linesWhere(adapter, of('alfki')), [], 'of alfki')
      const any = [through(orders, [])]
      const found = await linesWhere(adapter, any)
      equal(found, ['1 rum', '1 tea', '2 rum', '3 rum', '4 rum'], 'of any order')
    },
  },
  {
    name: 'through does not find a row whose fields are null or no key of a row',
    conditions: ['through', 'not'],
    run: async ({ adapter }) => {
      await storeOrders(adapter)
      const condition = through(orders, [], ['replaces'])
      equal(await ordersWhere(adapter, [condition]), [2, 4], 'orders that replace another one')
      const not: Condition = { is: 'not', condition }
      equal(await ordersWhere(adapter, [not]), [1, 3, 5], 'the other orders')
    },
  },
  {
    name: 'through continues through several collections',
    conditions: ['through'],
    run: async ({ adapter }) => {
      await storeOrders(adapter)
      const customer = through(customers, equals({ region: 'north' }), ['customerId'])
      const order = through(orders, [customer])
      equal(await linesWhere(adapter, [order]), ['1 rum', '1 tea', '2 rum'], 'lines of the north')
      const line = through(orderLines, [order], ['orderId', 'product'])
      const found = await findValues(adapter, remarks, 'id', { conditions: [line] })
      equal(found, [1], 'remarks on lines of the north')
    },
  },
  {
    name: 'through works on rows of the same collection',
    conditions: ['through'],
    run: async ({ adapter }) => {
      await storeOrders(adapter)
      const once = through(orders, equals({ note: 'first' }), ['replaces'])
      equal(await ordersWhere(adapter, [once]), [2], 'the orders that replace the first')
      const twice = through(orders, [once], ['replaces'])
      equal(await ordersWhere(adapter, [twice]), [4], 'the orders that replace those')
    },
  },
  {
    name: 'through combines with other conditions, counts and sorting',
    conditions: ['through', 'or', 'and', 'not', 'in', 'gt'],
    run: async ({ adapter }) => {
      await storeOrders(adapter)
      const own = through(orders, [{ field: 'customerId', is: 'in', values: ['BERGS', 'X'] }])
      const few: Condition = { field: 'quantity', is: 'gt', value: 8 }
      const either: Condition = { is: 'or', conditions: [own, few] }
      equal(await linesWhere(adapter, [either]), ['2 rum', '3 rum'], 'either')
      const neither: Condition = { is: 'not', condition: either }
      equal(await linesWhere(adapter, [neither]), ['1 rum', '1 tea', '4 rum', '9 rum'], 'neither')
      const rum = equals({ product: 'rum' })
      const alfki = through(orders, equals({ customerId: 'ALFKI' }))
      const page = await adapter.filter(orderLines, {
        conditions: [...rum, alfki, { is: 'not', condition: own }],
        search: { fields: ['product'], text: 'r' },
        sort: [
          { field: 'quantity', descending: true },
          { field: 'orderId', descending: false },
          { field: 'product', descending: false },
        ],
        limit: 1,
        offset: 0,
        select: ['orderId'],
        count: true,
      })
      equal([page.rows.map(({ orderId }) => orderId), page.count], [[2], 2], 'a page')
      const twice = [alfki, through(orders, equals({ note: 'first' }))]
      equal(await linesWhere(adapter, twice), ['1 rum', '1 tea'], 'two conditions through orders')
    },
  },
  {
    name: 'update and delete change a row only if the row of the other collection meets the conditions',
    conditions: ['through'],
    run: async ({ adapter }) => {
      await storeOrders(adapter)
      const key = equals({ orderId: 3, product: 'rum' })
      const alfki = [...key, through(orders, equals({ customerId: 'ALFKI' }))]
      const bergs = [...key, through(orders, equals({ customerId: 'BERGS' }))]
      const changes = { note: 'changed' }
      const update = (conditions: readonly Condition[]) =>
        write(adapter, (on) => on.update(orderLines, conditions, changes))
      equal(await update(alfki), undefined, 'an update through an order of another customer')
      equal((await update(bergs))?.['note'], 'changed', 'an update through the order')
      const remove = (conditions: readonly Condition[]) =>
        write(adapter, (on) => on.delete(orderLines, conditions))
      equal(await remove(alfki), undefined, 'a delete through an order of another customer')
      equal((await remove(bergs))?.['note'], 'changed', 'a delete through the order')
      const replaced = through(orders, equals({ note: 'first' }), ['replaces'])
      const own = await write(adapter, (on) =>
        on.update(orders, [...equals({ orderId: 2 }), replaced], { note: 'second' }),
      )
      equal(own?.['note'], 'second', 'an update through a row of the same collection')
    },
  },
  {
    name: 'through sees the changes of its transaction, and those of others after their commit',
    conditions: ['through'],
    run: async ({ adapter }) => {
      await storeOrders(adapter)
      const alfki = [through(orders, equals({ customerId: 'ALFKI' }))]
      const before = await linesWhere(adapter, alfki)
      const undone = adapter.transaction(writing, async (on) => {
        await on.update(orders, equals({ orderId: 3 }), { customerId: 'ALFKI' })
        await on.delete(orders, equals({ orderId: 2 }))
        equal(await linesWhere(on, alfki), ['1 rum', '1 tea', '3 rum'], 'inside')
        throw new Error('undone')
      })
      await undone.catch((error: unknown) => {
        if (!(error instanceof Error) || error.message !== 'undone') throw error
      })
      equal(await linesWhere(adapter, alfki), before, 'after the transaction was undone')
      await write(adapter, (on) =>
        on.update(orders, equals({ orderId: 3 }), { customerId: 'ALFKI' }),
      )
      const after = await linesWhere(adapter, alfki)
      equal(after, ['1 rum', '1 tea', '2 rum', '3 rum'], 'after a commit')
    },
  },
]

type Reader = Parameters<typeof findValues>[0]

function through(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  fields: readonly string[] = ['orderId'],
): Condition {
  return { is: 'through', collection, fields, conditions }
}

async function linesWhere(
  reader: Reader,
  conditions: readonly Condition[],
): Promise<readonly string[]> {
  const { rows } = await reader.filter(orderLines, {
    conditions,
    search: null,
    sort: ['orderId', 'product'].map((field) => ({ field, descending: false })),
    limit: 100,
    offset: 0,
    select: ['orderId', 'product'],
    count: false,
  })
  return rows.map(({ orderId, product }) => `${String(orderId)} ${String(product)}`)
}

function ordersWhere(
  reader: Reader,
  conditions: readonly Condition[],
): Promise<readonly unknown[]> {
  return findValues(reader, orders, 'orderId', { conditions })
}

async function storeOrders(adapter: Parameters<typeof store>[0]): Promise<void> {
  await store(adapter, customers, [
    { customerId: 'ALFKI', region: 'north' },
    { customerId: 'BERGS', region: 'south' },
  ])
  await store(adapter, orders, [
    { orderId: 1, customerId: 'ALFKI', note: 'first' },
    { orderId: 2, customerId: 'ALFKI', replaces: 1 },
    { orderId: 3, customerId: 'BERGS', replaces: 99 },
    { orderId: 4, customerId: null, replaces: 2 },
    { orderId: 5, customerId: 'GONE' },
  ])
  await store(adapter, orderLines, [
    { orderId: 1, product: 'rum', quantity: 5 },
    { orderId: 1, product: 'tea', quantity: 6 },
    { orderId: 2, product: 'rum', quantity: 9 },
    { orderId: 3, product: 'rum', quantity: 7 },
    { orderId: 4, product: 'rum', quantity: 7 },
    { orderId: 9, product: 'rum', quantity: 7 },
  ])
  await store(adapter, remarks, [
    { id: 1, product: 'rum', orderId: 2 },
    { id: 2, product: 'rum', orderId: 3 },
    { id: 3, product: 'ale', orderId: 1 },
    { id: 4, product: 'rum' },
  ])
}
