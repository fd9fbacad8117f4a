import { expect, test } from 'vitest'
import {
  openOrders as openOutbox,
  ship,
  type OrdersOptions,
} from '../consume/outbox/orders-service.ts'
import { respond } from '../consume/server.ts'
import { runScene, type Run, type Scene } from './command-line.ts'

/** An outbox whose module the command line has loaded, with two orders of one lane. */
async function openCommandLine(options: Pick<OrdersOptions, 'backOff'> = {}) {
  const stage = await openOutbox({
    ...options,
    workers: 0,
    receive: (_, response) => respond(response, { reason: 'no stock' }, 400),
  })
  const { service, outbox } = stage
  await stage.order('A1', 'orders/A')
  await stage.order('A2', 'orders/A')
  const run = (line: readonly string[], scene: Scene = {}): Promise<Run> =>
    runScene(line, scene, {
      now: () => new Date(),
      loadService: async () => ({
        keys: service.keys,
        users: service.users,
        ready: service.ready,
        close: async () => undefined,
      }),
      loadParts: async () => ({ deployment: undefined, outbox }),
    })
  return { ...stage, run }
}

async function deadStage() {
  const stage = await openCommandLine()
  const worker = stage.outbox.work()
  const [first, second] = await stage.once('dead')
  await worker.stop()
  return { ...stage, first: first?.id ?? '', second: second?.id ?? '' }
}

test('outbox list shows the deliveries in their order, and only the deliveries of a state', async () => {
  const { run, outbox, receive } = await openCommandLine({
    backOff: { first: 60_000, max: 60_000 },
  })
  receive((_, response) => respond(response, {}, 503))
  const worker = outbox.work()
  const states = async () => (await outbox.list()).map(({ state }) => state)
  await expect.poll(states).toEqual(['waiting', 'behind'])
  await worker.stop()
  const { code, output } = await run(['outbox', 'list'], {
    width: 200,
    environment: { NO_COLOR: '1' },
  })
  expect(code).toBe(0)
  const lines = output.trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/^ID +STATE +ENDPOINT +LANE +FAILURES +DUE OR ENDED +ERROR$/)
  expect(lines[1]).toMatch(/ waiting +create-shipment +orders\/A +\d /)
  expect(lines[2]).toMatch(/ behind +create-shipment +orders\/A +0 /)
  const behind = await run(['outbox', 'list', '--state', 'behind', '--json'])
  expect(JSON.parse(behind.output)).toEqual((await outbox.list()).slice(1))
  const dead = await run(['outbox', 'list', '--state', 'dead'])
  expect(dead.output + dead.messages).toContain('No deliveries.')
})

test('outbox list shows why a delivery is dead, and nothing that was sent', async () => {
  const { run } = await deadStage()
  const { output } = await run(['outbox', 'list', '--json'])
  expect(output).toContain('The call of create-shipment failed: it responded 400.')
  expect(output).not.toContain('A1')
  expect(output).not.toContain('no stock')
})

test('outbox retry and outbox drop change a delivery', async () => {
  const { run, first, second, receive, outbox, once } = await deadStage()
  expect((await run(['outbox', 'retry', first])).output).toBe(`The delivery ${first} is waiting.\n`)
  const dropped = await run(['outbox', 'drop', second, '--json'])
  expect(JSON.parse(dropped.output)).toMatchObject({ id: second, state: 'dead' })
  receive(ship)
  const worker = outbox.work()
  expect(await once('delivered')).toMatchObject([{ id: first }])
  await worker.stop()
})

test('outbox retry makes all dead deliveries of an endpoint due, those since a time', async () => {
  const { run, receive, outbox, once } = await deadStage()
  const retry = (...options: readonly string[]) => run(['outbox', 'retry', ...options])
  const none = await retry('--state', 'dead', '--endpoint', 'another')
  expect(none).toMatchObject({ code: 0, output: '0 deliveries are waiting.\n' })
  expect(JSON.parse((await retry('--since', '2999-01-01', '--json')).output)).toEqual({
    retried: 0,
  })
  const all = await retry('--state', 'dead', '--endpoint', 'create-shipment')
  expect(all.output).toBe('2 deliveries are waiting.\n')
  receive(ship)
  const worker = outbox.work()
  await once('delivered')
  await worker.stop()
})

test.each([
  [[], 'Give the id of a delivery, or --state, --endpoint or --since.'],
  [['id', '--state', 'dead'], 'Give either the id of a delivery, or --state, --endpoint and'],
  [['--state', 'delivered'], '--state must be one of dead, waiting'],
  [['--since', 'yesterday'], '--since must be a time such as 2026-11-26T08:00:00Z, or a date.'],
  [['--since', '2026-13-01'], '--since must be a time'],
])('outbox retry %j is invalid usage', async (options, message) => {
  const { run } = await openCommandLine()
  expect(await run(['outbox', 'retry', ...options])).toMatchObject({
    code: 2,
    messages: expect.stringContaining(message) as string,
  })
})

test('outbox show shows a delivery with its input, its attempts and its last error', async () => {
  const { run, first } = await deadStage()
  const shown = await run(['outbox', 'show', first])
  expect(shown.code).toBe(0)
  expect(shown.output).toMatch(
    /^id: +\S+\nendpoint: +create-shipment\nlane: +orders\/A\nstate: +dead\n/,
  )
  expect(shown.output).toMatch(/\nerror: +The call of create-shipment failed: it responded 400\.\n/)
  expect(shown.output).toMatch(/\nattempts: +1\nkey: +\S+\ninput:\n\{\n/)
  expect(shown.output).toContain('"order": "A1"')
  expect(shown.output).toContain('"status": 400')
  expect(shown.output).toContain('no stock')
  const json = await run(['outbox', 'show', first, '--json'])
  expect(JSON.parse(json.output)).toMatchObject({
    id: first,
    input: { body: { order: 'A1' } },
    row: { orderId: 'A1' },
    response: { status: 400, body: '{"reason":"no stock"}', isKept: false },
  })
  const missing = await run(['outbox', 'show', '019ab0c4-1f2e-7000-8000-5a1b2c3d4e5f'])
  expect(missing).toMatchObject({
    code: 1,
    messages: 'rowgate: There is no delivery 019ab0c4-1f2e-7000-8000-5a1b2c3d4e5f.\n',
  })
})

test('mistakes of outbox commands are one line', async () => {
  const { run, first } = await deadStage()
  expect(await run(['outbox', 'list', '--state', 'late'])).toMatchObject({
    code: 2,
    messages: expect.stringContaining('--state must be one of behind, waiting') as string,
  })
  expect(await run(['outbox', 'retry'])).toMatchObject({ code: 2 })
  await run(['outbox', 'drop', first])
  expect(await run(['outbox', 'drop', first])).toEqual({
    code: 1,
    output: '',
    messages: `rowgate: There is no delivery ${first}.\n`,
  })
})

test('worker sends deliveries until it is stopped', async () => {
  const { run, receive, once } = await openCommandLine()
  receive(ship)
  const stopping = new AbortController()
  const running = run(['worker', '--concurrency', '2'], { stopping: stopping.signal })
  await once('delivered')
  stopping.abort()
  const { code, messages } = await running
  expect(code).toBe(0)
  expect(messages).toBe(
    'Sending deliveries, 2 at a time.\nStopping: unfinished work is returned to its queue.\n',
  )
})
