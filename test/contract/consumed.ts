import { connection, rowgateCollection } from '../../src/entries/consume.ts'
import {
  createService,
  memoryStorage,
  openAccess,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { bindings, type Binding, type Cell } from '../kit/cells.ts'
import { memory } from '../kit/storages.ts'
import { applications } from './fixture.ts'

/** A second service in front of a service: it serves each collection from the first one, over HTTP. */
const consumed: Binding = {
  name: 'another rowgate service',
  start: async (service) => {
    const [node] = bindings
    if (node === undefined) throw new Error('There is no binding.')
    const inner = await node.start(service)
    const target = connection({
      baseUrl: `http://127.0.0.1:${inner.port}`,
      allowHttp: true,
      allowPrivateAddresses: true,
    })
    const front = createService({
      applications: Object.fromEntries(
        Object.entries(applications).map(([application, { collections }]) => [
          application,
          {
            collections: Object.fromEntries(
              Object.entries(collections as Readonly<Record<string, CollectionDefinition>>).map(
                ([collection, { table: _table, ...definition }]) => {
                  const options = { connection: target, application, collection, search: true }
                  const serve = rowgateCollection(definition, options)
                  return [collection, { ...definition, serve }]
                },
              ),
            ),
          },
        ]),
      ),
      storage: memoryStorage(),
      security: openAccess(),
    })
    const outer = await node.start(front)
    return {
      port: outer.port,
      close: async () => {
        await outer.close()
        await front.close()
        await inner.close()
      },
    }
  },
}

/** The combination of a service that consumes another one with the first storage. */
export const consumedCells: readonly Cell[] = [
  { name: `${consumed.name}, ${memory.name}`, binding: consumed, storage: memory },
]
