import { propagation, SpanKind, type Context } from '@opentelemetry/api'
import { pathRoot } from '../protocol/names.ts'
import type { RequestTrace } from '../observation/channels.ts'
import { spanIn, type DurationMetric, type StageDescription } from './stage.ts'

// The methods of the semantic conventions. Any other is reported as _OTHER: a label needs few values.
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']

// Name and buckets of the semantic conventions for HTTP.
const requestDuration: DurationMetric = {
  name: 'http.server.request.duration',
  description: 'Duration of HTTP server requests.',
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
}

/** Describes the span of a request: a server span, or an internal one inside a span of application code. */
export function describeRequest(user: boolean): StageDescription<RequestTrace> {
  return {
    channel: 'request',
    metrics: [requestDuration],
    name: (trace) => {
      const method = methodOf(trace)
      const route = routeOf(trace)
      const shown = method === '_OTHER' ? 'HTTP' : method
      return route === undefined ? shown : `${shown} ${route}`
    },
    kind: (_trace, parent) => (hasLocalParent(parent) ? SpanKind.INTERNAL : SpanKind.SERVER),
    origin: ({ traceparent }, outer) =>
      traceparent === null ? outer : propagation.extract(outer, { traceparent }),
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
      'http.route',
      'url.scheme',
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

/** Returns the path with a placeholder for the key; undefined if the target is not published. */
function routeOf({ application, collection, path }: RequestTrace): string | undefined {
  if (application === null || collection === null) return undefined
  const isItem = path.slice(pathRoot.length).split('/').length > 2
  return `${pathRoot}${application}/${collection}${isItem ? '/{key}' : ''}`
}

function isFault({ status }: RequestTrace): boolean {
  return status !== null && status >= 500
}

function hasLocalParent(parent: Context): boolean {
  const span = spanIn(parent)
  return span !== undefined && span.isRemote !== true
}
