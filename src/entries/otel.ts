export {
  type TelemetryOptions,
  type ObserveOptions,
  type Telemetry,
  startTelemetry,
} from '../otel/telemetry.ts'
export type { ObservedService } from '../otel/observe.ts'
