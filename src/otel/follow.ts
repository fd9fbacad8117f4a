import type { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import {
  context as contexts,
  createContextKey,
  diag,
  SpanStatusCode,
  trace as traces,
  type Attributes,
  type Context,
  type Histogram,
  type Meter,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { surround, type Surrounded } from '../observation/channels.ts'
import { runtime } from '../runtime.ts'
import { spanIn, type DurationMetric, type Fault, type StageDescription } from './stage.ts'

/** The receivers of spans and measurements. */
export interface Instruments {
  readonly tracer: Tracer
  readonly meter: Meter
  /** The span of the innermost stage. Works without a context manager of OpenTelemetry. */
  readonly spans: AsyncLocalStorage<Span | undefined>
}

interface Running {
  readonly span: Span
  readonly context: Context
  /** The start, in milliseconds of `performance.now()`. */
  readonly startedAt: number
}

const stageSpan = createContextKey('rowgate: the span of a stage')

/** Records a span and a duration for each trace of a channel, until the returned function is called. */
export function follow<Trace extends object>(
  stage: StageDescription<Trace>,
  { tracer, meter, spans }: Instruments,
): () => void {
  const channel = `rowgate:${stage.channel}`
  const { start } = tracingChannel<Span | undefined, Trace>(channel)
  const running = new WeakMap<object, Running>()
  const histograms = new Map(stage.metrics.map((metric) => [metric, histogramOf(meter, metric)]))

  function begin(trace: Trace): Span {
    const outer = outerContext(spans.getStore())
    const isFirst = spanIn(outer) === undefined
    const parent = isFirst && stage.origin !== undefined ? stage.origin(trace, outer) : outer
    const span = tracer.startSpan(
      stage.name(trace),
      { kind: stage.kind(trace, parent), attributes: stage.attributes(trace) },
      parent,
    )
    const context = traces.setSpan(parent, span).setValue(stageSpan, span)
    running.set(trace, { span, context, startedAt: runtime.performanceNow() })
    enter(trace, context)
    return span
  }

  function finish(trace: Trace): void {
    const run = running.get(trace)
    if (run === undefined) return
    const { span, context, startedAt } = run
    const seconds = (runtime.performanceNow() - startedAt) / 1000
    const attributes = withoutThrowing(() => stage.attributes(trace)) ?? {}
    withoutThrowing(() => {
      if (span.isRecording()) complete(stage, span, { trace, attributes })
    })
    withoutThrowing(() => span.end())
    const metric = stage.metricOf?.(trace) ?? stage.metrics[0]
    histograms.get(metric)?.record(seconds, labelsIn(attributes, stage.labels), context)
  }

  const onStart = (trace: Trace): Span | undefined =>
    withoutThrowing(() => begin(trace)) ?? spans.getStore()
  const onEnd = (trace: unknown): void => withoutThrowing(() => finish(trace as Trace))
  start.bindStore(spans, onStart)
  subscribe(`tracing:${channel}:asyncEnd`, onEnd)
  return () => {
    start.unbindStore(spans)
    unsubscribe(`tracing:${channel}:asyncEnd`, onEnd)
  }
}

function histogramOf(meter: Meter, { name, description, boundaries }: DurationMetric): Histogram {
  const advice = { explicitBucketBoundaries: [...boundaries] }
  return meter.createHistogram(name, { description, unit: 's', advice })
}

/** Returns the context of the span that application code has opened in the last stage, or of that stage itself. */
function outerContext(last: Span | undefined): Context {
  const active = contexts.active()
  const { spanId } = spanIn(active) ?? {}
  const stage = active.getValue(stageSpan) as Span | undefined
  // Without a registered SDK, spans of application code have the context of the enclosing span.
  const isOfApplication = spanId !== undefined && spanId !== stage?.spanContext().spanId
  return isOfApplication || last === undefined ? active : traces.setSpan(active, last)
}

/** Runs the work of a trace in a context, so that spans that application code opens in it become its children. */
function enter(trace: object & Surrounded, context: Context): void {
  const outer = trace[surround]
  const value = <Result>(work: () => Result): Result => {
    const call = { hasStarted: false }
    const inner = (): Result => {
      call.hasStarted = true
      return outer === undefined ? work() : outer(work)
    }
    try {
      return contexts.with(context, inner)
    } catch (error) {
      if (call.hasStarted) throw error
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
  if (fault !== undefined) recordFault(span, fault)
}

function labelsIn(attributes: Attributes, names: readonly string[]): Attributes {
  const labels: Attributes = {}
  for (const name of names) {
    const value = attributes[name]
    if (value !== undefined) labels[name] = value
  }
  return labels
}

function recordFault(span: Span, { error }: Fault): void {
  span.setStatus({ code: SpanStatusCode.ERROR })
  if (error === undefined) return
  // The cause of the client's error has the details.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  span.recordException(cause instanceof Error ? cause : String(cause))
}

/** Reports what `work` throws to `diag`. A subscriber of a channel must not throw: Node would end the process. */
function withoutThrowing<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    reportToDiag(error)
    return undefined
  }
}

/** Reports an error to `diag` of the API. */
export function reportToDiag(error: unknown): void {
  try {
    diag.error('rowgate/otel', error)
  } catch {}
}
