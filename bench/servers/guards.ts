import { createServer } from 'node:http'
import { createService, defineCollection, openAccess } from 'rowgate'
import { toNodeHandler } from 'rowgate/node'
import { sqliteStorage } from 'rowgate/sqlite'
import { keyOf } from '../customer.ts'
import { announce, databaseFile } from './announce.ts'
import { salesFields } from './sales.ts'

/** What protects the writes of a service. */
export type Guard = 'none' | 'tags' | 'keys' | 'reads' | 'locks'

const guard = process.argv[3] as Guard

const clients = defineCollection(
  {
    key: 'customerId',
    fields: salesFields,
    ...(guard === 'tags' && { concurrency: { ifMatch: 'optional' } }),
  },
  guard === 'reads' || guard === 'locks'
    ? {
        events: {
          Save: {
            before: async ({ collection }) => {
              const others = collection('customers')
              const other = keyOf(42)
              await (guard === 'locks' ? others.get(other, { lock: true }) : others.get(other))
            },
          },
        },
      }
    : undefined,
)
const customers = defineCollection({ key: 'customerId', fields: salesFields })
const service = createService({
  applications: {
    sales: {
      collections: { customers, clients },
      // A run sends more keys than the default allows.
      ...(guard === 'keys' && { idempotencyKeys: { maxKeys: 100_000_000 } }),
    },
  },
  storage: sqliteStorage(databaseFile(), { synchronous: 'FULL', ensureSchema: true }),
  security: openAccess(),
  cache: false,
})
await service.ready()

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'))
