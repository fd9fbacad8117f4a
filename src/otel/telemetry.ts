import { AsyncLocalStorage } from 'node:async_hooks'
import {
  metrics,
  trace as traces,
  type MeterProvider,
  type Span,
  type TracerProvider,
} from '@opentelemetry/api'
import { z } from 'zod'
import { completeOptions } from '../definition/options.ts'
import { describeEvent, describeSecurity, describeStorage } from './inner-stages.ts'
import { follow, type Instruments } from './follow.ts'
import { describeRequest } from './request-stage.ts'

/** What {@link startTelemetry} may be told. */
export interface TelemetryOptions {
  /** Takes the spans. Default: the one that is registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider
  /** Takes the metrics. Default: the one that is registered with `@opentelemetry/api`, by now. */
  readonly meterProvider?: MeterProvider
  /** Whether spans name the user, as `enduser.id`. Default: false. */
  readonly user?: boolean
}

/** Telemetry that is under way. */
export interface Telemetry {
  /** Ends it. What is in progress then is not recorded. */
  stop(): void
}

const shape = z.strictObject({
  tracerProvider: z.custom<TracerProvider>().optional(),
  meterProvider: z.custom<MeterProvider>().optional(),
  user: z.boolean().default(false),
} satisfies Record<keyof TelemetryOptions, z.ZodType>)

/**
 * Makes spans and metrics of OpenTelemetry of what all services of the process do: one span for each
 * request, question of security, event and call of storage, and one histogram of their durations each.
 * Start your SDK first. What the SDK throws harms no request; it is told to the `diag` of the API.
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
  ]
  return Object.freeze({
    stop: () => {
      for (const end of ends.splice(0)) end()
      instruments.spans.disable()
    },
  })
}
