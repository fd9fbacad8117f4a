import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import {
  connection,
  createOutbox,
  deliverTo,
  endpoint,
  sample,
  type Schema,
} from '../../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  openAccess,
  principal,
  text,
} from '../../../src/entries/index.ts'
import { openStorage } from '../../kit/storages.ts'
import { respond, startServer } from '../server.ts'
import { openOrders, ship } from './orders-service.ts'

const notes = defineCollection({ key: 'id', fields: { id: text() } })

/** Sends a delivery to a service that responds with these bytes, until it is dead. */
async function sendTo(
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
  status = 200,
  response: Schema = z.object({ id: z.string() }).loose(),
) {
  const server = await startServer((_request, response) => {
    response.writeHead(status, headers)
    response.end(body)
  })
  const api = connection({
    baseUrl: server.url,
    allowHttp: true,
    allowPrivateAddresses: true,
    maxResponseBytes: 50_000,
    maxDepth: 5,
  })
  const order = endpoint(api, {
    ...{ name: 'order', method: 'POST', path: '/', body: sample({ a: 1 }) },
    response,
  })
  const outbox = createOutbox({
    endpoints: { order: deliverTo(order) },
    pollInterval: 20,
    backOff: { first: 1, max: 2 },
    attempts: 3,
  })
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: openStorage(),
    security: openAccess(),
    outbox,
    report: () => undefined,
  })
  onTestFinished(async () => {
    await service.close()
    await server.close()
  })
  await service.ready()
  const id = await service
    .as(principal('maria'))
    .transaction((within) => outbox.enqueue(within, 'order', { body: { a: 7 } }))
  await expect.poll(async () => (await outbox.get(id))?.state).toBe('dead')
  return { calls: server.received.length, dead: await outbox.get(id), outbox, id, server }
}

const long = 'x'.repeat(20_000)

interface Unreadable {
  readonly name: string
  readonly sent: Parameters<typeof sendTo>
  readonly error: string
  /** What the delivery shows of the body. */
  readonly shown: string | null
}

const json = { 'content-type': 'application/json' }
const plain = { 'content-type': 'text/plain' }
const throwing = z.object({ at: z.string().transform((at) => new Date(at).toISOString()) })
const coded = (coding: string) => ({
  'content-type': 'application/json',
  'content-encoding': coding,
})
const first = long.slice(0, 8_192)
const unreadable: readonly Unreadable[] = [
  { name: 'HTML', sent: ['<p>OK</p>', plain, 201], error: 'is not JSON', shown: '<p>OK</p>' },
  { name: 'no media type', sent: ['done', {}], error: 'is not JSON', shown: 'done' },
  { name: 'broken JSON', sent: ['{"id":'], error: 'invalid JSON', shown: '{"id":' },
  {
    name: 'invalid UTF-8',
    sent: [Buffer.from([0x22, 0xff, 0x22])],
    error: 'not valid UTF-8',
    shown: '"\uFFFD"',
  },
  { name: 'too much nesting', sent: ['[[[[[[[]]]]]]]'], error: 'deeper', shown: '[[[[[[[]]]]]]]' },
  { name: 'another shape', sent: ['{"no":1}'], error: 'does not match', shown: '{"no":1}' },
  {
    name: 'what its schema throws for',
    sent: ['{"at":"-"}', json, 200, throwing],
    error: 'does not match',
    shown: '{"at":"-"}',
  },
  { name: 'too many bytes', sent: [long.repeat(3)], error: 'more than 50000', shown: first },
  { name: 'many other bytes', sent: [long, plain], error: 'not JSON', shown: first },
  { name: 'damaged compression', sent: ['abc', coded('gzip')], error: 'damaged', shown: null },
  { name: 'unknown compression', sent: ['abc', coded('zip')], error: 'not supported', shown: null },
]

test.each(unreadable)(
  'a call that was answered 2xx with $name is not made again',
  async ({ sent, error, shown }) => {
    const { calls, dead } = await sendTo(...sent)
    expect(calls).toBe(1)
    expect(dead?.error).toContain(error)
    expect(dead).toMatchObject({
      failures: 1,
      input: { body: { a: 7 } },
      response: { status: sent[2] ?? 200, body: shown, isKept: false },
    })
  },
)

test('a response with 2xx that was cut off is requested again, with the same key', async () => {
  const { calls, order, once, receive } = await openOrders()
  receive((call, response, request) => {
    if (calls.length > 1) ship(call, response, request)
    else {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"order":')
      setTimeout(() => response.destroy(), 10)
    }
  })
  await order('A')
  await once('delivered')
  expect(calls).toHaveLength(2)
  expect(new Set(calls.map(({ key }) => key)).size).toBe(1)
})

test('a retry of a response that could not be read makes the call again', async () => {
  const { outbox, id, server } = await sendTo('<p>OK</p>', { 'content-type': 'text/html' })
  await outbox.retry(id)
  await expect.poll(() => server.received.length).toBe(2)
})

test('a dead delivery shows the status and the text of an error, until it is delivered', async () => {
  const { order, once, outbox, receive } = await openOrders()
  receive((_call, response) => {
    response.writeHead(422, { 'content-type': 'text/plain' })
    response.end('The postcode\u0000 is unknown.')
  })
  await order('A')
  const [dead] = await once('dead')
  const id = dead?.id ?? ''
  expect(await outbox.get(id)).toMatchObject({
    error: 'The call of create-shipment failed: it responded 422.',
    input: { body: { order: 'A' } },
    response: { status: 422, body: 'The postcode\u0000 is unknown.', isKept: false },
  })
  expect(JSON.stringify(await outbox.list())).not.toContain('postcode')
  receive(ship)
  await outbox.retry(id)
  await once('delivered')
  expect(await outbox.get(id)).toMatchObject({ response: null, error: null })
})

test.each([401, 403])(
  'a receiver that responds %i for a second gets every delivery',
  async (status) => {
    let end = Infinity
    const { order, outbox, calls, reports } = await openOrders({
      workers: 8,
      backOff: { first: 100, max: 2_000 },
      receive: (call, response, request) => {
        if (Date.now() < end) respond(response, { reason: 'wrong key' }, status)
        else ship(call, response, request)
      },
    })
    for (let at = 0; at < 30; at++) await order(`${at}`)
    end = Date.now() + 1_000
    const delivered = async () => (await outbox.list({ state: 'delivered' })).length
    await expect.poll(delivered, { timeout: 30_000 }).toBe(30)
    const failures = reports.filter(({ type }) => type === 'delivery-failed')
    expect(failures.length).toBeGreaterThanOrEqual(30)
    expect(reports).toHaveLength(failures.length)
    expect(calls).toHaveLength(30 + failures.length)
    expect(new Set(calls.map(({ key }) => key)).size).toBe(30)
  },
  40_000,
)
