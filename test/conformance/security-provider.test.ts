import { describe, expect, test } from 'vitest'
import { credentials, testSecurityProvider } from '../../src/entries/conformance.ts'
import type { SecuritySubject } from '../../src/entries/conformance.ts'
import type { MaybePromise } from '../../src/maybe-promise.ts'
import { brokenDeclarations, brokenFindings } from './broken-declarations.ts'
import { brokenIdentities } from './broken-identities.ts'
import { gateway, sessionCookies, signed } from './custom-providers.ts'
import { inHeader, inQuery, jonas, maria, subjectWith } from './session-provider.ts'

type Run = (...context: unknown[]) => Promise<void>

const broken = [...brokenDeclarations, ...brokenFindings, ...brokenIdentities]

/** Returns the cases by name. */
function casesOf(create: () => MaybePromise<SecuritySubject>): ReadonlyMap<string, Run> {
  const cases = new Map<string, Run>()
  testSecurityProvider({ create, test: (name, run) => cases.set(name, run) })
  return cases
}

/** Runs every case. Returns the names of those that fail, with the reasons. */
async function failures(
  create: () => MaybePromise<SecuritySubject>,
): Promise<ReadonlyMap<string, string>> {
  const failed = new Map<string, string>()
  for (const [name, run] of casesOf(create)) {
    await run().catch((error: unknown) => failed.set(name, String(error)))
  }
  return failed
}

const sound = (): SecuritySubject => subjectWith(() => ({}))

describe('a provider passes:', () => {
  describe('sessions in a header or the query', () => testSecurityProvider({ test, create: sound }))

  describe('session cookies', () => {
    const cookie = (value: string) => credentials({ headers: { cookie: `a=b; session=${value}` } })
    testSecurityProvider({
      test,
      create: () => ({
        provider: sessionCookies(new Map([[maria, { user: 'maria', roles: ['Sales'] }]])),
        valid: [{ request: cookie(maria), principal: { user: 'maria', roles: ['Sales'] } }],
        invalid: [cookie(jonas), cookie('')],
      }),
    })
  })

  describe('the header of a gateway, with a signature', () => {
    const from = (value: string) => credentials({ headers: { 'X-Gateway-User': value } })
    testSecurityProvider({
      test,
      create: () => ({
        provider: gateway({ secret: 'shared secret' }),
        valid: [{ request: from(signed('maria', 'shared secret')), principal: { user: 'maria' } }],
        invalid: [from(signed('maria', 'another secret')), from('maria'), from('')],
      }),
    })
  })

  describe('the header of a gateway that is trusted without a signature', () => {
    const from = (user: string) => credentials({ headers: { 'X-Gateway-User': user } })
    testSecurityProvider({
      test,
      create: () => ({
        provider: gateway({ secret: null }),
        valid: [
          { request: from('maria'), principal: { user: 'maria', roles: [], attributes: {} } },
        ],
        invalid: [from('Maria Anders'), from('')],
        secrets: [],
        alsoValid: (value) => /^[A-Za-z0-9_]{1,40}$/.test(value),
      }),
    })
  })
})

describe('exactly the listed cases fail, in this order, for a provider that', () => {
  test.each(broken)('$defect', async ({ create, fails }) => {
    expect([...(await failures(create)).keys()]).toEqual(fails)
  })
})

test('every case fails for at least one of the defects', () => {
  const caught = new Set(broken.flatMap(({ fails }) => fails))
  expect([...casesOf(sound).keys()].filter((name) => !caught.has(name))).toEqual([])
})

test('every case fails for a subject without valid or without invalid requests', async () => {
  for (const [part, message] of [
    [{ valid: [] }, /no valid request/],
    [{ invalid: [] }, /no invalid request/],
  ] as const) {
    const failed = await failures(() => ({ ...sound(), ...part }))
    expect(failed.size).toBe(casesOf(sound).size)
    expect([...failed.values()].filter((reason) => !message.test(reason))).toEqual([])
  }
})

test('a subject with short credentials fails unless it sets `secrets`', async () => {
  const short = (secrets?: readonly string[]) => () => {
    const subject = subjectWith((provider) => ({
      find: (request) =>
        request.header('x-session') === 'abc'
          ? { place: 'header x-session', value: 'abc' }
          : provider.find(request),
      identify: (credential, context) =>
        provider.identify(
          credential.value === 'abc' ? { ...credential, value: maria } : credential,
          context,
        ),
    }))
    const valid = [{ request: inHeader('abc'), principal: { user: 'maria' } }]
    return { ...subject, valid, ...(secrets === undefined ? {} : { secrets }) }
  }
  const failed = await failures(short())
  expect([...failed.keys()]).toEqual([
    'no result of identify contains a credential',
    'no error contains a credential',
    'the provider does not expose the credentials that it has processed',
  ])
  expect([...(await failures(short(['abc']))).keys()]).toEqual([])
  expect([...(await failures(short([]))).keys()]).toEqual([])
})

test('the secrets of a subject replace the values of its credentials', async () => {
  const failed = await failures(() => ({ ...sound(), secrets: ['mari'] }))
  expect([...failed.keys()]).toEqual(['no result of identify contains a credential'])
})

test('no message of a failed case contains a credential', async () => {
  const texts: string[] = []
  for (const { create } of broken) texts.push(...(await failures(create)).values())
  expect(texts.length).toBeGreaterThanOrEqual(broken.length)
  expect(texts.filter((text) => text.includes(maria) || text.includes(jonas))).toEqual([])
})

test('every case gets its own subject, which is destroyed even if the case fails', async () => {
  const events: string[] = []
  const create = async (): Promise<SecuritySubject> => {
    events.push('create')
    return { ...subjectWith(() => ({ name: '' })), destroy: () => void events.push('destroy') }
  }
  const failed = await failures(create)
  expect(failed.size).toBe(2)
  expect(events).toEqual([...casesOf(sound).keys()].flatMap(() => ['create', 'destroy']))
})

test('the names of the cases are unique, and no case has a named parameter', () => {
  const names: string[] = []
  const lengths = new Set<number>()
  const register = (name: string, run: Run): void => {
    names.push(name)
    lengths.add(run.length)
  }
  testSecurityProvider({ test: register, create: sound })
  expect(new Set(names).size).toBe(names.length)
  expect([...lengths]).toEqual([0])
})

test('`credentials` finds headers by lower-case names and joins repeated ones', () => {
  const request = credentials({ headers: { 'X-Session': ['a', 'b'], Cookie: 'c=d' } })
  expect(request.header('x-session')).toBe('a, b')
  expect(request.header('cookie')).toBe('c=d')
  expect([request.header('X-Session'), request.header('absent')]).toEqual([undefined, undefined])
  const { target, secure, peer } = request
  expect({ target, secure, peer }).toEqual({
    target: '/rest/v1/app/items',
    secure: true,
    peer: undefined,
  })
  expect(inQuery(maria).target).toContain(maria)
  const plain = credentials({ target: '/x', secure: false, peer: '::1' })
  expect([plain.target, plain.secure, plain.peer]).toEqual(['/x', false, '::1'])
})
