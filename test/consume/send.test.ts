import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  applyRules,
  CallError,
  connection,
  endpoint,
  MatchError,
  rule,
  RuleError,
  send,
  sendTogether,
  typed,
} from '../../src/entries/consume.ts'
import { defineCollection, integer, principal, text, warning } from '../../src/entries/index.ts'
import type { TestService } from '../kit/service.ts'
import { describeServices } from '../kit/stage.ts'
import { readJson, respond, startServer, type LocalServer } from './server.ts'

const orders = defineCollection({
  key: 'orderId',
  fields: { orderId: text(), city: text(), state: text({ default: 'new' }) },
})
const shipments = defineCollection(
  {
    key: 'tracking',
    fields: {
      tracking: text({ minLength: 2 }),
      orderId: text({ required: true }),
      carrier: text(),
      grams: integer({ maximum: 1000 }),
      position: integer(),
    },
  },
  {
    validations: [
      warning('heavy', {
        field: 'grams',
        check: ({ grams }) => ((grams ?? 0) > 500 ? 'is heavy' : undefined),
      }),
    ],
  },
)
const scans = defineCollection({
  key: 'id',
  fields: { id: integer({ generated: 'database' }), tracking: text(), code: text() },
})
type Order = { readonly orderId: string; readonly city: string }

interface Shipped {
  readonly id: string
  readonly carrier: { readonly name: string }
  readonly parcels: readonly {
    readonly tracking: string
    readonly grams: number
    readonly scans?: readonly { readonly code: string }[]
  }[]
}

let server: LocalServer
/** What the server responds to an order; an error status if it is a number. */
let answer: (order: Order) => unknown = () => 500
beforeAll(async () => {
  server = await startServer((request, response) => {
    void readJson(request).then((body) => {
      const result = Array.isArray(body)
        ? (body as Order[]).map((order) => answer(order)).filter((one) => one !== undefined)
        : answer(body as Order)
      if (typeof result === 'number') respond(response, { error: 'secret' }, result)
      else respond(response, result)
    })
  })
})
afterAll(() => server.close())
beforeEach(() => {
  answer = ({ orderId }) => shipped(orderId)
})

function shipped(orderId: string, grams = 100): Shipped & { readonly reference: string } {
  return {
    id: `S-${orderId}`,
    reference: orderId,
    carrier: { name: 'dhl' },
    parcels: [
      { tracking: `${orderId}-1`, grams, scans: [{ code: 'A' }, { code: 'B' }] },
      { tracking: `${orderId}-2`, grams },
    ],
  }
}

function open({ service, rows }: TestService) {
  const api = connection({
    baseUrl: server.url,
    allowHttp: true,
    allowPrivateAddresses: true,
    attempts: 1,
  })
  const create = endpoint(api, {
    name: 'create-shipment',
    method: 'POST',
    path: '/shipments',
    body: typed<Order>(),
    response: typed<Shipped>(),
  })
  const createAll = endpoint(api, {
    name: 'create-shipments',
    method: 'POST',
    path: '/shipments',
    body: typed<readonly Order[]>(),
    response: typed<readonly (Shipped & { readonly reference: string })[]>(),
  })
  const parcelOptions = {
    from: 'parcels',
    into: shipments,
    caller: orders,
    upsertBy: ['tracking'],
    set: {
      tracking: 'tracking',
      orderId: { caller: 'orderId' },
      carrier: { root: 'carrier/name' },
      grams: 'grams',
      position: ({ index }: { readonly index: number }) => index + 1,
    },
  } as const
  const parcels = rule(create, parcelOptions)
  const scanned = rule(create, {
    from: 'parcels/scans',
    into: scans,
    set: { tracking: { parent: 'tracking' }, code: 'code' },
  })
  const user = service.as(principal('maria'))
  return { service, rows, user, create, createAll, parcelOptions, parcels, scanned }
}

const order = (orderId: string) => ({ orderId, city: 'Oslo', state: 'new' })
const input = (row: Order) => ({ body: row })

describeServices(
  'responses',
  (openService) => open(openService({ collections: { orders, shipments, scans } })),
  (on) => {
    on(
      'are stored by rules, in the order of the rules',
      async ({ user, create, parcels, scanned, rows }) => {
        const rules = [parcels, scanned]
        const [result] = await send(user, create, { rows: [order('o1')], input, rules })
        expect(result).toMatchObject({
          index: 0,
          status: 'stored',
          results: [
            { rule: 'create-shipment/parcels', row: 2, action: 'insert', validations: [] },
            { row: 5, action: 'insert', values: { tracking: 'o1-2', position: 2 } },
            { rule: 'create-shipment/parcels/scans', row: 3, action: 'insert' },
            { row: 4, action: 'insert' },
          ],
        })
        expect(await rows('shipments')).toEqual([
          { tracking: 'o1-1', orderId: 'o1', carrier: 'dhl', grams: 100, position: 1 },
          { tracking: 'o1-2', orderId: 'o1', carrier: 'dhl', grams: 100, position: 2 },
        ])
        expect(await rows('scans')).toEqual([
          { id: 1, tracking: 'o1-1', code: 'A' },
          { id: 2, tracking: 'o1-1', code: 'B' },
        ])
      },
    )

    on(
      'that are stored again by key change only what is different',
      async ({ user, create, parcels, rows }) => {
        const sendAgain = async () => {
          const [result] = await send(user, create, {
            rows: [order('o1')],
            input,
            rules: [parcels],
          })
          return result?.status === 'stored' ? result.results.map(({ action }) => action) : []
        }
        expect(await sendAgain()).toEqual(['insert', 'insert'])
        expect(await sendAgain()).toEqual(['unchanged', 'unchanged'])
        answer = ({ orderId }) => {
          const {
            parcels: [first, second],
            ...rest
          } = shipped(orderId)
          return { ...rest, parcels: [first, { ...second, grams: 7 }] }
        }
        expect(await sendAgain()).toEqual(['unchanged', 'update'])
        expect((await rows('shipments')).map(({ grams }) => grams)).toEqual([100, 7])
      },
    )

    on(
      'with a rejected item are undone, and the error names the row',
      async ({ user, create, parcels, scanned, rows }) => {
        answer = ({ orderId }) => ({
          ...shipped(orderId),
          parcels: [
            { tracking: 'ok', grams: 1, scans: [{ code: 'A' }] },
            { tracking: 'secret', grams: 1001 },
          ],
        })
        const sending = send(user, create, {
          rows: [order('o1')],
          input,
          rules: [scanned, parcels],
        })
        const error = (await sending.catch((thrown: unknown) => thrown)) as RuleError
        expect(error).toBeInstanceOf(RuleError)
        expect(error.message).toBe(
          'The rule create-shipment/parcels failed at row 4 of create-shipment/parcels (/parcels/1): the item was rejected (grams).',
        )
        expect(error.validations).toEqual([
          { message: 'grams must be at most 1000.', severity: 'error', field: 'grams' },
        ])
        expect(await rows('shipments')).toEqual([])
        expect(await rows('scans')).toEqual([])
      },
    )

    on(
      'with warnings are rejected or accepted as the rule says',
      async ({ user, create, parcels, parcelOptions, rows }) => {
        answer = ({ orderId }) => shipped(orderId, 600)
        const options = { rows: [order('o1')], input }
        const rejected = send(user, create, { ...options, rules: [parcels] })
        await expect(rejected).rejects.toThrow(
          'the item has warnings, which the rule rejects (grams)',
        )
        expect(await rows('shipments')).toEqual([])
        const accepting = rule(create, { ...parcelOptions, warnings: 'accept' })
        const [result] = await send(user, create, { ...options, rules: [accepting] })
        expect(result).toMatchObject({
          results: [
            { action: 'insert', validations: [{ severity: 'warning', message: 'is heavy' }] },
            { action: 'insert' },
          ],
        })
        expect(await rows('shipments')).toHaveLength(2)
      },
    )

    on(
      'are not stored by a dry run, which lists what would be done',
      async ({ user, parcels, rows }) => {
        const run = (response: Shipped, dryRun: boolean) =>
          applyRules(user, [parcels], response, {
            row: { ...order('o1'), city: null, state: null },
            dryRun,
          })
        const plan = await run(shipped('o1', 1001), true)
        expect(plan).toMatchObject([
          {
            action: 'insert',
            values: { tracking: 'o1-1' },
            validations: [{ field: 'grams', severity: 'error' }],
          },
          { action: 'insert' },
        ])
        expect(await rows('shipments')).toEqual([])
        await run(shipped('o1'), false)
        expect((await run(shipped('o1'), true)).map(({ action }) => action)).toEqual([
          'unchanged',
          'unchanged',
        ])
        const changed = await run(shipped('o1', 600), true)
        expect(changed[0]).toMatchObject({
          action: 'update',
          validations: [{ severity: 'warning' }],
        })
        expect((await rows('shipments')).map(({ grams }) => grams)).toEqual([100, 100])
      },
    )

    on(
      'are read by a success handler, in the transaction of the rules',
      async ({ user, create, parcels, rows }) => {
        const seen: unknown[] = []
        await send(user, create, {
          rows: [order('o1'), order('o2')],
          input,
          rules: [parcels],
          onSuccess: async ({ caller, tables, response, index, results, collection }) => {
            const id: string | null = caller('orderId')
            expect(await collection(shipments).get(`${id}-1`)).toMatchObject({ orderId: id })
            for (const parcel of tables.rows('parcels')) {
              for (const { values } of tables.below(parcel, 'parcels/scans')) {
                await collection(scans).insert({
                  tracking: parcel.values.tracking,
                  code: values.code,
                })
              }
            }
            seen.push([
              index,
              id,
              response.status,
              response.body.id,
              results.length,
              caller('nope'),
            ])
          },
        })
        expect(seen).toEqual([
          [0, 'o1', 200, 'S-o1', 2, null],
          [1, 'o2', 200, 'S-o2', 2, null],
        ])
        expect(await rows('scans')).toHaveLength(4)
      },
    )

    on(
      'are undone with their rules when the success handler throws',
      async ({ user, create, parcels, rows }) => {
        const sending = send(user, create, {
          rows: [order('o1')],
          input,
          rules: [parcels],
          onSuccess: () => {
            throw new RangeError('no')
          },
        })
        await expect(sending).rejects.toThrow(new RangeError('no'))
        expect(await rows('shipments')).toEqual([])
      },
    )

    on(
      'that fail are passed to the failure handler, and the next row is sent',
      async ({ user, create, parcels, rows }) => {
        await user.collection('app', 'orders').insert(order('bad'))
        answer = ({ orderId }) =>
          orderId === 'bad' ? 422 : orderId === 'heavy' ? shipped(orderId, 5000) : shipped(orderId)
        const failures: unknown[] = []
        const results = await send(user, create, {
          rows: ['bad', 'heavy', 'good'].map(order),
          input,
          rules: [parcels],
          onFailure: async ({ caller, error, response, index, collection }) => {
            failures.push([index, (error as Error).constructor, response?.status ?? null])
            await collection(orders).update(caller('orderId') ?? '', { state: 'failed' })
          },
        })
        expect(results.map(({ status }) => status)).toEqual(['failed', 'failed', 'stored'])
        expect(failures).toEqual([
          [0, CallError, null],
          [1, RuleError, 200],
        ])
        expect(await rows('orders')).toMatchObject([{ orderId: 'bad', state: 'failed' }])
        expect((await rows('shipments')).map(({ orderId }) => orderId)).toEqual(['good', 'good'])
      },
    )

    on(
      'of rows before a failure without a handler stay stored',
      async ({ user, create, parcels, rows }) => {
        answer = ({ orderId }) => (orderId === 'bad' ? 500 : shipped(orderId))
        const sending = send(user, create, {
          rows: ['o1', 'bad', 'o3'].map(order),
          input,
          rules: [parcels],
        })
        await expect(sending).rejects.toBeInstanceOf(CallError)
        expect((await rows('shipments')).map(({ orderId }) => orderId)).toEqual(['o1', 'o1'])
      },
    )

    on(
      'after an abort are not waited for, and no further row is sent',
      async ({ user, create }) => {
        const stop = new AbortController()
        const handled: number[] = []
        const before = server.received.length
        const sending = send(user, create, {
          rows: ['o1', 'o2', 'o3'].map(order),
          input,
          call: () => ({ signal: stop.signal }),
          onSuccess: () => {
            stop.abort()
          },
          onFailure: ({ index }) => void handled.push(index),
        })
        await expect(sending).rejects.toThrow()
        expect(handled).toEqual([])
        expect(server.received.length - before).toBeLessThan(3)
      },
    )

    on(
      'are stored with the rights of the user',
      async ({ service, create, parcelOptions, rows }) => {
        const closed = principal('eve')
        const parcels = rule(create, { ...parcelOptions, application: 'other' })
        const sending = send(service.as(closed), create, {
          rows: [order('o1')],
          input,
          rules: [parcels],
        })
        await expect(sending).rejects.toThrow(TypeError)
        expect(await rows('shipments')).toEqual([])
      },
    )

    on(
      'to one request for several rows are matched by a reference',
      async ({ user, createAll, parcelOptions, rows }) => {
        const parcels = rule(createAll, parcelOptions)
        const seen: unknown[] = []
        const results = await sendTogether(user, createAll, {
          rows: ['o1', 'o2'].map(order),
          input: (sent) => ({ body: sent.toReversed() }),
          match: { by: { column: 'reference', field: 'orderId' } },
          rules: [parcels],
          onSuccess: ({ caller, tables, index }) => {
            seen.push([index, caller('orderId'), tables.root.map(({ values }) => values.id)])
          },
        })
        expect(results.map(({ status }) => status)).toEqual(['stored', 'stored'])
        expect(seen).toEqual([
          [0, 'o1', ['S-o1']],
          [1, 'o2', ['S-o2']],
        ])
        expect(await rows('shipments')).toMatchObject([
          { tracking: 'o1-1', orderId: 'o1' },
          { tracking: 'o1-2', orderId: 'o1' },
          { tracking: 'o2-1', orderId: 'o2' },
          { tracking: 'o2-2', orderId: 'o2' },
        ])
      },
    )

    on(
      'to one request are matched by position, or not at all',
      async ({ user, createAll, rows }) => {
        answer = ({ orderId }) => (orderId === 'lost' ? undefined : shipped(orderId))
        const failures: unknown[] = []
        const together = (match: object, rowsSent: string[]) =>
          sendTogether(user, createAll, {
            rows: rowsSent.map(order),
            input: (sent) => ({ body: sent }),
            match: match as never,
            onSuccess: async ({ caller, tables, collection }) => {
              const [root] = tables.root
              await collection(shipments).insert({
                tracking: root?.values.id ?? '',
                orderId: caller('orderId') ?? '',
              })
            },
            onFailure: ({ callers, error }) => {
              failures.push([callers.map((caller) => caller('orderId')), error])
            },
          })
        await together({ by: 'position' }, ['o1', 'o2'])
        expect(await rows('shipments')).toMatchObject([
          { tracking: 'S-o1', orderId: 'o1' },
          { tracking: 'S-o2', orderId: 'o2' },
        ])
        await together({ by: 'position' }, ['o3', 'lost'])
        await together({ by: { column: 'reference', field: 'orderId' } }, ['o4', 'lost'])
        await together({ by: { column: 'reference', field: 'city' } }, ['o5', 'o6'])
        expect(failures).toEqual([
          [['o3', 'lost'], expect.any(MatchError)],
          [['o4', 'lost'], expect.any(MatchError)],
          [['o5', 'o6'], expect.any(MatchError)],
        ])
        expect(await rows('shipments')).toHaveLength(2)
      },
    )

    on(
      'to one request without match are handled once, with all callers',
      async ({ user, createAll, parcelOptions, rows }) => {
        const seen: unknown[] = []
        await sendTogether(user, createAll, {
          rows: ['o1', 'o2'].map(order),
          input: (sent) => ({ body: sent }),
          onSuccess: ({ callers, tables }) => {
            seen.push([callers.map((caller) => caller('orderId')), tables.rows('parcels').length])
          },
        })
        expect(seen).toEqual([[['o1', 'o2'], 4]])
        const sending = sendTogether(user, createAll, {
          rows: [order('o1')],
          input: (sent) => ({ body: sent }),
          rules: [rule(createAll, parcelOptions)],
        })
        await expect(sending).rejects.toThrow(RuleError)
        expect(await rows('shipments')).toEqual([])
      },
    )
  },
)

test('an unknown option of send is a TypeError', async () => {
  const options = { rows: [], input: () => ({}), rule: [] } as never
  await expect(send({} as never, {} as never, options)).rejects.toThrow('did you mean rules?')
  await expect(sendTogether({} as never, {} as never, options)).rejects.toThrow('rules')
})
