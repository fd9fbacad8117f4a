import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import {
  createOutbox,
  deliverTo,
  type Delivery,
  type OutboxOptions,
  type DeliveryHandlers,
} from '../../../src/entries/consume.ts'
import { defineCollection, principal, text } from '../../../src/entries/index.ts'
import { readJson, respond, startServer } from '../server.ts'
import { shipments, shippingEndpoint, type Shipment } from './shipping.ts'
import { openService } from '../../kit/stage.ts'
import { openStorage, sqlite, type Storage } from '../../kit/storages.ts'

/** A call that the receiver got. */
export interface ReceivedCall {
  readonly key: string
  readonly order: string
}

/** Responds to a call; the default responds with a shipment. */
export type Receiver = (
  call: ReceivedCall,
  response: ServerResponse,
  request: IncomingMessage,
) => void

/** Options of the outbox, and of its one endpoint. */
export type OrdersOptions = Omit<Partial<OutboxOptions>, 'endpoints'> &
  DeliveryHandlers<Shipment> & {
    readonly receive?: Receiver
    readonly on?: Storage
    readonly now?: () => Date
    readonly requestTimeout?: number
  }

export const ship: Receiver = ({ order }, response) => {
  respond(response, { order, tracking: `T-${order}` })
}

/** Opens a service whose orders are sent to a shipping service through an outbox. */
export async function openOrders({
  receive = ship,
  rules,
  onSuccess,
  onFailure,
  on = sqlite,
  now = () => new Date(),
  requestTimeout = 30_000,
  ...options
}: OrdersOptions = {}) {
  const calls: ReceivedCall[] = []
  const state = { receive }
  const server = await startServer((request, response) => {
    void (async () => {
      const body = await readJson(request).catch(() => undefined)
      const { order } = Object(body) as { order: string }
      const call = { key: String(request.headers['idempotency-key']), order }
      calls.push(call)
      state.receive(call, response, request)
    })()
  })
  const outbox = createOutbox({
    endpoints: {
      'create-shipment': deliverTo(shippingEndpoint(server.url), {
        rules,
        onFailure,
        ...(onSuccess !== undefined && { onSuccess }),
      }),
    },
    pollInterval: 20,
    backOff: { first: 10, max: 50 },
    ...options,
  })
  const orders = defineCollection(
    { key: 'orderId', fields: { orderId: text(), lane: text(), problem: text() } },
    {
      events: {
        Insert: {
          after: async (event) => {
            const { orderId, lane, problem } = event.item
            const chosen = { row: { orderId, lane }, ...(lane !== null && { lane }) }
            await outbox.enqueue(event, 'create-shipment', { body: { order: orderId } }, chosen)
            if (problem !== null) event.reject(problem)
          },
        },
      },
    },
  )
  onTestFinished(() => server.close())
  // It is closed before the server.
  const { service, reports } = openService({
    applications: { sales: { collections: { orders, shipments } } },
    storage: openStorage(on),
    outbox,
    now,
    requestTimeout,
  })
  await service.ready()
  const clerk = service.as(principal('clerk'))
  const { insert } = clerk.collection('sales', 'orders')
  return {
    service,
    clerk,
    server,
    outbox,
    calls,
    reports,
    /** Replaces the receiver. */
    receive: (next: Receiver) => {
      state.receive = next
    },
    /** Stores an order. */
    order: (orderId: string, lane: string | null = null) => insert({ orderId, lane }),
    insert,
    shipments: async () =>
      (await clerk.collection('sales', 'shipments').filter()).items.map(
        ({ orderId, tracking }) => `${orderId} ${tracking}`,
      ),
    /** Waits until every delivery has one of some states. */
    once: async (...states: Delivery['state'][]) => {
      await expect
        .poll(
          async () =>
            (await outbox.list()).filter(({ state: now }) => !states.includes(now)).length,
          { timeout: 5_000, interval: 10 },
        )
        .toBe(0)
      return outbox.list()
    },
  }
}

/** A handler that stores the shipment of a response. */
export const storeShipment: NonNullable<OrdersOptions['onSuccess']> = async ({
  response,
  collection,
}) => {
  const { order: orderId, tracking } = response.body
  const result = await collection(shipments).insert({ orderId, tracking })
  if (result.rejected) throw new Error(result.message)
}
