import type { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { performance } from 'node:perf_hooks'
import {
  context as contexts,
  createContextKey,
  diag,
  SpanStatusCode,
  trace as traces,
  type Attributes,
  type Context,
  type Meter,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { surround, type Surrounded } from '../tracing.ts'
import { spanIn, type Fault, type StageDescription } from './stage.ts'

/** Where spans and measurements go. */
export interface Instruments {
  readonly tracer: Tracer
  readonly meter: Meter
  /** The innermost stage's span, also where no context manager of OpenTelemetry is registered. */
  readonly spans: AsyncLocalStorage<Span | undefined>
}

interface Running {
  readonly span: Span
  readonly context: Context
  /** Since when, in milliseconds of `performance`. */
  readonly began: number
}

const stageSpan = createContextKey('rowgate: the span of a stage')

// Events of a storage in this process take microseconds, those of a handler that waits take seconds.
const bounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** Makes a span and a measurement of each trace of a channel, until the returned function is called. */
export function follow<Trace extends object>(
  stage: StageDescription<Trace>,
  { tracer, meter, spans }: Instruments,
): () => void {
  const channel = `rowgate:${stage.channel}`
  const { start } = tracingChannel<Span | undefined, Trace>(channel)
  const running = new WeakMap<object, Running>()
  const durations = meter.createHistogram(`rowgate.${stage.channel}.duration`, {
    description: stage.measures,
    unit: 's',
    advice: { explicitBucketBoundaries: bounds },
  })

  function begin(trace: Trace): Span {
    const around = surroundings(spans.getStore())
    const isFirst = spanIn(around) === undefined
    const parent = isFirst && stage.origin !== undefined ? stage.origin(trace, around) : around
    const span = tracer.startSpan(
      stage.name(trace),
      { kind: stage.kind(trace, parent), attributes: stage.attributes(trace) },
      parent,
    )
    const context = traces.setSpan(parent, span).setValue(stageSpan, span)
    running.set(trace, { span, context, began: performance.now() })
    enter(trace, context)
    return span
  }

  function finish(trace: Trace): void {
    const run = running.get(trace)
    if (run === undefined) return
    const { span, context, began } = run
    const seconds = (performance.now() - began) / 1000
    const attributes = harmless(() => stage.attributes(trace)) ?? {}
    harmless(() => {
      if (span.isRecording()) complete(stage, span, { trace, attributes })
    })
    harmless(() => span.end())
    durations.record(seconds, labelsIn(attributes, stage.labels), context)
  }

  const begun = (trace: Trace): Span | undefined => harmless(() => begin(trace)) ?? spans.getStore()
  const finished = (trace: unknown): void => harmless(() => finish(trace as Trace))
  start.bindStore(spans, begun)
  subscribe(`tracing:${channel}:asyncEnd`, finished)
  return () => {
    start.unbindStore(spans)
    unsubscribe(`tracing:${channel}:asyncEnd`, finished)
  }
}

/** The context around a stage: that of a span which the host has opened in the last stage, or that stage's. */
function surroundings(last: Span | undefined): Context {
  const active = contexts.active()
  const { spanId } = spanIn(active) ?? {}
  const stage = active.getValue(stageSpan) as Span | undefined
  // Where no SDK is registered, the host's spans pass for the ones around them.
  const isOfHost = spanId !== undefined && spanId !== stage?.spanContext().spanId
  return isOfHost || last === undefined ? active : traces.setSpan(active, last)
}

/** Has the work of a trace run in a context, so that spans which the host opens there become its children. */
function enter(trace: object & Surrounded, context: Context): void {
  const outer = trace[surround]
  const value = <Result>(work: () => Result): Result => {
    const call = { isBegun: false }
    const inner = (): Result => {
      call.isBegun = true
      return outer === undefined ? work() : outer(work)
    }
    try {
      return contexts.with(context, inner)
    } catch (error) {
      if (call.isBegun) throw error
      return inner()
    }
  }
  Object.defineProperty(trace, surround, { value, configurable: true })
}

function complete<Trace extends object>(
  stage: StageDescription<Trace>,
  span: Span,
  { trace, attributes }: { readonly trace: Trace; readonly attributes: Attributes },
): void {
  span.updateName(stage.name(trace))
  span.setAttributes(attributes)
  const fault = stage.fault(trace)
  if (fault !== undefined) tellFault(span, fault)
}

function labelsIn(attributes: Attributes, names: readonly string[]): Attributes {
  const labels: Attributes = {}
  for (const name of names) {
    const value = attributes[name]
    if (value !== undefined) labels[name] = value
  }
  return labels
}

function tellFault(span: Span, { error }: Fault): void {
  span.setStatus({ code: SpanStatusCode.ERROR })
  if (error === undefined) return
  // The refusal that the consumer gets has in it what the host wants to know.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  span.recordException(cause instanceof Error ? cause : String(cause))
}

/** What listens to a channel MUST NOT throw: Node would end the process. */
function harmless<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    try {
      diag.error('rowgate/otel', error)
    } catch {}
    return undefined
  }
}
