import type { Principal } from '../definition/principal.ts'
import type { RejectionReason } from '../observation/reports.ts'
import type { Credential, Rejected } from '../security/provider.ts'
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

const principalMembers = ['attributes', 'keyId', 'kind', 'provider', 'roles', 'user']
const reasons: Readonly<Record<RejectionReason, true>> = {
  missing: true,
  malformed: true,
  unknown: true,
  revoked: true,
  expired: true,
  'provider-disabled': true,
  'user-disabled': true,
  'user-unknown': true,
}

/** `identify`: the principal of a credential. */
export const identifyCases: readonly SecurityCase[] = [
  {
    name: 'a principal is complete: kind, user, distinct roles, flat attributes, provider and keyId',
    run: async (subject) => {
      for (const credential of validCredentials(subject)) {
        const principal = await principalOf(subject, credential)
        const { kind, user, roles, attributes, provider, keyId } = principal
        equal(Object.keys(principal).toSorted(), principalMembers, 'the members of the principal')
        equal(
          kind,
          user === null ? 'anonymous' : 'user',
          'kind: user, or anonymous if user is null',
        )
        ensure(isStringOrNull(user), 'user: must be a string that is not empty, or null.')
        ensure(isStringOrNull(keyId), 'keyId: must be a string that is not empty, or null.')
        equal(provider, subject.provider.name, 'provider: the name of the provider')
        ensure(
          Array.isArray(roles) && roles.every((role) => role !== null && isStringOrNull(role)),
          'roles: must be a list of strings.',
        )
        ensure(new Set(roles).size === roles.length, 'roles: must be distinct.')
        ensure(isFlat(attributes), 'attributes: must be an object of flat values.')
      }
    },
  },
  {
    name: 'identify returns the expected principal for a valid credential',
    run: async (subject) => {
      for (const { request, principal: expected } of subject.valid) {
        const principal = await principalOf(subject, credentialIn(subject.provider, request))
        const members = Object.keys(expected).map((name) => [
          name,
          principal[name as keyof Principal],
        ])
        const actual = Object.fromEntries(members) as Partial<Principal>
        equal(sortedRoles(actual), sortedRoles(expected), 'identify: the principal')
      }
    },
  },
  {
    name: 'a change to a returned principal does not affect later results',
    run: async (subject) => {
      for (const credential of validCredentials(subject)) {
        const before = show(await principalOf(subject, credential))
        modify(await principalOf(subject, credential))
        equal(show(await principalOf(subject, credential)), before, 'identify: the next principal')
      }
    },
  },
  {
    name: 'identify returns undefined or a known reason for an invalid credential',
    run: async (subject) => {
      for (const credential of invalidCredentials(subject)) {
        const result: unknown = await identify(subject, credential)
        if (result === undefined) continue
        const { rejected, user, keyId, ...rest } = result as Partial<Rejected>
        ensure(rejected !== undefined, 'identify: an invalid credential returned a principal.')
        ensure(
          Object.hasOwn(reasons, rejected),
          `identify: ${show(rejected)} is not a known reason.`,
        )
        const named = [user, keyId].every((name) => name === undefined || typeof name === 'string')
        ensure(
          named,
          'identify: user and keyId must be strings or absent if the credential is rejected.',
        )
        equal(Object.keys(rest), [], 'identify: the unknown members of the result')
      }
    },
  },
  {
    name: 'identify does not change the credential, which may be frozen',
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
  const result = await identify(subject, credential)
  ensure(isPrincipal(result), `identify: expected a principal, but got ${show(result)}`)
  return result
}

function sortedRoles(principal: Partial<Principal>): Partial<Principal> {
  const { roles } = principal
  return Array.isArray(roles) ? { ...principal, roles: roles.toSorted() } : principal
}

function isStringOrNull(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value !== '')
}

function isFlat(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every(
    (one) => one === null || ['string', 'boolean'].includes(typeof one) || Number.isFinite(one),
  )
}

function modify(principal: Principal): void {
  const attempts: readonly (() => unknown)[] = [
    () => (principal.roles as string[]).push('modified'),
    () => Object.assign(principal.attributes, { modified: true }),
    () => Object.assign(principal, { user: 'modified' }),
    () => Object.assign(principal, { roles: ['modified'] }),
  ]
  for (const change of attempts) {
    try {
      change()
    } catch {
      // A frozen principal throws, which is fine.
    }
  }
}
