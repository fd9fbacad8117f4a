import { describe, expect, test } from 'vitest'
import { credentials, testSecurityProvider } from '../../src/conformance/index.ts'
import type { SecuritySubject } from '../../src/conformance/index.ts'
import type { MaybePromise } from '../../src/maybe-promise.ts'
import { brokenDeclarations, brokenFindings } from './broken-declarations.ts'
import { brokenIdentities } from './broken-identities.ts'
import { gateway, sessionCookies, signed } from './custom-providers.ts'
import { inHeader, inQuery, jonas, maria, subjectWith } from './session-provider.ts'

type Run = (...context: unknown[]) => Promise<void>

const broken = [...brokenDeclarations, ...brokenFindings, ...brokenIdentities]

/** The cases by name. */
function casesOf(create: () => MaybePromise<SecuritySubject>): ReadonlyMap<string, Run> {
  const cases = new Map<string, Run>()
  testSecurityProvider({ create, test: (name, run) => cases.set(name, run) })
  return cases
}

/** Runs the kit with a runner of our own, and gives the names of the cases that fail, with reasons. */
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
        provider: gateway({ secret: 'between us' }),
        valid: [{ request: from(signed('maria', 'between us')), principal: { user: 'maria' } }],
        invalid: [from(signed('maria', 'another secret')), from('maria'), from('')],
      }),
    })
  })

  describe('the header of a gateway that is trusted without', () => {
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

describe('exactly the cases about it fail for a provider that', () => {
  test.each(broken)('$defect', async ({ create, fails }) => {
    expect([...(await failures(create)).keys()]).toEqual(fails)
  })
})

test('every case is failed by one of them', () => {
  const caught = new Set(broken.flatMap(({ fails }) => fails))
  expect([...casesOf(sound).keys()].filter((name) => !caught.has(name))).toEqual([])
})

test('a subject without requests to accept, or to refuse, proves nothing', async () => {
  for (const [part, message] of [
    [{ valid: [] }, /no valid request/],
    [{ invalid: [] }, /no invalid request/],
  ] as const) {
    const failed = await failures(() => ({ ...sound(), ...part }))
    expect(failed.size).toBe(casesOf(sound).size)
    expect([...failed.values()].filter((reason) => !message.test(reason))).toEqual([])
  }
})

test('short credentials are not looked for: they need longer ones, or to be told what is secret', async () => {
  const short = (secrets?: readonly string[]) => () => {
    const subject = subjectWith((provider) => ({
      find: (request) =>
        request.header('x-session') === 'abc'
          ? { place: 'header x-session', value: 'abc' }
          : provider.find(request),
      identify: (credential, house) =>
        provider.identify(
          credential.value === 'abc' ? { ...credential, value: maria } : credential,
          house,
        ),
    }))
    const valid = [{ request: inHeader('abc'), principal: { user: 'maria' } }]
    return { ...subject, valid, ...(secrets === undefined ? {} : { secrets }) }
  }
  const failed = await failures(short())
  expect([...failed.keys()]).toEqual([
    'no principal and no refusal shows a credential',
    'no error shows a credential',
    'the provider does not show the credentials that it has seen',
  ])
  expect([...(await failures(short(['abc']))).keys()]).toEqual([])
  expect([...(await failures(short([]))).keys()]).toEqual([])
})

test('what the subject names as secret is looked for instead of the values', async () => {
  const failed = await failures(() => ({ ...sound(), secrets: ['mari'] }))
  expect([...failed.keys()]).toEqual(['no principal and no refusal shows a credential'])
})

test('no message of a failed case shows a credential', async () => {
  const texts: string[] = []
  for (const { create } of broken) texts.push(...(await failures(create)).values())
  expect(texts.length).toBeGreaterThanOrEqual(broken.length)
  expect(texts.filter((text) => text.includes(maria) || text.includes(jonas))).toEqual([])
})

test('every case gets a subject of its own, which is destroyed, also when the case fails', async () => {
  const events: string[] = []
  const create = async (): Promise<SecuritySubject> => {
    events.push('create')
    return { ...subjectWith(() => ({ name: '' })), destroy: () => void events.push('destroy') }
  }
  const failed = await failures(create)
  expect(failed.size).toBe(2)
  expect(events).toEqual([...casesOf(sound).keys()].flatMap(() => ['create', 'destroy']))
})

test('no two cases have the same name, and none takes a named parameter', () => {
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

test('`credentials` looks headers up by lower-case names, and joins those that came twice', () => {
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
