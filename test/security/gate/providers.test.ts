import { expect, test } from 'vitest'
import { anonymous, principal, type Principal } from '../../../src/entries/index.ts'
import type { Rejected } from '../../../src/entries/security.ts'
import { known, stage, tiny } from './fixture.ts'

const ann = { headers: { 'x-ticket': 'ann' } }
const unknown = { rejected: 'unknown' } as const

test('a caller is the principal that the provider names, at once or later', async () => {
  const person = principal('ann', { roles: ['Sales'], attributes: { region: 'north' } })
  for (const answer of [() => person, () => Promise.resolve(person)]) {
    const { ask, reports } = stage([tiny('one', { answer })])
    expect(await ask(ann)).toBe(person)
    expect(reports()).toEqual([])
  }
})

test('providers are called in their order until one authenticates the caller', async () => {
  const first = tiny('first', { answer: () => undefined })
  const second = tiny('second', { answer: async () => undefined })
  const third = tiny('third')
  const fourth = tiny('fourth')
  const { ask, reports } = stage([first, second, third, fourth])
  expect(await ask(ann)).toMatchObject({ user: 'ann', provider: 'third' })
  expect([first.asked, second.asked, third.asked, fourth.asked]).toEqual([
    ['ann'],
    ['ann'],
    ['ann'],
    [],
  ])
  expect(reports()).toEqual([])
})

test('a later provider is not called before an earlier one has settled', async () => {
  const trace: string[] = []
  const slow = tiny('slow', {
    answer: async () => {
      trace.push('slow begins')
      await new Promise((resolve) => setImmediate(resolve))
      trace.push('slow ends')
      return undefined
    },
  })
  const quick = tiny('quick', {
    answer: () => {
      trace.push('quick')
      return undefined
    },
  })
  await stage([slow, quick]).rejection(ann)
  expect(trace).toEqual(['slow begins', 'slow ends', 'quick'])
})

test('a provider whose credential is not in the request is not called', async () => {
  const other = tiny('other', { header: 'x-other' })
  const { ask } = stage([other, tiny('one')])
  expect(await ask(ann)).toMatchObject({ provider: 'one' })
  expect(other.asked).toEqual([])
})

test.each<[string, Rejected | undefined]>([
  ['nothing', undefined],
  ['a reason', unknown],
])('a request that no provider knows is rejected: %s', async (_what, answer) => {
  const { rejection, reports } = stage([tiny('one', { answer: () => answer })])
  expect(await rejection(ann)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' })
  expect(reports()).toEqual([
    {
      type: 'credential-rejected',
      reason: 'unknown',
      provider: 'one',
      user: null,
      keyId: null,
      peer: '192.0.2.1',
    },
  ])
})

test('a request without a credential is rejected, and no provider is called', async () => {
  const one = tiny('one')
  const { rejection, reports } = stage([one])
  expect(await rejection()).toMatchObject({ status: 401 })
  expect(await rejection({ peer: undefined, secure: false })).toMatchObject({ status: 401 })
  expect(one.asked).toEqual([])
  expect(reports()).toMatchObject([
    { reason: 'missing', provider: null, user: null, keyId: null, peer: '192.0.2.1' },
    { reason: 'missing', provider: null, peer: null },
  ])
})

test('a disabled provider never authenticates, whatever it returns, synchronously or later', async () => {
  for (const answer of [known('one'), async (value: string) => known('one')(value)]) {
    const { rejection, reports } = stage([tiny('one', { enabled: false, answer })])
    expect(await rejection(ann)).toMatchObject({ status: 401 })
    expect(reports()).toMatchObject([{ reason: 'provider-disabled', provider: 'one' }])
  }
})

test('a disabled provider can report the user of a rejected credential, and an unknown credential', async () => {
  const dead = { rejected: 'provider-disabled', user: 'ann', keyId: 'k1' } as const
  for (const answer of [dead, unknown]) {
    const { rejection, reports } = stage([
      tiny('off', { enabled: false, answer: async () => answer }),
    ])
    await rejection(ann)
    expect(reports()).toMatchObject([{ ...told(answer), provider: 'off' }])
  }
})

test('a disabled provider does not keep another one from knowing the caller', async () => {
  const { ask } = stage([tiny('off', { enabled: false }), tiny('on')])
  expect(await ask(ann)).toMatchObject({ provider: 'on' })
})

test('the report names the provider that knew the credential, not the last one', async () => {
  const reason = { rejected: 'revoked', user: 'ann', keyId: 'k1' } as const
  for (const later of [undefined, unknown, Promise.resolve(unknown)]) {
    const knows = tiny('knows', { answer: () => reason })
    const { rejection, reports } = stage([knows, tiny('later', { answer: () => later })])
    await rejection(ann)
    expect(reports()).toMatchObject([
      { reason: 'revoked', provider: 'knows', user: 'ann', keyId: 'k1' },
    ])
  }
})

test('the report has the most specific reason: malformed before unknown, a known user before both', async () => {
  const malformed = { rejected: 'malformed' } as const
  const owned = { rejected: 'expired', user: 'ann' } as const
  for (const order of [
    [unknown, malformed, owned],
    [owned, malformed, unknown],
    [malformed, owned, undefined],
  ]) {
    const { rejection, reports } = stage(
      order.map((answer) => tiny(answer?.rejected ?? 'silent', { answer: () => answer })),
    )
    await rejection(ann)
    expect(reports()).toMatchObject([{ reason: 'expired', provider: 'expired', user: 'ann' }])
  }
  const { rejection, reports } = stage(
    [unknown, malformed].map((answer) => tiny(answer.rejected, { answer: () => answer })),
  )
  await rejection(ann)
  expect(reports()).toMatchObject([{ reason: 'malformed', provider: 'malformed' }])
})

test.each(['throws', 'rejects'])(
  'a provider that %s ends the request without calling other providers',
  async (way) => {
    const failure = new Error('store down')
    const broken = tiny('broken', {
      answer: () => {
        if (way === 'throws') throw failure
        return Promise.reject(failure)
      },
    })
    const next = tiny('next')
    const { ask, reports } = stage([broken, next], { anyone: anonymous })
    await expect(ask(ann)).rejects.toBe(failure)
    expect(next.asked).toEqual([])
    expect(reports()).toEqual([])
  },
)

const whole = { user: 'ann', roles: [], attributes: {}, provider: 'one', keyId: null }

test.each<[string, object]>([
  ['no user', { ...whole, user: undefined }],
  ['a user that is a number', { ...whole, user: 5 }],
  ['no roles', { ...whole, roles: undefined }],
  ['roles that are a string', { ...whole, roles: 'Sales' }],
  ['no attributes', { ...whole, attributes: undefined }],
  ['null as attributes', { ...whole, attributes: null }],
  ['attributes that are a string', { ...whole, attributes: 'x' }],
])('a principal with %s is a mistake of the provider', async (_what, answer) => {
  for (const given of [answer, Promise.resolve(answer)]) {
    const { ask } = stage([tiny('one', { answer: () => given as Principal })])
    const failure = await ask(ann).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TypeError)
    expect(String(failure)).toContain('The provider one must return a principal')
  }
  const { ask } = stage([tiny('one', { answer: () => whole as unknown as Principal })])
  expect(await ask(ann)).toEqual({ ...whole, kind: 'user' })
})

test('open access with a provider accepts a missing credential and rejects a wrong one', async () => {
  const answer = (value: string) => (value === 'ann' ? principal('ann') : undefined)
  const { ask, rejection, reports } = stage([tiny('one', { answer })], { anyone: anonymous })
  expect(await ask()).toBe(anonymous)
  expect(await ask({ secure: false })).toBe(anonymous)
  expect(await ask(ann)).toMatchObject({ user: 'ann' })
  expect(await rejection({ headers: { 'x-ticket': 'eve' } })).toMatchObject({ status: 401 })
  expect(reports()).toMatchObject([{ reason: 'unknown' }])
})

test('open access alone looks at no credential', async () => {
  const { ask } = stage([], { anyone: anonymous })
  expect(await ask({ ...ann, secure: false })).toBe(anonymous)
})

function told({ rejected, ...rest }: Rejected): object {
  return { reason: rejected, ...rest }
}
