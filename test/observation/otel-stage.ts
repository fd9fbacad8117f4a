import {
  context,
  diag,
  DiagLogLevel,
  propagation,
  trace,
  type Attributes,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { onTestFinished } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  text,
} from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { newKey, plainKeys, recordOnce } from '../kit/keys.ts'

/** Does something after the test. */
export function afterTest(end: () => unknown): void {
  onTestFinished(async () => {
    await end()
  })
}

/** A real SDK that keeps spans and metrics in memory. */
export function openSdk() {
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 2 ** 30,
  })
  const meterProvider = new MeterProvider({ readers: [reader] })
  afterTest(() => Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]))
  return {
    tracerProvider,
    meterProvider,
    /** Those that have ended, without the reads of users and keys. */
    spans: () =>
      exporter
        .getFinishedSpans()
        .filter(({ attributes }) => attributes['rowgate.application'] !== 'rowgate-security'),
    /** Those that have ended, of all collections. */
    allSpans: () => exporter.getFinishedSpans(),
    forget: () => exporter.reset(),
    /** The attributes of each point of a metric, and its value. */
    points: async (name: string) => {
      await reader.forceFlush()
      const metric = metricExporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap(({ metrics }) => metrics)
        .find(({ descriptor }) => descriptor.name === name)
      return (metric?.dataPoints ?? []).map(({ attributes, value }) => ({
        attributes,
        value: value as {
          readonly count: number
          readonly sum: number
          readonly buckets: { readonly boundaries: readonly number[] }
        },
      }))
    },
    /** The points of a metric of numbers: its attributes, then its value. */
    numbers: async (name: string) => {
      metricExporter.reset()
      await reader.forceFlush()
      const metric = metricExporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap(({ metrics }) => metrics)
        .find(({ descriptor }) => descriptor.name === name)
      return (metric?.dataPoints ?? []).map(({ attributes, value }) => [attributes, value] as const)
    },
  }
}

/** Registers a context manager and what reads `traceparent`, as SDKs of hosts do. */
export function registerContext(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  afterTest(() => {
    context.disable()
    trace.disable()
    propagation.disable()
    diag.disable()
  })
}

/** What is logged to `diag` of the API. */
export function listenToDiag(): readonly unknown[][] {
  const told: unknown[][] = []
  const tell = (...given: unknown[]): void => void told.push(given)
  diag.setLogger(
    { error: tell, warn: tell, info: tell, debug: tell, verbose: tell },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  )
  return told
}

/** The names of spans, each behind those of the spans around it. */
export function pathsOf(spans: readonly ReadableSpan[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]))
  const pathOf = (span: ReadableSpan): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? '')
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`
  }
  return spans.map(pathOf).sort()
}

/** The span of a name. */
export function spanOf(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const found = spans.find((span) => span.name === name)
  if (found === undefined) throw new Error(`no ${name} in ${pathsOf(spans).join(', ')}`)
  return found
}

/** A span's attributes that begin with one of the given words. */
export function attributesOf({ attributes }: ReadableSpan, ...begin: string[]): Attributes {
  const entries = Object.entries(attributes)
  return Object.fromEntries(entries.filter(([name]) => begin.some((word) => name.startsWith(word))))
}

const log = defineCollection({
  key: 'id',
  fields: { id: integer({ generated: 'database' }), line: text() },
})

const orders = defineCollection(
  { key: 'id', fields: { id: integer(), title: text({ maxLength: 9 }) } },
  {
    events: {
      Insert: {
        before: async ({ item }) => {
          const span = trace.getTracer('host').startSpan('look up')
          await new Promise((resolve) => setTimeout(resolve))
          span.end()
          if (item.title === 'broken') throw new RangeError('The handler is broken.')
        },
        after: async ({ item, collection }) => {
          await trace.getTracer('host').startActiveSpan('write down', async (span) => {
            await collection('log').insert({ line: item.title })
            span.end()
          })
        },
      },
    },
  },
)

/** A service with API keys and handlers that open spans of their own, and a key whose use is on record. */
export async function openShop() {
  const service = createService({
    applications: { sales: { collections: { orders, log } } },
    storage: memoryStorage(),
    security: plainKeys(),
  })
  await service.ready()
  afterTest(() => service.close())
  const { key, keyId } = await newKey(service)
  await createTestClient(service, { key }).get('/sales/log')
  await recordOnce(service, keyId, ({ lastUsed }) => lastUsed !== null)
  return { service, key }
}
