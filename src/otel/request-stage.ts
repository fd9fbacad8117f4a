import { propagation, SpanKind, type Context } from '@opentelemetry/api'
import { pathRoot } from '../protocol/names.ts'
import type { RequestTrace } from '../tracing.ts'
import { spanIn, type StageDescription } from './stage.ts'

// Those that the semantic conventions know; a metric must not have one value for each invented one.
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']

/** A request as a span, which is the server's unless one of the host's is around it. */
export function describeRequest(user: boolean): StageDescription<RequestTrace> {
  return {
    channel: 'request',
    measures: 'How long requests took.',
    name: (trace) => {
      const method = methodOf(trace)
      const route = routeOf(trace)
      const word = method === '_OTHER' ? 'HTTP' : method
      return route === undefined ? word : `${word} ${route}`
    },
    kind: (_trace, surroundings) =>
      isWithinHost(surroundings) ? SpanKind.INTERNAL : SpanKind.SERVER,
    origin: ({ traceparent }, surroundings) =>
      traceparent === null ? surroundings : propagation.extract(surroundings, { traceparent }),
    attributes: (trace) => {
      const method = methodOf(trace)
      return {
        'http.request.method': method,
        'http.request.method_original': method === '_OTHER' ? trace.method : undefined,
        'http.response.status_code': trace.status ?? undefined,
        'http.route': routeOf(trace),
        'error.type': isFault(trace) ? (trace.code ?? String(trace.status)) : undefined,
        'url.scheme': trace.secure ? 'https' : 'http',
        'url.path': trace.path,
        'url.query': trace.query === '' ? undefined : trace.query,
        'client.address': trace.peer ?? undefined,
        'rowgate.application': trace.application ?? undefined,
        'rowgate.collection': trace.collection ?? undefined,
        'rowgate.event': trace.event ?? undefined,
        'rowgate.code': trace.code ?? undefined,
        'rowgate.provider': trace.provider ?? undefined,
        'enduser.id': user ? (trace.user ?? undefined) : undefined,
      }
    },
    labels: [
      'http.request.method',
      'http.response.status_code',
      'error.type',
      'rowgate.application',
      'rowgate.collection',
      'rowgate.event',
    ],
    fault: (trace) => (isFault(trace) ? {} : undefined),
  }
}

function methodOf({ method }: RequestTrace): string {
  return methods.includes(method) ? method : '_OTHER'
}

/** The path with a placeholder for the key; undefined where nothing that is published was asked for. */
function routeOf({ application, collection, path }: RequestTrace): string | undefined {
  if (application === null || collection === null) return undefined
  const isItem = path.slice(pathRoot.length).split('/').length > 2
  return `${pathRoot}${application}/${collection}${isItem ? '/{key}' : ''}`
}

function isFault({ status }: RequestTrace): boolean {
  return status !== null && status >= 500
}

function isWithinHost(surroundings: Context): boolean {
  const span = spanIn(surroundings)
  return span !== undefined && span.isRemote !== true
}
