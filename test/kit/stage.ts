import { describe, expect, onTestFinished, test } from 'vitest'
import { createTestClient, type TestClient } from '../../src/entries/testing.ts'
import {
  createService,
  memoryStorage,
  openAccess,
  system,
  type ApplicationDefinition,
  type ApplicationDefinitions,
  type CollectionDefinition,
  type Observation,
  type Service,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import type { PublishedCollection, StorageAdapter } from '../../src/entries/storage.ts'
import {
  send,
  withServices,
  type OpenTestService,
  type Request,
  type Response,
  type TestOptions,
  type TestService,
} from './service.ts'
import { storages, type Storage } from './storages.ts'
import { visitors, type Headers } from './visitors.ts'

type Collections = Readonly<Record<string, CollectionDefinition>>

type Applications<C extends Collections> = { readonly app: { readonly collections: C } }

/** A service, and the reports since its start. */
export interface OpenService<Applications> {
  readonly service: Service<Applications>
  readonly reports: readonly Observation[]
}

/** Creates a service, which is closed after the test. The default of storage is memory, access is open. */
export function openService<Applications extends ApplicationDefinitions>(
  options: Partial<ServiceOptions<Applications>> & { readonly applications: Applications },
): OpenService<Applications> {
  const reports: Observation[] = []
  const complete: ServiceOptions<Applications> = {
    storage: memoryStorage(),
    security: openAccess(),
    report: (one) => reports.push(one),
    ...options,
  }
  const service = createService(complete)
  onTestFinished(() => service.close())
  return { service, reports }
}

/** A service with the application `app` on memory storage, and what a case looks at. */
export interface MemoryStage<C extends Collections> extends OpenService<Applications<C>> {
  /** A client whose callers name themselves in headers; without them, access is open. */
  readonly client: TestClient
  /** The collections that storage was opened with. */
  readonly opened: readonly PublishedCollection[]
  /** The transactions and reads of storage since the start. */
  readonly storageCalls: readonly string[]
}

/** Opens a service on memory storage, which is closed after the test. */
export function openStage<C extends Collections>(
  collections: C,
  options: Partial<ServiceOptions<Applications<C>>> = {},
): MemoryStage<C> {
  const opened: PublishedCollection[] = []
  const storageCalls: string[] = []
  const { service, reports } = openService<Applications<C>>({
    applications: { app: { collections } },
    security: [visitors, openAccess()],
    ...options,
    storage: watched(options.storage ?? memoryStorage(), { opened, storageCalls }),
  })
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
    ...(storage.filterText !== undefined && {
      filterText: (collection, query) => {
        storageCalls.push(`filter ${collection.name} as text`)
        return storage.filterText?.(collection, query)
      },
    }),
    ...(storage.filterTexts !== undefined && {
      filterTexts: (collection, queries) => {
        storageCalls.push(`filter ${queries.length} times ${collection.name}`)
        return storage.filterTexts?.(collection, queries)
      },
    }),
    transaction: (options, work) => {
      storageCalls.push(`transaction ${options.mode}`)
      return storage.transaction(options, work)
    },
  }
}

/** A service with the application `app`, with open access. */
export interface Stage extends TestService {
  /** Sends a request without a socket. The path is relative to the application. */
  ask(method: string, path: string, body?: unknown, ignored?: string): Promise<Response>
}

/** Opens a service under test, which is closed after the test. */
export type Open = (collections: Collections, options?: TestOptions) => Stage

/** Registers tests of something that is made of services, on every storage. Services are closed after each test. */
export function describeServices<Subject>(
  title: string,
  prepare: (open: OpenTestService) => Subject,
  register: Register<Subject>,
): void {
  describeStages({ title, storages, prepare }, register)
}

/** Registers tests that run on every storage. Each opens services, which are closed after it. */
export function describeOnStorages(title: string, register: Register<Open>): void {
  describeStages({ title, storages, prepare: withOpenAccess }, register)
}

function withOpenAccess(open: OpenTestService): Open {
  return (collections, options) => {
    const subject = open({ collections }, options)
    return {
      ...subject,
      ask: (method, path, body, ignored) =>
        send(subject.service, {
          method,
          path,
          body,
          headers: { 'x-svc-ignore-warnings': ignored },
        }),
    }
  }
}

/** A service with the application `app`, whose callers name themselves. */
export interface CallerStage extends TestService {
  /** Paths are relative to the application. Every response but 200 must leave the rows as they are. */
  ask(who: Headers, method: string, path: string, body?: unknown): Promise<Response>
  /** Stores items with every right. */
  plant(collection: string, items: readonly Readonly<Record<string, unknown>>[]): Promise<void>
}

/** Opens a service for callers with names, which is closed after the test. */
export type OpenForCallers = (
  application: ApplicationDefinition,
  options?: TestOptions,
) => CallerStage

/** Registers tests of callers with names that run on every storage, or on those that are given. */
export function describeForCallers<On extends NamedStorage = Storage>(
  title: string,
  register: Register<OpenForCallers, On>,
  {
    on = storages as readonly NamedStorage[] as readonly On[],
    comparesRows = true,
  }: {
    readonly on?: readonly On[]
    /** Whether rows are compared around each request: false where a case has many of them. */
    readonly comparesRows?: boolean
  } = {},
): void {
  const prepare = (open: OpenTestService) => forCallers(open, comparesRows)
  describeStages({ title, storages: on, prepare }, register)
}

function forCallers(open: OpenTestService, comparesRows: boolean): OpenForCallers {
  return (application, options) => {
    // These tests make requests without the right.
    const expected = { security: visitors, ignoredReport: 'forbidden' } as const
    const subject = open(application, { ...expected, ...options })
    const { service, rows } = subject
    const names = comparesRows ? Object.keys(application.collections) : []
    const everything = () => Promise.all(names.map(rows))
    return {
      ...subject,
      ask: async (who, method, path, body) => {
        const before = await everything()
        const response = await call(service, { who, method, path, body })
        if (response.status !== 200) expect(await everything()).toEqual(before)
        return response
      },
      plant: async (name, items) => {
        const access = service.as(system).collection('app', name)
        for (const item of items) {
          const result = await access.insert(item as never, { ignoreWarnings: 'all' })
          if (result.rejected) throw new Error(JSON.stringify(result))
        }
      },
    }
  }
}

/** A request of a caller to the application `app`. */
export interface Asked extends Omit<Request, 'headers'> {
  readonly who: Headers
}

/** Sends a request without a socket. */
export function call(
  service: TestService['service'],
  { who, ...request }: Asked,
): Promise<Response> {
  return send(service, { ...request, headers: who })
}

type NamedStorage = Pick<Storage, 'name' | 'open'>

type Register<Opening, On = Storage> = (
  on: (name: string, run: (open: Opening, storage: On) => Promise<void>) => void,
) => void

interface Stages<Opening, On> {
  readonly title: string
  readonly storages: readonly On[]
  readonly prepare: (open: OpenTestService) => Opening
}

function describeStages<Opening, On extends NamedStorage>(
  { title, storages: all, prepare }: Stages<Opening, On>,
  register: Register<Opening, On>,
): void {
  for (const storage of all)
    describe(`${title} on ${storage.name}`, () => {
      register((name, run) =>
        test(name, () => withServices(storage, (open) => run(prepare(open), storage))),
      )
    })
}
