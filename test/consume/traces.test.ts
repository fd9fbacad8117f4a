import { SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTelemetry } from '../../src/entries/otel.ts'
import { openSdk } from '../observation/otel-stage.ts'
import { connection, endpoint } from '../../src/entries/consume.ts'
import { rejection } from './calls.ts'
import { respond, startServer } from './server.ts'

let failures = 0
const server = await startServer((_request, response) => {
  if (failures-- > 0) respond(response, { secret: true }, 503)
  else respond(response, { secret: true })
})

const traces: unknown[] = []
const listen = (trace: unknown): void => void traces.push(trace)
beforeAll(() => {
  subscribe('tracing:rowgate:call:asyncEnd', listen)
})
beforeEach(() => {
  traces.length = 0
})
afterAll(async () => {
  unsubscribe('tracing:rowgate:call:asyncEnd', listen)
  await server.close()
})

const find = endpoint(
  connection({
    baseUrl: server.url,
    allowHttp: true,
    allowPrivateAddresses: true,
    query: { token: 'secret' },
    headers: { 'x-token': 'secret' },
    authentication: { kind: 'bearer', token: 'secret' },
  }),
  { name: 'find', path: '/orders/{id}', query: { note: 'string' } },
)

test('a call is traced with its path template, status and attempts', async () => {
  failures = 1
  await find.call({ id: 'secret', note: 'secret' })
  expect(traces).toEqual([
    {
      endpoint: 'find',
      method: 'GET',
      path: '/orders/{id}',
      status: 200,
      code: null,
      attempts: 2,
      milliseconds: expect.any(Number) as number,
    },
  ])
  expect(JSON.stringify(traces)).not.toContain('secret')
})

test('a failed call is traced with its code and nothing secret', async () => {
  failures = 9
  const error = await rejection(find.call({ id: 'secret', note: 'secret' }))
  expect(traces).toMatchObject([{ status: 503, code: 'STATUS', attempts: 3, error }])
  expect(JSON.stringify(traces)).not.toContain('secret')
})

test('a call is a span with its endpoint, status and code', async () => {
  const { tracerProvider, meterProvider, spans } = openSdk()
  const telemetry = startTelemetry({ tracerProvider, meterProvider })
  failures = 9
  await rejection(find.call({ id: 'secret', note: 'secret' }))
  telemetry.stop()
  const [{ name, attributes, status, events } = {}] = spans() as readonly Partial<ReadableSpan>[]
  expect(name).toBe('GET find')
  expect(attributes).toEqual({
    'rowgate.code': 'STATUS',
    'error.type': 'STATUS',
    'rowgate.endpoint': 'find',
    'rowgate.attempts': 3,
    'http.request.method': 'GET',
    'url.template': '/orders/{id}',
    'http.response.status_code': 503,
  })
  expect(status?.code).toBe(SpanStatusCode.ERROR)
  expect(JSON.stringify(events)).not.toContain('secret')
})

test('neither a connection nor an endpoint shows secrets', () => {
  const shown = `${JSON.stringify(find)} ${JSON.stringify(find.connection)}`
  expect(shown).not.toContain('secret')
})
