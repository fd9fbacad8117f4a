import { createService, defineCollection, principal, text } from 'rowgate'
import { connection, createOutbox, deliverTo, endpoint, sample } from 'rowgate/consume'
import { sqliteStorage } from 'rowgate/sqlite'

/** How long the deliveries of an outbox took. */
export interface OutboxFigures {
  readonly enqueueMilliseconds: number
  readonly deliverMilliseconds: number
  readonly calls: number
  readonly effects: number
}

const deliveries = 1_000
const lanes = 40
const [, , file = ''] = process.argv
const done = new Set<string>()
let calls = 0

// A third of the calls fails, half of them after the work was done.
const shipping = connection({
  baseUrl: 'https://shipping.example.com',
  attempts: 1,
  fetch: async (_url, { headers }) => {
    calls++
    const chance = calls % 6
    if (chance === 1) return Response.json({}, { status: 503 })
    done.add(new Headers(headers).get('idempotency-key') ?? '')
    return chance === 2 ? Response.json({}, { status: 502 }) : Response.json({ ok: true })
  },
})
const ship = endpoint(shipping, {
  name: 'ship',
  method: 'POST',
  path: '/',
  body: sample({ order: '' }),
})
const shipped = defineCollection({ key: 'order', fields: { order: text() } })
const outbox = createOutbox({
  endpoints: {
    ship: deliverTo(ship, {
      onSuccess: async ({ collection, caller }) => {
        await collection(shipped).insert({ order: String(caller('order')) })
      },
    }),
  },
  workers: 0,
  // With the default, a delivery is dead in one of some fifty runs, which then never ends.
  attempts: 100,
  pollInterval: 100,
  backOff: { first: 10, max: 100 },
})
const service = createService({
  applications: { app: { collections: { shipped } } },
  storage: sqliteStorage(file, { ensureSchema: true }),
  security: { name: 'bench', anyone: principal('bench') },
  outbox,
  report: false,
})
await service.ready()
const user = service.as(principal('bench'))

const begun = performance.now()
for (let at = 0; at < deliveries; at++) {
  const row = { order: String(at) }
  await user.transaction((within) =>
    outbox.enqueue(within, 'ship', { body: row }, { lane: String(at % lanes), row }),
  )
}
const stored = performance.now()
const worker = outbox.work({ concurrency: 8 })
const open = async (): Promise<boolean> => {
  const { items } = await user.collection('app', 'shipped').filter({}, { limit: deliveries })
  return items.length < deliveries
}
while (await open()) await new Promise((resolve) => setTimeout(resolve, 50))
const ended = performance.now()
await worker.stop()
await service.close()
const figures: OutboxFigures = {
  enqueueMilliseconds: stored - begun,
  deliverMilliseconds: ended - stored,
  calls,
  effects: done.size,
}
process.send?.(figures)
