import type { Principal } from '../definition/principal.ts'
import type { ServiceError } from '../errors.ts'
import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import { originForm, splitTarget } from '../protocol/path.ts'
import type { ServiceReply, ServiceRequest } from '../request/request.ts'
import { runtime } from '../runtime.ts'
import { readOr, stages, tracedClient, type RequestTrace } from './channels.ts'
import { guardedListener } from './reports.ts'

/** Receives one entry for each request after its response. MUST NOT throw; what it throws is ignored. */
export type RequestLog = (entry: Readonly<RequestTrace>) => void

/** Is notified of what becomes known about a request while it is handled. */
export interface RequestObserver {
  /** Called when the collection and the event of the request are known. */
  onTarget(place: { readonly application: string; readonly name: string }, event: string): void
  /** Called after authentication. */
  onPrincipal(principal: Principal): void
  /** Called when the response comes from the response cache. */
  onCached(): void
  /** Called when the request is rejected or has failed. */
  onError(error: ServiceError): void
}

type Respond = (request: ServiceRequest, observer?: RequestObserver) => MaybePromise<ServiceReply>

/** Where requests are logged, and which values must not be. */
export interface LogOptions {
  readonly log: RequestLog | undefined
  /** Replaces the values of credentials in a query string. */
  readonly hideCredentials: (query: string) => string
  /** The clock of the service. */
  readonly now: () => Date
}

/**
 * Returns a function that responds to requests, writes each to `log`, and traces it on the channel
 * `rowgate:request`. Requests cost nothing extra without a log and without subscribers.
 */
export function logRequests(respond: Respond, options: LogOptions): Respond {
  const write = options.log && guardedListener(options.log)
  return (request) => {
    const isTraced = stages.request.isWatched
    if (!isTraced && write === undefined) return respond(request)
    const startedAt = runtime.performanceNow()
    const trace = traceOf(request, options)
    const work = (): MaybePromise<ServiceReply> =>
      whenDone(respond(request, observerOf(trace)), (reply) => {
        trace.status = reply.status
        trace.milliseconds = runtime.performanceNow() - startedAt
        write?.({ ...trace })
        return reply
      })
    return isTraced ? stages.request.run(trace, work) : work()
  }
}

function traceOf(request: ServiceRequest, { hideCredentials, now }: LogOptions) {
  const { path, query } = splitTarget(originForm(request.target))
  return {
    time: readOr(undefined, () => now().toISOString()) ?? new Date(runtime.dateNow()).toISOString(),
    method: request.method,
    path,
    query: hideCredentials(query),
    ...tracedClient(request),
    traceparent: readOr(null, () => request.header('traceparent') ?? null),
    application: null,
    collection: null,
    event: null,
    provider: null,
    user: null,
    keyId: null,
    status: null,
    cached: false,
    code: null,
    milliseconds: null,
  } as RequestTrace
}

function observerOf(trace: RequestTrace): RequestObserver {
  return {
    onTarget: ({ application, name }, event) => {
      trace.application = application
      trace.collection = name
      trace.event = event
    },
    onPrincipal: ({ provider, user, keyId }) => {
      trace.provider = provider
      trace.user = user
      trace.keyId = keyId
    },
    onCached: () => {
      trace.cached = true
    },
    onError: ({ code }) => {
      trace.code = code
    },
  }
}
