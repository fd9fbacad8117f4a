import { Agent } from 'node:http'
import { propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { expect, test } from 'vitest'
import { principal } from '../../src/entries/index.ts'
import { startTelemetry, type TelemetryOptions } from '../../src/entries/otel.ts'
import { send } from '../kit/http-client.ts'
import { withKey } from '../kit/keys.ts'
import { bindings } from '../kit/cells.ts'
import {
  attributesOf,
  afterTest,
  openSdk,
  openShop,
  pathsOf,
  registerContext,
  spanOf,
} from './otel-stage.ts'

/** A shop behind a socket, with telemetry that begins after a key was made. */
async function open(options: TelemetryOptions = {}) {
  registerContext()
  const sdk = openSdk()
  trace.setGlobalTracerProvider(sdk.tracerProvider)
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const { service, key } = await openShop()
  const host = await bindings[0]?.start(service)
  const agent = new Agent({ keepAlive: true })
  afterTest(async () => {
    agent.destroy()
    await host?.close()
  })
  const telemetry = startTelemetry(options)
  afterTest(() => telemetry.stop())
  const ask = async (method: string, path: string, body?: object, headers = withKey(key)) => {
    sdk.forget()
    const { status } = await send(host?.port ?? 0, agent, {
      method,
      target: `/rest/v1/sales${path}`,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    await expect.poll(() => sdk.spans().some(({ name }) => /^[A-Z]+( |$)/.test(name))).toBe(true)
    return status
  }
  return { sdk, service, ask, key }
}

test('a page is a span of the server, with the spans of security, event and storage in it', async () => {
  const { sdk, ask } = await open()
  expect(await ask('GET', '/orders?$limit=2&title=one')).toBe(200)
  const root = 'GET /rest/v1/sales/orders'
  const spans = sdk.spans()
  expect(pathsOf(spans)).toEqual([
    root,
    `${root} > Filter sales/orders`,
    `${root} > Filter sales/orders > filter orders`,
    `${root} > authenticate`,
  ])
  const request = spanOf(spans, root)
  expect(request.kind).toBe(SpanKind.SERVER)
  expect(request.parentSpanContext).toBeUndefined()
  expect(request.status.code).toBe(SpanStatusCode.UNSET)
  expect(request.attributes).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'http.route': '/rest/v1/sales/orders',
    'url.scheme': 'http',
    'url.path': '/rest/v1/sales/orders',
    'url.query': '$limit=2&title=one',
    'client.address': '127.0.0.1',
    'rowgate.application': 'sales',
    'rowgate.collection': 'orders',
    'rowgate.event': 'Filter',
    'rowgate.provider': 'keys',
  })
  expect(spanOf(spans, 'filter orders')).toMatchObject({
    kind: SpanKind.CLIENT,
    attributes: {
      'db.system.name': 'memory',
      'db.operation.name': 'filter',
      'db.collection.name': 'orders',
      'rowgate.rows': 0,
    },
  })
})

test('spans of handlers are children of the event, and around the events that they invoke', async () => {
  const { sdk, ask } = await open()
  expect(await ask('POST', '/orders', { id: 1, title: 'one' })).toBe(200)
  const spans = sdk.spans()
  const root = 'POST /rest/v1/sales/orders'
  const event = `${root} > Insert sales/orders`
  const within = `${event} > transaction`
  expect(pathsOf(spans)).toEqual([
    root,
    event,
    within,
    `${within} > insert orders`,
    `${within} > look up`,
    `${within} > write down`,
    `${within} > write down > Insert sales/log`,
    `${within} > write down > Insert sales/log > insert log`,
    `${root} > authenticate`,
  ])
  expect(spanOf(spans, 'transaction')).toMatchObject({ kind: SpanKind.INTERNAL })
  expect(spanOf(spans, 'Insert sales/log').attributes).toEqual({
    'rowgate.application': 'sales',
    'rowgate.collection': 'log',
    'rowgate.event': 'Insert',
    'rowgate.nested': true,
    'rowgate.cached': false,
    'rowgate.outcome': 'item',
  })
})

test('reads of keys and users are part of the authentication span', async () => {
  const { sdk, service, ask } = await open()
  // Callers are remembered until a key or a user changes.
  await service.users.add({ user: 'jens' })
  expect(await ask('GET', '/log')).toBe(200)
  expect(pathsOf(sdk.allSpans())).toContain('GET /rest/v1/sales/log > authenticate > filter keys')
})

test('error responses below 500 and rejections are not server errors', async () => {
  const { sdk, ask } = await open()
  const seen: unknown[] = []
  const look = () => {
    for (const span of sdk.spans()) {
      expect([span.name, span.status.code]).toEqual([span.name, SpanStatusCode.UNSET])
      expect(span.attributes).not.toHaveProperty('error.type')
      expect(span.events).toEqual([])
      const { 'rowgate.code': code, 'rowgate.outcome': outcome } = span.attributes
      if (code !== undefined) seen.push([span.name, code])
      if (outcome === 'rejected') seen.push([span.name, outcome])
    }
  }
  expect(await ask('GET', '/orders', undefined, withKey('wrong'))).toBe(401)
  look()
  expect(await ask('GET', '/orders/7')).toBe(404)
  look()
  expect(await ask('POST', '/orders', { id: 1, title: 'much too long' })).toBe(400)
  look()
  expect(seen).toEqual([
    ['authenticate', 'UNAUTHENTICATED'],
    ['GET /rest/v1/sales/orders', 'UNAUTHENTICATED'],
    ['Filter sales/orders', 'NOT_FOUND'],
    ['GET /rest/v1/sales/orders/{key}', 'NOT_FOUND'],
    ['Insert sales/orders', 'rejected'],
  ])
})

test('a fault of a handler is an error of the event and of the request', async () => {
  const { sdk, ask } = await open()
  expect(await ask('POST', '/orders', { id: 1, title: 'broken' })).toBe(500)
  const spans = sdk.spans()
  const event = spanOf(spans, 'Insert sales/orders')
  expect(event.status.code).toBe(SpanStatusCode.ERROR)
  expect(attributesOf(event, 'error', 'rowgate.code')).toEqual({
    'error.type': 'INTERNAL',
    'rowgate.code': 'INTERNAL',
  })
  expect(event.events).toMatchObject([
    {
      name: 'exception',
      attributes: {
        'exception.type': 'RangeError',
        'exception.message': 'The handler is broken.',
      },
    },
  ])
  const request = spanOf(spans, 'POST /rest/v1/sales/orders')
  expect(request.status).toEqual({ code: SpanStatusCode.ERROR })
  expect(attributesOf(request, 'error')).toEqual({ 'error.type': 'INTERNAL' })
  expect(spanOf(spans, 'transaction')).toMatchObject({
    status: { code: SpanStatusCode.UNSET },
    attributes: { 'rowgate.undone': true },
  })
})

test('the span of a target that is not published is named by its method only', async () => {
  const { sdk, ask } = await open()
  await ask('GET', '/nothing/of/ours')
  expect(sdk.spans().map(({ name }) => name)).toContain('GET')
  await ask('PROPFIND', '/orders')
  expect(attributesOf(spanOf(sdk.spans(), 'HTTP'), 'http.')).toEqual({
    'http.request.method': '_OTHER',
    'http.request.method_original': 'PROPFIND',
    'http.response.status_code': 405,
  })
})

test('a caller that is traced is the parent, unless a span of the application is around', async () => {
  const { sdk, ask, service, key } = await open()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await ask('GET', '/orders', undefined, { ...withKey(key), traceparent })
  const remote = spanOf(sdk.spans(), 'GET /rest/v1/sales/orders')
  expect(remote.parentSpanContext).toMatchObject({ spanId: 'b7ad6b7169203331', isRemote: true })
  expect(remote.kind).toBe(SpanKind.SERVER)

  sdk.forget()
  await trace.getTracer('host').startActiveSpan('host', async (span) => {
    await service.handle({
      method: 'GET',
      target: '/rest/v1/sales/orders',
      header: (name) => (name === 'traceparent' ? traceparent : undefined),
      secure: false,
      peer: undefined,
      body: () => Promise.resolve(new Uint8Array()),
      signal: undefined,
    })
    span.end()
  })
  expect(pathsOf(sdk.spans())).toContain('host > GET /rest/v1/sales/orders')
  expect(spanOf(sdk.spans(), 'GET /rest/v1/sales/orders').kind).toBe(SpanKind.INTERNAL)
})

test('the user is recorded only with the option user', async () => {
  const { sdk, service, ask } = await open({ user: true })
  await ask('GET', '/orders')
  const users = () => sdk.spans().map(({ name, attributes }) => [name, attributes['enduser.id']])
  expect(Object.fromEntries(users())).toEqual({
    authenticate: 'maria',
    'filter orders': undefined,
    'Filter sales/orders': 'maria',
    'GET /rest/v1/sales/orders': 'maria',
  })
  sdk.forget()
  await service.as(principal('batch')).collection('sales', 'log').filter({})
  expect(users()).toContainEqual(['Filter sales/log', 'batch'])
})
