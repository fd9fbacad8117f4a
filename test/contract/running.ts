import { Agent } from 'node:http'
import {
  createService,
  openAccess,
  principal,
  type Service,
  type ServiceOptions,
} from '../../src/index.ts'
import type { Row } from '../../src/storage/index.ts'
import { allRows, inspected } from '../kit/storages.ts'
import { applications, seed } from './fixture.ts'
import type { Cell, Host } from '../kit/cells.ts'

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
  const inspection = inspected(storage)
  const service = createService({
    applications,
    storage: inspection.storage,
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
      for (const collection of inspection.collections()) {
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
