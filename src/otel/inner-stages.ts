import { SpanKind } from '@opentelemetry/api'
import type { EventTrace, SecurityTrace, StorageTrace } from '../tracing.ts'
import { codeOf, faultOf, faultTypeOf, type StageDescription } from './stage.ts'

/** The question who asks, as a span. */
export function describeSecurity(user: boolean): StageDescription<SecurityTrace> {
  return {
    channel: 'security',
    measures: 'How long it took to find out who asks.',
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

/** An event as a span. */
export function describeEvent(user: boolean): StageDescription<EventTrace> {
  return {
    channel: 'event',
    measures: 'How long events took.',
    name: ({ event, application, collection }) => `${event} ${application}/${collection}`,
    kind: () => SpanKind.INTERNAL,
    attributes: (trace) => ({
      'rowgate.code': codeOf(trace),
      'error.type': faultTypeOf(trace),
      'rowgate.application': trace.application,
      'rowgate.collection': trace.collection,
      'rowgate.event': trace.event,
      'rowgate.nested': trace.nested,
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
      'rowgate.outcome',
    ],
    fault: faultOf,
  }
}

/** A call of storage as a span. In a transaction code of the host runs: that is no call of a database. */
export function describeStorage(): StageDescription<StorageTrace> {
  return {
    channel: 'storage',
    measures: 'How long calls of storage took.',
    name: ({ operation, collection }) =>
      collection === null ? operation : `${operation} ${collection}`,
    kind: ({ operation }) => (operation === 'transaction' ? SpanKind.INTERNAL : SpanKind.CLIENT),
    attributes: (trace) => ({
      'rowgate.code': codeOf(trace),
      'error.type': faultTypeOf(trace),
      'db.system.name': trace.storage,
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
