import { describe, expect, onTestFinished, test } from 'vitest'
import {
  applyRules,
  connection,
  endpoint,
  rule,
  send,
  sendTogether,
  typed,
} from '../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  openAccess,
  principal,
  text,
} from '../../src/entries/index.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { localStorages, openStorage, type Storage } from '../kit/storages.ts'
import { openOrders } from './outbox/orders-service.ts'
import { shipments, shippingEndpoint } from './outbox/shipping.ts'
import { readJson, respond, startServer } from './server.ts'

const clients = 10
const everywhere = [...localStorages, ...serverStorages]

/** The items of a response: one of its own, and one that every response has. */
type Items = readonly { readonly id: string; readonly from: string }[]

const parts = defineCollection({ key: 'id', fields: { id: text(), from: text() } })

/** Opens a service, and another one that responds only when all clients have called it. */
async function openRace(on: Storage) {
  const waiting: (() => void)[] = []
  const server = await startServer((request, response) => {
    void readJson(request).then((body) => {
      const { from } = body as { readonly from: string }
      waiting.push(() =>
        respond(response, [
          { id: from, from },
          { id: 'shared', from },
        ]),
      )
      if (waiting.length === clients) for (const answer of waiting) answer()
    })
  })
  const api = connection({ baseUrl: server.url, allowHttp: true, allowPrivateAddresses: true })
  const order = endpoint(api, {
    name: 'order',
    method: 'POST',
    path: '/orders',
    body: typed<{ readonly from: string }>(),
    response: typed<Items>(),
  })
  const stored = rule(order, {
    into: parts,
    upsertBy: ['id'],
    set: { id: 'id', from: 'from' },
  })
  const service = createService({
    applications: { app: { collections: { parts } } },
    storage: openStorage(on),
    security: openAccess(),
  })
  onTestFinished(async () => {
    await service.close()
    await server.close()
  })
  await service.ready()
  return { server, order, rules: [stored], user: service.as(principal('maria')) }
}

type Race = Awaited<ReturnType<typeof openRace>>

const ways: readonly (readonly [string, (race: Race, from: string) => Promise<unknown>])[] = [
  [
    'send',
    ({ user, order, rules }, from) =>
      send(user, order, { rows: [{ from }], input: (body) => ({ body }), rules }),
  ],
  [
    'sendTogether',
    ({ user, order, rules }, from) =>
      sendTogether(user, order, { rows: [{ from }], input: () => ({ body: { from } }), rules }),
  ],
  [
    'applyRules',
    async ({ user, order, rules }, from) =>
      applyRules(user, rules, (await order.call({ body: { from } })).body),
  ],
]

describe.each(everywhere)('on $name', (on) => {
  test.each(ways)('responses with a common new item are all stored by %s', async (_name, store) => {
    const race = await openRace(on)
    const names = Array.from({ length: clients }, (_, index) => `client ${index}`)
    const results = await Promise.allSettled(names.map((from) => store(race, from)))
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
    expect(race.server.received).toHaveLength(clients)
    const { items } = await race.user.collection('app', 'parts').filter()
    expect(items.map(({ id }) => id)).toEqual([...names, 'shared'])
  })

  test('8 workers deliver 200 deliveries whose responses share new items, each with one call', async () => {
    const api = shippingEndpoint('https://example.com')
    const groupOf = (order: string): string => `group ${Math.floor(Number(order.slice(1)) / 10)}`
    const { clerk, calls, outbox, reports } = await openOrders({
      on,
      workers: 0,
      rules: [
        rule(api, {
          name: 'own',
          into: shipments,
          upsertBy: ['orderId'],
          set: { orderId: 'order', tracking: 'tracking' },
        }),
        rule(api, {
          name: 'group',
          into: shipments,
          upsertBy: ['orderId'],
          set: { orderId: ({ row }) => groupOf(row.order), tracking: 'tracking' },
        }),
      ],
    })
    await clerk.transaction(async (within) => {
      for (let at = 0; at < 200; at++)
        await outbox.enqueue(within, 'create-shipment', { body: { order: `o${at}` } })
    })
    const worker = outbox.work({ concurrency: 8 })
    const open = async () => {
      const { length } = await outbox.list({ limit: 1_000, state: 'waiting' })
      return length + (await outbox.list({ limit: 1_000, state: 'sending' })).length
    }
    await expect.poll(open, { timeout: 60_000, interval: 50 }).toBe(0)
    await worker.stop()
    expect(await outbox.list({ state: 'dead' })).toEqual([])
    expect(reports).toEqual([])
    expect(calls).toHaveLength(200)
    expect(new Set(calls.map(({ key }) => key)).size).toBe(200)
    const { count } = await clerk.collection('sales', 'shipments').filter({}, { count: true })
    expect(count).toBe(220)
  }, 90_000)

  test('10 clients with a common lane get no error, and the orders of each are sent in order', async () => {
    const { order, calls, outbox, reports } = await openOrders({ on, workers: 4 })
    const saves = Array.from({ length: clients }, async (_, client) => {
      for (let at = 0; at < 10; at++) await order(`${client}-${at}`, 'common')
    })
    const results = await Promise.allSettled(saves)
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
    const delivered = async () => (await outbox.list({ limit: 1_000, state: 'delivered' })).length
    await expect.poll(delivered, { timeout: 60_000, interval: 50 }).toBe(100)
    expect(calls).toHaveLength(100)
    for (let client = 0; client < clients; client++) {
      const own = calls.map((call) => call.order).filter((id) => id.startsWith(`${client}-`))
      expect(own).toEqual(Array.from({ length: 10 }, (_unused, at) => `${client}-${at}`))
    }
    expect(reports).toEqual([])
  }, 90_000)

  test('deliveries of a lane are sent one at a time by the workers of several processes', async () => {
    let [inProgress, most] = [0, 0]
    const { order, calls, outbox } = await openOrders({
      on,
      workers: 0,
      receive: ({ order: id }, response) => {
        inProgress += 1
        most = Math.max(most, inProgress)
        setTimeout(() => {
          inProgress -= 1
          respond(response, { order: id, tracking: `T-${id}` })
        }, 5)
      },
    })
    for (let at = 0; at < 30; at++) await order(`${at}`, 'lane')
    const workers = [1, 2, 3].map((concurrency) => outbox.work({ concurrency }))
    const delivered = async () => (await outbox.list({ state: 'delivered' })).length
    await expect.poll(delivered, { timeout: 60_000, interval: 50 }).toBe(30)
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(most).toBe(1)
    expect(calls.map((call) => call.order)).toEqual(Array.from({ length: 30 }, (_, at) => `${at}`))
  }, 90_000)
})
