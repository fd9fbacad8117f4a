import { expect, onTestFinished, test } from 'vitest'
import {
  applyRules,
  connection,
  createOutbox,
  deliverTo,
  endpoint,
  rule,
  rowgateCollection,
  typed,
} from '../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  integer,
  json,
  JsonNumber,
  openAccess,
  system,
  text,
  type Json,
} from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { bindings } from '../kit/cells.ts'
import { send, until } from '../kit/service.ts'
import { openStage } from '../kit/stage.ts'
import { openStorage } from '../kit/storages.ts'

const odd = '{"10":1.10,"2":12345678901234567890.123,"b":[1e2,{"9":1.0,"1":"\\u00e9"}]}'
const data = { key: 'id', fields: { id: integer(), note: text(), extra: json() } } as const

/** A connection to a service that responds with a text, and the bodies that it receives. */
function echo(reply: (body: string) => string) {
  const bodies: string[] = []
  const target = connection({
    baseUrl: 'https://numbers.example.com',
    fetch: async (_url, init) => {
      const body = await new Response((init.body ?? null) as string | null).text()
      bodies.push(body)
      return new Response(reply(body), { headers: { 'content-type': 'application/json' } })
    },
  })
  return { target, bodies }
}

test('a collection of another rowgate service keeps the digits and the order of its json values', async () => {
  const inner = openStage({ notes: defineCollection(data) })
  const host = await bindings[0]?.start(inner.service)
  if (host === undefined) throw new Error('There is no binding.')
  onTestFinished(() => host.close())
  const target = connection({
    baseUrl: `http://127.0.0.1:${host.port}`,
    allowHttp: true,
    allowPrivateAddresses: true,
  })
  const options = { connection: target, application: 'app', collection: 'notes' } as const
  const outer = openStage({
    notes: defineCollection(data, { serve: rowgateCollection(data, options) }),
  })
  const post = (path: string, body: string) => send(outer.service, { method: 'POST', path, body })
  const get = (on: typeof inner.service, path: string) => send(on, { method: 'GET', path })
  for (const [id, extra] of [
    odd,
    '1.10',
    '12345678901234567890',
    '"\\u0061"',
    '[0.10]',
  ].entries()) {
    const expected = `"extra":${extra}}`
    expect((await post('/notes', `{"id":${id},"extra":${extra}}`)).text).toContain(expected)
    expect((await get(inner.service, `/notes/${id}`)).text).toContain(expected)
    expect((await get(outer.service, `/notes/${id}`)).text).toContain(expected)
    expect((await get(outer.service, `/notes?id=${id}`)).text).toContain(expected)
    expect((await post(`/notes/${id}`, '{"note":"a"}')).text).toContain(expected)
    expect((await post(`/notes/${id}`, `{"extra":${extra}}`)).text).toContain(expected)
    expect((await get(inner.service, `/notes/${id}`)).text).toContain(`"note":"a",${expected}`)
  }
  expect([...inner.reports, ...outer.reports]).toEqual([])
})

test('an endpoint with exact numbers reads and sends all digits', async () => {
  const { target, bodies } = echo((body) => body)
  const same = endpoint(target, {
    name: 'same',
    method: 'POST',
    path: '/',
    body: typed<unknown>(),
    largeNumbers: 'exact',
  })
  const total = new JsonNumber('12345678901234567890.50')
  const { body } = await same.call({ body: { total, small: 1.5, day: new Date(0) } })
  expect(bodies).toEqual([
    '{"total":12345678901234567890.50,"small":1.5,"day":"1970-01-01T00:00:00.000Z"}',
  ])
  expect(body).toMatchObject({ small: 1.5 })
  expect(String((body as { total: unknown }).total)).toBe('12345678901234567890.50')
  await same.call({ body: JSON.parse(odd) as unknown })
  const { target: wrong } = echo(() => '[1e999]')
  const large = endpoint(wrong, { name: 'large', path: '/', largeNumbers: 'exact' })
  await expect(large.call({})).rejects.toMatchObject({ code: 'INVALID_JSON' })
})

test('a rule writes exact numbers into json fields', async () => {
  const { target } = echo(() => '{"lines":[{"id":1,"amount":12345678901234567890.123}]}')
  const lines = endpoint(target, {
    name: 'lines',
    path: '/',
    response: typed<{ lines: { id: number; amount: number }[] }>(),
    largeNumbers: 'exact',
  })
  const notes = defineCollection(data)
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: openStorage(),
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  const rules = [
    rule(lines, {
      name: 'lines',
      from: 'lines',
      into: notes,
      upsertBy: ['id'],
      set: { id: 'id', extra: ({ row }) => ({ amount: row.amount as Json }) },
    }),
  ]
  const { body } = await lines.call({})
  expect(await applyRules(service.as(system), rules, body)).toMatchObject([{ action: 'insert' }])
  expect(await applyRules(service.as(system), rules, body)).toMatchObject([{ action: 'unchanged' }])
  const { text: stored } = await send(service, { method: 'GET', path: '/notes/1' })
  expect(stored).toContain('"extra":{"amount":12345678901234567890.123}')
})

test('a delivery sends the digits of its input, and keeps the digits of the response', async () => {
  const { target, bodies } = echo(() => '{"total":0.10000000000000000555}')
  const total = endpoint(target, {
    name: 'total',
    method: 'POST',
    path: '/',
    body: typed<unknown>(),
    largeNumbers: 'exact',
  })
  const received: unknown[] = []
  const outbox = createOutbox({
    endpoints: {
      total: deliverTo(total, { onSuccess: ({ response }) => void received.push(response.body) }),
    },
  })
  const service = createService({
    applications: {
      app: {
        collections: {
          notes: defineCollection(data, {
            events: {
              Insert: {
                after: async (event) => {
                  await outbox.enqueue(event, 'total', { body: event.item.extra })
                },
              },
            },
          }),
        },
      },
    },
    storage: openStorage(),
    security: openAccess(),
    outbox,
  })
  onTestFinished(() => service.close())
  const { status } = await createTestClient(service).post('/app/notes', `{"id":1,"extra":${odd}}`)
  expect(status).toBe(200)
  await until(() => received.length > 0)
  expect(bodies).toEqual([odd])
  expect(String((received[0] as { total: unknown }).total)).toBe('0.10000000000000000555')
})
