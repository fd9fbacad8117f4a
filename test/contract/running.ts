import { Agent } from 'node:http'
import {
  createService,
  openAccess,
  principal,
  type Service,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import type { PublishedCollection, Row } from '../../src/entries/storage.ts'
import { cacheOption, repeatingReads } from '../kit/cache.ts'
import { send, type Answer, type Request } from '../kit/http-client.ts'
import { allRows, inspected } from '../kit/storages.ts'
import { applications, seed } from './fixture.ts'
import type { Cell, Host } from '../kit/cells.ts'

/** The options of a suite's service. */
export type Options = Partial<ServiceOptions<typeof applications>>

/** All rows by collection (`application/name`). */
export type Rows = Readonly<Record<string, readonly Row[]>>

/** A service of one cell, with the rows of the fixture. */
export interface Running {
  readonly service: Service<typeof applications>
  readonly host: Host
  readonly agent: Agent
  /** Sends a request with exactly this target, on the way of the cell. */
  send(request: Request): Promise<Answer>
  /** Reads all rows by collection. */
  dump(): Promise<Rows>
  /** Reads all rows of the published collections. The others change at any time: they hold uses of keys. */
  published(): Promise<Rows>
  /** Returns what `published` has read last, or reads again if there was a transaction since. */
  known(): Promise<Rows>
  /** Removes what the closed storage leaves behind. */
  remove(): Promise<void>
  /** Ends all of it. */
  stop(): Promise<void>
}

/** The applications of the library, whose rows change at any time. */
const internal = new Set(['rowgate-security', 'rowgate-idempotency'])

/** Starts a service and plants the rows of the fixture. */
export async function start(cell: Cell, options: Options): Promise<Running> {
  const { storage, remove } = cell.storage.open()
  const inspection = inspected(storage)
  const service = createService({
    applications,
    storage: inspection.storage,
    security: openAccess(),
    ...cacheOption,
    ...options,
  })
  await service.ready()
  await plant(service)
  const host = await cell.binding.start(repeatingReads(service))
  const agent = new Agent({ keepAlive: true })
  const dump = async (isWanted: (collection: PublishedCollection) => boolean): Promise<Rows> => {
    const tables: Record<string, readonly Row[]> = {}
    for (const collection of inspection.collections().filter(isWanted)) {
      tables[`${collection.application}/${collection.name}`] = await allRows(storage, collection)
    }
    return tables
  }
  let latest: { readonly rows: Rows; readonly transactions: number } | undefined
  const published = async (): Promise<Rows> => {
    const [begun, ended] = inspection.transactions()
    const rows = await dump(({ application }) => !internal.has(application))
    // What a transaction changes while the rows are read may be missing in them.
    latest = begun === ended ? { rows, transactions: begun } : undefined
    return rows
  }
  return {
    service,
    host,
    agent,
    send: (request) => host.send?.(agent, request) ?? send(host.port, agent, request),
    dump: () => dump(() => true),
    published,
    known: async () =>
      latest?.transactions === inspection.transactions()[0] ? latest.rows : published(),
    remove: async () => remove(),
    stop: async () => {
      agent.destroy()
      await host.close()
      await service.close()
      await remove()
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
