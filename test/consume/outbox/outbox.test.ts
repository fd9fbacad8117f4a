import { describe, expect, test } from 'vitest'
import { createOutbox, isCallError, rule } from '../../../src/entries/consume.ts'
import { createService, memoryStorage, openAccess } from '../../../src/entries/index.ts'
import { respond } from '../server.ts'
import { storages } from '../../kit/storages.ts'
import { shipments, shippingEndpoint } from './shipping.ts'
import { openOrders, ship, storeShipment } from './orders-service.ts'

describe.each(storages)('on $name', (on) => {
  test('an order is sent after its commit, and the response is stored with the state', async () => {
    const {
      order,
      once,
      calls,
      shipments: stored,
      reports,
    } = await openOrders({
      on,
      onSuccess: storeShipment,
    })
    await order('A')
    const [delivery] = await once('delivered')
    expect(delivery).toMatchObject({ endpoint: 'create-shipment', failures: 0, error: null })
    expect(calls).toEqual([{ key: delivery?.id, order: 'A' }])
    expect(await stored()).toEqual(['A T-A'])
    expect(reports).toEqual([])
  })

  test('rules store items of the response and of the row, together with the state', async () => {
    const {
      order,
      once,
      shipments: stored,
    } = await openOrders({
      on,
      rules: [
        rule(shippingEndpoint('https://example.com'), {
          into: shipments,
          upsertBy: ['orderId'],
          set: { orderId: { caller: 'orderId' }, tracking: 'tracking' },
        }),
      ],
      onSuccess: ({ caller, tables, results }) => {
        expect(caller('lane')).toBe('L')
        expect(tables.root[0]?.values).toEqual({ order: 'A', tracking: 'T-A' })
        expect(results).toMatchObject([{ action: 'insert' }])
      },
    })
    await order('A', 'L')
    await once('delivered', 'dead')
    expect(await once('delivered')).toMatchObject([{ error: null }])
    expect(await stored()).toEqual(['A T-A'])
  })

  test('a rejected event leaves no delivery, even if it is rejected after enqueue', async () => {
    const { insert, outbox, calls } = await openOrders({ on })
    const result = await insert({ orderId: 'A', problem: 'No stock.' })
    expect(result.rejected).toBe(true)
    expect(await outbox.list()).toEqual([])
    expect(calls).toEqual([])
  })

  test('application code enqueues in its own transaction, which a throw undoes', async () => {
    const { clerk, outbox, once } = await openOrders({ on })
    const input = { body: { order: 'A' } }
    const work = clerk.transaction(async (within) => {
      await outbox.enqueue(within, 'create-shipment', input)
      throw new Error('changed my mind')
    })
    await expect(work).rejects.toThrow('changed my mind')
    expect(await outbox.list()).toEqual([])
    const id = await clerk.transaction((within) => outbox.enqueue(within, 'create-shipment', input))
    expect(await once('delivered')).toMatchObject([{ id }])
  })

  test('deliveries of a lane are sent one after the other, others are not delayed', async () => {
    const { order, once, calls, receive } = await openOrders({ on, workers: 4 })
    let release = (): void => undefined
    receive(({ order: id }, response) => {
      if (id === 'A1') release = () => respond(response, { order: 'A1', tracking: 'T-A1' })
      else ship({ key: '', order: id }, response, response.req)
    })
    for (const id of ['A1', 'A2', 'A3']) await order(id, 'A')
    await order('B1', 'B')
    await order('free')
    await expect.poll(() => calls.length).toBe(3)
    expect(new Set(calls.map(({ order: id }) => id))).toEqual(new Set(['A1', 'B1', 'free']))
    release()
    await once('delivered')
    const ofA = calls.map(({ order: id }) => id).filter((id) => id.startsWith('A'))
    expect(ofA).toEqual(['A1', 'A2', 'A3'])
  })

  test('deliveries without a lane do not wait for each other', async () => {
    const { order, outbox, once, receive } = await openOrders({ on, workers: 2 })
    let release = (): void => undefined
    receive(({ order: id }, response) => {
      if (id === 'first') release = () => ship({ key: '', order: id }, response, response.req)
      else ship({ key: '', order: id }, response, response.req)
    })
    for (const id of ['first', 'second', 'third']) await order(id)
    const done = async () => (await outbox.list({ state: 'delivered' })).length
    await expect.poll(done).toBe(2)
    expect(await outbox.list({ state: 'sending' })).toMatchObject([{ lane: null }])
    release()
    await once('delivered')
  })

  test('a key that is given to enqueue is sent with each attempt', async () => {
    const { clerk, outbox, once, calls, receive } = await openOrders({ on })
    receive((call, response, request) => {
      if (calls.length < 3) respond(response, {}, 503)
      else ship(call, response, request)
    })
    const id = await clerk.transaction((within) =>
      outbox.enqueue(within, 'create-shipment', { body: { order: 'A' } }, { key: 'order/A 7' }),
    )
    expect(await once('delivered')).toMatchObject([{ id }])
    expect(calls.map(({ key }) => key)).toEqual(Array(3).fill('order/A 7'))
    expect(await outbox.get(id)).toMatchObject({ id, key: 'order/A 7' })
  })

  test('a failed call is repeated with the same key until it succeeds', async () => {
    const { order, once, calls, receive, reports } = await openOrders({ on })
    receive((call, response) => {
      if (calls.length < 4) respond(response, { secret: 'body' }, 503)
      else ship(call, response, response.req)
    })
    await order('A')
    const [delivery] = await once('delivered')
    expect(delivery).toMatchObject({ failures: 3, error: null })
    expect(new Set(calls.map(({ key }) => key))).toEqual(new Set([delivery?.id]))
    expect(reports.map(({ type }) => type)).toEqual(Array(3).fill('delivery-failed'))
    expect(JSON.stringify(reports)).not.toContain('secret')
  })

  test('a delivery is dead after its attempts; onFailure is committed with that', async () => {
    const {
      order,
      once,
      calls,
      reports,
      shipments: stored,
    } = await openOrders({
      on,
      attempts: 3,
      receive: (_, response) => respond(response, {}, 500),
      onFailure: async ({ collection, error }) => {
        await collection(shipments).insert({
          orderId: 'A',
          tracking: `failed ${isCallError(error) && error.status}`,
        })
      },
    })
    await order('A')
    const [delivery] = await once('dead')
    expect(delivery).toMatchObject({
      failures: 3,
      error: 'The call of create-shipment failed: it responded 500.',
    })
    expect(calls).toHaveLength(3)
    expect(await stored()).toEqual(['A failed 500'])
    expect(reports.map(({ type }) => type)).toEqual([
      'delivery-failed',
      'delivery-failed',
      'delivery-dead',
    ])
  })

  test.each(['rules', 'onSuccess'])(
    'onFailure is called for a response that %s reject, and is committed with the state dead',
    async (rejecting) => {
      const {
        order,
        once,
        calls,
        outbox,
        reports,
        shipments: stored,
      } = await openOrders({
        on,
        ...(rejecting === 'rules' && {
          rules: [
            rule(shippingEndpoint('https://example.com'), {
              into: shipments,
              set: { orderId: 'order', tracking: () => null },
            }),
          ],
        }),
        onSuccess: async ({ collection }) => {
          await collection(shipments).insert({ orderId: 'undone', tracking: 'no' })
          throw new RangeError('not accepted')
        },
        onFailure: async ({ collection, error, response, caller }) => {
          const { name } = error as Error
          const tracking = `${name} ${response?.status} ${response?.body.tracking}`
          await collection(shipments).insert({ orderId: String(caller('orderId')), tracking })
        },
      })
      await order('A')
      const [dead] = await once('dead')
      const name = rejecting === 'rules' ? 'RuleError' : 'RangeError'
      expect(await stored()).toEqual([`A ${name} 200 T-A`])
      expect(calls).toHaveLength(1)
      expect(reports.map(({ type }) => type)).toEqual(['delivery-dead'])
      expect(await outbox.get(dead?.id ?? '')).toMatchObject({
        failures: 0,
        response: { status: 200, body: { order: 'A', tracking: 'T-A' }, isKept: true },
      })
    },
  )

  test('a response stays kept if onFailure fails as well', async () => {
    const { order, once, outbox, reports } = await openOrders({
      on,
      onSuccess: () => {
        throw new Error('not accepted')
      },
      onFailure: () => {
        throw new Error('failed, too')
      },
    })
    await order('A')
    const [dead] = await once('dead')
    expect(dead?.error).toBe('The response was not stored: not accepted')
    expect(await outbox.get(dead?.id ?? '')).toMatchObject({ response: { isKept: true } })
    expect(reports).toMatchObject([
      { type: 'delivery-dead', error: { message: 'not accepted' } },
      { type: 'delivery-dead', error: { message: 'failed, too' } },
    ])
  })

  test.each([
    [400, 1],
    [404, 1],
    [422, 1],
    [408, 2],
    [409, 2],
    [425, 2],
    [429, 2],
  ])('a response %i makes a delivery dead after %i calls of 2', async (status, expected) => {
    const receive = (_: unknown, response: Parameters<typeof respond>[0]) =>
      respond(response, {}, status)
    const { order, once, calls } = await openOrders({ on, attempts: 2, receive })
    await order('A')
    await once('dead')
    expect(calls).toHaveLength(expected)
  })

  test('Retry-After delays the next call', async () => {
    const { order, once, calls, receive } = await openOrders({
      on,
      backOff: { first: 1, max: 10_000 },
    })
    const times: number[] = []
    receive((call, response) => {
      times.push(performance.now())
      if (calls.length === 1) respond(response, {}, 429, { 'retry-after': '1' })
      else ship(call, response, response.req)
    })
    await order('A')
    await once('delivered')
    expect(times).toHaveLength(2)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(900)
  })

  test('a lane goes on after a dead delivery, which a retry puts at its end', async () => {
    const { order, once, calls, receive, outbox } = await openOrders({ on })
    receive((_, response) => respond(response, {}, 400))
    await order('A1', 'A')
    const [dead] = await once('dead')
    receive(ship)
    await order('A2', 'A')
    await once('dead', 'delivered')
    await outbox.retry(dead?.id ?? '')
    await once('delivered')
    expect(calls.map(({ order: id }) => id)).toEqual(['A1', 'A2', 'A1'])
  })

  test.each(['retry', 'drop'] as const)(
    'onDead hold keeps a lane until its dead delivery is handled: %s',
    async (handle) => {
      const { order, once, calls, receive, outbox } = await openOrders({ on, onDead: 'hold' })
      receive((_, response) => respond(response, {}, 400))
      await order('A1', 'A')
      await order('A2', 'A')
      const [dead] = await once('dead', 'behind')
      expect(calls).toHaveLength(1)
      receive(ship)
      await outbox[handle](dead?.id ?? '')
      await once('delivered')
      const expected = handle === 'retry' ? ['A1', 'A1', 'A2'] : ['A1', 'A2']
      expect(calls.map(({ order: id }) => id)).toEqual(expected)
    },
  )

  test('a response that is not accepted is kept, and a retry stores it without a call', async () => {
    let isAccepted = false
    const {
      order,
      once,
      calls,
      outbox,
      shipments: stored,
    } = await openOrders({
      on,
      onSuccess: async (at) => {
        await storeShipment(at)
        if (!isAccepted) throw new Error('not yet')
      },
    })
    await order('A')
    const [dead] = await once('dead')
    expect(dead?.error).toBe('The response was not stored: not yet')
    expect(await stored()).toEqual([])
    isAccepted = true
    await outbox.retry(dead?.id ?? '')
    await once('delivered')
    expect(calls).toHaveLength(1)
    expect(await stored()).toEqual(['A T-A'])
  })

  test('a handler of a delivery enqueues the next one', async () => {
    const stage: Awaited<ReturnType<typeof openOrders>> = await openOrders({
      on,
      onSuccess: async (at) => {
        if (at.response.body.tracking === 'T-A')
          await stage.outbox.enqueue(at, 'create-shipment', { body: { order: 'B' } })
      },
    })
    await stage.order('A')
    await expect.poll(() => stage.calls.length).toBe(2)
    expect(await stage.once('delivered')).toHaveLength(2)
  })

  test('what was delivered is removed after its time, to the millisecond', async () => {
    const started = Date.now()
    let passed = 0
    const now = () => new Date(started + passed)
    const { order, once, outbox } = await openOrders({ on, keepDelivered: 1_000, now })
    await order('A')
    await once('delivered')
    passed = 999
    await outbox.work().stop()
    expect(await outbox.list()).toHaveLength(1)
    passed = 1_000
    await outbox.work().stop()
    await expect.poll(() => outbox.list()).toEqual([])
  })

  test('deliveries are listed, retried and dropped without inputs, rows and responses', async () => {
    const { order, outbox } = await openOrders({ on, workers: 0 })
    await order('A', 'L')
    const members = 'id endpoint lane state failures lost created due ended error'
      .split(' ')
      .toSorted()
    const [listed] = await outbox.list()
    const id = listed?.id ?? ''
    for (const shown of [listed, await outbox.retry(id), await outbox.drop(id)])
      expect(Object.keys(shown ?? {}).toSorted()).toEqual(members)
  })

  test('waiting and behind deliveries are dropped, delivered and unknown ones are not', async () => {
    const { order, outbox, once } = await openOrders({ on, workers: 0 })
    for (const id of ['A1', 'A2', 'A3']) await order(id, 'A')
    const [first, second] = await outbox.list()
    await outbox.drop(second?.id ?? '')
    await outbox.drop(first?.id ?? '')
    const worker = outbox.work()
    const [last] = await once('delivered')
    await worker.stop()
    await expect(outbox.drop(last?.id ?? '')).rejects.toThrow('is delivered; it must be')
    await expect(outbox.retry(last?.id ?? '')).rejects.toThrow('is delivered; it must be')
    await expect(outbox.retry(first?.id ?? '')).rejects.toThrow('There is no delivery')
  })
})

test('enqueue rejects other contexts, unknown endpoints and options, and input without JSON', async () => {
  const { clerk, outbox } = await openOrders()
  const input = { body: { order: 'A' } }
  expect(() => outbox.enqueue({}, 'create-shipment', input)).toThrow(
    'enqueue: the context must be that of a handler',
  )
  await clerk.transaction(async (within) => {
    expect(() => outbox.enqueue(within, 'create-shipmnt' as never, input as never)).toThrow(
      'did you mean create-shipment?',
    )
    expect(() => outbox.enqueue(within, 'create-shipment', input, { lan: 'A' } as never)).toThrow(
      'enqueue.lan',
    )
    expect(() => outbox.enqueue(within, 'create-shipment', 1n as never)).toThrow('JSON')
    for (const value of [NaN, -Infinity, new Date(NaN)])
      expect(() =>
        outbox.enqueue(within, 'create-shipment', { body: { order: value as never } }),
      ).toThrow('enqueue: the input has, at /body/order, a number that is not finite')
    for (const key of ['', 'ö', 'a\n', ' ', ' a', 'a ', 'x'.repeat(256)])
      expect(() => outbox.enqueue(within, 'create-shipment', input, { key })).toThrow('enqueue.key')
    await Promise.resolve()
  })
})

test('an outbox belongs to one service', async () => {
  const outbox = createOutbox({
    endpoints: { ship: { endpoint: shippingEndpoint('https://example.com') } },
  })
  expect(() => outbox.work()).toThrow('The outbox belongs to no service')
  const applications = { sales: { collections: { shipments } } }
  const open = () =>
    createService({ applications, storage: memoryStorage(), security: openAccess(), outbox })
  const service = open()
  expect(open).toThrow('The outbox already belongs to a service.')
  await service.close()
})

test('mistakes in the options of an outbox are listed', () => {
  const given = { endpoints: {}, attempts: 0, onDed: 'next' } as never
  expect(() => createOutbox(given)).toThrow(/endpoints.*\n.*attempts.*\n.*onDed/s)
  const late = {
    endpoints: { ship: { endpoint: shippingEndpoint('https://example.com') } },
    lease: 10_000,
  }
  expect(() => createOutbox(late)).toThrow('outbox.lease')
})
