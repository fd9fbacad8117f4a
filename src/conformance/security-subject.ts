import type { MaybePromise } from '../maybe-promise.ts'
import type { Principal } from '../definition/principal.ts'
import type { Credentials } from '../request/request.ts'
import type {
  Credential,
  Rejected,
  SecurityContext,
  SecurityProvider,
} from '../security/provider.ts'
import { ensure } from './assertion.ts'
import { changed, watched } from './credentials.ts'

/** A request that a provider must accept, and the principal that it must return. */
export interface ValidRequest {
  readonly request: Credentials
  /** Only the given members are compared. Roles may be in any order. */
  readonly principal: Pick<Principal, 'user'> & Partial<Principal>
}

/** A security provider under test, with its test data. */
export interface SecuritySubject {
  readonly provider: SecurityProvider
  /** Passed to `identify`. Default: no keys, no users and the system clock. */
  readonly context?: Partial<SecurityContext>
  /** At least one, and one for each place where a credential may be. */
  readonly valid: readonly ValidRequest[]
  /** Requests with an invalid credential of its kind. At least one. */
  readonly invalid: readonly Credentials[]
  /** Requests with credentials of other providers, in addition to those that the kit generates. */
  readonly foreign?: readonly Credentials[]
  /**
   * Strings that must not appear anywhere, such as the password inside a value. Default: the values of
   * all credentials above. An empty list means that nothing is secret.
   */
  readonly secrets?: readonly string[]
  /**
   * Returns whether a value that the kit generates is a valid credential: another spelling of a valid one,
   * or the credential of another user. Default: none is.
   */
  readonly alsoValid?: (value: string) => boolean
  /** Cleans up after a case. */
  readonly destroy?: () => MaybePromise<void>
}

/** A subject with its defaults. */
export type CompleteSubject = Required<Omit<SecuritySubject, 'context' | 'secrets' | 'destroy'>> &
  Pick<SecuritySubject, 'secrets'> & { readonly context: SecurityContext }

/** One requirement of the contract of security providers, and the code that tests it. */
export interface SecurityCase {
  readonly name: string
  run(subject: CompleteSubject): void | Promise<void>
}

/** Completes a subject with defaults. Throws if it has no valid or no invalid request. */
export function completeSubject(given: SecuritySubject): CompleteSubject {
  ensure(given.valid.length > 0, 'The subject has no valid request. Add at least one.')
  ensure(given.invalid.length > 0, 'The subject has no invalid request. Add at least one.')
  const nothing = { find: () => undefined, used: () => undefined, rejected: () => undefined }
  return {
    ...given,
    context: { keys: nothing, users: nothing, now: () => new Date(), ...given.context },
    foreign: given.foreign ?? [],
    alsoValid: given.alsoValid ?? (() => false),
  }
}

/** Returns the credential in a request. Throws if `find` returns none. */
export function credentialIn(provider: SecurityProvider, request: Credentials): Credential {
  const credential = provider.find(request)
  ensure(credential !== undefined, 'find: expected a credential, but got undefined.')
  return credential
}

/** Returns the credentials of the valid requests. */
export function validCredentials({ provider, valid }: CompleteSubject): readonly Credential[] {
  return valid.map(({ request }) => credentialIn(provider, request))
}

/** Returns the credentials of the invalid requests, except those for which `find` throws. */
export function invalidCredentials(subject: CompleteSubject): readonly Credential[] {
  return subject.invalid.flatMap((request) => {
    try {
      return subject.provider.find(request) ?? []
    } catch {
      return []
    }
  })
}

/** Calls `identify`. An error that it throws synchronously becomes a rejection. */
export async function identify(
  { provider, context }: CompleteSubject,
  credential: Credential,
): Promise<Principal | Rejected | undefined> {
  return provider.identify(credential, context)
}

/** Returns whether a result of `identify` is a principal. */
export function isPrincipal(result: Principal | Rejected | undefined): result is Principal {
  return result !== undefined && !('rejected' in result)
}

/** Returns a plain value as JSON text for comparison. Unlike `show`, it does not truncate. */
export function asText(value: unknown): string {
  return JSON.stringify([value])
}

/** The result of `find`: a credential, undefined, or the error that it throws. */
export type Finding = { readonly found: Credential | undefined } | { readonly thrown: unknown }

/** Calls `find` and catches the error that it throws. */
export function attempt(provider: SecurityProvider, request: Credentials): Finding {
  try {
    return { found: provider.find(request) }
  } catch (thrown) {
    return { thrown }
  }
}

/** Returns the names of the headers that carry the credential: without one, `find` has another result. */
export function carriersOf(provider: SecurityProvider, request: Credentials): readonly string[] {
  const watch = watched(request)
  const expected = asText(attempt(provider, watch.request))
  return Array.from(watch.headers).filter((name) => {
    if (request.header(name) === undefined) return false
    return asText(attempt(provider, changed(request, { headers: { [name]: null } }))) !== expected
  })
}
