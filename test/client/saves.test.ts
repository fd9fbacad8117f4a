import { expect, test } from 'vitest'
import {
  attempt,
  createClient,
  RejectedError,
  RequestError,
  saved,
} from '../../src/entries/client.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import {
  defineCollection,
  error,
  integer,
  principal,
  text,
  warning,
} from '../../src/entries/index.ts'
import { serveDuringTest } from '../kit/server.ts'
import { openStage } from '../kit/stage.ts'

const fields = {
  id: integer(),
  title: text(),
  quantity: integer(),
  parent: integer({ references: 'orders' }),
}

const orders = defineCollection(
  { key: 'id', fields },
  {
    validations: [
      error('negative', {
        field: 'quantity',
        check: ({ quantity }) => ((quantity ?? 0) < 0 ? 'quantity must not be negative' : null),
      }),
      warning('large', {
        field: 'quantity',
        check: ({ quantity }) => ((quantity ?? 0) > 100 ? 'This is a large order.' : null),
      }),
    ],
    events: {
      Insert: {
        after(event) {
          if (event.item.title === 'late') event.warning('late', 'It is late.')
          if (event.item.title === 'unpaid') event.fail('The payment failed.')
        },
      },
      Delete: {
        before(event) {
          if (event.stored.title === 'kept') event.warning('kept', 'Delete it?')
        },
      },
    },
  },
)

const archive = defineCollection({ key: 'id', fields: { id: integer() } })

/** A service on a socket, a client of it, and the headers of confirmed warnings that the client has sent. */
async function openOrders() {
  const { service } = openStage({ orders, archive })
  const confirmations: unknown[] = []
  const handler = toNodeHandler(service)
  const url = await serveDuringTest((request, response) => {
    confirmations.push(request.headers['x-svc-ignore-warnings'])
    handler(request, response)
  })
  const client = createClient<typeof service>({ url })
  const inside = service.as(principal('maria')).collection('app', 'orders')
  return { client, confirmations, inside, orders: client.collection('app', 'orders') }
}

test('confirm repeats a request with the ids of its warnings', async () => {
  const { orders, inside, confirmations } = await openOrders()
  const held = await orders.insert({ id: 1, quantity: 101 })
  expect(held).toEqual({
    rejected: true,
    message: 'The changes need confirmation.',
    validations: [
      {
        validationId: expect.any(String) as string,
        message: 'This is a large order.',
        severity: 'warning',
        field: 'quantity',
      },
    ],
  })
  expect(await inside.count()).toBe(0)
  expect(await orders.confirm(held)).toMatchObject({ rejected: false, item: { quantity: 101 } })
  const [{ validationId } = {}] = held.validations
  expect(confirmations).toEqual([undefined, `"${String(validationId)}"`])
  expect(await inside.count()).toBe(1)
})

test('confirm repeats updates and deletes; an item that is gone meanwhile is undefined', async () => {
  const { orders, inside } = await openOrders()
  await inside.insert({ id: 1, title: 'kept' })
  const updated = await orders.update(1, { quantity: 200 })
  if (updated === undefined) throw new Error('The item exists.')
  expect(saved(await orders.confirm(updated))).toMatchObject({ id: 1, quantity: 200 })
  const deleted = await orders.delete(1)
  expect(deleted).toMatchObject({ rejected: true, message: 'The deletion needs confirmation.' })
  if (deleted === undefined) throw new Error('The item exists.')
  expect(await orders.confirm(deleted)).toMatchObject({ rejected: false, item: { id: 1 } })
  expect(await orders.confirm(deleted)).toBeUndefined()
})

test('warnings that come later can be confirmed in turn, with those before', async () => {
  const { orders, confirmations } = await openOrders()
  const first = await orders.insert({ id: 1, title: 'late', quantity: 101 })
  const second = await orders.confirm(first)
  if (second === undefined) throw new Error('An insert has a result.')
  expect(second).toMatchObject({ rejected: true, validations: [{ message: 'It is late.' }] })
  expect(await orders.confirm(second)).toMatchObject({ rejected: false })
  const ids = [first, second].map(({ validations }) => `"${String(validations[0]?.validationId)}"`)
  expect(confirmations).toEqual([undefined, ids[0], ids.join(', ')])
})

test('ignoreWarnings all confirms every warning, and errors stay errors', async () => {
  const { orders, inside } = await openOrders()
  const all = { ignoreWarnings: 'all' } as const
  const values = { id: 1, title: 'late', quantity: 101 }
  expect(await orders.insert(values, all)).toEqual(
    await inside
      .insert({ ...values, id: 2 }, all)
      .then((result) => ({ ...result, item: { ...saved(result), id: 1 } })),
  )
  const wrong = await orders.insert({ id: 3, quantity: -1 }, all)
  expect(wrong).toMatchObject({ rejected: true, validations: [{ severity: 'error' }] })
  expect(await inside.count()).toBe(2)
})

test('confirm throws for results with errors, of other collections, and of other clients', async () => {
  const { client, orders, confirmations } = await openOrders()
  const wrong = await orders.insert({ id: 3, quantity: -1 })
  const held = await orders.insert({ id: 1, quantity: 101 })
  const stored = await orders.insert({ id: 2 })
  for (const confirm of [
    () => orders.confirm(wrong),
    () => orders.confirm(stored),
    () => orders.confirm({ ...held }),
    () => client.collection('app', 'archive').confirm(held),
  ])
    await expect(confirm()).rejects.toThrow(TypeError)
  expect(confirmations).toHaveLength(3)
  expect(await client.collection('app', 'orders').confirm(held)).toMatchObject({ rejected: false })
})

test('a save that is kept although a handler called fail is not rejected', async () => {
  const { orders, inside } = await openOrders()
  const result = await orders.insert({ id: 1, title: 'unpaid' })
  expect(result).toEqual({
    rejected: false,
    item: { id: 1, title: 'unpaid', quantity: null, parent: null },
    validations: [],
    failure: 'The payment failed.',
  })
  expect(await inside.exists({ id: 1 })).toBe(true)
  expect(() => saved(result)).toThrow('The payment failed.')
})

test('saved returns the item, and throws an error with the result', async () => {
  const { orders } = await openOrders()
  expect(saved(await orders.insert({ id: 1, quantity: 5 })).quantity).toBe(5)
  const wrong = await orders.update(1, { quantity: -1 })
  const failed = await attempt(Promise.resolve().then(() => saved(wrong)))
  expect(failed).toEqual({ ok: false, error: expect.any(RejectedError) as RejectedError })
  expect(failed).toHaveProperty('error.result', wrong)
  expect(() => saved(wrong)).toThrow(
    'The changes could not be saved. quantity: quantity must not be negative',
  )
  expect(() => saved(undefined)).toThrow('The item does not exist.')
})

test('an error of the request is not a rejected save', async () => {
  const { orders, inside } = await openOrders()
  await inside.insertMany([{ id: 1 }, { id: 2, parent: 1 }])
  const used = await attempt(orders.delete(1))
  expect(used).toMatchObject({ ok: false, error: { status: 409, envelope: { status: 409 } } })
  const malformed = await attempt(orders.insert([] as never))
  expect(malformed).toMatchObject({ ok: false, error: { status: 400, envelope: { status: 400 } } })
  if (!malformed.ok) expect(malformed.error).toBeInstanceOf(RequestError)
})

test('attempt throws errors that are not of a request', async () => {
  const { orders } = await openOrders()
  await expect(attempt(orders.get(Number.NaN))).rejects.toThrow(TypeError)
})
