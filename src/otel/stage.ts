import {
  isSpanContextValid,
  trace as traces,
  type Attributes,
  type Context,
  type SpanContext,
  type SpanKind,
} from '@opentelemetry/api'
import { isServiceError } from '../errors.ts'

/** How the traces of a channel are recorded as spans and measurements. */
export interface StageDescription<Trace extends object> {
  /** The channel is `rowgate:<channel>`, the metric `rowgate.<channel>.duration`. */
  readonly channel: 'request' | 'event' | 'storage' | 'security' | 'call'
  /** The description of the metric. */
  readonly measures: string
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
