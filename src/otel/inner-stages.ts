import { SpanKind } from '@opentelemetry/api'
import type { Traces } from '../observation/channels.ts'
import {
  codeOf,
  faultOf,
  faultTypeOf,
  ownMetric,
  type DurationMetric,
  type StageDescription,
} from './stage.ts'

/** Describes the span of authentication. */
export function describeSecurity(user: boolean): StageDescription<Traces['rowgate:security']> {
  return {
    channel: 'security',
    metrics: [ownMetric('security', 'Duration of authentication.')],
    name: () => 'authenticate',
    kind: () => SpanKind.INTERNAL,
    attributes: (trace) => ({
      'rowgate.code': codeOf(trace),
      'error.type': faultTypeOf(trace),
      'rowgate.provider': trace.provider ?? undefined,
      'enduser.id': user ? (trace.user ?? undefined) : undefined,
    }),
    labels: ['rowgate.code', 'error.type', 'rowgate.provider'],
    fault: faultOf,
  }
}

/** Describes the span of an event. */
export function describeEvent(user: boolean): StageDescription<Traces['rowgate:event']> {
  return {
    channel: 'event',
    metrics: [ownMetric('event', 'Duration of events.')],
    name: ({ event, application, collection }) => `${event} ${application}/${collection}`,
    kind: () => SpanKind.INTERNAL,
    attributes: (trace) => ({
      'rowgate.code': codeOf(trace),
      'error.type': faultTypeOf(trace),
      'rowgate.application': trace.application,
      'rowgate.collection': trace.collection,
      'rowgate.event': trace.event,
      'rowgate.nested': trace.nested,
      'rowgate.cached': trace.cached,
      'rowgate.outcome': trace.outcome ?? undefined,
      'enduser.id': user ? (trace.user ?? undefined) : undefined,
    }),
    labels: [
      'rowgate.code',
      'error.type',
      'rowgate.application',
      'rowgate.collection',
      'rowgate.event',
      'rowgate.nested',
      'rowgate.cached',
      'rowgate.outcome',
    ],
    fault: faultOf,
  }
}

/** Describes the span of a call of another service. */
export function describeCall(): StageDescription<Traces['rowgate:call']> {
  return {
    channel: 'call',
    metrics: [ownMetric('call', 'Duration of calls of other services, with their retries.')],
    name: ({ method, endpoint }) => `${method} ${endpoint}`,
    // The HTTP client may record a span of its own for each attempt.
    kind: () => SpanKind.INTERNAL,
    attributes: (trace) => ({
      'rowgate.code': trace.code ?? undefined,
      'error.type': trace.code ?? faultTypeOf(trace),
      'rowgate.endpoint': trace.endpoint,
      'rowgate.attempts': trace.attempts,
      'http.request.method': trace.method,
      'url.template': trace.path,
      'http.response.status_code': trace.status ?? undefined,
    }),
    labels: ['error.type', 'rowgate.endpoint', 'http.request.method', 'http.response.status_code'],
    fault: faultOf,
  }
}

// Name and buckets of the semantic conventions for databases.
const storageOperations: DurationMetric = {
  name: 'db.client.operation.duration',
  description: 'Duration of calls of storage.',
  boundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
}

// Application code runs in a transaction, and its calls of storage are operations of their own.
const transactions = ownMetric('transaction', 'Duration of transactions of storage.')

// The names that the semantic conventions have for the storages of the library.
const systemNames: Readonly<Record<string, string>> = { postgres: 'postgresql' }

/** Describes the span of a call of storage. A transaction is internal, because application code runs in it. */
export function describeStorage(): StageDescription<Traces['rowgate:storage']> {
  return {
    channel: 'storage',
    metrics: [storageOperations, transactions],
    metricOf: ({ operation }) => (operation === 'transaction' ? transactions : storageOperations),
    name: ({ operation, collection }) =>
      collection === null ? operation : `${operation} ${collection}`,
    kind: ({ operation }) => (operation === 'transaction' ? SpanKind.INTERNAL : SpanKind.CLIENT),
    attributes: (trace) => ({
      'rowgate.code': codeOf(trace),
      'error.type': faultTypeOf(trace),
      'db.system.name': systemNames[trace.storage] ?? trace.storage,
      'db.operation.name': trace.operation,
      'db.collection.name': trace.collection ?? undefined,
      'rowgate.application': trace.application ?? undefined,
      'rowgate.rows': trace.rows ?? undefined,
      'rowgate.undone': trace.operation === 'transaction' ? trace.undone : undefined,
    }),
    labels: [
      'error.type',
      'db.system.name',
      'db.operation.name',
      'db.collection.name',
      'rowgate.application',
    ],
    fault: faultOf,
  }
}
