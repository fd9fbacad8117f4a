// Checked by the compiler only: deliveries are typed by the endpoints and rules of their outbox.
import { defineCollection, integer, text } from 'rowgate'
import { connection, createOutbox, deliverTo, endpoint, rule, typed } from 'rowgate/consume'

const orders = defineCollection({ key: 'orderId', fields: { orderId: text(), lines: integer() } })
const shipments = defineCollection({
  key: 'tracking',
  fields: { tracking: text(), orderId: text() },
})
const api = connection({ baseUrl: 'https://shipping.example' })
const createShipment = endpoint(api, {
  name: 'create-shipment',
  method: 'POST',
  path: '/shipments',
  body: typed<{ readonly reference: string }>(),
  response: typed<{ readonly tracking: string }>(),
})
const cancel = endpoint(api, { name: 'cancel', method: 'DELETE', path: '/shipments/{id}' })
const listed = endpoint(api, { name: 'list', path: '/', response: typed<readonly string[]>() })
const stored = rule(createShipment, {
  into: shipments,
  caller: orders,
  set: { tracking: 'tracking', orderId: { caller: 'orderId' } },
})

const outbox = createOutbox({
  endpoints: {
    'create-shipment': deliverTo(createShipment, {
      rules: [stored],
      onSuccess: ({ caller, response }) => {
        const id: string | null = caller('orderId')
        const lines: number | null = caller('lines')
        const { tracking }: { tracking: string } = response.body
        // @ts-expect-error the field is a text
        const wrong: number | null = caller('orderId')
        throw new Error(`${id}${lines}${tracking}${wrong}`)
      },
      onFailure: ({ caller }) => {
        const lines: number | null = caller('lines')
        throw new Error(`${lines}`)
      },
    }),
    cancel: deliverTo(cancel),
    plain: { endpoint: cancel },
  },
})

export async function calls(context: object): Promise<void> {
  const body = { reference: 'A7' }
  await outbox.enqueue(context, 'create-shipment', { body })
  await outbox.enqueue(context, 'create-shipment', { body }, { row: { orderId: 'A7' }, lane: 'a' })
  await outbox.enqueue(context, 'cancel', { id: 'S1' }, { row: { anything: 1 } })
  await outbox.enqueue(context, 'plain', { id: 'S1' })
  await outbox.enqueue(context, 'plain', { id: 'S1' }, { key: 'order/A7' })
  await outbox.retry({ state: 'dead', endpoint: 'plain' })
  // @ts-expect-error an unknown endpoint
  await outbox.retry({ state: 'dead', endpoint: 'plan' })
  // @ts-expect-error an unknown endpoint
  await outbox.enqueue(context, 'create-shipmnt', { body })
  // @ts-expect-error the input of another endpoint
  await outbox.enqueue(context, 'create-shipment', { id: 'S1' })
  // @ts-expect-error a member of a wrong type
  await outbox.enqueue(context, 'create-shipment', { body: { reference: 7 } })
  // @ts-expect-error a path parameter is missing
  await outbox.enqueue(context, 'cancel', {})
  // @ts-expect-error a field that orders don't have
  await outbox.enqueue(context, 'create-shipment', { body }, { row: { orderid: 'A7' } })
  // @ts-expect-error a value of a wrong type
  await outbox.enqueue(context, 'create-shipment', { body }, { row: { orderId: 7 } })
  // @ts-expect-error an unknown option
  await outbox.enqueue(context, 'create-shipment', { body }, { lanes: 'a' })
}

export function mistakes(): void {
  // @ts-expect-error the rule of another endpoint
  deliverTo(listed, { rules: [stored] })
  // @ts-expect-error an unknown handler
  deliverTo(createShipment, { onSucess: () => undefined })
  // @ts-expect-error not an endpoint
  createOutbox({ endpoints: { ship: { call: () => undefined } } })
  // @ts-expect-error an unknown option
  createOutbox({ endpoints: { ship: deliverTo(createShipment) }, retries: 3 })
}
