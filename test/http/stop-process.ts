import { createServer, type AddressInfo } from 'node:net'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
} from '../../src/entries/index.ts'
import { serve } from '../../src/entries/node.ts'

/** How the process stops. */
export interface StopOrder {
  readonly drain?: number
  readonly grace?: number
  /** Milliseconds that each request takes. */
  readonly delay?: number
}

const { drain, grace, delay = 0 } = JSON.parse(process.argv[2] ?? '') as StopOrder

// As a pool of connections does, it keeps the process alive until it is closed.
const pool = createServer().listen(0, '127.0.0.1')

const things = defineCollection(
  { key: 'id', fields: { id: integer() } },
  {
    events: {
      Filter: {
        before: () => {
          console.log('reading 1')
          return new Promise<void>((resolve) => setTimeout(resolve, delay))
        },
      },
    },
  },
)
const service = createService({
  applications: { app: { collections: { things } } },
  storage: memoryStorage(),
  security: openAccess(),
})

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
const { port, closed } = await serve(service, {
  port: 0,
  health: true,
  signal: stop.signal,
  ...(drain !== undefined && { drain }),
  ...(grace !== undefined && { grace }),
})
console.log(`port ${port}`)
await closed
console.log(`pool ${(pool.address() as AddressInfo).port}`)
pool.close()
