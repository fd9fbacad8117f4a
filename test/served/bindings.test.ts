import { Agent } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  system,
  text,
  type Observation,
} from '../../src/entries/index.ts'
import { send } from '../kit/http-client.ts'
import { cells, type Cell } from '../kit/cells.ts'
import { startTicketSystem, ticketGateway } from './tickets.ts'

const customers = defineCollection({
  key: 'name',
  fields: { name: text(), country: text({ required: true }) },
})

const orders = defineCollection({
  key: 'id',
  fields: { id: integer(), customer: text({ required: true }), cents: integer({ required: true }) },
})

const revenue = defineCollection(
  {
    key: 'country',
    defaultSort: ['-cents'],
    fields: { country: text(), cents: integer(), customers: integer() },
  },
  {
    serve: {
      filter: async ({ find }) => {
        const [sold, buyers] = await Promise.all([find(orders), find(customers)])
        return [...new Set(buyers.map(({ country }) => country))].map((country) => {
          const names = buyers.filter((one) => one.country === country).map(({ name }) => name)
          const own = sold.filter(({ customer }) => names.includes(customer))
          const cents = own.reduce((sum, order) => sum + order.cents, 0)
          return { country, cents, customers: names.length }
        })
      },
    },
  },
)

const status = defineCollection(
  { singleton: true, fields: { state: text({ required: true }), orders: integer() } },
  {
    serve: {
      get: async ({ collection }) => {
        const { count } = await collection(orders).filter({}, { limit: 0, count: true })
        return { state: 'open', orders: count }
      },
    },
  },
)

async function started({ storage: { open }, binding }: Cell) {
  const { storage, remove } = open()
  const other = await startTicketSystem()
  const reports: Observation[] = []
  const tickets = ticketGateway(() => other.url)
  const service = createService({
    applications: { app: { collections: { customers, orders, revenue, status, tickets } } },
    storage,
    security: openAccess(),
    report: (one) => reports.push(one),
  })
  const app = (name: 'customers' | 'orders') => service.as(system).collection('app', name)
  for (const [name, country] of [
    ['Ada', 'NO'],
    ['Bo', 'SE'],
    ['Cy', 'NO'],
  ] as const) {
    await app('customers').insert({ name, country })
  }
  for (const [id, customer] of ['Ada', 'Cy', 'Bo', 'Ada'].entries()) {
    await app('orders').insert({ id, customer, cents: 100 + id })
  }
  const host = await binding.start(service)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(async () => {
    agent.destroy()
    await host.close()
    await service.close()
    await remove()
  })
  const ask = async (method: string, path: string, body?: object) => {
    const headers: Record<string, string> =
      body === undefined ? {} : { 'Content-Type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await send(host.port, agent, {
      method,
      target: `/rest/v1/app/${path}`,
      headers,
      ...sent,
    })
    return { status: answer.status, body: answer.body, headers: answer.headers }
  }
  return { ask, other, reports }
}

const complete = { message: null, validations: [], status: 200 }

describe.each(cells)('$name', (cell) => {
  test('serves a report that is computed from two other collections', async () => {
    const { ask, reports } = await started(cell)
    const norway = { country: 'NO', cents: 304, customers: 2 }
    const sweden = { country: 'SE', cents: 102, customers: 1 }
    expect((await ask('GET', 'revenue')).body).toEqual({
      items: [norway, sweden],
      count: null,
      ...complete,
    })
    const page = await ask('GET', 'revenue?$sort=cents&$limit=1&$count=true&$fields=country')
    expect(page.body).toEqual({ items: [{ country: 'SE' }], count: 2, ...complete })
    expect((await ask('GET', 'revenue?customers=1')).body.items).toEqual([sweden])
    expect((await ask('GET', 'revenue?$q=no')).body.items).toEqual([norway])
    expect((await ask('GET', 'revenue/SE')).body).toEqual({ item: sweden, ...complete })
    expect((await ask('GET', 'revenue/DK')).status).toBe(404)
    expect((await ask('GET', 'revenue?nothing=1')).status).toBe(400)
    const rejected = await ask('POST', 'revenue', { country: 'DK' })
    expect([rejected.status, rejected.headers.allow]).toEqual([405, 'GET'])
    expect(reports).toEqual([])
  })

  test('serves a gateway to another system, writes included', async () => {
    const { ask, other, reports } = await started(cell)
    const inserted = await ask('POST', 'tickets', { subject: 'Printer' })
    const printer = { number: 100, subject: 'Printer', state: 'open' }
    expect([inserted.status, inserted.body]).toEqual([200, { item: printer, ...complete }])
    await ask('POST', 'tickets', { subject: 'Screen' })
    const updated = await ask('POST', 'tickets/100', { state: 'done' })
    expect(updated.body.item).toEqual({ ...printer, state: 'done' })
    expect(other.tickets.get(100)).toEqual({ ...printer, state: 'done' })
    const page = await ask('GET', 'tickets?state=done&$limit=5&$count=true')
    expect(page.body).toMatchObject({ items: [{ number: 100 }], count: 1 })
    expect(other.requests.at(-1)).toBe('GET /tickets?state=done&skip=0&take=5')
    const sorted = await ask('GET', 'tickets?$sort=-number')
    expect(sorted.body.items).toMatchObject([{ number: 101 }, { number: 100 }])
    expect((await ask('GET', 'tickets/101')).body.item).toMatchObject({ subject: 'Screen' })
    const duplicate = await ask('POST', 'tickets', { subject: 'Screen' })
    expect([duplicate.status, duplicate.body.validations]).toEqual([
      400,
      [
        {
          message: 'Another item of tickets has this subject.',
          severity: 'error',
          field: 'subject',
        },
      ],
    ])
    expect(reports).toEqual([])
    const busy = await ask('POST', 'tickets', { subject: 'busy' })
    expect([busy.status, busy.headers['retry-after']]).toEqual([503, '7'])
    expect((await ask('POST', 'tickets', { subject: 'x'.repeat(41) })).status).toBe(400)
    expect((await ask('DELETE', 'tickets/100')).body.item).toMatchObject({ number: 100 })
    expect((await ask('DELETE', 'tickets/100')).status).toBe(404)
    expect([...other.tickets.keys()]).toEqual([101])
    expect(reports.map(({ type }) => type)).toEqual(['storage-unavailable'])
  })

  test('serves a singleton at the path of its collection', async () => {
    const { ask, reports } = await started(cell)
    const { body } = await ask('GET', 'status')
    expect(body).toEqual({ item: { state: 'open', orders: 4 }, ...complete })
    expect((await ask('GET', 'status?state=closed')).status).toBe(404)
    expect((await ask('GET', 'status?$limit=1')).status).toBe(400)
    expect((await ask('GET', 'status/open')).status).toBe(404)
    const rejected = await ask('POST', 'status', { state: 'closed' })
    expect([rejected.status, rejected.headers.allow]).toEqual([405, 'GET'])
    expect(reports).toEqual([])
  })
})
