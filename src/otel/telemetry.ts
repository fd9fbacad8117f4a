import { AsyncLocalStorage } from 'node:async_hooks'
import {
  metrics,
  trace as traces,
  type MeterProvider,
  type Span,
  type TracerProvider,
} from '@opentelemetry/api'
import * as z from 'zod/mini'
import { text } from '../checks/option-shapes.ts'
import { completeOptions } from '../checks/options.ts'
import { describeCall, describeEvent, describeSecurity, describeStorage } from './inner-stages.ts'
import { follow, type Instruments } from './follow.ts'
import { observeService, type ObservedService } from './observe.ts'
import { describeRequest } from './request-stage.ts'

/** Options of {@link startTelemetry}. */
export interface TelemetryOptions {
  /** Receives the spans. Default: the provider that is registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider
  /** Receives the metrics. Default: the provider that is registered with `@opentelemetry/api` at the time of the call. */
  readonly meterProvider?: MeterProvider
  /** Whether spans contain the user, as `enduser.id`. Default: false. */
  readonly user?: boolean
}

/** Options of `observe` of {@link Telemetry}. */
export interface ObserveOptions {
  /** Stands before the names of pools, and is the attribute `rowgate.service` of the other gauges. Default: none. */
  readonly name?: string
}

/** Running telemetry. */
export interface Telemetry {
  /**
   * Adds the gauges of a service: its pools of connections, its outbox and its builds. They are read each time that the SDK
   * collects metrics, until the returned function or `stop` is called. Give each service of a process a `name`, so that
   * its gauges differ from the gauges of another one.
   */
  observe(service: ObservedService, options?: ObserveOptions): () => void
  /** Stops recording, also of stages in progress. */
  stop(): void
}

const shape = z.strictObject({
  tracerProvider: z.optional(z.custom<TracerProvider>()),
  meterProvider: z.optional(z.custom<MeterProvider>()),
  user: z._default(z.boolean(), false),
} satisfies Record<keyof TelemetryOptions, z.ZodMiniType>)

const observeShape = z.strictObject({
  name: z.optional(text(100)),
} satisfies Record<keyof ObserveOptions, z.ZodMiniType>)

/**
 * Records spans and metrics of OpenTelemetry for all services of the process: a span for each request,
 * authentication, event, call of storage and call of another service, and histograms of their durations. Start your SDK first.
 * Errors of the SDK don't affect requests; they are reported to `diag` of the API.
 */
export function startTelemetry(options: TelemetryOptions = {}): Telemetry {
  const complete = completeOptions('startTelemetry', shape, options)
  const { tracerProvider = traces, meterProvider = metrics, user } = complete
  const instruments: Instruments = {
    tracer: tracerProvider.getTracer('rowgate'),
    meter: meterProvider.getMeter('rowgate'),
    spans: new AsyncLocalStorage<Span | undefined>(),
  }
  const ends = [
    follow(describeRequest(user), instruments),
    follow(describeSecurity(user), instruments),
    follow(describeEvent(user), instruments),
    follow(describeStorage(), instruments),
    follow(describeCall(), instruments),
  ]
  return Object.freeze<Telemetry>({
    observe: (service, given = {}) => {
      const { name } = completeOptions('observe', observeShape, given)
      const end = observeService(instruments.meter, service, name)
      ends.push(end)
      return end
    },
    stop: () => {
      for (const end of ends.splice(0)) end()
      instruments.spans.disable()
    },
  })
}
