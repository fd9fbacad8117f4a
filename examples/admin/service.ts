import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createService,
  defineCollection,
  error,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
  warning,
} from 'rowgate'
import { createClient } from 'rowgate/client'
import { toNodeHandler } from 'rowgate/node'
import type { Conflict, ProviderOptions } from './resource.ts'

const orders = defineCollection(
  {
    key: 'orderId',
    fields: { orderId: integer(), title: text(), quantity: integer() },
    operators: { orderId: ['in'], quantity: ['gte', 'lte'], title: ['ne'] },
    concurrency: { ifMatch: 'optional' },
  },
  {
    validations: [
      error('negative', {
        field: 'quantity',
        check: ({ quantity }) => ((quantity ?? 0) < 0 ? 'Must not be negative.' : undefined),
      }),
      warning('large', {
        check: ({ quantity }) => ((quantity ?? 0) > 100 ? 'This is a large order.' : undefined),
      }),
    ],
  },
)

const lines = defineCollection({
  key: ['orderId', 'product'],
  fields: { orderId: integer(), product: text(), quantity: integer() },
})

/** Starts a service with 25 orders and 2 lines, and returns the options of a data provider for it. */
export async function startSales(answer: (question: readonly string[] | Conflict) => boolean) {
  const service = createService({
    applications: { sales: { collections: { orders, lines } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const { collection } = service.as(principal('maria'))
  const inside = { orders: collection('sales', 'orders'), lines: collection('sales', 'lines') }
  await inside.orders.insertMany(
    Array.from({ length: 25 }, (_, at) => ({
      orderId: at,
      title: `t${at % 2}`,
      quantity: 25 - at,
    })),
  )
  await inside.lines.insertMany([
    { orderId: 1, product: 'a', quantity: 1 },
    { orderId: 1, product: 'b', quantity: 2 },
  ])
  const requests: string[] = []
  const handler = toNodeHandler(service)
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const options: ProviderOptions = {
    client: createClient({ url: `http://127.0.0.1:${port}` }),
    application: 'sales',
    keys: { orders: ['orderId'], lines: ['orderId', 'product'] },
    listed: ['orders'],
    confirm: async (warnings) => answer(warnings),
    overwrite: async (conflict) => answer(conflict),
  }
  const close = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
    await service.close()
  }
  return { options, inside, close, requests }
}
