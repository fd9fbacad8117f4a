import type { StorageAdapter } from '../storage/adapter.ts'
import type { Row } from '../request/query.ts'
import { equal } from './assertion.ts'
import { equals, find, store, write, type ConformanceCase } from './case.ts'
import { customers, orderLines, rowOf, samples } from './collections.ts'

const lines: readonly Row[] = [
  { orderId: 1, product: 'rum', quantity: 1, note: 'a' },
  { orderId: 1, product: 'tea', quantity: 2, note: null },
  { orderId: 2, product: 'rum', quantity: 3, note: 'a' },
]

/** `update`. */
export const updateCases: readonly ConformanceCase[] = [
  {
    name: 'an update returns the complete changed row, and changes no other row',
    run: async ({ adapter }) => {
      const changed = await update(adapter, { orderId: 1, product: 'tea' }, { quantity: 9 })
      equal(changed, { ...lines[1], quantity: 9 }, 'the row that update returned')
      equal(await find(adapter, orderLines), [lines[0], changed, lines[2]], 'the rows')
    },
  },
  {
    name: 'an update keeps the other fields, and clears a field that it sets to null',
    run: async ({ adapter }) => {
      const changed = await update(adapter, { orderId: 1, product: 'rum' }, { note: null })
      equal(changed, { ...lines[0], note: null }, 'the row that update returned')
      equal((await find(adapter, orderLines))[0], changed, 'the row')
    },
  },
  {
    name: 'an update of a missing key returns undefined and changes nothing',
    run: async ({ adapter }) => {
      for (const key of [
        { orderId: 3, product: 'rum' },
        { orderId: 2, product: 'tea' },
        { orderId: 1, product: 'RUM' },
        { orderId: 1, product: 'rum ' },
      ]) {
        const changed = await update(adapter, key, { quantity: 9 })
        equal(changed, undefined, 'what update returned')
      }
      equal(await find(adapter, orderLines), lines, 'the rows')
    },
  },
  {
    name: 'an update applies only if all conditions hold, not the key alone',
    run: async ({ adapter }) => {
      const key = { orderId: 1, product: 'rum' }
      equal(await update(adapter, { ...key, quantity: 2 }, { note: 'b' }), undefined, 'quantity 2')
      equal(await update(adapter, { ...key, note: 'A' }, { note: 'b' }), undefined, 'note A')
      equal(await update(adapter, { ...key, note: null }, { note: 'b' }), undefined, 'note null')
      equal(await find(adapter, orderLines), lines, 'the rows')
      const changed = await update(adapter, { note: 'a', ...key, quantity: 1 }, { note: 'b' })
      equal(changed, { ...lines[0], note: 'b' }, 'the row that meets all conditions')
    },
  },
  {
    name: 'an update supports the condition `empty`, and equal to null',
    run: async ({ adapter }) => {
      await store(adapter, orderLines, lines)
      const change = (product: string): Promise<Row | undefined> =>
        write(adapter, (on) => {
          const key = equals({ orderId: 1, product })
          return on.update(orderLines, [...key, { field: 'note', is: 'empty' }], { quantity: 7 })
        })
      equal(await change('rum'), undefined, 'the row with a note')
      equal(await change('tea'), { ...lines[1], quantity: 7 }, 'the row without note')
      const key = { orderId: 1, product: 'tea' }
      const changed = await update(adapter, { ...key, note: null }, { note: '' })
      equal(changed, { ...lines[1], quantity: 7, note: '' }, 'the row whose note is null')
    },
  },
  {
    name: 'an update that contains the unchanged key changes the other fields',
    run: async ({ adapter }) => {
      const key = { orderId: 2, product: 'rum' }
      const changed = await update(adapter, key, { ...key, quantity: 30 })
      equal(changed, { ...lines[2], quantity: 30 }, 'the row that update returned')
      equal(await find(adapter, orderLines), [lines[0], lines[1], changed], 'the rows')
    },
  },
  {
    name: 'an update with the stored values returns the row',
    run: async ({ adapter }) => {
      const changed = await update(adapter, { orderId: 1, product: 'rum' }, { quantity: 1 })
      equal(changed, lines[0], 'the row that update returned')
    },
  },
  {
    name: 'an update without changes returns the row',
    run: async ({ adapter }) => {
      equal(await update(adapter, { orderId: 1, product: 'rum' }, {}), lines[0], 'the row')
      equal(await update(adapter, { orderId: 7, product: 'rum' }, {}), undefined, 'a missing row')
    },
  },
  {
    name: 'an update sees the previous update of its transaction',
    run: async ({ adapter }) => {
      await store(adapter, customers, [{ customerId: 'A', visits: 1 }])
      const conditions = equals({ customerId: 'A' })
      await write(adapter, async (on) => {
        await on.update(customers, conditions, { visits: 2 })
        const stale = await on.update(customers, equals({ customerId: 'A', visits: 1 }), {
          visits: 9,
        })
        equal(stale, undefined, 'an update on the condition that was')
        await on.update(customers, equals({ customerId: 'A', visits: 2 }), { region: 'x' })
      })
      const expected = rowOf(customers, { customerId: 'A', visits: 2, region: 'x' })
      equal(await find(adapter, customers), [expected], 'the rows')
    },
  },
  {
    name: 'an update copies the values of the given changes',
    run: async ({ adapter }) => {
      await store(adapter, samples, [{ id: 1, label: 'old' }])
      const changes: Record<string, string> = { label: 'new' }
      await write(adapter, async (on) => {
        await on.update(samples, equals({ id: 1 }), changes)
        changes['label'] = 'later'
      })
      equal((await find(adapter, samples, { select: ['label'] }))[0], { label: 'new' }, 'the row')
    },
  },
  {
    name: 'an update as text returns the JSON of the selected fields, byte for byte, and changes the same row',
    run: async ({ adapter }) => {
      const key = { orderId: 1, product: 'tea' }
      for (const changes of [
        { quantity: 9 },
        { note: '"\\\u0001é😀' },
        { note: null, quantity: 8 },
      ]) {
        for (const select of [orderLines.allNames, ['note'], ['product', 'quantity']]) {
          const text = await updateText(adapter, key, changes, select)
          if (text === undefined) continue
          const [, row = {}] = await find(adapter, orderLines)
          equal(row, { ...row, ...key, ...changes }, 'the changed row')
          const item = Object.fromEntries(select.map((name) => [name, row[name]]))
          equal(text, JSON.stringify(item), 'the text that updateText returned')
        }
      }
      const [first, , third] = await find(adapter, orderLines)
      equal([first, third], [lines[0], lines[2]], 'the other rows')
    },
  },
  {
    name: 'an update as text returns null for a missing key, and changes nothing',
    run: async ({ adapter }) => {
      for (const key of [
        { orderId: 3, product: 'rum' },
        { orderId: 1, product: 'RUM' },
      ]) {
        const text = await updateText(adapter, key, { quantity: 9 }, orderLines.allNames)
        equal(text ?? null, null, 'the text that updateText returned')
      }
      equal(await find(adapter, orderLines), lines, 'the rows')
    },
  },
]

/** Updates an order line as text. Undefined if the adapter can't. */
async function updateText(
  adapter: StorageAdapter,
  conditions: Row,
  changes: Row,
  select: readonly string[],
): Promise<string | null | undefined> {
  if ((await find(adapter, orderLines)).length === 0) await store(adapter, orderLines, lines)
  return write(adapter, (on) => on.updateText?.(orderLines, equals(conditions), changes, select))
}

/** Updates an order line. Stores the order lines first if there are none. */
async function update(
  adapter: StorageAdapter,
  conditions: Row,
  changes: Row,
): Promise<Row | undefined> {
  if ((await find(adapter, orderLines)).length === 0) await store(adapter, orderLines, lines)
  return write(adapter, (on) => on.update(orderLines, equals(conditions), changes))
}
