import * as z from 'zod/mini'
import type { CacheOptions } from './cache/response-cache.ts'
import type { ApplicationDefinitions } from './definition/application.ts'
import { inspectApplications } from './definition/check.ts'
import { mistaken, type Mistake } from './checks/mistakes.ts'
import {
  brand,
  clock,
  code,
  objectWith,
  serviceVersion,
  timerMilliseconds,
  wholeNumber,
} from './checks/option-shapes.ts'
import { inspectOptions } from './checks/options.ts'
import { endpointName } from './definition/shape.ts'
import {
  isAdministration,
  withServiceFacts,
  type ServiceFacts,
} from './definition/service-facts.ts'
import { messagesMistakes, messagesShape, type Messages } from './messages/languages.ts'
import type { Report } from './observation/reports.ts'
import { isPage, type Page } from './pages/page.ts'
import { printFailures } from './observation/print-failures.ts'
import { defaultBrand, defaultServiceVersion } from './protocol/names.ts'
import { defaultTargetLength } from './protocol/path.ts'
import { providerMistakes } from './security/check.ts'
import type { Limiter, Limits } from './security/limiter.ts'
import {
  isKeyProvider,
  isPasswordProvider,
  type OpenAccess,
  type SecurityProvider,
} from './security/provider.ts'
import type { FindUser } from './security/users/user-store.ts'
import { isServicePart, type WithServicePart } from './service-part.ts'
import type { StorageAdapter } from './storage/adapter.ts'
import type { RequestLog } from './observation/request-log.ts'

/** A security provider, or the explicit statement that access is open. */
type Security = SecurityProvider | OpenAccess

/** The options of `createService` without its security providers. */
export interface OpenServiceOptions<Applications> {
  /** The applications by endpoint name. */
  readonly applications: Applications
  readonly storage: StorageAdapter
  /** Finds the user of each request. Default: the built-in collection of users. */
  readonly users?: FindUser
  /** Limits on requests and on failed credentials. Default: none. */
  readonly limits?: Limits
  /** The brand prefix of paths and headers: lower-case letters and digits. Default `svc`. */
  readonly brand?: string
  /** The contract version of the `X-Svc-Version` header; false leaves the header out. Default `4.54`. */
  readonly serviceVersion?: string | false
  /** Whether a `$limit` above the maximum is reduced to it or responds 400. Default `clamp`. */
  readonly limitExcess?: 'clamp' | 'reject'
  /** The body status of a failed validation: 200 (`contract`) or the HTTP status. Default `contract`. */
  readonly bodyStatus?: 'contract' | 'http'
  /** The largest page maximum that a collection may set, in items. Default 100. */
  readonly maxPageSize?: number
  /** The largest request body, in bytes. Default 1048576. */
  readonly bodyLimit?: number
  /** The longest request target, path and query without the prefix of the mount, in bytes. Default 8192. */
  readonly maxTargetLength?: number
  /**
   * Keeps responses of collections for as long as their storage has not changed; `false` keeps none. See
   * `statistics()` of the service. Default: up to 16 MiB.
   */
  readonly cache?: CacheOptions | false
  /** How long one handler or rule may take, in milliseconds. Default 10000. */
  readonly handlerTimeout?: number
  /**
   * How long one request may take, in milliseconds: everything that it waits for, without the time in which the client
   * sends the body. Then the response is 503 with `Retry-After`, or 500 if application code is late. Also holds for each
   * call in process. Requests of a served collection have its `timeout` if that is longer. Default: 30000, or
   * `handlerTimeout` if that is longer.
   */
  readonly requestTimeout?: number
  /**
   * Receives what the service reports; see {@link Observation}. `false` drops it. Default: failures are
   * printed with `console.error`, and nothing else is.
   */
  readonly report?: Report | false
  /** Receives one entry for each response, without credentials. Default: no log. */
  readonly log?: RequestLog
  /** The outbox whose deliveries the service stores and works, of `createOutbox`. Default: none. */
  readonly outbox?: WithServicePart
  /** The pages that the service serves besides its collections, by the start of their paths. Default: none. */
  readonly pages?: Readonly<Record<string, Page>>
  /**
   * The messages of responses in other languages, by tags such as `de`; `en` replaces English ones. Clients choose by
   * `Accept-Language`. Missing messages and languages are replaced by English. Default: English only.
   */
  readonly messages?: Messages
  /** The clock of `generated: 'now'`. Default: the system's. */
  readonly now?: () => Date
}

/** The options of `createService`. */
export interface ServiceOptions<Applications> extends OpenServiceOptions<Applications> {
  /** The providers that authenticate callers. `openAccess()` explicitly allows everything to everyone. */
  readonly security: SecurityProvider | OpenAccess | readonly (SecurityProvider | OpenAccess)[]
}

/** The options with all their defaults. */
export type CompleteOptions = Required<
  Omit<
    ServiceOptions<ApplicationDefinitions>,
    'security' | 'users' | 'log' | 'report' | 'outbox' | 'cache' | 'messages'
  >
> & {
  readonly cache: Required<CacheOptions> | false
  readonly security: readonly Security[]
  readonly report: Report
  readonly users?: FindUser | undefined
  readonly log?: RequestLog | undefined
  readonly outbox?: WithServicePart | undefined
  readonly messages?: Messages | undefined
}

const limiter = objectWith<Limiter>(
  'consume',
  'must be a limiter with a consume method, such as one of rate-limiter-flexible',
)

const defaultRequestTimeout = 30_000

const cacheBytes = 16 * 1024 * 1024

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

const shape = z.strictObject({
  applications: z.custom<ApplicationDefinitions>(isObject, {
    error: 'must be an object of applications by endpoint name',
  }),
  storage: objectWith<StorageAdapter>(
    'transaction',
    'must be a storage adapter, for instance memoryStorage()',
  ),
  security: z.pipe(
    z.custom<Security | readonly Security[]>(
      (value) => providersOf(value).length > 0 && providersOf(value).every(isProvider),
      {
        error:
          'must be a security provider or a list of them; openAccess() gives every caller every right',
      },
    ),
    z.transform((value) => providersOf(value)),
  ),
  users: z.optional(code<FindUser>()),
  limits: z._default(
    z.strictObject({ requests: z.optional(limiter), failures: z.optional(limiter) }),
    {},
  ),
  brand: z._default(brand, defaultBrand),
  serviceVersion: z._default(serviceVersion, defaultServiceVersion),
  limitExcess: z._default(z.enum(['clamp', 'reject']), 'clamp'),
  bodyStatus: z._default(z.enum(['contract', 'http']), 'contract'),
  maxPageSize: z._default(wholeNumber(1), 100),
  bodyLimit: z._default(wholeNumber(1), 1024 * 1024),
  maxTargetLength: z._default(wholeNumber(1), defaultTargetLength),
  cache: z._default(
    z.union([
      z.literal(false),
      z.strictObject({ maxBytes: z._default(wholeNumber(1), cacheBytes) }),
    ]),
    { maxBytes: cacheBytes },
  ),
  handlerTimeout: z._default(timerMilliseconds, 10_000),
  requestTimeout: z.optional(timerMilliseconds),
  report: z.pipe(
    z._default(
      z.custom<Report | false>((value) => value === false || typeof value === 'function', {
        error: 'must be a function, or false for no reports',
      }),
      () => printFailures,
    ),
    z.transform((report) => (report === false ? () => undefined : report)),
  ),
  log: z.optional(code<RequestLog>()),
  outbox: z.optional(
    z.custom<WithServicePart>(isServicePart, {
      error: 'must be an outbox, as createOutbox of rowgate/consume returns it',
    }),
  ),
  pages: z._default(
    z.record(
      endpointName,
      z.custom<Page>(isPage, {
        error: 'must be a page, for instance openapi() of rowgate/openapi',
      }),
    ),
    {},
  ),
  messages: z.optional(
    z.pipe(
      messagesShape,
      z.transform((given) => given as Messages),
    ),
  ),
  now: clock,
})

/**
 * Checks the options, definitions and providers of a service, and returns its options with their defaults.
 * Throws one TypeError that lists every mistake.
 */
export function completeService(
  options: OpenServiceOptions<ApplicationDefinitions>,
): CompleteOptions {
  const { complete, mistakes } = inspectOptions('options', shape, options)
  const given = Object(options) as Partial<ServiceOptions<ApplicationDefinitions>>
  const { applications, maxPageSize = 100 } = given
  const size = maxPageSize >= 1 ? maxPageSize : 100
  const definitions = isObject(applications)
    ? inspectApplications(applications, {
        maxPageSize: size,
        brand: complete?.brand ?? defaultBrand,
        toServe: true,
      })
    : { mistakes: [], wellFormed: {} }
  const providers = providersOf(given.security).filter(isProvider).filter(isSecurityProvider)
  const all = [
    ...mistakes,
    ...messagesMistakes(given.messages),
    ...definitions.mistakes,
    ...providerMistakes(providers, definitions.wellFormed),
    ...openAdministration(given),
  ]
  if (complete === undefined || all.length > 0) throw mistaken(all)
  return {
    ...complete,
    requestTimeout:
      complete.requestTimeout ?? Math.max(defaultRequestTimeout, complete.handlerTimeout),
    applications: withServiceFacts(complete.applications, factsOf(complete, providers)),
  }
}

/** Returns the mistake of a service that publishes administration to everyone. */
function openAdministration({
  applications,
  security,
}: Partial<ServiceOptions<ApplicationDefinitions>>): readonly Mistake[] {
  if (!isObject(applications) || !Object.values(applications ?? {}).some(isAdministration))
    return []
  const isOpen = providersOf(security).some((one) => isProvider(one) && !isSecurityProvider(one))
  if (!isOpen) return []
  const advice =
    'administration needs callers who are known: leave out openAccess(), or publish administration with a service of its own'
  return [{ place: 'options.security', advice }]
}

/** Returns the facts on which the deployment and administration applications depend. */
function factsOf(
  { brand, serviceVersion, users }: Pick<CompleteOptions, 'brand' | 'serviceVersion' | 'users'>,
  providers: readonly SecurityProvider[],
): ServiceFacts {
  const enabled = providers
    .filter(({ enabled = true }) => enabled)
    .sort((one, other) => one.priority - other.priority)
  const keeps = (what: 'keys' | 'users') => providers.some((one) => one.keeps?.includes(what))
  const hasUsers = keeps('users') && users === undefined
  return {
    brand,
    serviceVersion,
    authenticationType: enabled[0]?.type,
    hasKeys: keeps('keys') && providers.some(isKeyProvider),
    hasSessions: enabled.some(isKeyProvider),
    hasUsers,
    hasPasswords: hasUsers && providers.some(isPasswordProvider),
  }
}

function providersOf(value: unknown): readonly Security[] {
  return (Array.isArray(value) ? value : [value]) as readonly Security[]
}

function isProvider(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return 'anyone' in value || typeof (value as SecurityProvider).identify === 'function'
}

function isSecurityProvider(given: Security): given is SecurityProvider {
  return !('anyone' in given)
}
