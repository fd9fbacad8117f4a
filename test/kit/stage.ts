import { onTestFinished } from 'vitest'
import { createTestClient, type TestClient } from '../../src/entries/testing.ts'
import {
  createService,
  memoryStorage,
  openAccess,
  type CollectionDefinition,
  type Observation,
  type Service,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import type { PublishedCollection, StorageAdapter } from '../../src/entries/storage.ts'
import { visitors } from './visitors.ts'

type Collections = Readonly<Record<string, CollectionDefinition>>

type Applications<C extends Collections> = { readonly app: { readonly collections: C } }

/** A service with the application `app`, and what a case looks at. */
export interface Stage<C extends Collections> {
  readonly service: Service<Applications<C>>
  /** A client whose callers name themselves in headers; without them, access is open. */
  readonly client: TestClient
  readonly reports: readonly Observation[]
  /** The collections that storage was opened with. */
  readonly opened: readonly PublishedCollection[]
  /** The transactions and reads of storage since the start. */
  readonly storageCalls: readonly string[]
}

/** Opens a service on memory storage, which is closed after the test. */
export function openStage<C extends Collections>(
  collections: C,
  options: Partial<ServiceOptions<Applications<C>>> = {},
): Stage<C> {
  const reports: Observation[] = []
  const opened: PublishedCollection[] = []
  const storageCalls: string[] = []
  const complete: ServiceOptions<Applications<C>> = {
    applications: { app: { collections } },
    security: [visitors, openAccess()],
    report: (one) => reports.push(one),
    ...options,
    storage: watched(options.storage ?? memoryStorage(), { opened, storageCalls }),
  }
  const service = createService(complete)
  onTestFinished(() => service.close())
  return { service, client: createTestClient(service), reports, opened, storageCalls }
}

function watched(
  storage: StorageAdapter,
  {
    opened,
    storageCalls,
  }: { readonly opened: PublishedCollection[]; readonly storageCalls: string[] },
): StorageAdapter {
  return {
    ...storage,
    open: (collections) => {
      opened.push(...collections)
      return storage.open(collections)
    },
    filter: (collection, query) => {
      storageCalls.push(`filter ${collection.name}`)
      return storage.filter(collection, query)
    },
    transaction: (options, work) => {
      storageCalls.push(`transaction ${options.mode}`)
      return storage.transaction(options, work)
    },
  }
}
