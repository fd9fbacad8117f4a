import { createAuthenticate, type Authenticate } from './authenticate.ts'
import { createReadPlans } from './cache/read-plans.ts'
import { createResponseCache, type CacheStatistics } from './cache/response-cache.ts'
import { commandUse } from './command-use.ts'
import type { ApplicationDefinitions } from './definition/application.ts'
import { reportPatterns } from './definition/pattern-report.ts'
import { requirePrincipal, type Principal } from './definition/principal.ts'
import type { Runtime } from './events/runtime.ts'
import { placeOf, respond } from './handle.ts'
import { replyWriter } from './http/write.ts'
import { inProcess, languageOf, type InProcess, type InProcessOptions } from './in-process.ts'
import { createLifecycle } from './lifecycle.ts'
import { whenDone } from './maybe-promise.ts'
import { createLanguages, type CheckedMessages, type Messages } from './messages/languages.ts'
import { guardedListener } from './observation/reports.ts'
import { completeService, type OpenServiceOptions, type ServiceOptions } from './options.ts'
import { brandedHeaders } from './protocol/names.ts'
import { applicationOf, originForm, splitTarget } from './protocol/path.ts'
import { pageHost, type PageHost, type WithPageHost } from './pages/page.ts'
import { openPages } from './pages/pages.ts'
import { publish } from './publication.ts'
import type { Credentials, RequestHandler } from './request/request.ts'
import type { Keyring } from './security/keys/key-store.ts'
import { secure } from './security/secure.ts'
import { isServicePart, servicePart } from './service-part.ts'
import type { Users } from './security/users/user-store.ts'
import type { StorageAdapter } from './storage/adapter.ts'
import { inspectStorage } from './storage/inspection/inspect-storage.ts'
import { openOnce, whenOpen } from './storage/layers/open-once.ts'
import { layeredStorage } from './storage/layers/layers.ts'
import { requireReadable } from './storage/inspection/require-readable.ts'
import type { InspectionProgress, StorageProblem } from './storage/problem.ts'
import { logRequests } from './observation/request-log.ts'
import { repeatConflicts } from './work/repeat-conflicts.ts'
import type { ConnectionLoad, Workload } from './workload.ts'

/** A running service: responds to requests, and runs the same events in process. */
export interface Service<Applications> extends RequestHandler, WithPageHost {
  /**
   * Resolves when storage is open, a read of at most one row has succeeded, and the patterns of fields were
   * analyzed. Each call reads again. Rejects if storage can't be opened or read, and once `close` was called.
   */
  ready(): Promise<void>
  /**
   * Returns the tables that do not fit, and the rows that can't be published, refer to missing items, or
   * repeat unique values. Reads all rows, and changes nothing. Also works if `ready` has rejected because a
   * table does not fit.
   */
  inspect(progress?: InspectionProgress): Promise<readonly StorageProblem[]>
  /**
   * Returns the events in process, without HTTP, with the rights of a principal. Throws a TypeError for a
   * value that is not a principal, such as a copy of `system`, and for unknown options.
   */
  as(principal: Principal, options?: InProcessOptions): InProcess<Applications>
  /**
   * Authenticates a request of a route of your application, such as an upload, by the providers, limits and HTTPS rule of the
   * service: `const caller = await service.authenticate(request)`. Takes requests of `node:http`, Express and Fastify, and
   * Fetch requests. Does not read the body. Rejects with an {@link AuthenticationError}, which is the response to send, and
   * with a TypeError for another value or option. Which rights the caller needs is the decision of your application.
   */
  authenticate: Authenticate
  /** Returns a URL or a request target without the query parameters in which the providers find credentials. */
  withoutCredentials(url: string): string
  /**
   * Only a type, which no service has at run time: the client finds the applications here. A front end in a folder of its
   * own may have another copy of this package, whose `Service` is another type.
   */
  readonly '~applications'?: Applications
  /** Whether the storage keeps rows after the process has ended. */
  readonly isDurable: boolean
  /** The API keys of the service. */
  readonly keys: Keyring
  /** The built-in users of the service. */
  readonly users: Users
  /** Returns what the service counts: cheap, so that a health check or a metric can call it. */
  statistics(): ServiceStatistics
  /**
   * Counts the deliveries of the outbox and the releases that wait or are worked on, for a metric. Reads from storage, so
   * call it every few seconds at most. Rejects while storage can't be read, and once `close` was called.
   */
  workload(): Promise<Workload>
  /**
   * Responds 503 from now on, waits for work in progress, also of clients that have disconnected, and closes storage.
   * Waits for security providers at most `handlerTimeout` milliseconds.
   */
  close(): Promise<void>
}

/** What a service counts. */
export interface ServiceStatistics {
  /** The response cache; null if the service has none. */
  readonly cache: CacheStatistics | null
  /** The pools of connections to databases, by unique names. Empty for storage without a pool. */
  readonly connections: readonly ConnectionLoad[]
}

// Without this, the compiler's error for a missing option prints the types of all applications.
type RequiresSecurity<Providers> = unknown extends Providers
  ? {
      readonly storage: 'The option security is missing: a provider, a list of them, or openAccess()'
    }
  : unknown

/**
 * Publishes applications as REST collections. Throws a TypeError that lists every mistake in the
 * options and definitions.
 */
export function createService<
  const Applications extends ApplicationDefinitions,
  Providers,
  const Given extends Messages,
>(
  given: OpenServiceOptions<Applications> & {
    readonly security?: Providers & ServiceOptions<Applications>['security']
    readonly messages?: Given & CheckedMessages<Given>
  } & RequiresSecurity<Providers>,
): Service<Applications>
export function createService<const Applications extends ApplicationDefinitions>(
  given: OpenServiceOptions<Applications>,
): Service<Applications> {
  const options = completeService(given)
  const { applications, now, brand, serviceVersion, limitExcess, bodyStatus } = options
  const report = guardedListener(options.report)
  const use = commandUse()
  const storage = layeredStorage(options.storage, { isReadOnly: use === 'read' })
  for (const warning of storage.warnings ?? []) report(warning)
  const publication = publish(applications, options)
  const host: Omit<PageHost, 'name'> = {
    pages: options.pages,
    applications,
    collections: publication.collections,
    security: options.security,
    options: { brand, serviceVersion, limitExcess, bodyStatus },
  }
  const pages = openPages(host)
  const lifecycle = createLifecycle(options.handlerTimeout)
  // Storage is opened below, with the collections of everything that reads from it.
  const openStorage = repeatingOwn(whenOpen(storage, () => storageOpen()))
  const security = secure({
    ...options,
    storage: openStorage,
    report,
    defer: lifecycle.defer,
  })
  const parts = [options.outbox, ...Object.values<unknown>(applications)]
    .filter(isServicePart)
    .map((owner) => owner[servicePart])
  const stored = publication.collections.filter(({ serve }) => serve === undefined)
  for (const part of parts) {
    part.join({
      storage: openStorage,
      collections: stored,
      transaction: (principal, work) => hosted(principal).transaction(work, { repeat: true }),
      report,
      now,
    })
  }
  const kept = () => [
    ...stored,
    ...security.collections,
    ...parts.flatMap(({ collections }) => collections),
  ]
  const storageOpen = openOnce(
    () =>
      whenDone(storage.open(kept()), () => {
        // A command starts the workers that it needs.
        if (use !== undefined) return
        for (const part of parts) lifecycle.defer(async () => part.opened())
      }),
    { atStart: use !== 'read' },
  )
  const closeParts = () => Promise.all(parts.map((part) => part.close()))
  const runtime: Runtime = {
    adapter: storage,
    collectionOf: publication.collectionOf,
    report,
    handlerTimeout: options.handlerTimeout,
    now,
    waiting: new WeakMap(),
    enter: (begin) => lifecycle.enter(storageOpen, begin),
    track: lifecycle.track,
  }
  // Parts may finish their work while the service closes.
  const hosted = (principal: Principal): InProcess<object> =>
    inProcess({ ...runtime, enter: (begin) => begin() }, publication, principal)
  const headers = brandedHeaders(brand)
  const writer = replyWriter(headers, serviceVersion)
  const languages = createLanguages(options.messages)
  const cache =
    options.cache === false ? undefined : createResponseCache(options.cache, openStorage)
  const dependencies = {
    options,
    publication,
    security: {
      ...security,
      gate: (request: Credentials) => lifecycle.authenticate(() => security.gate(request)),
    },
    plans: createReadPlans(),
    runtime,
    lifecycle,
    headers,
    writer,
    languages,
    cache,
    pages,
  }
  const { gate } = dependencies.security
  const patternsReported = reportPatterns(applications, report)

  return {
    handle: logRequests((request, observer) => respond(dependencies, request, observer), {
      log: options.log,
      hideCredentials: security.hideCredentials,
      now,
    }),
    serves: (target) => {
      const application = applicationOf(splitTarget(originForm(target)).path)
      if (application === undefined) return false
      return Object.hasOwn(applications, application) || pages?.contain(target) === true
    },
    reportUnsent: (request, error) => {
      report({ type: 'request-failed', place: placeOf(publication, request), error })
    },
    ready: async () => {
      await lifecycle.enter(storageOpen, () => requireReadable(storage, kept()))
      await patternsReported
    },
    inspect: async (progress = () => undefined) => {
      // A table that does not fit is a result.
      const opened = (async () => storageOpen())()
      await (storage.inspect === undefined ? opened : opened.catch(() => undefined))
      return inspectStorage(storage, kept(), progress)
    },
    authenticate: createAuthenticate({ gate, lifecycle, writer, languages, report }),
    withoutCredentials: (url) =>
      url.replace(/\?[^#]*/, (query) => {
        const clean = security.cleanQuery(query.slice(1))
        return clean === '' ? '' : `?${clean}`
      }),
    isDurable: options.storage.supports.durable,
    [pageHost]: host,
    keys: security.keys,
    users: security.users,
    statistics: () => ({
      cache: cache?.statistics() ?? null,
      connections: storage.connections?.() ?? [],
    }),
    workload: async () =>
      lifecycle.enter(storageOpen, async () => {
        const loads = await Promise.all(parts.map((part) => part.workload()))
        return Object.assign({ deliveries: null, builds: null }, ...loads) as Workload
      }),
    as: (principal, options) =>
      inProcess<Applications>(runtime, publication, requirePrincipal(principal), {
        language: languageOf(languages, options),
      }),
    close: () =>
      lifecycle.close(
        () => {
          closeParts().catch(() => undefined)
        },
        async () => {
          await closeParts()
          await security.flush()
          await storage.close()
        },
      ),
  }
}

/** Returns the storage for the tables of the service itself, whose transactions call no code of the application. */
function repeatingOwn<Storage extends Pick<StorageAdapter, 'transaction'>>(
  storage: Storage,
): Storage {
  return {
    ...storage,
    transaction: (options, work) => repeatConflicts(() => storage.transaction(options, work)),
  }
}
