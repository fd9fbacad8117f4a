import { connection, endpoint, typed } from '../../../src/entries/consume.ts'
import { defineCollection, text } from '../../../src/entries/index.ts'

/** What the shipping service responds. */
export interface Shipment {
  readonly order: string
  readonly tracking: string
}

/** The endpoint of a shipping service. */
export function shippingEndpoint(baseUrl: string) {
  const shipping = connection({
    baseUrl,
    allowHttp: true,
    allowPrivateAddresses: true,
    attempts: 1,
  })
  return endpoint(shipping, {
    name: 'create-shipment',
    method: 'POST',
    path: '/shipments',
    body: typed<{ readonly order: string }>(),
    response: typed<Shipment>(),
  })
}

export const shipments = defineCollection({
  key: 'orderId',
  fields: { orderId: text(), tracking: text({ required: true }) },
})
