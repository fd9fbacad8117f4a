import { RateLimiterMemory } from 'rate-limiter-flexible'
import { expect, test } from 'vitest'
import { anonymous, principal } from '../../../src/entries/index.ts'
import type { Limiter } from '../../../src/entries/security.ts'
import { stage, tiny } from './fixture.ts'

const provider = tiny('one', {
  answer: (value) =>
    value.startsWith('wrong')
      ? { rejected: 'unknown' }
      : principal(value.split('/')[0] ?? '', { keyId: value.split('/')[1] ?? null }),
})

function ticket(value: string, peer?: string) {
  return { headers: { 'x-ticket': value }, ...(peer === undefined ? {} : { peer }) }
}

/** A limiter that knows how many points each key has left. */
function counting(points: number): Limiter & { readonly consumed: readonly string[] } {
  const consumed: string[] = []
  return {
    consumed,
    consume: (key) => {
      consumed.push(key)
      const over = consumed.filter((one) => one === key).length > points
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- rate-limiter-flexible does so
      return over ? Promise.reject({ msBeforeNext: 1001 }) : Promise.resolve({})
    },
  }
}

test('requests are counted by key, else by user, else by the address of the client', async () => {
  const requests = counting(9)
  const { ask } = stage([provider], { anyone: anonymous, limits: { requests } })
  await ask(ticket('ann/key-1'))
  await ask(ticket('ann'))
  await ask({ peer: '192.0.2.7' })
  await ask({ peer: undefined })
  expect(requests.consumed).toEqual(['key-1', 'ann', '192.0.2.7', 'unknown'])
})

test('clients of one IPv6 network are counted together, and IPv4-mapped addresses as IPv4', async () => {
  const [requests, failures] = [counting(9), counting(1)]
  const limits = { requests, failures }
  const { ask, rejection } = stage([provider], { anyone: anonymous, limits })
  for (const peer of ['2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:1::1', '::ffff:192.0.2.7']) {
    await ask({ peer })
  }
  const networks = ['2001:db8:0:0::/64', '2001:db8:0:0::/64', '2001:db8:0:1::/64', '192.0.2.7']
  expect(requests.consumed).toEqual(networks)
  expect(await rejection(ticket('wrong', '2001:db8::1'))).toMatchObject({ status: 401 })
  expect(await rejection(ticket('wrong', '2001:db8::2'))).toMatchObject({ status: 429 })
  // All addresses of the network are blocked, without a check of the credential.
  expect(await rejection(ticket('ann', '2001:db8::3'))).toMatchObject({ status: 429 })
  await ask(ticket('ann', '2001:db8:0:1::3'))
  expect(failures.consumed).toEqual(['2001:db8:0:0::/64', '2001:db8:0:0::/64'])
})

test('a request beyond the limit is rejected with whole seconds to wait, others are not', async () => {
  const { ask, rejection } = stage([provider], { limits: { requests: counting(2) } })
  await ask(ticket('ann/key-1'))
  await ask(ticket('ann/key-1'))
  expect(await rejection(ticket('ann/key-1'))).toMatchObject({
    status: 429,
    headers: { 'Retry-After': '2' },
  })
  await ask(ticket('ann/key-2'))
})

test('a rejected request uses up nothing of a caller', async () => {
  const requests = counting(1)
  const { rejection } = stage([provider], { limits: { requests } })
  await rejection(ticket('wrong'))
  await rejection()
  expect(requests.consumed).toEqual([])
})

test('failures are counted by client, and a missing credential is none', async () => {
  const failures = counting(9)
  const { ask, rejection } = stage([provider], { limits: { failures } })
  await rejection(ticket('wrong', '192.0.2.1'))
  await rejection(ticket('wrong', '192.0.2.2'))
  await rejection()
  await ask(ticket('ann'))
  expect(failures.consumed).toEqual(['192.0.2.1', '192.0.2.2'])
})

test('a client with too many failures is rejected even with the right credential, for a time', async () => {
  let now = 1_000_000
  const failures = new RateLimiterMemory({ points: 3, duration: 60 })
  const { ask, rejection, reports } = stage([provider], {
    limits: { failures },
    now: () => new Date(now),
  })
  for (let turn = 0; turn < 3; turn++) expect((await rejection(ticket('wrong'))).status).toBe(401)
  const { status, headers } = await rejection(ticket('wrong'))
  expect(status).toBe(429)
  expect(headers['Retry-After']).toMatch(/^(60|59)$/)
  expect(reports()).toHaveLength(4)

  const asked = provider.asked.length
  expect((await rejection(ticket('ann'))).status).toBe(429)
  expect(provider.asked.length).toBe(asked)
  expect(await ask(ticket('ann', '192.0.2.2'))).toMatchObject({ user: 'ann' })
  now += 50_000
  expect((await rejection(ticket('ann'))).status).toBe(429)
  now += 10_001
  expect(await ask(ticket('ann'))).toMatchObject({ user: 'ann' })
  expect(reports()).toEqual([])
})

test('a blocked client without a credential gets 401', async () => {
  const { ask, rejection } = stage([provider], { limits: { failures: counting(0) } })
  expect((await rejection(ticket('wrong'))).status).toBe(429)
  expect((await rejection()).status).toBe(401)
  await expect(ask(ticket('ann', '192.0.2.2'))).resolves.toBeDefined()
})

test('the rejections of one client at once are all counted', async () => {
  const failures = new RateLimiterMemory({ points: 5, duration: 60 })
  const { rejection } = stage([provider], { limits: { failures } })
  const all = await Promise.all(Array.from({ length: 20 }, () => rejection(ticket('wrong'))))
  expect(all.filter(({ status }) => status === 401)).toHaveLength(5)
  expect(all.filter(({ status }) => status === 429)).toHaveLength(15)
})

test.each<[string, unknown]>([
  ['an error', new Error('no connection')],
  ['nothing', undefined],
  ['null', null],
  ['a wait that is no number', { msBeforeNext: 'soon' }],
  ['a wait without end', { msBeforeNext: Infinity }],
])('a limiter that fails with %s is reported, and the request continues', async (_what, error) => {
  const broken: Limiter = {
    consume: async () => {
      throw error
    },
  }
  const { ask, rejection, reports } = stage([provider], {
    limits: { requests: broken, failures: broken },
  })
  expect(await ask(ticket('ann'))).toMatchObject({ user: 'ann' })
  expect(reports()).toEqual([{ type: 'limiter-failed', error }])
  expect((await rejection(ticket('wrong'))).status).toBe(401)
  expect(reports().map(({ type }) => type)).toEqual(['credential-rejected', 'limiter-failed'])
  expect(await ask(ticket('ann'))).toMatchObject({ user: 'ann' })
  expect(reports()).toHaveLength(1)
})

test('without a limiter of requests, or of failures, the other one works alone', async () => {
  const requests = stage([provider], { limits: { requests: counting(0) } })
  expect((await requests.rejection(ticket('ann'))).status).toBe(429)
  expect((await requests.rejection(ticket('wrong'))).status).toBe(401)
  expect(requests.reports().map(({ type }) => type)).toEqual(['credential-rejected'])
  const failures = stage([provider], { limits: { failures: counting(0) } })
  expect(await failures.ask(ticket('ann'))).toMatchObject({ user: 'ann' })
  expect(failures.reports()).toEqual([])
  const { status, message } = await failures.rejection(ticket('wrong'))
  expect([status, message]).toEqual([429, 'There were too many requests. Try again later.'])
})

test('a client is blocked until the limiter says, and not at that instant', async () => {
  let now = 1_000_000
  const limits = { failures: counting(0) }
  const { ask, rejection } = stage([provider], { limits, now: () => new Date(now) })
  expect((await rejection(ticket('wrong'))).status).toBe(429)
  now += 1_000
  expect((await rejection(ticket('ann'))).headers['Retry-After']).toBe('1')
  now += 1
  expect(await ask(ticket('ann'))).toMatchObject({ user: 'ann' })
})

test('a limiter that throws is one that fails', async () => {
  const broken: Limiter = {
    consume: () => {
      throw new Error('no connection')
    },
  }
  const { ask, reports } = stage([provider], { limits: { requests: broken } })
  expect(await ask(ticket('ann'))).toMatchObject({ user: 'ann' })
  expect(reports()).toMatchObject([{ type: 'limiter-failed' }])
})

test('above the limit of blocked clients, the newest are blocked and the oldest is not', async () => {
  const failures: Limiter = {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as above
    consume: () => Promise.reject({ msBeforeNext: 1000 }),
  }
  const { rejection, ask } = stage([provider], { limits: { failures } })
  for (let client = 0; client <= 10_000; client++)
    await rejection(ticket('wrong', `peer-${client}`))
  expect(await ask(ticket('ann', 'peer-0'))).toMatchObject({ user: 'ann' })
  expect((await rejection(ticket('ann', 'peer-1'))).status).toBe(429)
  expect((await rejection(ticket('ann', 'peer-10000'))).status).toBe(429)
})
