import type { Principal } from '../definition/principal.ts'
import type { RefusalReason } from '../observation.ts'
import type { Credential, Refused } from '../security/provider.ts'
import { ensure, equal, show } from './assertion.ts'
import {
  credentialIn,
  identify,
  invalidCredentials,
  isPrincipal,
  validCredentials,
  type CompleteSubject,
  type SecurityCase,
} from './security-subject.ts'

const members = ['attributes', 'keyId', 'provider', 'roles', 'user']
const reasons: Readonly<Record<RefusalReason, true>> = {
  missing: true,
  malformed: true,
  unknown: true,
  revoked: true,
  expired: true,
  'provider-disabled': true,
  'user-disabled': true,
  'user-unknown': true,
}

/** `identify`: who a credential stands for. */
export const identifyCases: readonly SecurityCase[] = [
  {
    name: 'a principal is whole: user, distinct roles, flat attributes, provider and keyId',
    run: async (subject) => {
      for (const credential of validCredentials(subject)) {
        const principal = await principalOf(subject, credential)
        const { user, roles, attributes, provider, keyId } = principal
        equal(Object.keys(principal).toSorted(), members, 'the members of the principal')
        ensure(isTextOrNull(user), 'user: must be a text that is not empty, or null.')
        ensure(isTextOrNull(keyId), 'keyId: must be a text that is not empty, or null.')
        equal(provider, subject.provider.name, 'provider: the name of the provider')
        ensure(
          Array.isArray(roles) && roles.every((role) => role !== null && isTextOrNull(role)),
          'roles: must be a list of texts.',
        )
        ensure(new Set(roles).size === roles.length, 'roles: must be distinct.')
        ensure(isFlat(attributes), 'attributes: must be an object of flat values.')
      }
    },
  },
  {
    name: 'a valid credential gives the principal that is expected',
    run: async (subject) => {
      for (const { request, principal: expected } of subject.valid) {
        const principal = await principalOf(subject, credentialIn(subject.provider, request))
        const given = Object.keys(expected).map((name) => [
          name,
          principal[name as keyof Principal],
        ])
        const actual = Object.fromEntries(given) as Partial<Principal>
        equal(sortedRoles(actual), sortedRoles(expected), 'identify: the principal')
      }
    },
  },
  {
    name: 'whoever changes a principal changes no other answer',
    run: async (subject) => {
      for (const credential of validCredentials(subject)) {
        const before = show(await principalOf(subject, credential))
        spoil(await principalOf(subject, credential))
        equal(show(await principalOf(subject, credential)), before, 'identify: the next principal')
      }
    },
  },
  {
    name: 'an invalid credential is refused, for no reason or a known one',
    run: async (subject) => {
      for (const credential of invalidCredentials(subject)) {
        const answer: unknown = await identify(subject, credential)
        if (answer === undefined) continue
        const { refused, user, keyId, ...rest } = answer as Partial<Refused>
        ensure(refused !== undefined, 'identify: an invalid credential gave a principal.')
        ensure(Object.hasOwn(reasons, refused), `identify: ${show(refused)} is no reason.`)
        const named = [user, keyId].every((name) => name === undefined || typeof name === 'string')
        ensure(named, 'identify: user and keyId of a refusal must be texts, or absent.')
        equal(Object.keys(rest), [], 'identify: what a refusal does not have')
      }
    },
  },
  {
    name: 'it leaves the credential as it is, and needs to change nothing of it',
    run: async (subject) => {
      for (const credential of validCredentials(subject)) {
        const { place, value } = credential
        const copy = { place, value }
        await identify(subject, copy)
        ensure(show(copy) === show({ place, value }), 'identify: must not change the credential.')
        await principalOf(subject, Object.freeze({ place, value }))
      }
    },
  },
]

async function principalOf(subject: CompleteSubject, credential: Credential): Promise<Principal> {
  const answer = await identify(subject, credential)
  ensure(isPrincipal(answer), `identify: expected a principal, but got ${show(answer)}`)
  return answer
}

function sortedRoles(principal: Partial<Principal>): Partial<Principal> {
  const { roles } = principal
  return Array.isArray(roles) ? { ...principal, roles: roles.toSorted() } : principal
}

function isTextOrNull(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value !== '')
}

function isFlat(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every(
    (one) => one === null || ['string', 'boolean'].includes(typeof one) || Number.isFinite(one),
  )
}

function spoil(principal: Principal): void {
  const attempts: readonly (() => unknown)[] = [
    () => (principal.roles as string[]).push('spoilt'),
    () => Object.assign(principal.attributes, { spoilt: true }),
    () => Object.assign(principal, { user: 'spoilt' }),
    () => Object.assign(principal, { roles: ['spoilt'] }),
  ]
  for (const change of attempts) {
    try {
      change()
    } catch {
      // Frozen: all the better.
    }
  }
}
