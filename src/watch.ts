import type { Principal } from './definition/principal.ts'
import type { ServiceError } from './errors.ts'
import type { ServiceReply, ServiceRequest } from './request/request.ts'
import { harmless } from './observation.ts'
import { originForm, splitTarget } from './protocol/path.ts'
import { stages, type RequestTrace } from './tracing.ts'

/** Receives one entry for each answered request. MUST NOT throw; what it throws is dropped. */
export type RequestLog = (entry: Readonly<RequestTrace>) => void

/** Tells what becomes known of a request while it is answered. */
export interface Witness {
  /** What is asked for. */
  asked(place: { readonly application: string; readonly name: string }, event: string): void
  /** Who asks. */
  came(principal: Principal): void
  refused(error: ServiceError): void
}

type Answer = (request: ServiceRequest, witness?: Witness) => Promise<ServiceReply>

/** Who wants to know of requests, and what nobody may know. */
export interface WatchParts {
  readonly log: RequestLog | undefined
  /** Replaces the values of credentials in a query string. */
  readonly hideCredentials: (query: string) => string
}

/**
 * Answers requests for whoever watches: the host's log and the channel `rowgate:request`. Where nobody
 * does, a request costs nothing more.
 */
export function watched(answer: Answer, { log, hideCredentials }: WatchParts): Answer {
  const write = log && harmless(log)
  return (request) => {
    const isTraced = stages.request.isWatched
    if (!isTraced && write === undefined) return answer(request)
    const began = performance.now()
    const trace = traceOf(request, hideCredentials)
    const work = async (): Promise<ServiceReply> => {
      const reply = await answer(request, witnessOf(trace))
      trace.status = reply.status
      trace.milliseconds = performance.now() - began
      write?.({ ...trace })
      return reply
    }
    return isTraced ? stages.request.run(trace, work) : work()
  }
}

function traceOf(request: ServiceRequest, hideCredentials: WatchParts['hideCredentials']) {
  const { path, query } = splitTarget(originForm(request.target))
  return {
    method: request.method,
    path,
    query: hideCredentials(query),
    secure: request.secure,
    peer: request.peer ?? null,
    traceparent: request.header('traceparent') ?? null,
    application: null,
    collection: null,
    event: null,
    provider: null,
    user: null,
    keyId: null,
    status: null,
    code: null,
    milliseconds: null,
  } as RequestTrace
}

function witnessOf(trace: RequestTrace): Witness {
  return {
    asked: ({ application, name }, event) => {
      trace.application = application
      trace.collection = name
      trace.event = event
    },
    came: ({ provider, user, keyId }) => {
      trace.provider = provider
      trace.user = user
      trace.keyId = keyId
    },
    refused: ({ code }) => {
      trace.code = code
    },
  }
}
