import { Refine, useCreate, useDelete, useMany, useOne, useTable, useUpdate } from '@refinedev/core'
import { createElement, type ReactNode } from 'react'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { refineDataProvider } from './refine-data-provider.ts'
import { openDocument, renderHook } from './render-hook.ts'
import { startSales } from './service.ts'

afterAll(openDocument())

/** Renders a hook of refine against a service. `answer` is what the user says to warnings and conflicts. */
async function render<Result>(useHook: () => Result, answer = true) {
  const asked: unknown[] = []
  const { options, inside, close, requests } = await startSales((question) => {
    asked.push(...[question].flat())
    return answer
  })
  const dataProvider = refineDataProvider(options, '/')
  const hook = renderHook(useHook, ({ children }: { readonly children: ReactNode }) =>
    createElement(Refine, { dataProvider, options: { disableTelemetry: true } }, children),
  )
  onTestFinished(async () => {
    hook.unmount()
    await close()
  })
  return { hook, inside, asked, requests }
}

test('a grid sorts, filters and pages', async () => {
  const { hook } = await render(() =>
    useTable({
      resource: 'orders',
      pagination: { pageSize: 10 },
      sorters: { initial: [{ field: 'quantity', order: 'asc' }] },
    }),
  )
  const idsOf = ({ result }: { readonly result: { readonly data: readonly { id?: unknown }[] } }) =>
    result.data.map(({ id }) => id)
  const first = await hook.once(({ result }) => result.total === 25 && result.data.length > 0)
  expect(idsOf(first)).toEqual([24, 23, 22, 21, 20, 19, 18, 17, 16, 15])
  first.setCurrentPage(3)
  const last = await hook.once(({ result }) => result.data.length === 5)
  expect(idsOf(last)).toEqual([4, 3, 2, 1, 0])
  last.setFilters([{ field: 'title', operator: 'eq', value: 't1' }])
  const filtered = await hook.once(({ result }) => result.total === 12)
  filtered.setCurrentPage(1)
  filtered.setSorters([{ field: 'id', order: 'desc' }])
  const sorted = await hook.once(({ result }) => result.data[0]?.id === 23)
  expect(idsOf(sorted)).toEqual([23, 21, 19, 17, 15, 13, 11, 9, 7, 5])
})

test('filters with operators hold together', async () => {
  const { hook } = await render(() =>
    useTable({
      resource: 'orders',
      filters: {
        initial: [
          { field: 'quantity', operator: 'between', value: [20, 24] },
          { field: 'title', operator: 'ne', value: 't0' },
        ],
      },
    }),
  )
  const { result } = await hook.once(({ result: { data } }) => data.length > 0)
  expect(result.data.map(({ id }) => id)).toEqual([1, 3, 5])
})

test('many items are read in one request', async () => {
  const { hook, requests } = await render(() => useMany({ resource: 'orders', ids: [3, 1, 99] }))
  const { result } = await hook.once(({ result: { data } }) => data.length > 0)
  expect(result.data.map(({ id }) => id)).toEqual([3, 1])
  expect(requests).toHaveLength(1)
})

test('an edit is saved, and its warnings are confirmed', async () => {
  const { hook, inside, asked } = await render(() => ({
    one: useOne({ resource: 'orders', id: 1 }),
    update: useUpdate(),
  }))
  const { one, update } = await hook.once(({ one: { result } }) => result?.id === 1)
  expect(one.result).toEqual({ id: 1, orderId: 1, title: 't1', quantity: 24 })
  const saved = await update.mutateAsync({ resource: 'orders', id: 1, values: { quantity: 500 } })
  expect(saved.data).toMatchObject({ id: 1, quantity: 500, title: 't1' })
  expect(asked).toEqual(['This is a large order.'])
  expect(await inside.orders.get(1)).toMatchObject({ quantity: 500 })
})

test('a warning that is not confirmed and an error reject, and errors name their fields', async () => {
  const { hook, inside, asked } = await render(() => useCreate(), false)
  const { mutateAsync } = await hook.once(() => true)
  const create = (values: object) => mutateAsync({ resource: 'orders', values })
  await expect(create({ orderId: 100, quantity: 500 })).rejects.toMatchObject({ statusCode: 400 })
  expect(asked).toEqual(['This is a large order.'])
  await expect(create({ orderId: 100, quantity: -1 })).rejects.toMatchObject({
    errors: { quantity: 'Must not be negative.' },
  })
  expect(await inside.orders.count()).toBe(25)
})

test('items with a composite key are read and deleted', async () => {
  const { hook, inside } = await render(() => ({
    one: useOne({ resource: 'lines', id: '1,b' }),
    remove: useDelete(),
  }))
  const { one, remove } = await hook.once(({ one: { result } }) => result?.id === '1,b')
  expect(one.result).toEqual({ id: '1,b', orderId: 1, product: 'b', quantity: 2 })
  await remove.mutateAsync({ resource: 'lines', id: '1,b' })
  expect(await inside.lines.count()).toBe(1)
})

test.each([true, false])(
  'a change of an order that another user has changed is shown with both states, and saved if that is confirmed: %s',
  async (answer) => {
    const { hook, inside, asked } = await render(
      () => ({ one: useOne({ resource: 'orders', id: 1 }), update: useUpdate() }),
      answer,
    )
    const { update } = await hook.once(({ one: { result } }) => result?.id === 1)
    await inside.orders.update(1, { title: 'theirs' })
    const saving = update.mutateAsync({ resource: 'orders', id: 1, values: { title: 'mine' } })
    if (answer) expect((await saving).data).toMatchObject({ title: 'mine' })
    else await expect(saving).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' })
    expect(asked).toEqual([
      { mine: { title: 'mine' }, theirs: { id: 1, orderId: 1, title: 'theirs', quantity: 24 } },
    ])
    expect(await inside.orders.get(1)).toMatchObject({ title: answer ? 'mine' : 'theirs' })
  },
)

test('a delete of an order that another user has changed is rejected until it is confirmed', async () => {
  const { hook, inside, asked } = await render(() => ({
    one: useOne({ resource: 'orders', id: 1 }),
    remove: useDelete(),
  }))
  const { remove } = await hook.once(({ one: { result } }) => result?.id === 1)
  await inside.orders.update(1, { title: 'theirs' })
  await remove.mutateAsync({ resource: 'orders', id: 1 })
  expect(asked).toMatchObject([{ mine: {}, theirs: { title: 'theirs' } }])
  expect(await inside.orders.get(1)).toBeUndefined()
})
