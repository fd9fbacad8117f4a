import type { StoredValue } from '../definition/field-type.ts'
import type { Condition, Row } from '../request/query.ts'
import { equal } from './assertion.ts'
import { equals, find, findValues, store, write, type ConformanceCase } from './case.ts'
import { customers, orderLines, samples } from './collections.ts'
import { lookAlikes, typed } from './conditions.ts'
import { ascending } from './sort.ts'

type Value = NonNullable<StoredValue>

/** Conditions beyond equality: order, lists, parts of strings, and their combinations. */
export const furtherConditionCases: readonly ConformanceCase[] = [
  ...ascending.map(([field, what, values]): ConformanceCase => ({
    name: `lt, lte, gt and gte compare ${what}, and never find null`,
    conditions: ['lt', 'lte', 'gt', 'gte'],
    run: async ({ adapter }) => {
      await store(adapter, samples, numbered(field, [...values, null]))
      for (const [at, value] of (values as readonly Value[]).entries()) {
        const ids = values.map((_, id) => id)
        const expected = {
          lt: ids.slice(0, at),
          lte: ids.slice(0, at + 1),
          gt: ids.slice(at + 1),
          gte: ids.slice(at),
        }
        for (const is of ['lt', 'lte', 'gt', 'gte'] as const) {
          const found = await idsWhere(adapter, [{ field, is, value }])
          equal(found, expected[is], `the rows whose ${field} is ${is} ${String(value)}`)
        }
      }
    },
  })),
  ...[...typed, ...lookAlikes.map(([, texts]) => ['label', texts] as const)].map(
    ([field, values], index): ConformanceCase => ({
      name: `in finds exactly the values of a list of ${samples.byName.get(field)?.type ?? ''} (${field}, ${index + 1})`,
      conditions: ['in'],
      run: async ({ adapter }) => {
        await store(adapter, samples, numbered(field, [...values, null]))
        const all = (values as readonly Value[]).map((value, id) => ({ id, value }))
        for (const remainder of [0, 1]) {
          const chosen = all.filter(({ id }) => id % 2 === remainder)
          const list = chosen.map(({ value }) => value)
          const found = await idsWhere(adapter, [{ field, is: 'in', values: list.toReversed() }])
          equal(
            found,
            chosen.map(({ id }) => id),
            `the rows whose ${field} is in ${JSON.stringify(list)}`,
          )
        }
        const whole = all.map(({ value }) => value)
        const every = await idsWhere(adapter, [{ field, is: 'in', values: whole }])
        equal(every, [...all.keys()], 'the rows of the whole list')
        equal(await idsWhere(adapter, [{ field, is: 'in', values: [] }]), [], 'of an empty list')
      },
    }),
  ),
  {
    name: 'in accepts 5,000 values',
    conditions: ['in'],
    run: async ({ adapter }) => {
      await store(adapter, samples, [
        { id: 1, quantity: 7, label: 'v7', ratio: 0.7 },
        { id: 2, quantity: 4999, label: 'v4999', ratio: 499.9 },
        { id: 3, quantity: 5000, label: 'v5000', ratio: 500 },
        { id: 4 },
      ])
      const numbers = Array.from({ length: 5000 }, (_, index) => index)
      const lists = {
        quantity: numbers,
        label: numbers.map((number) => `v${number}`),
        ratio: numbers.map((number) => number / 10),
      }
      for (const [field, values] of Object.entries(lists)) {
        equal(await idsWhere(adapter, [{ field, is: 'in', values }]), [1, 2], `by ${field}`)
      }
    },
  },
  {
    name: 'contains finds the exact code points, anywhere in the string',
    conditions: ['contains'],
    run: async ({ adapter }) => {
      const labels = [
        '',
        'rum',
        'Rum',
        'RUM',
        'a rum b',
        '50%',
        '50',
        'a_b',
        'e\u0301',
        'é',
        '👍🏽',
        '\\',
        "'",
      ]
      await store(adapter, samples, numbered('label', [...labels, null]))
      for (const text of ['', 'rum', 'Rum', '%', '_', 'e', 'é', '👍', '\\', "'", ' ', 'rumx']) {
        const expected = labels.flatMap((label, id) => (label.includes(text) ? [id] : []))
        const found = await idsWhere(adapter, [{ field: 'label', is: 'contains', text }])
        equal(found, expected, `the rows whose label contains ${JSON.stringify(text)}`)
      }
    },
  },
  {
    name: 'startsWith finds the exact code points at the start of the string',
    conditions: ['startsWith'],
    run: async ({ adapter }) => {
      const labels = [
        ...['', 'a', 'A', 'ab', 'aB', 'a%b', 'a_b', 'b', 'ba', 'á', 'a\u0301', ' a'],
        ...['\ud7ff', '\ud7ffx', '\ue000', '\uffff', '\u{10000}', '\u{1f600}', '\u{1f601}'],
        ...['\u{10ffff}', '\u{10ffff}\u{10ffff}a', 'a\u{10ffff}', 'a\u{10ffff}b'],
      ]
      await store(adapter, samples, numbered('label', [...labels, null]))
      for (const text of labels) {
        const expected = labels.flatMap((label, id) => (label.startsWith(text) ? [id] : []))
        const found = await idsWhere(adapter, [{ field: 'label', is: 'startsWith', text }])
        equal(found, expected, `the rows whose label starts with ${JSON.stringify(text)}`)
      }
    },
  },
  {
    name: 'not is an exact negation: null meets the negation of every comparison',
    conditions: ['not', 'lt', 'gte', 'in', 'contains', 'startsWith'],
    run: async ({ adapter }) => {
      await store(adapter, samples, [
        { id: 1, quantity: 1, label: 'a', amount: '-1.0000' },
        { id: 2, quantity: 5, label: '', amount: '1.0000' },
        { id: 3 },
      ])
      const negated: readonly (readonly [Condition, readonly number[]])[] = [
        [{ field: 'quantity', is: 'equal', value: 1 }, [2, 3]],
        [{ field: 'quantity', is: 'equal', value: null }, [1, 2]],
        [{ field: 'label', is: 'empty' }, [1]],
        [{ field: 'quantity', is: 'lt', value: 3 }, [2, 3]],
        [{ field: 'quantity', is: 'gte', value: 3 }, [1, 3]],
        [{ field: 'amount', is: 'lt', value: '0.0000' }, [2, 3]],
        [{ field: 'quantity', is: 'in', values: [5] }, [1, 3]],
        [{ field: 'quantity', is: 'in', values: [] }, [1, 2, 3]],
        [{ field: 'label', is: 'contains', text: '' }, [3]],
        [{ field: 'label', is: 'startsWith', text: 'a' }, [2, 3]],
      ]
      for (const [condition, expected] of negated) {
        const what = JSON.stringify(condition)
        equal(await idsWhere(adapter, [{ is: 'not', condition }]), expected, `not ${what}`)
        const twice: Condition = { is: 'not', condition: { is: 'not', condition } }
        const once = await idsWhere(adapter, [condition])
        equal(await idsWhere(adapter, [twice]), once, `not not ${what}`)
      }
    },
  },
  {
    name: 'and, or and not nest',
    conditions: ['and', 'or', 'not', 'gt', 'in'],
    run: async ({ adapter }) => {
      await store(adapter, samples, numbered('quantity', [0, 1, 2, 3, 4, 5, null]))
      const above = (value: number): Condition => ({ field: 'quantity', is: 'gt', value })
      const one = (...values: number[]): Condition => ({ field: 'quantity', is: 'in', values })
      const not = (condition: Condition): Condition => ({ is: 'not', condition })
      const and = (...conditions: Condition[]): Condition => ({ is: 'and', conditions })
      const or = (...conditions: Condition[]): Condition => ({ is: 'or', conditions })
      const cases: readonly (readonly [readonly Condition[], readonly number[]])[] = [
        [[or(one(0), one(3))], [0, 3]],
        [[and(above(1), not(above(3)))], [2, 3]],
        [[or(and(above(0), not(above(1))), and(above(3), one(4, 9)))], [1, 4]],
        [[not(or(one(1), above(2)))], [0, 2, 6]],
        [[not(and(above(1), not(one(3))))], [0, 1, 3, 6]],
        [[or(one(0), one(1)), or(one(1), one(2))], [1]],
        [
          [above(1), or(not(above(2)), one(5))],
          [2, 5],
        ],
        [[or()], []],
        [[and()], [0, 1, 2, 3, 4, 5, 6]],
        [[not(or())], [0, 1, 2, 3, 4, 5, 6]],
        [[not(and())], []],
        [[or(and(or(and(or(one(2)))))), and(or(and(above(1))))], [2]],
      ]
      for (const [conditions, expected] of cases) {
        equal(await idsWhere(adapter, conditions), expected, JSON.stringify(conditions))
      }
    },
  },
  {
    name: 'every condition limits the count of a page, its search and its order',
    conditions: ['gte', 'or'],
    run: async ({ adapter }) => {
      await store(adapter, samples, numbered('quantity', [3, 1, 2, 5, 4, null]))
      const page = await adapter.filter(samples, {
        conditions: [
          { field: 'quantity', is: 'gte', value: 2 },
          { is: 'or', conditions: equals({ id: 0, quantity: 4 }).concat(equals({ id: 3 })) },
        ],
        search: { fields: ['quantity'], text: '5' },
        sort: [{ field: 'id', descending: true }],
        limit: 10,
        offset: 0,
        select: ['id'],
        count: true,
      })
      equal([page.rows.map(({ id }) => id), page.count], [[3], 1], 'the page')
    },
  },
  {
    name: 'update and delete change a row only if it meets every condition',
    conditions: ['lt', 'in', 'not', 'or'],
    run: async ({ adapter }) => {
      await store(adapter, orderLines, [
        { orderId: 1, product: 'rum', quantity: 5 },
        { orderId: 1, product: 'tea', quantity: 5 },
      ])
      const key = equals({ orderId: 1, product: 'rum' })
      const unmet: readonly Condition[] = [
        { field: 'quantity', is: 'lt', value: 5 },
        { field: 'product', is: 'in', values: ['tea'] },
        { is: 'not', condition: { field: 'quantity', is: 'equal', value: 5 } },
        { is: 'or', conditions: [] },
      ]
      for (const condition of unmet) {
        const conditions = [...key, condition]
        const what = JSON.stringify(condition)
        const changed = await write(adapter, (on) =>
          on.update(orderLines, conditions, { quantity: 1 }),
        )
        equal(changed, undefined, `an update with ${what}`)
        const removed = await write(adapter, (on) => on.delete(orderLines, conditions))
        equal(removed, undefined, `a delete with ${what}`)
      }
      const met: Condition = { field: 'quantity', is: 'lt', value: 6 }
      const changed = await write(adapter, (on) =>
        on.update(orderLines, [...key, met], { quantity: 9 }),
      )
      equal(changed?.['quantity'], 9, 'the updated quantity')
      const removed = await write(adapter, (on) => on.delete(orderLines, [...key, met]))
      equal(removed, undefined, 'a delete after the update')
      equal((await find(adapter, orderLines)).length, 2, 'the number of rows')
    },
  },
  {
    name: 'conditions on the parts of a key work',
    conditions: ['in', 'gt', 'startsWith'],
    run: async ({ adapter }) => {
      const keys = ['A1', 'A2', 'B1', 'a1']
      await store(
        adapter,
        customers,
        keys.map((customerId) => ({ customerId })),
      )
      const by = async (condition: Condition): Promise<readonly unknown[]> =>
        findValues(adapter, customers, 'customerId', { conditions: [condition] })
      const field = 'customerId'
      equal(await by({ field, is: 'in', values: ['a1', 'A1'] }), ['A1', 'a1'], 'in')
      equal(await by({ field, is: 'gt', value: 'A2' }), ['B1', 'a1'], 'gt')
      equal(await by({ field, is: 'startsWith', text: 'A' }), ['A1', 'A2'], 'startsWith')
    },
  },
]

function numbered(field: string, values: readonly StoredValue[]): readonly Row[] {
  return values.map((value, id) => ({ id, [field]: value }))
}

function idsWhere(
  adapter: Parameters<typeof store>[0],
  conditions: readonly Condition[],
): Promise<readonly unknown[]> {
  return findValues(adapter, samples, 'id', { conditions })
}
