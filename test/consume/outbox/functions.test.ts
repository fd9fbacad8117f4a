import { describe, expect, onTestFinished, test } from 'vitest'
import {
  CallError,
  createOutbox,
  isCallError,
  type FunctionCall,
  type OutboxOptions,
  type OutboxFunction,
} from '../../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  openAccess,
  principal,
  text,
} from '../../../src/entries/index.ts'
import { memory, openStorage, type Storage, storages } from '../../kit/storages.ts'
import { shippingEndpoint } from './shipping.ts'

interface Mail {
  readonly to: string
}

const mails = defineCollection({
  key: 'to',
  fields: { to: text(), messageId: text(), problem: text() },
})

async function openMails(
  mail: OutboxFunction<Mail>,
  { on = memory, ...options }: Partial<Omit<OutboxOptions, 'endpoints'>> & { on?: Storage } = {},
) {
  const reports: string[] = []
  const outbox = createOutbox({
    endpoints: { 'send-mail': mail },
    pollInterval: 20,
    backOff: { first: 10, max: 20 },
    ...options,
  })
  const orders = defineCollection(
    { key: 'to', fields: { to: text() } },
    {
      events: {
        Insert: {
          after: async (event) => {
            await outbox.enqueue(event, 'send-mail', { to: event.item.to })
          },
        },
      },
    },
  )
  const service = createService({
    applications: { shop: { collections: { orders, mails } } },
    storage: openStorage(on),
    security: openAccess(),
    outbox,
    report: ({ type }) => {
      reports.push(type)
    },
  })
  onTestFinished(() => service.close())
  await service.ready()
  const clerk = service.as(principal('clerk'))
  return {
    outbox,
    reports,
    sent: async () => (await clerk.collection('shop', 'mails').filter()).items,
    order: (to: string) => clerk.collection('shop', 'orders').insert({ to }),
    once: async (state: string) => {
      await expect.poll(async () => (await outbox.list())[0]?.state, { interval: 10 }).toBe(state)
      return (await outbox.list())[0]
    },
  }
}

describe.each(storages)('on $name', (on) => {
  test('a function receives the input and the key, and its result is stored with the state', async () => {
    const calls: unknown[] = []
    const { order, once, sent, outbox } = await openMails(
      {
        deliver: async (input: Mail, { key, signal }: FunctionCall) => {
          calls.push([input, key, signal.aborted])
          return Promise.resolve({ messageId: 'm1' })
        },
        onSuccess: async ({ result, caller, collection }) => {
          const { messageId } = result as { messageId: string }
          await collection(mails).insert({ to: String(caller('to' as never)), messageId })
        },
      },
      { on },
    )
    await order('ada@example.com')
    const delivery = await once('delivered')
    expect(calls).toEqual([[{ to: 'ada@example.com' }, delivery?.id, false]])
    expect(await sent()).toMatchObject([{ to: 'ada@example.com', messageId: 'm1' }])
    expect(await outbox.get(delivery?.id ?? '')).toEqual({
      ...delivery,
      attempts: 1,
      key: delivery?.id,
      input: { to: 'ada@example.com' },
      row: null,
      response: null,
    })
    expect(await outbox.get('no id')).toBeUndefined()
    expect(await outbox.get('019ab0c4-1f2e-7000-8000-5a1b2c3d4e5f')).toBeUndefined()
  })
})

test('a function that throws is called again with the same key, until the delivery is dead', async () => {
  const keys: string[] = []
  const { order, once, sent, reports } = await openMails(
    {
      deliver: (_: Mail, { key }: FunctionCall) => {
        keys.push(key)
        throw new Error('550 mailbox unavailable.')
      },
      onFailure: async ({ error, collection, caller }) => {
        await collection(mails).insert({
          to: String(caller('to' as never)),
          problem: isCallError(error) ? error.code : '',
        })
      },
    },
    { attempts: 2 },
  )
  await order('ada@example.com')
  expect(await once('dead')).toMatchObject({
    failures: 2,
    error: 'The call of send-mail failed: 550 mailbox unavailable.',
  })
  expect(keys).toHaveLength(2)
  expect(new Set(keys).size).toBe(1)
  expect(await sent()).toMatchObject([{ problem: 'FUNCTION_FAILED' }])
  expect(reports).toEqual(['delivery-failed', 'delivery-dead'])
})

test('onFailure receives what a function returned if onSuccess rejects it', async () => {
  const { order, once, sent } = await openMails({
    deliver: (_: Mail) => ({ id: 'M-1' }),
    onSuccess: () => {
      throw new RangeError('not accepted')
    },
    onFailure: async ({ error, response, collection, caller }) => {
      const problem = `${(error as Error).message} ${JSON.stringify(response?.body)}`
      await collection(mails).insert({ to: String(caller('to' as never)), problem })
    },
  })
  await order('ada@example.com')
  await once('dead')
  expect(await sent()).toMatchObject([{ problem: 'not accepted {"id":"M-1"}' }])
})

test('a function can make a delivery dead at once with the code INVALID_INPUT', async () => {
  const { order, once } = await openMails({
    deliver: () => Promise.reject(new CallError('INVALID_INPUT', 'send-mail')),
  })
  await order('nobody')
  expect(await once('dead')).toMatchObject({ failures: 1 })
})

test.each([
  ['INVALID_JSON', 200],
  ['RESPONSE_NOT_JSON', 200],
  ['STATUS', 404],
] as const)(
  'a function whose own call fails with %s and %i is called again, and the response is not stored',
  async (code, status) => {
    let calls = 0
    const { order, once, outbox } = await openMails(
      {
        deliver: () => {
          calls += 1
          throw new CallError(code, 'get-token', { status, excerpt: '{"access_token":"s3cret"' })
        },
      },
      { attempts: 3 },
    )
    await order('ada@example.com')
    const { id = '' } = (await once('dead')) ?? {}
    expect(calls).toBe(3)
    const dead = await outbox.get(id)
    expect(dead).toMatchObject({ failures: 3, response: null })
    expect(dead?.error).toContain('get-token')
    expect(JSON.stringify(dead)).not.toContain('s3cret')
  },
)

test('a function that takes too long is aborted, and called again', async () => {
  const aborted: unknown[] = []
  let calls = 0
  const { order, once } = await openMails(
    {
      deliver: async (_: Mail, { signal }: FunctionCall) => {
        if (++calls > 1) return
        signal.addEventListener('abort', () => aborted.push((signal.reason as CallError).code))
        await new Promise(() => undefined)
      },
    },
    { callTimeout: 50 },
  )
  await order('ada@example.com')
  expect(await once('delivered')).toMatchObject({ failures: 1 })
  expect(aborted).toEqual(['TIMEOUT'])
})

test('a result that onSuccess rejects is kept for retry, without another call', async () => {
  let calls = 0
  let isBroken = true
  const { order, once, outbox } = await openMails({
    deliver: (_: Mail): unknown => ({ number: ++calls }),
    onSuccess: () => {
      if (isBroken) throw new Error('broken')
    },
  })
  await order('ada@example.com')
  const { id = '' } = (await once('dead')) ?? {}
  expect(await outbox.get(id)).toMatchObject({
    error: 'The response was not stored: broken',
    response: { status: 200, body: { number: 1 } },
  })
  isBroken = false
  await outbox.retry(id)
  await once('delivered')
  expect(calls).toBe(1)
})

test.each([
  [{}, 'outbox.endpoints.mail: needs either endpoint'],
  [
    { deliver: String, endpoint: shippingEndpoint('https://example.com') },
    'outbox.endpoints.mail: needs either endpoint',
  ],
  [{ deliver: 'smtp' }, 'outbox.endpoints.mail.deliver: must be a function'],
  [{ deliver: String, rules: [] }, 'outbox.endpoints.mail: rules and tables need an endpoint'],
  [{ deliver: String, delay: 1 }, 'outbox.endpoints.mail.delay: is not an option'],
])('the entry %j of an outbox is a mistake', (entry, message) => {
  expect(() => createOutbox({ endpoints: { mail: entry } } as never)).toThrow(message)
})
