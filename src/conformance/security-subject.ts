import type { MaybePromise } from '../maybe-promise.ts'
import type { Principal } from '../definition/principal.ts'
import type { Credentials } from '../request/request.ts'
import type { Credential, Refused, SecurityHouse, SecurityProvider } from '../security/provider.ts'
import { ensure } from './assertion.ts'
import { changed, watched } from './credentials.ts'

/** A request that a provider must accept, and what it must find out about the caller. */
export interface ValidRequest {
  readonly request: Credentials
  /** The members that are given are compared; roles in any order. */
  readonly principal: Pick<Principal, 'user'> & Partial<Principal>
}

/** A security provider under test, and what it is tested with. */
export interface SecuritySubject {
  readonly provider: SecurityProvider
  /** What the service would lend it. Default: no keys, no users and the clock of the system. */
  readonly house?: Partial<SecurityHouse>
  /** At least one; one for each place in which a credential may stand. */
  readonly valid: readonly ValidRequest[]
  /** Requests with a credential of its kind that nobody stands behind. At least one. */
  readonly invalid: readonly Credentials[]
  /** Requests with credentials of other providers, besides those that the kit makes itself. */
  readonly foreign?: readonly Credentials[]
  /**
   * Texts that must be seen nowhere, such as the password inside of a value. Default: the values of all
   * credentials above. An empty list says that nothing is secret.
   */
  readonly secrets?: readonly string[]
  /**
   * Whether a value that the kit makes up stands for somebody all the same: another spelling of a
   * credential, or somebody else. Default: none does.
   */
  readonly alsoValid?: (value: string) => boolean
  /** Cleans up after a case. */
  readonly destroy?: () => MaybePromise<void>
}

/** A subject with its defaults. */
export type CompleteSubject = Required<Omit<SecuritySubject, 'house' | 'secrets' | 'destroy'>> &
  Pick<SecuritySubject, 'secrets'> & { readonly house: SecurityHouse }

/** One sentence of the contract of security providers, and the code that proves it. */
export interface SecurityCase {
  readonly name: string
  run(subject: CompleteSubject): void | Promise<void>
}

/** A subject with its defaults. Fails without requests to accept and to refuse. */
export function completeSubject(given: SecuritySubject): CompleteSubject {
  ensure(given.valid.length > 0, 'The subject has no valid request: the cases would prove nothing.')
  ensure(given.invalid.length > 0, 'The subject has no invalid request: every provider has one.')
  const nothing = { find: () => undefined, used: () => undefined, refused: () => undefined }
  return {
    ...given,
    house: { keys: nothing, users: nothing, now: () => new Date(), ...given.house },
    foreign: given.foreign ?? [],
    alsoValid: given.alsoValid ?? (() => false),
  }
}

/** The credential in a request that must have one. */
export function credentialIn(provider: SecurityProvider, request: Credentials): Credential {
  const credential = provider.find(request)
  ensure(credential !== undefined, 'find: expected a credential, but it found none.')
  return credential
}

/** The credentials of the valid requests. */
export function validCredentials({ provider, valid }: CompleteSubject): readonly Credential[] {
  return valid.map(({ request }) => credentialIn(provider, request))
}

/** The credentials of the invalid requests, but for those that `find` itself refuses. */
export function invalidCredentials(subject: CompleteSubject): readonly Credential[] {
  return subject.invalid.flatMap((request) => {
    try {
      return subject.provider.find(request) ?? []
    } catch {
      return []
    }
  })
}

/** The answer to a credential. What `identify` throws at once is a rejection. */
export async function identify(
  { provider, house }: CompleteSubject,
  credential: Credential,
): Promise<Principal | Refused | undefined> {
  return provider.identify(credential, house)
}

/** Whether an answer of `identify` is a principal, as the service tells. */
export function isPrincipal(answer: Principal | Refused | undefined): answer is Principal {
  return answer !== undefined && !('refused' in answer)
}

/** A plain value as text, to be compared; `show` cuts long ones. */
export function asText(value: unknown): string {
  return JSON.stringify([value])
}

/** What `find` does with a request: the credential, nothing, or what it throws. */
export type Finding = { readonly found: Credential | undefined } | { readonly thrown: unknown }

/** Asks a provider to find a credential, and catches what it throws. */
export function attempt(provider: SecurityProvider, request: Credentials): Finding {
  try {
    return { found: provider.find(request) }
  } catch (thrown) {
    return { thrown }
  }
}

/** The names of the headers without which the credential is not found, or is another one. */
export function carriersOf(provider: SecurityProvider, request: Credentials): readonly string[] {
  const watch = watched(request)
  const expected = asText(attempt(provider, watch.request))
  return Array.from(watch.headers).filter((name) => {
    if (request.header(name) === undefined) return false
    return asText(attempt(provider, changed(request, { headers: { [name]: null } }))) !== expected
  })
}
