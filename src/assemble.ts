import { administeredService } from './administered.ts'
import { createReadPlans } from './cache/read-plans.ts'
import { createResponseCache } from './cache/response-cache.ts'
import { commandUse } from './command-use.ts'
import type { PublishedCollection } from './definition/published.ts'
import { RowQueue } from './events/units/row-queue.ts'
import type { Runtime } from './events/runtime.ts'
import type { RequestDependencies } from './handle.ts'
import { replyWriter } from './http/write.ts'
import { createIdempotency, type Idempotency } from './idempotency/idempotency.ts'
import { inProcess } from './in-process.ts'
import { createLifecycle, type Lifecycle } from './lifecycle.ts'
import { continues } from './errors.ts'
import { whenDone, type MaybePromise } from './maybe-promise.ts'
import { createLanguages } from './messages/languages.ts'
import { guardedListener, type Report } from './observation/reports.ts'
import type { CompleteOptions } from './options.ts'
import type { PageHost } from './pages/page.ts'
import { openPages } from './pages/pages.ts'
import { brandedHeaders } from './protocol/names.ts'
import { publish, type Publication } from './publication.ts'
import { runtime as clock } from './runtime.ts'
import type { Credentials } from './request/request.ts'
import { secure, type Security } from './security/secure.ts'
import {
  isServicePart,
  servicePart,
  type AdministeredService,
  type ServiceHost,
  type ServicePart,
} from './service-part.ts'
import { isStorageError, type StorageAdapter } from './storage/adapter.ts'
import { layeredStorage } from './storage/layers/layers.ts'
import { openOnce, whenOpen } from './storage/layers/open-once.ts'
import { repeatConflicts } from './work/repeat-conflicts.ts'

/** What a service is made of. */
export interface Assembly extends RequestDependencies {
  readonly options: CompleteOptions
  readonly report: Report
  readonly storage: StorageAdapter
  /** Resolves once storage is open. */
  readonly opened: () => MaybePromise<void>
  /** Returns the collections that storage keeps, including the collections of security and of the parts. */
  readonly kept: () => readonly PublishedCollection[]
  readonly security: Security
  readonly parts: readonly ServicePart[]
  readonly host: Omit<PageHost, 'name'>
  readonly administered: AdministeredService
}

/**
 * Assembles a service, each part with the parts before it, and opens storage. Throws a TypeError for mistakes that its
 * parts find.
 */
export function assemble(options: CompleteOptions): Assembly {
  const report = guardedListener(options.report)
  const use = commandUse()
  const storage = layeredStorage(options.storage, { isReadOnly: use === 'read' })
  for (const warning of storage.warnings ?? []) report(warning)
  const publication = publish(options.applications, options)
  const host = hostOf(options, publication.collections)
  const pages = openPages(host)
  const lifecycle = createLifecycle(options.handlerTimeout)
  const opening = createOpening()
  const ownStorage = ownStorageOf(whenOpen(storage, opening.opened), options, lifecycle)
  const security = tracked(
    secure({ ...options, storage: ownStorage, report, defer: lifecycle.defer }),
    lifecycle,
  )
  const runtime = runtimeOf(options, { storage, publication, report, lifecycle, opening })
  const collections = publication.collections.filter(({ serve }) => serve === undefined)
  const transaction = transactionsOfParts(runtime, publication)
  const idempotency = idempotencyOf(options, { publication, storage: ownStorage, report })
  const cache = options.cache === false ? undefined : createResponseCache(options.cache, ownStorage)
  const around = { storage, cache, security, publication, opened: opening.opened }
  const service = administeredService(options, { ...around, kept: () => kept() })
  const own = { storage: ownStorage, report, now: options.now }
  const joined = { ...own, collections, transaction, service }
  const parts = joinParts(options, joined, idempotency?.part)
  const kept = () =>
    [collections, security.collections, ...parts.map((part) => part.collections)].flat()
  // A command starts the workers that it needs.
  const started = use === undefined ? parts : []
  const start = (): void => startParts(started, { storage, report, lifecycle })
  // Closing waits for it, so that a service which has closed uses no storage.
  const open = () => lifecycle.count(() => whenDone(storage.open(kept()), start))
  opening.begin(open, { atStart: use !== 'read' })
  const headers = brandedHeaders(options.brand)
  return {
    options,
    report,
    storage,
    opened: opening.opened,
    kept,
    publication,
    security,
    parts,
    host,
    pages,
    plans: createReadPlans(),
    runtime,
    lifecycle,
    headers,
    writer: replyWriter(headers, options.serviceVersion),
    languages: createLanguages(options.messages),
    cache,
    idempotency,
    administered: service,
  }
}

function runtimeOf(
  { handlerTimeout, requestTimeout, now }: CompleteOptions,
  {
    storage,
    publication,
    report,
    lifecycle,
    opening,
  }: Pick<Assembly, 'storage' | 'publication' | 'report' | 'lifecycle'> & {
    readonly opening: Pick<Opening, 'opened'>
  },
): Runtime {
  return {
    adapter: storage,
    collectionOf: publication.collectionOf,
    report,
    handlerTimeout,
    requestTimeout,
    now,
    waiting: new WeakMap(),
    rows: new RowQueue(),
    enter: (begin) => lifecycle.enter(opening.opened, begin),
    track: lifecycle.track,
  }
}

function idempotencyOf(
  { applications, brand, storage: adapter, handlerTimeout, now }: CompleteOptions,
  {
    publication,
    ...own
  }: Pick<ServiceHost, 'storage' | 'report'> & {
    readonly publication: Publication
  },
): Idempotency | undefined {
  const { collections } = publication
  return createIdempotency({
    ...{ applications, collections, brand, adapter, handlerTimeout, now },
    ...own,
  })
}

function hostOf(
  {
    pages,
    applications,
    security,
    brand,
    serviceVersion,
    limitExcess,
    bodyStatus,
  }: CompleteOptions,
  collections: PageHost['collections'],
): Assembly['host'] {
  const options = { brand, serviceVersion, limitExcess, bodyStatus }
  return { pages, applications, collections, security, options }
}

/** Returns security whose authentications and calls closing the service waits for. */
function tracked(
  security: Security,
  { authenticate, call }: Pick<Lifecycle, 'authenticate' | 'call'>,
): Security {
  const gate = (request: Credentials) => authenticate(() => security.gate(request))
  const [keys, users] = [counted(security.keys, call), counted(security.users, call)]
  return { ...security, gate, keys, users }
}

type Method = (...given: readonly unknown[]) => MaybePromise<unknown>

/** Returns an object whose calls are counted. */
function counted<Api extends object>(api: Api, call: Lifecycle['call']): Api {
  const members = Object.entries(api).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member]
    return [name, async (...given: readonly unknown[]) => call(() => (member as Method)(...given))]
  })
  return Object.freeze(Object.fromEntries(members)) as Api
}

/** Returns the function in which parts run several events. They may finish their work while the service closes. */
function transactionsOfParts(
  runtime: Runtime,
  publication: Publication,
): ServiceHost['transaction'] {
  const entered: Runtime = { ...runtime, enter: (begin) => begin() }
  return (principal, work) =>
    inProcess(entered, publication, principal).transaction(work, { repeatable: true })
}

function joinParts(
  { outbox, applications }: CompleteOptions,
  host: ServiceHost,
  idempotency: ServicePart | undefined,
): readonly ServicePart[] {
  const owners = [outbox, ...Object.values<unknown>(applications)].filter(isServicePart)
  const own = idempotency === undefined ? [] : [idempotency]
  const parts = [...owners.map((owner) => owner[servicePart]), ...own]
  for (const part of parts) part.join(host)
  return parts
}

function startParts(
  parts: readonly ServicePart[],
  { storage, report, lifecycle }: Pick<Assembly, 'storage' | 'report' | 'lifecycle'>,
): void {
  for (const advice of storage.advice?.() ?? []) report(advice)
  // Their end was awaited before they have begun.
  if (lifecycle.isClosing) return
  for (const part of parts) {
    lifecycle.defer(async () => {
      if (!lifecycle.isClosing) part.opened()
    })
  }
}

/** The opening of storage, which begins once everything is known that uses storage. */
interface Opening {
  /** Resolves once storage is open. */
  readonly opened: () => MaybePromise<void>
  readonly begin: (...given: Parameters<typeof openOnce>) => void
}

function createOpening(): Opening {
  let opened: (() => MaybePromise<void>) | undefined
  return {
    opened: () => {
      if (opened === undefined) throw new Error('Storage is used before it is opened.')
      return opened()
    },
    begin: (open, options) => {
      opened = openOnce(open, options)
    },
  }
}

/**
 * Returns the storage for the tables of the service itself, whose transactions call no code of the application. Those that
 * no request waits for have the time of one, unless they wait for more than storage. A failure of a commit, which may have
 * been executed, is marked with {@link continues}. Closing the service waits for each of them, from any caller.
 */
function ownStorageOf<Storage extends Pick<StorageAdapter, 'transaction'>>(
  storage: Storage,
  { requestTimeout }: Pick<CompleteOptions, 'requestTimeout'>,
  { count }: Pick<Lifecycle, 'count'>,
): Storage {
  const attempt: StorageAdapter['transaction'] = async (options, work) => {
    const state = { commits: false }
    try {
      return await storage.transaction(options, async (on) => {
        const result = await work(on)
        state.commits = true
        return result
      })
    } catch (error) {
      const isUnknown = state.commits && isStorageError(error) && error.kind === 'unavailable'
      if (isUnknown && !error.isConflict) Object.assign(error, { [continues]: true })
      throw error
    }
  }
  return {
    ...storage,
    transaction: async (options, work) => {
      const limited = { deadline: clock.performanceNow() + requestTimeout, ...options }
      return count(() => repeatConflicts(() => attempt(options.brief ? limited : options, work)))
    },
  }
}
