import { onTestFinished } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  text,
  type ApplicationDefinition,
  type Observation,
  type RequestHandler,
  type ServiceReply,
} from '../../src/entries/index.ts'
import type { PublishedCollection, Row, StorageAdapter } from '../../src/entries/storage.ts'
import { visitor, visitors, type Headers } from '../kit/visitors.ts'
import { allRows, inspected } from '../kit/storages.ts'

/** A service whose writes may have keys. */
export interface Shop {
  /** Sends a request to the collection. Default: a POST without a path. */
  send(request?: ShopRequest): Promise<ServiceReply>
  /** How often handlers have run. */
  readonly calls: string[]
  readonly reports: Observation[]
  /** Moves the clock, in minutes. */
  pass(minutes: number): void
  /** Reads the rows of a table. */
  rows(table?: string): Promise<readonly Row[]>
  close(): Promise<void>
}

/** A request to the collection `notes`. */
export interface ShopRequest {
  readonly method?: string
  readonly path?: string
  readonly body?: unknown
  readonly key?: string | undefined
  readonly headers?: Headers
  readonly application?: string
}

/** The options of a shop. */
export interface ShopOptions extends Partial<ApplicationDefinition> {
  readonly brand?: string
  /** Wraps the storage after it was inspected. */
  readonly wrap?: (storage: StorageAdapter) => StorageAdapter
  /** Called by the handler before an Insert. */
  readonly before?: (title: string | null) => unknown
}

/** Opens a shop, which is closed after the test. */
export function openShop(adapter: StorageAdapter, options: ShopOptions = {}): Shop {
  const { brand = 'svc', wrap = (one: StorageAdapter) => one, before, ...application } = options
  const calls: string[] = []
  const reports: Observation[] = []
  let passed = 0
  const notes = defineCollection(
    {
      key: 'id',
      fields: {
        id: integer({ generated: 'database' }),
        title: text({ maxLength: 200_000 }),
        secret: text({ readableBy: ['Boss'], writableBy: ['Boss'] }),
        region: text(),
      },
      rows: { equal: { region: { attribute: 'region' } }, exceptRoles: ['Boss'] },
      eventRoles: { Delete: ['Boss', 'Remover'] },
    },
    {
      validations: [
        {
          name: 'polite',
          severity: 'warning',
          check: ({ title }) => (title === 'rude' ? 'Really?' : undefined),
        },
        {
          name: 'empty',
          severity: 'error',
          check: ({ title }) => (title === '' ? 'Write something.' : undefined),
        },
      ],
      events: {
        Insert: {
          before: async ({ item }) => {
            calls.push(`insert ${String(item.title)}`)
            await before?.(item.title ?? null)
          },
          after: ({ item, reject }) => {
            if (item.title === 'late') reject('Too late.')
          },
        },
      },
    },
  )
  const inspection = inspected(adapter)
  const service = createService({
    applications: {
      app: { collections: { notes }, idempotencyKeys: true, ...application },
      plain: { collections: { notes: { ...notes, table: 'plain_notes' } } },
    },
    brand,
    storage: wrap(inspection.storage),
    security: visitors,
    report: (one) => {
      if (one.type !== 'forbidden') reports.push(one)
    },
    now: () => new Date(Date.UTC(2026, 0, 1) + passed * 60_000),
  })
  onTestFinished(() => service.close())
  return {
    send: (request) => send(service, request),
    calls,
    reports,
    pass: (minutes) => {
      passed += minutes
    },
    rows: async (table = 'rowgate_idempotency_keys') => {
      await service.ready()
      const found = inspection.collections().find((one) => one.table === table)
      return allRows(adapter, found as PublishedCollection)
    },
    close: () => service.close(),
  }
}

/** A caller who may do everything. */
export const boss = visitor('boss', { roles: 'Boss,Remover', region: 'north' })

async function send(
  service: Pick<RequestHandler, 'handle'>,
  { method = 'POST', path = '', body, key, headers = boss, application = 'app' }: ShopRequest = {},
): Promise<ServiceReply> {
  const sent: Headers = {
    ...(method === 'POST' && { 'content-type': 'application/json' }),
    ...(key !== undefined && { 'idempotency-key': key }),
    ...headers,
  }
  const own = body ?? { title: 'a', region: 'north' }
  const bytes = new TextEncoder().encode(typeof own === 'string' ? own : JSON.stringify(own))
  return service.handle({
    method,
    target: `/rest/v1/${application}/notes${path}`,
    header: (name) => sent[name],
    secure: true,
    peer: undefined,
    signal: undefined,
    body: async () => bytes,
  })
}
