import {
  isSpanContextValid,
  trace as traces,
  type Attributes,
  type Context,
  type SpanContext,
  type SpanKind,
} from '@opentelemetry/api'
import { isServiceError } from '../errors.ts'

/** A histogram of durations in seconds. */
export interface DurationMetric {
  readonly name: string
  readonly description: string
  /** The boundaries of its buckets, in seconds. */
  readonly boundaries: readonly number[]
}

// A handler that is ready takes microseconds, one that waits takes seconds.
const ownBoundaries = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** Returns a metric for which the semantic conventions have no name. */
export function ownMetric(stage: string, description: string): DurationMetric {
  return { name: `rowgate.${stage}.duration`, description, boundaries: ownBoundaries }
}

/** How the traces of a channel are recorded as spans and measurements. */
export interface StageDescription<Trace extends object> {
  /** The channel is `rowgate:<channel>`. */
  readonly channel: 'request' | 'event' | 'storage' | 'security' | 'call'
  /** The metric of a trace: the only one, or one of several. */
  readonly metrics: readonly [DurationMetric, ...DurationMetric[]]
  /** Returns the metric of a trace. Default: the only one. */
  metricOf?(trace: Trace): DurationMetric
  /** Returns the name of the span, of low cardinality. Called again at the end, when the trace is complete. */
  name(trace: Trace): string
  kind(trace: Trace, parent: Context): SpanKind
  /** Returns the parent context of a trace without an enclosing span. */
  origin?(trace: Trace, outer: Context): Context
  /** Returns the attributes of the span. Called again at the end, when the trace is complete. */
  attributes(trace: Trace): Attributes
  /** The attributes of the metric. Each must have few values. */
  readonly labels: readonly string[]
  /** Returns the failure of the service; undefined if it succeeded or rejected the request. */
  fault(trace: Trace): Fault | undefined
}

/** A failure of the service. */
export interface Fault {
  /** What was thrown, if known. */
  readonly error?: unknown
}

/** Returns the active span of a context, if it has a valid one. */
export function spanIn(context: Context): SpanContext | undefined {
  const span = traces.getSpanContext(context)
  return span !== undefined && isSpanContextValid(span) ? span : undefined
}

/** Returns the failure of a stage that threw; an error with a status below 500 is not a failure. */
export function faultOf({ error }: { readonly error?: unknown }): Fault | undefined {
  if (error === undefined || (isServiceError(error) && error.status < 500)) return undefined
  return { error }
}

/** Returns the code of the `ServiceError` that a stage threw. */
export function codeOf({ error }: { readonly error?: unknown }): string | undefined {
  return isServiceError(error) ? error.code : undefined
}

/** Returns the type of the failure of a stage that threw. */
export function faultTypeOf(trace: { readonly error?: unknown }): string | undefined {
  if (faultOf(trace) === undefined) return undefined
  return codeOf(trace) ?? (trace.error instanceof Error ? trace.error.name : '_OTHER')
}
