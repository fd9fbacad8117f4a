import {
  CoreAdminContext,
  useCreate,
  useDelete,
  useGetMany,
  useGetOne,
  useListController,
  useUpdate,
  type HttpError,
} from 'ra-core'
import { createElement, type ReactNode } from 'react'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { reactAdminDataProvider } from './react-admin-data-provider.ts'
import { openDocument, renderHook } from './render-hook.ts'
import { startSales } from './service.ts'

afterAll(openDocument())

/** Renders a hook of react-admin against a service. `answer` is what the user says to warnings and conflicts. */
async function render<Result>(useHook: () => Result, answer = true) {
  const asked: unknown[] = []
  const { options, inside, close, requests } = await startSales((question) => {
    asked.push(...[question].flat())
    return answer
  })
  const dataProvider = reactAdminDataProvider(options)
  const hook = renderHook(useHook, ({ children }: { readonly children: ReactNode }) =>
    createElement(CoreAdminContext, { dataProvider }, children),
  )
  onTestFinished(async () => {
    hook.unmount()
    await close()
  })
  return { hook, inside, asked, requests }
}

test('a grid sorts, filters and pages', async () => {
  const { hook } = await render(() =>
    useListController({
      resource: 'orders',
      perPage: 10,
      sort: { field: 'quantity', order: 'ASC' },
      disableSyncWithLocation: true,
      storeKey: false,
    }),
  )
  const idsOf = ({ data }: { readonly data?: readonly { readonly id: unknown }[] | undefined }) =>
    data?.map(({ id }) => id)
  const first = await hook.once(({ data, total }) => data !== undefined && total === 25)
  expect(idsOf(first)).toEqual([24, 23, 22, 21, 20, 19, 18, 17, 16, 15])
  first.setPage(3)
  const last = await hook.once(({ data }) => data?.length === 5)
  expect(idsOf(last)).toEqual([4, 3, 2, 1, 0])
  last.setFilters({ title: 't1' })
  const filtered = await hook.once(({ total }) => total === 12)
  filtered.setSort({ field: 'id', order: 'DESC' })
  const sorted = await hook.once(({ data }) => data?.[0]?.id === 23)
  expect(idsOf(sorted)).toEqual([23, 21, 19, 17, 15, 13, 11, 9, 7, 5])
  sorted.setFilters({ q: 'T0' })
  const found = await hook.once(({ total }) => total === 13)
  // As an input whose source is `quantity.gte`.
  found.setFilters({ quantity: { gte: 20, lte: 22 } })
  await hook.once(({ total }) => total === 3)
})

test('many items are read in one request, or one by one where the collection lists no keys', async () => {
  const { hook, requests } = await render(() => ({
    orders: useGetMany('orders', { ids: [3, 1, 99, 2] }),
    lines: useGetMany('lines', { ids: ['1,b', '1,c', '1,a'] }),
  }))
  const { orders, lines } = await hook.once(
    ({ orders, lines }) => orders.data !== undefined && lines.data !== undefined,
  )
  expect(orders.data?.map(({ id }) => id as unknown)).toEqual([3, 1, 2])
  expect(lines.data?.map(({ id }) => id as unknown)).toEqual(['1,b', '1,a'])
  const ofOrders = requests.filter((url) => url.includes('/orders'))
  expect(ofOrders).toHaveLength(1)
  expect(ofOrders[0]).toContain('?orderId.in=3&orderId.in=1&orderId.in=99&orderId.in=2&')
  expect(requests).toHaveLength(4)
})

test('an edit sends what has changed, and its warnings are confirmed', async () => {
  const { hook, inside, asked } = await render(() => ({
    one: useGetOne('orders', { id: 1 }),
    update: useUpdate('orders', undefined, { returnPromise: true }),
  }))
  const { one, update } = await hook.once(({ one: { data } }) => data !== undefined)
  expect(one.data).toEqual({ id: 1, orderId: 1, title: 't1', quantity: 24 })
  const [save] = update
  const saved: unknown = await save('orders', {
    id: 1,
    data: { ...one.data, quantity: 500 },
    previousData: one.data,
  })
  expect(saved).toMatchObject({ id: 1, quantity: 500 })
  expect(asked).toEqual(['This is a large order.'])
  expect(await inside.orders.get(1)).toMatchObject({ quantity: 500, title: 't1' })
})

test('a warning that is not confirmed and an error reject, and errors name their fields', async () => {
  const { hook, inside, asked } = await render(
    () => useCreate('orders', undefined, { returnPromise: true }),
    false,
  )
  const [create] = await hook.once(() => true)
  const large = create('orders', { data: { orderId: 100, quantity: 500 } })
  await expect(large).rejects.toThrow('The changes need confirmation.')
  expect(asked).toEqual(['This is a large order.'])
  const negative: unknown = await create('orders', { data: { orderId: 100, quantity: -1 } }).catch(
    (error: unknown) => error,
  )
  expect((negative as HttpError).body).toEqual({ errors: { quantity: 'Must not be negative.' } })
  expect(await inside.orders.count()).toBe(25)
})

test('items with a composite key are read and deleted', async () => {
  const { hook, inside } = await render(() => ({
    one: useGetOne('lines', { id: '1,b' }),
    remove: useDelete('lines', undefined, { returnPromise: true }),
  }))
  const { one, remove } = await hook.once(({ one: { data } }) => data !== undefined)
  expect(one.data).toEqual({ id: '1,b', orderId: 1, product: 'b', quantity: 2 })
  await remove[0]('lines', { id: '1,b', previousData: one.data })
  expect(await inside.lines.count()).toBe(1)
})

test.each([true, false])(
  'a change of an order that another user has changed is shown with both states, and saved if that is confirmed: %s',
  async (answer) => {
    const { hook, inside, asked } = await render(
      () => ({
        one: useGetOne('orders', { id: 1 }),
        update: useUpdate('orders', undefined, { returnPromise: true }),
      }),
      answer,
    )
    const { one, update } = await hook.once(({ one: { data } }) => data !== undefined)
    await inside.orders.update(1, { title: 'theirs' })
    const saving: Promise<unknown> = update[0]('orders', {
      id: 1,
      data: { ...one.data, title: 'mine' },
      previousData: one.data,
    })
    if (answer) expect(await saving).toMatchObject({ title: 'mine' })
    else await expect(saving).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' })
    expect(asked).toEqual([
      { mine: { title: 'mine' }, theirs: { id: 1, orderId: 1, title: 'theirs', quantity: 24 } },
    ])
    expect(await inside.orders.get(1)).toMatchObject({ title: answer ? 'mine' : 'theirs' })
  },
)
