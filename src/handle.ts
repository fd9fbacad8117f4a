import type { PublishedCollection } from './definition/published.ts'
import { notFound } from './errors.ts'
import { runEvent } from './events/run.ts'
import type { Runtime } from './events/runtime.ts'
import { asServiceError } from './failure.ts'
import { readBytes, requireJsonAccepted } from './http/read.ts'
import type { ReplyWriter } from './http/write.ts'
import type { Lifecycle } from './lifecycle.ts'
import { whenDone, whenFailed, type MaybePromise } from './maybe-promise.ts'
import type { Place } from './observation/reports.ts'
import type { CompleteOptions } from './options.ts'
import { decodeBody } from './protocol/json.ts'
import type { BrandedHeaders } from './protocol/names.ts'
import {
  decodePath,
  originForm,
  requireTarget,
  splitTarget,
  type ResourcePath,
} from './protocol/path.ts'
import { decodeQuery } from './protocol/query.ts'
import { decodeIgnoredWarnings } from './protocol/warnings.ts'
import type { Publication } from './publication.ts'
import { encodeOutcome } from './request/outcome.ts'
import { planEvent, resolveQuery, routeMethod } from './request/plan.ts'
import type { ServiceReply, ServiceRequest } from './request/request.ts'
import { requireRight, viewOf } from './request/view.ts'
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
  readonly runtime: Runtime
  readonly lifecycle: Lifecycle
  readonly headers: BrandedHeaders
  readonly writer: ReplyWriter
}

/**
 * Responds to a request. Never fails: errors become the response that the contract defines. Returns a
 * promise only if something has to wait: storage, application code, or a body that has not arrived.
 */
export function respond(
  service: RequestDependencies,
  request: ServiceRequest,
  observer?: RequestObserver,
): MaybePromise<ServiceReply> {
  return whenFailed(
    () => handle(service, request, observer),
    (error) => {
      const { publication, runtime, writer } = service
      const failure = asServiceError(error, runtime.report, () => placeOf(publication, request))
      observer?.onError(failure)
      return writer.error(failure)
    },
  )
}

/** The life of a request: every check, in the order in which the contract defines them. */
function handle(
  { options, publication, security, runtime, lifecycle, headers, writer }: RequestDependencies,
  request: ServiceRequest,
  observer?: RequestObserver,
): MaybePromise<ServiceReply> {
  lifecycle.requireOpen()
  const target = originForm(request.target)
  requireTarget(target, options.maxTargetLength)
  const { path: rawPath, query: rawQuery } = splitTarget(target)
  const path = decodePath(rawPath)
  const published = publication.find(path.application, path.collection)
  const name = routeMethod(request.method, path, published)
  if (published !== undefined) observer?.onTarget(published, name)

  return whenDone(security.gate(request), (principal) => {
    observer?.onPrincipal(principal)
    const collection = requireFound(published, path)
    requireRight(collection, name, principal)
    const resource = { view: viewOf(collection, principal), key: path.key }
    requireJsonAccepted(request)
    const hasBody = name === 'Insert' || name === 'Update'

    return whenDone(hasBody ? readBytes(request, options.bodyLimit) : undefined, (bytes) => {
      const query = decodeQuery(security.cleanQuery(rawQuery))
      const resolved = resolveQuery(name, resource, query, options)
      const confirmed = decodeIgnoredWarnings(request.header(headers.ignoreWarnings))
      const body = bytes === undefined ? undefined : decodeBody(bytes)
      const event = planEvent(name, resource, resolved, body)
      const caller = { principal, confirmed, signal: () => request.signal }

      return whenDone(
        runtime.enter(() => runEvent(runtime, event, caller)),
        (outcome) => writer.outcome(encodeOutcome(outcome, options.bodyStatus)),
      )
    })
  })
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
function placeOf(publication: Publication, { method, target }: ServiceRequest): Place | null {
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
