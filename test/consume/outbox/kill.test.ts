import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createOutbox } from '../../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  openAccess,
  principal,
  text,
} from '../../../src/entries/index.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import type { Running } from '../../kit/programs.ts'
import { processes } from './processes.ts'
import { shipments, shippingEndpoint } from './shipping.ts'

const { start, folder } = processes()
const isFull = process.env['MATRIX'] === 'on'
const size = isFull
  ? { deliveries: 1_000, lanes: 40, kills: 6, pause: 700 }
  : { deliveries: 100, lanes: 8, kills: 3, pause: 300 }
const lease = 400

/** A database with orders that wait to be sent, and what has become of them. */
async function openOrders(url: string, file: string) {
  const outbox = createOutbox({
    endpoints: { 'create-shipment': { endpoint: shippingEndpoint(url) } },
    workers: 0,
  })
  const orders = defineCollection(
    { key: 'orderId', fields: { orderId: text(), lane: text({ required: true }) } },
    {
      events: {
        Insert: {
          after: async (event) => {
            const { orderId, lane } = event.item
            await outbox.enqueue(event, 'create-shipment', { body: { order: orderId } }, { lane })
          },
        },
      },
    },
  )
  const service = createService({
    applications: { sales: { collections: { orders, shipments } } },
    storage: sqliteStorage(file, { ensureSchema: true, busyTimeout: 5_000 }),
    security: openAccess(),
    outbox,
  })
  onTestFinished(() => service.close())
  await service.ready()
  const sales = service.as(principal('clerk'))
  return {
    outbox,
    insert: async (count: number, lanes: number) => {
      const { insert } = sales.collection('sales', 'orders')
      for (let at = 0; at < count; at++)
        await insert({ orderId: `${at % lanes}-${Math.floor(at / lanes)}`, lane: `${at % lanes}` })
    },
    open: async () =>
      (await outbox.list({ limit: 10_000 })).filter(({ state }) => state !== 'delivered').length,
    shipped: async () => (await sales.collection('sales', 'shipments').filter()).items.length,
  }
}

/** Returns the effects of a receiver in their order, as key and order. */
function effectsIn(log: string): readonly (readonly [string, string])[] {
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  return lines.map((line) => line.split(' ') as [string, string])
}

function expectOnceInOrder(log: string, { deliveries, lanes }: typeof size): void {
  const effects = effectsIn(log)
  expect(new Set(effects.map(([key]) => key)).size).toBe(deliveries)
  expect(effects).toHaveLength(deliveries)
  for (let lane = 0; lane < lanes; lane++) {
    const turns = effects
      .map(([, order]) => order.split('-').map(Number))
      .filter(([of]) => of === lane)
      .map(([, turn]) => turn)
    expect(turns).toEqual(turns.map((_, index) => index))
  }
}

test(
  'killed workers and a failing receiver lose nothing, repeat no effect and keep lanes in order',
  { timeout: isFull ? 180_000 : 60_000 },
  async () => {
    const directory = folder()
    const [file, log] = [join(directory, 'data.db'), join(directory, 'log')]
    const receiver = start({ kind: 'receiver', log, port: 0 })
    const url = `http://127.0.0.1:${await receiver.said('ready')}`
    const orders = await openOrders(url, file)
    await orders.insert(size.deliveries, size.lanes)
    const work = (): Running => start({ kind: 'worker', file, url, lease, workers: 4 })
    const workers = [work(), work()]
    for (let kill = 0; kill < size.kills; kill++) {
      const victim = workers[kill % 2] as Running
      await victim.said('ready')
      await new Promise((resolve) => setTimeout(resolve, size.pause * Math.random()))
      victim.signal('SIGKILL')
      await victim.ended
      workers[kill % 2] = work()
    }
    await expect
      .poll(() => orders.open(), { timeout: isFull ? 150_000 : 45_000, interval: 100 })
      .toBe(0)
    expectOnceInOrder(log, size)
    expect(await orders.shipped()).toBe(size.deliveries)
    for (const worker of workers) expect(await worker.stop()).toBe(0)
  },
)

test(
  'a receiver that is stopped, killed and started again gets every delivery once',
  { timeout: 60_000 },
  async () => {
    const part = { ...size, deliveries: 60, lanes: 6 }
    const directory = folder()
    const [file, log] = [join(directory, 'data.db'), join(directory, 'log')]
    const first = start({ kind: 'receiver', log, port: 0 })
    const port = Number(await first.said('ready'))
    const url = `http://127.0.0.1:${port}`
    const orders = await openOrders(url, file)
    await orders.insert(part.deliveries, part.lanes)
    const worker = start({ kind: 'worker', file, url, lease, workers: 4 })
    await worker.said('ready')
    let receiver = first
    for (const how of ['SIGKILL', 'stop', 'SIGKILL'] as const) {
      await expect.poll(() => worker.all('report').length).toBeGreaterThan(0)
      if (how === 'stop') await receiver.stop()
      else receiver.signal(how)
      await receiver.ended
      await new Promise((resolve) => setTimeout(resolve, 100))
      receiver = start({ kind: 'receiver', log, port })
      await receiver.said('ready')
    }
    await expect.poll(() => orders.open(), { timeout: 45_000, interval: 100 }).toBe(0)
    expectOnceInOrder(log, part)
    expect(await orders.shipped()).toBe(part.deliveries)
    expect(await worker.stop()).toBe(0)
  },
)
