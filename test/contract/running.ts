import { Agent } from 'node:http'
import {
  createService,
  openAccess,
  principal,
  type PublishedCollection,
  type Row,
  type Service,
  type ServiceOptions,
  type StorageAdapter,
} from '../../src/index.ts'
import { applications, seed } from './fixture.ts'
import type { Cell, Host } from './matrix.ts'

/** The options of a suite's service. */
export type Options = Partial<ServiceOptions<typeof applications>>

/** A service of one cell, with the rows of the fixture. */
export interface Running {
  readonly service: Service<typeof applications>
  readonly host: Host
  readonly agent: Agent
  dump(): Promise<Record<string, readonly Row[]>>
  stop(): Promise<void>
}

/** Starts a service and plants the rows of the fixture. */
export async function start(cell: Cell, options: Options): Promise<Running> {
  const { storage, remove } = cell.storage.open()
  let published: readonly PublishedCollection[] = []
  const watched: StorageAdapter = {
    ...storage,
    open: (collections) => {
      published = collections
      return storage.open(collections)
    },
  }
  const service = createService({
    applications,
    storage: watched,
    security: openAccess(),
    ...options,
  })
  await service.ready()
  await plant(service)
  const host = await cell.binding.start(service)
  const agent = new Agent({ keepAlive: true })
  return {
    service,
    host,
    agent,
    dump: async () => {
      const tables: Record<string, readonly Row[]> = {}
      for (const collection of published) {
        tables[`${collection.application}/${collection.name}`] = await allRows(storage, collection)
      }
      return tables
    },
    stop: async () => {
      agent.destroy()
      await host.close()
      await service.close()
      remove()
    },
  }
}

async function plant(service: Service<typeof applications>): Promise<void> {
  const keeper = service.as(principal('keeper'))
  for (const [name, items] of Object.entries(seed)) {
    const collection = keeper.collection('app', name as 'orders')
    for (const item of items) {
      const result = await collection.insert(item as never, { ignoreWarnings: 'all' })
      if (result.rejected) throw new Error(JSON.stringify(result))
    }
  }
}

async function allRows(
  storage: StorageAdapter,
  collection: PublishedCollection,
): Promise<readonly Row[]> {
  const page = await storage.filter(collection, {
    conditions: [],
    search: null,
    sort: collection.tieBreakers.map(({ name }) => ({ field: name, descending: false })),
    limit: 1_000_000,
    offset: 0,
    select: collection.allNames,
    count: false,
  })
  return page.rows
}
