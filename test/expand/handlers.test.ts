import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { defineCollection, integer, system, text } from '../../src/entries/index.ts'
import { openStage } from '../kit/stage.ts'

const customers = defineCollection({
  key: 'id',
  fields: { id: integer() },
  expand: { orders: { from: 'orders' } },
})

function openOrders(after: (given: Given) => Promise<void>) {
  const orders = defineCollection(
    {
      key: 'orderId',
      fields: { orderId: integer(), customerId: integer({ references: 'customers' }) },
    },
    {
      events: {
        Filter: {
          after: ({ items, information, reject }) => {
            const orderId = items[0]?.orderId ?? null
            return after({ orderId, note: (text) => information(text, 'orderId'), reject })
          },
        },
      },
    },
  )
  return openStage({ customers, orders })
}

interface Given {
  readonly orderId: number | null
  readonly note: (text: string) => void
  readonly reject: (message: string) => never
}

async function planted(after: (given: Given) => Promise<void>) {
  const stage = openOrders(after)
  for (const id of [1, 2, 3]) {
    await stage.client.post('/app/customers', { id })
    await stage.client.post('/app/orders', { orderId: id, customerId: id })
  }
  return stage
}

test('$expand reads the lists of a collection with handlers in one transaction', async () => {
  const { client, storageCalls } = await planted(async ({ orderId, note }) => {
    await sleep(20 - 5 * Number(orderId))
    note(`Order ${orderId}`)
  })
  const before = storageCalls.length
  const { body } = await client.get('/app/customers', { query: { $expand: 'orders' } })
  expect(body).toMatchObject({
    items: [1, 2, 3].map((id) => ({ id, orders: { items: [{ orderId: id }], more: false } })),
    // In the order of the items, and not of a field of the customers.
    validations: [1, 2, 3].map((id) => ({ message: `Order ${id}`, severity: 'information' })),
  })
  expect(JSON.stringify(body)).not.toContain('"field"')
  expect(storageCalls.slice(before)).toEqual(['filter customers', 'transaction read'])
})

test('$expand has a finding of a handler once, however many lists it was called for', async () => {
  const { client } = await planted(async ({ note }) => note('Old prices.'))
  const { body } = await client.get('/app/customers', { query: { $expand: 'orders' } })
  expect(body.validations).toEqual([{ message: 'Old prices.', severity: 'information' }])
})

test.each(['throws', 'rejects'])('$expand ends after all handlers if one %s', async (how) => {
  let ended = 0
  const { client, reports } = await planted(async ({ orderId, reject }) => {
    if (orderId === 2 && how === 'throws') throw new Error('a fault')
    if (orderId === 2) reject('No orders of 2.')
    await sleep(10)
    ended += 1
  })
  const { status, body } = await client.get('/app/customers', { query: { $expand: 'orders' } })
  expect(ended).toBe(2)
  expect(status).toBe(how === 'throws' ? 500 : 400)
  expect(body.validations).toEqual(
    how === 'throws' ? [] : [{ message: 'No orders of 2.', severity: 'error' }],
  )
  expect(reports.map(({ type }) => type)).toEqual(how === 'throws' ? ['handler-failed'] : [])
})

test('$expand has the messages of handlers in the language of the caller', async () => {
  const secrets = defineCollection(
    { key: 'id', fields: { id: integer(), secret: text({ readableBy: ['Auditor'] }) } },
    { events: { Filter: { after: ({ error }) => error('It is 5.', 'secret') } } },
  )
  const orders = defineCollection({
    key: 'orderId',
    fields: { orderId: integer(), secretId: integer({ references: 'secrets' }) },
    expand: { secret: 'secretId' },
  })
  const messages = { de: { hiddenValue: 'Ein verborgener Wert.' } }
  const { client, service } = openStage({ secrets, orders }, { messages })
  await service.as(system).collection('app', 'secrets').insert({ id: 1 })
  await service.as(system).collection('app', 'orders').insert({ orderId: 1, secretId: 1 })
  const headers = { 'accept-language': 'de' }
  const query = { $expand: 'secret' }
  const { body } = await client.get('/app/orders/1', { query, headers })
  expect(body.validations).toEqual([{ message: 'Ein verborgener Wert.', severity: 'error' }])
})
