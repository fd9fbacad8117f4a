import { channel } from 'node:diagnostics_channel'
import {
  context,
  ROOT_CONTEXT,
  type Histogram,
  type Meter,
  type MeterProvider,
  type Tracer,
} from '@opentelemetry/api'
import { expect, test } from 'vitest'
import { principal } from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { startTelemetry } from '../../src/entries/otel.ts'
import {
  afterTest,
  listenToDiag,
  openSdk,
  openShop,
  pathsOf,
  registerContext,
  spanOf,
} from './otel-stage.ts'

const root = 'POST /rest/v1/sales/orders'
const ofInsert = [
  root,
  `${root} > Insert sales/orders`,
  `${root} > Insert sales/orders > transaction`,
  `${root} > Insert sales/orders > transaction > Insert sales/log`,
  `${root} > Insert sales/orders > transaction > Insert sales/log > insert log`,
  `${root} > Insert sales/orders > transaction > insert orders`,
  `${root} > authenticate`,
]

async function openClient() {
  const { service, key } = await openShop()
  return createTestClient(service, { key })
}

function providersOf({ tracerProvider, meterProvider }: ReturnType<typeof openSdk>) {
  return { tracerProvider, meterProvider }
}

const isBound = (stage: string): boolean =>
  ['start', 'asyncEnd'].some((phase) => channel(`tracing:rowgate:${stage}:${phase}`).hasSubscribers)

test('spans nest without a context manager of OpenTelemetry', async () => {
  const sdk = openSdk()
  const client = await openClient()
  const telemetry = startTelemetry(providersOf(sdk))
  afterTest(() => telemetry.stop())
  expect((await client.post('/sales/orders', { id: 1, title: 'one' })).status).toBe(200)
  expect(pathsOf(sdk.spans())).toEqual(ofInsert)
})

test('two instances record everything independently, and stop independently', async () => {
  registerContext()
  const [first, second] = [openSdk(), openSdk()]
  const client = await openClient()
  const one = startTelemetry(providersOf(first))
  const two = startTelemetry(providersOf(second))
  await client.post('/sales/orders', { id: 1, title: 'one' })
  expect(pathsOf(first.spans())).toEqual(ofInsert)
  expect(pathsOf(second.spans())).toEqual(ofInsert)
  one.stop()
  await client.post('/sales/orders', { id: 2, title: 'two' })
  expect(first.spans()).toHaveLength(ofInsert.length)
  expect(second.spans()).toHaveLength(2 * ofInsert.length)
  two.stop()
  two.stop()
  await client.post('/sales/orders', { id: 3, title: 'three' })
  expect(second.spans()).toHaveLength(2 * ofInsert.length)
  expect(['request', 'security', 'event', 'storage'].map(isBound)).toEqual(Array(4).fill(false))
})

test('requests at the same time do not mix', async () => {
  registerContext()
  const sdk = openSdk()
  const client = await openClient()
  const telemetry = startTelemetry(providersOf(sdk))
  afterTest(() => telemetry.stop())
  const ids = Array.from({ length: 20 }, (_, index) => index)
  await Promise.all(ids.map((id) => client.post('/sales/orders', { id, title: `order ${id}` })))
  expect(pathsOf(sdk.spans())).toEqual(ofInsert.flatMap((path) => ids.map(() => path)).sort())
  const traces = new Set(sdk.spans().map((span) => span.spanContext().traceId))
  expect(traces.size).toBe(ids.length)
})

test('a request that ends leaves no context behind', async () => {
  registerContext()
  const sdk = openSdk()
  const client = await openClient()
  const telemetry = startTelemetry(providersOf(sdk))
  afterTest(() => telemetry.stop())
  await client.get('/sales/orders')
  expect(context.active()).toBe(ROOT_CONTEXT)
  await client.get('/sales/orders')
  const roots = sdk.spans().filter(({ parentSpanContext }) => parentSpanContext === undefined)
  expect(roots).toHaveLength(2)
})

test('histograms record the seconds of each stage, with few attributes', async () => {
  const sdk = openSdk()
  const client = await openClient()
  const telemetry = startTelemetry(providersOf(sdk))
  afterTest(() => telemetry.stop())
  for (const id of [1, 2]) await client.post('/sales/orders', { id, title: `order ${id}` })
  await client.get('/sales/orders/7')
  await client.get('/sales/unknown/7')
  const place = { 'rowgate.application': 'sales', 'rowgate.collection': 'orders' }
  const counts = async (name: string) =>
    (await sdk.points(name)).map(({ attributes, value }) => {
      expect(value.sum).toBeGreaterThan(0)
      expect(value.sum).toBeLessThan(30)
      return [attributes, value.count]
    })
  const status = 'http.response.status_code'
  const scheme = { 'url.scheme': 'https' }
  const orders = { ...place, ...scheme, 'http.route': '/rest/v1/sales/orders' }
  const order = { ...orders, 'http.route': '/rest/v1/sales/orders/{key}' }
  expect(await counts('http.server.request.duration')).toEqual([
    [{ ...orders, 'http.request.method': 'POST', [status]: 200, 'rowgate.event': 'Insert' }, 2],
    [{ ...order, 'http.request.method': 'GET', [status]: 404, 'rowgate.event': 'Filter' }, 1],
    [{ ...scheme, 'http.request.method': 'GET', [status]: 404 }, 1],
  ])
  const event = { 'rowgate.event': 'Insert', 'rowgate.outcome': 'item' }
  expect(await counts('rowgate.event.duration')).toContainEqual([
    { ...place, ...event, 'rowgate.nested': false, 'rowgate.cached': false },
    2,
  ])
  expect(await counts('db.client.operation.duration')).toContainEqual([
    {
      'db.system.name': 'memory',
      'db.operation.name': 'insert',
      'db.collection.name': 'orders',
      'rowgate.application': 'sales',
    },
    2,
  ])
  const began = { 'db.system.name': 'memory', 'db.operation.name': 'transaction' }
  expect(await counts('rowgate.transaction.duration')).toContainEqual([began, 2])
  expect(await counts('rowgate.security.duration')).toEqual([[{ 'rowgate.provider': 'keys' }, 4]])
})

test('the buckets of HTTP and of databases follow the semantic conventions', async () => {
  const sdk = openSdk()
  const client = await openClient()
  const telemetry = startTelemetry(providersOf(sdk))
  afterTest(() => telemetry.stop())
  await client.get('/sales/orders')
  const boundaries = async (name: string) =>
    (await sdk.points(name)).map(({ value }) => value.buckets.boundaries)[0]
  expect(await boundaries('http.server.request.duration')).toEqual([
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
  ])
  expect(await boundaries('db.client.operation.duration')).toEqual([
    0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10,
  ])
})

const broken = (): never => {
  throw new Error('The SDK is broken.')
}

test('an SDK that throws does not affect requests', async () => {
  registerContext()
  const told = listenToDiag()
  const client = await openClient()
  const histogram: Histogram = { record: broken }
  const meter = { createHistogram: () => histogram } as unknown as Meter
  const meterProvider: MeterProvider = { getMeter: () => meter }
  const tracer: Tracer = { startSpan: broken, startActiveSpan: broken }
  const good = openSdk()
  const halves = [
    { tracerProvider: { getTracer: () => tracer }, meterProvider: good.meterProvider },
    { tracerProvider: good.tracerProvider, meterProvider },
  ]
  for (const options of halves) {
    const telemetry = startTelemetry(options)
    expect((await client.get('/sales/orders')).status).toBe(200)
    telemetry.stop()
  }
  expect(told.length).toBeGreaterThan(4)
  expect(spanOf(good.spans(), 'GET /rest/v1/sales/orders').ended).toBe(true)
})

test('a context manager that throws does not affect requests', async () => {
  registerContext()
  const client = await openClient()
  const sdk = openSdk()
  const telemetry = startTelemetry(providersOf(sdk))
  afterTest(() => telemetry.stop())
  let entered = 0
  context.disable()
  context.setGlobalContextManager({
    active: () => ROOT_CONTEXT,
    with: () => {
      entered++
      return broken()
    },
    bind: (_context, target) => target,
    enable() {
      return this
    },
    disable() {
      return this
    },
  })
  expect((await client.post('/sales/log', { line: 'one' })).status).toBe(200)
  expect(entered).toBeGreaterThan(3)
})

test('calls in process have spans of their own', async () => {
  const sdk = openSdk()
  const { service } = await openShop()
  const telemetry = startTelemetry(providersOf(sdk))
  afterTest(() => telemetry.stop())
  await service.as(principal('batch')).collection('sales', 'log').filter({})
  expect(pathsOf(sdk.spans())).toEqual(['Filter sales/log', 'Filter sales/log > filter log'])
})
