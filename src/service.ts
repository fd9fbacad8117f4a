import { assemble, type Assembly } from './assemble.ts'
import { createAuthenticate, type Authenticate } from './authenticate.ts'
import type { ApplicationDefinitions } from './definition/application.ts'
import { reportPatterns } from './definition/pattern-report.ts'
import { requirePrincipal, type Principal } from './definition/principal.ts'
import { placeOf, respond } from './handle.ts'
import { inProcess, languageOf, type InProcess, type InProcessOptions } from './in-process.ts'
import type { CheckedMessages, Messages } from './messages/languages.ts'
import { logRequests } from './observation/request-log.ts'
import { completeService, type OpenServiceOptions, type ServiceOptions } from './options.ts'
import { pageHost, type WithPageHost } from './pages/page.ts'
import { applicationOf, originForm, splitTarget } from './protocol/path.ts'
import type { RequestHandler } from './request/request.ts'
import type { Keyring } from './security/keys/key-store.ts'
import type { Security } from './security/secure.ts'
import type { Users } from './security/users/user-store.ts'
import type { ServicePart, ServiceStatistics } from './service-part.ts'
import { requireReadable } from './storage/inspection/inspect-storage.ts'
import type { InspectionProgress, StorageProblem } from './storage/problem.ts'
import type { Workload } from './workload.ts'

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
  const assembly = assemble(completeService(given))
  const { options, report, publication, lifecycle, storage, security, parts } = assembly
  const { applications, log, now } = options
  const { opened, kept, pages, languages, writer, runtime, administered } = assembly
  const patternsReported = reportPatterns(applications, report)

  return {
    handle: logRequests((request, observer) => respond(assembly, request, observer), {
      log,
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
      await lifecycle.enter(opened, () => requireReadable(storage, kept()))
      await patternsReported
    },
    inspect: async (progress) => lifecycle.call(() => inspectWhileUsable(assembly, progress)),
    authenticate: createAuthenticate({
      ...{ gate: security.gate, lifecycle, writer, languages, report },
      requestTimeout: options.requestTimeout,
    }),
    withoutCredentials: (url) => withoutCredentials(url, security),
    isDurable: options.storage.supports.durable,
    [pageHost]: assembly.host,
    keys: security.keys,
    users: security.users,
    statistics: () => administered.statistics(),
    workload: async () => lifecycle.enter(opened, () => workloadOf(parts)),
    as: (principal, inProcessOptions) =>
      inProcess<Applications>(runtime, publication, requirePrincipal(principal), {
        language: languageOf(languages, inProcessOptions),
      }),
    close: () => close(assembly),
  }
}

function withoutCredentials(url: string, { cleanQuery }: Pick<Security, 'cleanQuery'>): string {
  return url.replace(/\?[^#]*/, (query) => {
    const clean = cleanQuery(query.slice(1))
    return clean === '' ? '' : `?${clean}`
  })
}

async function workloadOf(parts: readonly ServicePart[]): Promise<Workload> {
  const loads = await Promise.all(parts.map((part) => part.workload()))
  return Object.assign({ deliveries: null, builds: null }, ...loads) as Workload
}

/** Inspects the storage. A closing service waits for that as long as for a handler: a large table takes minutes. */
async function inspectWhileUsable(
  { administered, lifecycle }: Assembly,
  progress?: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const problems = await administered.inspect((...state) => {
    lifecycle.requireUsable()
    progress?.(...state)
  })
  // An inspection lists what it could not read.
  lifecycle.requireUsable()
  return problems
}

function close({ lifecycle, parts, security, storage }: Assembly): Promise<void> {
  const closeParts = () => Promise.all(parts.map((part) => part.close()))
  return lifecycle.close(
    () => {
      closeParts().catch(() => undefined)
    },
    [closeParts, security.flush],
    () => storage.close(),
  )
}
