import type { ApplicationDefinitions } from '../definition/application.ts'
import type { PublishedEventName } from '../definition/handler.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Report } from '../observation/reports.ts'
import type { ServiceReply, ServiceRequest } from '../request/request.ts'
import type { ServicePart } from '../service-part.ts'
import type { StorageAdapter } from '../storage/adapter.ts'
import { repeat, type Repetition } from '../work/repeat.ts'
import { keyTables } from './collections.ts'
import { KeyStore } from './key-store.ts'
import { KeyedReplies, type Execution } from './keyed-replies.ts'
import { keyedRequest, keyHeader, requireKey, type KeyedParts } from './keyed-request.ts'
import { completeKeys, type CompleteKeys } from './options.ts'

/** The idempotency keys of a service. */
export interface Idempotency {
  /**
   * Returns the key of a request that writes; undefined if it has none, or if its application does not have the option.
   * Throws MALFORMED_HEADER.
   */
  keyOf(
    request: Pick<ServiceRequest, 'header'>,
    event: PublishedEventName,
    collection: PublishedCollection,
  ): RequestKey | undefined
  /** Executes a request with a key, or returns its stored response. Throws what the client receives instead. */
  reply(parts: Omit<KeyedParts, 'brand'>, execution: Execution): Promise<ServiceReply>
  /** The tables, and the worker that removes expired keys. */
  readonly part: ServicePart
}

/** A key, and how it is kept. */
export type RequestKey = Pick<KeyedParts, 'key' | 'options'>

/** What {@link createIdempotency} uses. */
export interface IdempotencyDependencies {
  readonly applications: ApplicationDefinitions
  readonly collections: readonly PublishedCollection[]
  readonly brand: string
  /** The storage as the application has created it. */
  readonly adapter: object
  /** The storage for the tables of the library. */
  readonly storage: Pick<StorageAdapter, 'filter' | 'transaction'>
  readonly handlerTimeout: number
  readonly report: Report
  readonly now: () => Date
}

const cleanInterval = 10 * 60_000

/** Returns the idempotency keys of a service; undefined if no application has the option. */
export function createIdempotency({
  applications,
  collections,
  brand,
  adapter,
  ...others
}: IdempotencyDependencies): Idempotency | undefined {
  const options = completeKeys(applications)
  const keyed = collections.filter(({ application }) => options.has(application))
  if (keyed.length === 0) return undefined
  const tables = keyTables(adapter, keyed)
  const store = new KeyStore({ ...others, tables })
  const replies = new KeyedReplies({ ...others, store })
  return {
    keyOf: (request, event, { application }) => {
      const own: CompleteKeys | undefined = options.get(application)
      if (own === undefined || event === 'Filter') return undefined
      const header = request.header(keyHeader)
      return header === undefined ? undefined : { key: requireKey(header), options: own }
    },
    reply: async (parts, execution) =>
      replies.reply(await keyedRequest({ ...parts, brand }), execution),
    part: cleaningPart(store, tables.all),
  }
}

function cleaningPart(store: KeyStore, collections: readonly PublishedCollection[]): ServicePart {
  let cleaning: Repetition | undefined
  return {
    collections,
    join: () => undefined,
    opened: () => {
      cleaning ??= repeat(cleanInterval, () => store.clean())
    },
    workload: async () => ({}),
    close: async () => cleaning?.stop(),
  }
}
