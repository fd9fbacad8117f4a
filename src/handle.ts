import { plannedRead, type ReadPlans, type Route } from './cache/read-plans.ts'
import type { CachedResponse, ResponseCache } from './cache/response-cache.ts'
import type { Principal } from './definition/principal.ts'
import type { PublishedCollection } from './definition/published.ts'
import { notFound } from './errors.ts'
import { Budget } from './events/units/budget.ts'
import { runEvent } from './events/run.ts'
import { traced, type TracedEvent } from './events/traced.ts'
import type { Runtime } from './events/runtime.ts'
import { Unit, type Surround } from './events/units/unit.ts'
import { asServiceError } from './failure.ts'
import { readBytes, requireJsonAccepted } from './http/read.ts'
import type { ReplyWriter } from './http/write.ts'
import type { Idempotency } from './idempotency/idempotency.ts'
import type { Execution } from './idempotency/keyed-replies.ts'
import type { Lifecycle } from './lifecycle.ts'
import { whenDone, whenFailed, type MaybePromise } from './maybe-promise.ts'
import type { Languages } from './messages/languages.ts'
import type { Language } from './messages/message.ts'
import type { EventPlace } from './observation/reports.ts'
import type { CompleteOptions } from './options.ts'
import type { Pages } from './pages/pages.ts'
import { decodeBody } from './protocol/body.ts'
import type { BrandedHeaders } from './protocol/names.ts'
import {
  decodePath,
  originForm,
  requireTarget,
  splitTarget,
  type ResourcePath,
} from './protocol/path.ts'
import { decodeIgnoredWarnings } from './protocol/warnings.ts'
import type { Publication } from './publication.ts'
import { encodeOutcome, type Outcome } from './request/outcome.ts'
import { planEvent, readQuery, routeMethod } from './request/plan.ts'
import {
  expectedStates,
  unlessCurrent,
  withEntityTag,
  withExpected,
} from './request/preconditions.ts'
import { exactNames } from './request/submitted.ts'
import type { DataEvent } from './request/event.ts'
import type { ServiceReply, ServiceRequest } from './request/request.ts'
import { requireRight } from './request/roles.ts'
import { viewOf, type View } from './request/view.ts'
import type { Security } from './security/secure.ts'
import type { RequestObserver } from './observation/request-log.ts'

/** What a service handles requests with. {@link createService} assembles it once. */
export interface RequestDependencies {
  readonly options: Pick<
    CompleteOptions,
    'bodyLimit' | 'bodyStatus' | 'limitExcess' | 'maxTargetLength'
  >
  readonly publication: Publication
  readonly security: Pick<Security, 'gate' | 'cleanQuery'>
  readonly plans: ReadPlans
  readonly runtime: Runtime
  readonly lifecycle: Lifecycle
  readonly headers: BrandedHeaders
  readonly writer: ReplyWriter
  /** Undefined if the service responds in English, without messages of its own. */
  readonly languages: Languages | undefined
  /** Undefined if responses are not cached. */
  readonly cache: ResponseCache | undefined
  /** Undefined if no application has idempotency keys. */
  readonly idempotency: Idempotency | undefined
  /** Undefined if the service has no pages. */
  readonly pages: Pages | undefined
}

/**
 * Responds to a request. Never fails: errors become the response that the contract defines. Returns a
 * promise only if something has to wait: storage, application code, or a body that has not arrived.
 */
export function respond(
  dependencies: RequestDependencies,
  request: ServiceRequest,
  observer?: RequestObserver,
): MaybePromise<ServiceReply> {
  let language: Language | undefined
  return whenFailed(
    () => {
      language = dependencies.languages?.of(request.header('accept-language'))
      const budget = new Budget(dependencies.runtime.requestTimeout)
      return budget.within(() => handle(dependencies, request, observer, { language, budget }))
    },
    (error) => {
      const { publication, runtime, writer } = dependencies
      const failure = asServiceError(error, runtime.report, () => placeOf(publication, request))
      observer?.onError(failure)
      return writer.error(failure, language)
    },
  )
}

/** The life of a request: every check, in the order in which the contract defines them. */
function handle(
  dependencies: RequestDependencies,
  request: ServiceRequest,
  observer: RequestObserver | undefined,
  { language, budget }: Pick<AdmittedRequest, 'language' | 'budget'>,
): MaybePromise<ServiceReply> {
  const { options, security, plans, lifecycle, pages } = dependencies
  lifecycle.requireOpen()
  const target = originForm(request.target)
  const keptRoute = plans.routeOf(request.method, target)
  if (keptRoute === undefined && pages?.contain(target) === true) {
    return replyOfPage(dependencies, pages, request, observer)
  }
  const route = keptRoute ?? findRoute(dependencies, request.method, target)
  const { path, published, name } = route
  if (published !== undefined) observer?.onTarget(published, name)
  budget.extendTo(published?.serve?.timeout ?? 0)

  return whenDone(security.gate(request), (principal) => {
    observer?.onPrincipal(principal)
    const collection = requireFound(published, path)
    requireRight(collection, name, principal)
    const view = viewOf(collection, principal)
    requireJsonAccepted(request)
    const hasBody = name === 'Insert' || name === 'Update'
    const read = () => readBytes(request, options.bodyLimit)
    return whenDone(hasBody ? budget.outside(read) : undefined, (bytes) => {
      const admitted = { request, target, route, view, principal, language, budget, bytes }
      return reply(dependencies, admitted, observer)
    })
  })
}

/** A request whose caller may invoke its event. Written out: a spread of its members takes a twentieth of a read. */
interface AdmittedRequest {
  readonly request: ServiceRequest
  /** The target in origin form. */
  readonly target: string
  readonly route: Route
  readonly view: View
  readonly principal: Principal
  /** The body of an Insert or Update. */
  readonly bytes: Uint8Array | undefined
  readonly language: Language | undefined
  readonly budget: Budget
}

/** Returns the cached response of an admitted request, or runs its event. */
function reply(
  dependencies: RequestDependencies,
  admitted: AdmittedRequest,
  observer: RequestObserver | undefined,
): MaybePromise<ServiceReply> {
  const { security, runtime, headers, cache, idempotency } = dependencies
  const { request, target, route, view, principal, language, budget } = admitted
  budget.requireLeft()
  const { collection } = view
  const query = security.cleanQuery(route.query)
  const ignoredWarnings = request.header(headers.ignoreWarnings)
  const isPlain = query === route.query && ignoredWarnings === undefined
  const subject = { event: route.name, view, principal, target, language: language?.tag, isPlain }
  const slot = cache?.slotFor(subject)
  const cached = slot?.cached
  if (cached !== undefined) {
    observer?.onCached()
    const event = { collection, event: route.name, principal, nested: false, cached: true }
    const replying = runtime.enter(() => tracedReply(cached, event))
    return whenDone(replying, (own) => unlessCurrent(own, request))
  }
  const key = idempotency?.keyOf(request, route.name, collection)
  const { event, confirmed } = eventOf(dependencies, admitted, query, ignoredWarnings)
  const caller = {
    principal,
    confirmed,
    signal: () => request.signal,
    peer: () => request.peer,
    language,
  }

  const run = (surround?: Surround): MaybePromise<Outcome> =>
    runEvent(Unit.outside(runtime, surround, budget), event, caller)
  if (key !== undefined && idempotency !== undefined) {
    const path = `${splitTarget(target).path}?${query}`
    const parts = { ...admitted, ...key, target: path, ignoredWarnings }
    const execution: Execution = {
      run,
      replyTo: (outcome) => replyTo(dependencies, event, outcome, language),
      replyToError: (error) => dependencies.writer.error(error, language),
    }
    return runtime.enter(() => idempotency.reply(parts, execution))
  }
  return whenDone(
    runtime.enter(() => run()),
    (outcome) => {
      const written = replyTo(dependencies, event, outcome, language)
      return whenDone(written, (own) => {
        // Related items depend on more than the collection and its view.
        const isKept = !('expanded' in event)
        if (slot !== undefined && isKept) cache?.keep(slot, { reply: own, outcome: outcome.type })
        return unlessCurrent(own, request)
      })
    },
  )
}

/** Returns the response of an outcome, with its `ETag` if the collection has conditional requests. */
function replyTo(
  { options, writer }: RequestDependencies,
  event: DataEvent,
  outcome: Outcome,
  language: Language | undefined,
): MaybePromise<ServiceReply> {
  const response = encodeOutcome(outcome, options.bodyStatus, language)
  return withEntityTag(writer.outcome(response, language), event, outcome, response)
}

/** Returns the event that a request means, from its query without credentials, and the ids of the confirmed warnings. */
function eventOf(
  { options, plans }: RequestDependencies,
  { request, target, route, view, principal, bytes }: AdmittedRequest,
  cleanQuery: string,
  ignoredWarnings: string | undefined,
): { readonly event: DataEvent; readonly confirmed: ReadonlySet<string> } {
  const resource = { view, caller: principal, key: route.path.key }
  const kept = plannedRead(route, view)
  const query = kept?.query ?? readQuery(route.name, resource, cleanQuery, options)
  const confirmed = decodeIgnoredWarnings(ignoredWarnings)
  if (kept !== undefined) return { event: kept, confirmed }
  const expected = expectedStates(view.collection, route.name, request)
  const body = bytes === undefined ? undefined : decodeBody(bytes, exactNames(view.collection))
  const event = withExpected(planEvent(route.name, resource, query, body), expected)
  // A target with credentials is not kept.
  if (cleanQuery === route.query) plans.keep(target, route, event)
  return { event, confirmed }
}

/** Returns the reply of a page. */
function replyOfPage(
  { options, security, writer }: RequestDependencies,
  pages: Pages,
  request: ServiceRequest,
  observer: RequestObserver | undefined,
): MaybePromise<ServiceReply> {
  requireTarget(request.target, options.maxTargetLength)
  const authenticate = () =>
    whenDone(security.gate(request), (principal) => {
      observer?.onPrincipal(principal)
      return principal
    })
  return whenDone(pages.reply(request, authenticate), writer.page)
}

/** Returns a cached reply; its event is traced as if it had run. */
function tracedReply(
  { reply, outcome }: CachedResponse,
  event: TracedEvent,
): MaybePromise<ServiceReply> {
  return traced(
    event,
    () => reply,
    () => outcome,
  )
}

/** Returns where a request leads. */
function findRoute(
  { options, publication }: RequestDependencies,
  method: string,
  target: string,
): Route {
  requireTarget(target, options.maxTargetLength)
  const { path: rawPath, query } = splitTarget(target)
  const path = decodePath(rawPath)
  const published = publication.find(path.application, path.collection)
  return { path, query, published, name: routeMethod(method, path, published) }
}

/** Returns the collection of a path. Throws NOT_FOUND if it is unknown, or has no items by key. */
function requireFound(
  collection: PublishedCollection | undefined,
  path: ResourcePath,
): PublishedCollection {
  if (collection === undefined) throw notFound()
  if (path.key !== undefined && collection.key.length === 0) throw notFound()
  return collection
}

/** Returns the target of a failed request for reports. Successful requests don't pay for it. */
export function placeOf(
  publication: Publication,
  { method, target }: ServiceRequest,
): EventPlace | null {
  try {
    const path = decodePath(splitTarget(originForm(target)).path)
    const published = publication.find(path.application, path.collection)
    if (published === undefined) return null
    const { application, name: collection } = published
    return { application, collection, event: routeMethod(method, path, published) }
  } catch {
    return null
  }
}
