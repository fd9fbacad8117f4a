import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOutbox, deliverTo } from '../../../src/entries/consume.ts'
import { createService, openAccess } from '../../../src/entries/index.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { readJson, respond } from '../server.ts'
import { shipments, shippingEndpoint } from './shipping.ts'
import type { ProcessOrder } from './processes.ts'

// A process of its own until its input ends: a worker of an outbox, or the receiver of its calls.
const order = JSON.parse(process.argv[2] ?? '') as ProcessOrder
const say = (word: string, value: unknown): void => {
  writeSync(1, `${word} ${String(value)}\n`)
}
const close = order.kind === 'receiver' ? await receive(order) : await work(order)
process.stdin.resume()
await once(process.stdin, 'end')
await close()
process.exit(0)

type Order<Kind> = Extract<ProcessOrder, { readonly kind: Kind }>

async function work({ file, url, lease, workers }: Order<'worker'>) {
  const outbox = createOutbox({
    endpoints: {
      'create-shipment': deliverTo(shippingEndpoint(url), {
        onSuccess: async ({ response, collection }) => {
          const { order: orderId, tracking } = response.body
          const result = await collection(shipments).insert({ orderId, tracking })
          if (result.rejected) throw new Error(result.message)
        },
      }),
    },
    attempts: 100,
    backOff: { first: 5, max: 100 },
    pollInterval: 20,
    callTimeout: lease - 1,
    maxLost: 100,
    lease,
    workers,
  })
  const service = createService({
    applications: { sales: { collections: { shipments } } },
    storage: sqliteStorage(file, { ensureSchema: true, busyTimeout: 5_000 }),
    security: openAccess(),
    outbox,
    report: ({ type }) => {
      say('report', type)
    },
  })
  await service.ready()
  say('ready', process.pid)
  return () => service.close()
}

/** Fails a third of the calls, before or after its work. Repeated keys have no further effect. */
async function receive({ log, port }: Order<'receiver'>) {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
  const done = new Set(lines.map((line) => line.split(' ')[0]))
  const server = createServer((request, response) => {
    void (async () => {
      const key = String(request.headers['idempotency-key'])
      const { order: id } = (await readJson(request)) as { readonly order: string }
      const chance = Math.random()
      if (chance < 1 / 6) {
        respond(response, {}, 503)
        return
      }
      if (!done.has(key)) appendFileSync(log, `${key} ${id}\n`)
      done.add(key)
      if (chance < 1 / 3) response.destroy()
      else respond(response, { order: id, tracking: `T-${id}` })
    })().catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  say('ready', (server.address() as AddressInfo).port)
  return async () => {
    server.close()
    server.closeAllConnections()
    return Promise.resolve()
  }
}
