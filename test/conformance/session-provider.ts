import { credentials, type SecuritySubject } from '../../src/entries/conformance.ts'
import { ServiceError } from '../../src/errors.ts'
import type { Principal } from '../../src/definition/principal.ts'
import type { Credentials } from '../../src/request/request.ts'
import type { Credential, SecurityProvider } from '../../src/security/provider.ts'
import type { Account } from '../../src/security/users/user-store.ts'
import type { MaybePromise } from '../../src/maybe-promise.ts'

/** Sessions in a header or in the query, for users of the context. */
export const maria = 'kQ0v8s2mV1aT9xYzB4nR3w'
export const jonas = 'Hc7dLp5fGe2jWq6uXi1oZs'
export const expired = 'Rb3yNk9tMv4hSg8rEw2qUx'
export const orphan = 'Ty6zAa1bCd5eFg9hIj3kLm'
/** A valid session that no request of the subject has. */
export const secret = 'public-session-of-jonas'

export const sessions: ReadonlyMap<string, { readonly user: string; readonly until: number }> =
  new Map([
    [maria, { user: 'maria', until: 2e12 }],
    [jonas, { user: 'jonas', until: 2e12 }],
    [expired, { user: 'maria', until: 1e12 }],
    [orphan, { user: 'unknown', until: 2e12 }],
    [secret, { user: 'jonas', until: 2e12 }],
  ])

const accounts = new Map<string, Account>(
  ['maria', 'jonas'].map((user) => [
    user,
    { user, enabled: true, roles: ['Sales', 'Support'], attributes: { desk: 7 }, password: null },
  ]),
)

export const inHeader = (value: string): Credentials =>
  credentials({ headers: { 'X-Session': value } })

export const inQuery = (value: string): Credentials =>
  credentials({ target: `/rest/v1/app/items?session=${value}&$limit=1` })

/** Creates the provider without defect. */
export function soundProvider(name = 'Sessions'): SecurityProvider {
  return {
    name,
    priority: 10,
    challenge: 'Session header="X-Session"',
    parameters: ['session'],
    find(request) {
      const header = request.header('x-session')?.trim()
      const given = new URLSearchParams(request.target.split('?')[1] ?? '').getAll('session')
      if (given.length > 1 || (given.length > 0 && header !== undefined) || header?.includes(',')) {
        throw new ServiceError('MULTIPLE_CREDENTIALS', 'More than one session.')
      }
      if (header !== undefined) return { place: 'header x-session', value: header }
      return given[0] === undefined ? undefined : { place: 'query session', value: given[0] }
    },
    async identify({ value }, { users, now }) {
      const session = sessions.get(value)
      if (session === undefined) return undefined
      if (now().getTime() >= session.until) return { rejected: 'expired', user: session.user }
      const account = await users.find(session.user)
      if (account === undefined) return { rejected: 'user-unknown' }
      return principalOf(account, name)
    },
  }
}

export function principalOf({ user, roles, attributes }: Account, provider: string): Principal {
  const own = { roles: [...roles], attributes: { ...attributes } }
  return { kind: 'user', user, ...own, provider, keyId: null }
}

/** Creates a subject. Its provider differs from the sound one in the given members. */
export function subjectWith(
  change: (sound: SecurityProvider) => Partial<SecurityProvider>,
  name?: string,
): SecuritySubject {
  const sound = soundProvider(name)
  return {
    provider: { ...sound, ...change(sound) },
    context: {
      users: { find: (user) => accounts.get(user) },
      now: () => new Date(1.7e12),
    },
    valid: [
      { request: inHeader(maria), principal: { user: 'maria', roles: ['Support', 'Sales'] } },
      { request: inQuery(jonas), principal: { user: 'jonas', keyId: null } },
    ],
    invalid: [inHeader(expired), inQuery(orphan), inHeader('Nn8mMb2vBc6xXz0aSd4fGh')],
    foreign: [credentials({ headers: { 'x-other-session': maria } })],
  }
}

/** Changes the result of `find`. */
export const finding =
  (change: (found: Credential | undefined, request: Credentials) => Credential | undefined) =>
  (sound: SecurityProvider): Partial<SecurityProvider> => ({
    find: (request) => change(sound.find(request), request),
  })

/** Reads a value more leniently than it should. */
export const reading =
  (lenient: (value: string) => string) =>
  (sound: SecurityProvider): Partial<SecurityProvider> => ({
    identify: ({ place, value }, context) =>
      sound.identify({ place, value: lenient(value) }, context),
  })

/** Changes the principals that `identify` returns. */
export const answering =
  (change: (principal: Principal, value: string) => unknown) =>
  (sound: SecurityProvider): Partial<SecurityProvider> => ({
    identify: async (credential, context) => {
      const answer = await sound.identify(credential, context)
      if (answer === undefined || 'rejected' in answer) return answer
      return change(answer, credential.value) as Principal
    },
  })

/** Replaces `identify`. `sound` is the `identify` of the provider without defect. */
export const identifying =
  (
    identify: (
      sound: SecurityProvider['identify'],
      ...given: Parameters<SecurityProvider['identify']>
    ) => MaybePromise<unknown>,
  ) =>
  (sound: SecurityProvider): Partial<SecurityProvider> => ({
    identify: (credential, context) =>
      identify(sound.identify, credential, context) as ReturnType<SecurityProvider['identify']>,
  })
