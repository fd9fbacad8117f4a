import {
  isSpanContextValid,
  trace as traces,
  type Attributes,
  type Context,
  type SpanContext,
  type SpanKind,
} from '@opentelemetry/api'
import { isServiceError } from '../errors.ts'

/** How the traces of a channel become spans and measurements. */
export interface StageDescription<Trace extends object> {
  /** The word behind `rowgate:` in the channel's name, and in front of `.duration` in the metric's. */
  readonly channel: 'request' | 'event' | 'storage' | 'security'
  /** What the histogram of its durations counts. */
  readonly measures: string
  /** The span's name, of which there are few. Asked again at the end, when more is known. */
  name(trace: Trace): string
  kind(trace: Trace, surroundings: Context): SpanKind
  /** The context of a trace that nothing surrounds. */
  origin?(trace: Trace, surroundings: Context): Context
  /** All that is known. Asked again at the end. */
  attributes(trace: Trace): Attributes
  /** Those of the attributes that the metric has: each with few values. */
  readonly labels: readonly string[]
  /** What went wrong, as far as it is the fault of the service; undefined when nothing did. */
  fault(trace: Trace): Fault | undefined
}

/** What is told of a fault. */
export interface Fault {
  /** What was thrown, where it is at hand. */
  readonly error?: unknown
}

/** The span that is active in a context, if there is one that is more than a placeholder. */
export function spanIn(context: Context): SpanContext | undefined {
  const span = traces.getSpanContext(context)
  return span !== undefined && isSpanContextValid(span) ? span : undefined
}

/** The fault in what a stage threw: a refusal with a status below 500 is none. */
export function faultOf({ error }: { readonly error?: unknown }): Fault | undefined {
  if (error === undefined || (isServiceError(error) && error.status < 500)) return undefined
  return { error }
}

/** Why a stage was refused, whoever's fault that is. */
export function codeOf({ error }: { readonly error?: unknown }): string | undefined {
  return isServiceError(error) ? error.code : undefined
}

/** What kind of fault there is in what a stage threw. */
export function faultTypeOf(trace: { readonly error?: unknown }): string | undefined {
  if (faultOf(trace) === undefined) return undefined
  return codeOf(trace) ?? (trace.error instanceof Error ? trace.error.name : '_OTHER')
}
