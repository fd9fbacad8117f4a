import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import {
  connection,
  createOutbox,
  deliverTo,
  endpoint,
  sample,
} from '../../../src/entries/consume.ts'
import type { OutboxEndpoints } from '../../../src/consume/outbox/options.ts'
import { RuleError } from '../../../src/consume/rules/rule-error.ts'
import {
  createService,
  defineCollection,
  openAccess,
  principal,
  text,
  type Observation,
} from '../../../src/entries/index.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { StorageError } from '../../../src/entries/storage.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import { openOrders } from './orders-service.ts'

const notes = defineCollection({ key: 'id', fields: { id: text() } })

/** Opens a service whose outbox has these endpoints. */
async function open(endpoints: OutboxEndpoints, path = `${temporaryFolder()}/a.db`) {
  const reports: Observation[] = []
  const outbox = createOutbox({ endpoints, pollInterval: 20, backOff: { first: 10, max: 20 } })
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: sqliteStorage(path, { ensureSchema: true }),
    security: openAccess(),
    outbox,
    report: (report) => reports.push(report),
  })
  onTestFinished(() => service.close())
  await service.ready()
  const send = (name: string) =>
    service
      .as(principal('maria'))
      .transaction((within) => outbox.enqueue(within, name as never, { body: { a: 1 } } as never))
  const ended = async (state: string) => {
    const states = async () => (await outbox.list()).map((one) => one.state)
    await expect.poll(states, { interval: 10 }).toEqual([state])
    return (await outbox.list())[0]
  }
  return { service, outbox, reports, send, ended }
}

/** An endpoint of a service that always responds with this text. */
function endpointOf<Schema extends z.ZodType>(json: string, response: Schema) {
  const calls: string[] = []
  const other = connection({
    baseUrl: 'https://other.example.com',
    attempts: 1,
    fetch: (_url, { headers }) => {
      calls.push(new Headers(headers).get('idempotency-key') ?? '')
      const own = { 'content-type': 'application/json' }
      return Promise.resolve(new Response(json, { headers: own }))
    },
  })
  const made = endpoint(other, {
    ...{ name: 'other', method: 'POST', path: '/', body: sample({ a: 1 }) },
    response,
  })
  return { calls, made }
}

test('a handler receives what the schema returned for the response, even if that is not JSON', async () => {
  const { calls, made } = endpointOf(
    '{"at":"2026-01-02T00:00:00Z","count":7}',
    z.object({ at: z.coerce.date(), count: z.coerce.bigint() }),
  )
  const seen: unknown[] = []
  let accepts = false
  const { send, ended, outbox } = await open({
    other: deliverTo(made, {
      onSuccess: ({ response }) => {
        seen.push(response.body)
        if (!accepts) throw new Error('not yet')
      },
    }),
  })
  await send('other')
  expect(await ended('dead')).toMatchObject({ error: 'The response was not stored: not yet' })
  accepts = true
  const [{ id } = { id: '' }] = await outbox.list()
  await outbox.retry(id)
  await ended('delivered')
  // Nothing that JSON can't express is stored, so the call is repeated with the same key.
  expect(calls).toEqual([id, id])
  const body = { at: new Date('2026-01-02'), count: 7n }
  expect(seen).toEqual([body, body])
})

test('a handler that reads such a response as tables is rejected', async () => {
  const { made } = endpointOf('{"at":"2026-01-02T00:00:00Z"}', z.object({ at: z.coerce.date() }))
  const { send, ended } = await open({
    other: deliverTo(made, { onSuccess: ({ tables }) => expect(tables.root).toEqual([]) }),
  })
  await send('other')
  expect((await ended('dead'))?.error).toMatch(/^The response was not stored: /)
})

test.each(['success', 'failure'])(
  'a handler of a %s that storage could not carry out runs again, without another call',
  async (kind) => {
    const failures = [
      new StorageError('unavailable', { isConflict: true }),
      new RuleError('failed', { cause: new StorageError('unavailable') } as never),
    ]
    const runs: number[] = []
    const handle = (): void => {
      runs.push(runs.length)
      const failure = failures.shift()
      if (failure !== undefined) throw failure
    }
    const { order, once, calls, reports } = await openOrders({
      receive: (_call, response) => {
        response.statusCode = kind === 'success' ? 200 : 400
        response.setHeader('Content-Type', 'application/json').end('{}')
      },
      ...(kind === 'success' ? { onSuccess: handle } : { onFailure: handle }),
    })
    await order('a')
    const [ended] = await once('delivered', 'dead')
    expect(ended).toMatchObject(
      kind === 'success' ? { state: 'delivered', failures: 0 } : { state: 'dead', failures: 1 },
    )
    expect([ended?.lost, runs.length, calls.length]).toEqual([0, 3, 1])
    expect(reports.map(({ type }) => type)).toEqual(kind === 'success' ? [] : ['delivery-dead'])
  },
)

test('a kept response of an endpoint that a process does not know stays kept', async () => {
  const path = `${temporaryFolder()}/a.db`
  const { calls, made } = endpointOf('{"ok":true}', z.object({ ok: z.boolean() }))
  const rejecting = await open(
    {
      other: deliverTo(made, {
        onSuccess: () => {
          throw new Error('not yet')
        },
      }),
    },
    path,
  )
  await rejecting.send('other')
  const dead = await rejecting.ended('dead')
  const id = dead?.id ?? ''
  await rejecting.service.close()
  const unaware = await open({ another: deliverTo(made) }, path)
  await unaware.outbox.retry(id)
  expect(await unaware.ended('dead')).toMatchObject({
    error: expect.stringContaining('the outbox has no such endpoint') as string,
  })
  expect(unaware.reports).toMatchObject([{ type: 'delivery-dead' }])
  await unaware.service.close()
  const seen: unknown[] = []
  const accepting = await open(
    { other: deliverTo(made, { onSuccess: ({ response }) => void seen.push(response.body) }) },
    path,
  )
  await accepting.outbox.retry(id)
  await accepting.ended('delivered')
  expect([seen, calls]).toEqual([[{ ok: true }], [id]])
})
