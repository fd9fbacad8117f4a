import type { MaybePromise } from '../maybe-promise.ts'
import { anonymous, type Principal } from '../definition/principal.ts'
import type { Credentials } from '../request/request.ts'
import type { RejectionReason } from '../observation/reports.ts'
import type { SecurityStorage } from './collections.ts'
import type { Keyring, KeyLookup } from './keys/key-store.ts'
import type { UserLookup } from './users/user-store.ts'

/** How callers authenticate, as the environment record names it. */
export type AuthenticationType = 'api_key' | 'http_basic_auth' | 'auth_server'

/** A credential as it was found in a request, not verified yet. */
export interface Credential {
  /**
   * Where it was found, such as `header x-api-key`. Providers that read the same place find the same
   * credential; credentials in two places are rejected with 400.
   */
  readonly place: string
  readonly value: string
  /** The address of the client, if the provider limits attempts by it. */
  readonly peer?: string | undefined
}

/** The result for a rejected credential. The reason is reported to the application, never to the client. */
export interface Rejected {
  readonly rejected: RejectionReason
  readonly user?: string
  readonly keyId?: string
}

/** What a provider may use of the service that it secures. */
export interface SecurityContext {
  readonly keys: KeyLookup
  readonly users: UserLookup
  /** The service's clock. */
  readonly now: () => Date
  /**
   * Returns a version that changes whenever keys or users change. A change in another process may count
   * later, within a bound that storage states. Absent, or undefined: changes can't be detected.
   */
  readonly version?: () => string | number | undefined
}

/**
 * The port of security: authenticates requests. The published cases of `rowgate/conformance` are the
 * exact contract.
 */
export interface SecurityProvider {
  readonly name: string
  /** An integer, unique in a service: providers are called and listed in ascending order. */
  readonly priority: number
  /** A disabled provider rejects every credential that it finds. Default true. */
  readonly enabled?: boolean
  /** The type in the environment record. Default: none of the three. */
  readonly type?: AuthenticationType
  /** Its challenge in `WWW-Authenticate`, such as `Bearer`. */
  readonly challenge: string
  /** Whether credentials over plain HTTP are accepted. Default false. */
  readonly allowInsecureHttp?: boolean
  /** Query parameters that carry a credential. They are removed before the query is parsed. */
  readonly parameters?: readonly string[]
  /** Further query parameters to hide in logs, because clients put credentials there by mistake. */
  readonly hiddenParameters?: readonly string[]
  /** What the service has to keep in its storage for this provider. Default: nothing. */
  readonly keeps?: readonly ('keys' | 'users')[]
  /** Returns the credential of this provider's kind in a request, if any. MUST NOT verify it. */
  find(request: Credentials): Credential | undefined
  /**
   * Returns the principal of a credential; for an invalid one, the reason or undefined. MUST reject only
   * if the credential can't be verified, for example because a database is unavailable: the service then
   * responds 500 or 503.
   */
  identify(
    credential: Credential,
    context: SecurityContext,
  ): MaybePromise<Principal | Rejected | undefined>
}

/** The declaration that requests without a credential are served, with their principal. */
export interface OpenAccess {
  readonly name: string
  readonly anyone: Principal
}

/**
 * Declares that access is open: requests without a credential get the {@link anonymous} principal, which
 * has no roles. If the service has providers too, they still verify the credentials that are sent.
 */
export function openAccess(): OpenAccess {
  return Object.freeze({ name: 'open access', anyone: anonymous })
}

/** A provider of API keys: what the keyring needs. */
export interface KeyProvider extends SecurityProvider {
  readonly type: 'api_key'
  readonly identifier: string
  /** The default lifetime of a new key in minutes; null: it does not expire. */
  readonly defaultExpiry: number | null
  /** The maximum lifetime of a new key in minutes; null: there is no maximum. */
  readonly maxExpiry: number | null
  /** Returns a new key, or the given one, with the hash by which it is found. */
  mint(chosen?: string): { readonly key: string; readonly hash: string }
}

/** What a keyring needs. */
export interface KeyringOptions {
  readonly storage: SecurityStorage
  /** The API key providers of the service, in the order of their priority. */
  readonly providers: readonly KeyProvider[]
  readonly users: UserLookup
  /** Whether the users are built in, so that transactions can check that a user exists. Default false. */
  readonly keepsUsers?: boolean
  readonly now: () => Date
}

/** The member of a provider that creates the keyring of its service. Without a provider, its code is not loaded. */
export const keyringFactory: unique symbol = Symbol.for('rowgate.keyringFactory')

/** A provider of API keys that creates the keyring. */
export interface WithKeyring extends KeyProvider {
  readonly [keyringFactory]: (options: KeyringOptions) => Keyring
}

/** A provider that checks passwords: what the built-in users need. */
export interface PasswordProvider extends SecurityProvider {
  readonly type: 'http_basic_auth'
  /** Whether it limits wrong passwords itself. Default false. */
  readonly limitsAttempts?: boolean
  /** Whether a function of the application checks the passwords, instead of the stored hashes. Default false. */
  readonly checksItself?: boolean
  /** Returns a salted hash of a password. */
  hash(password: string): Promise<string>
}

/** Returns whether a provider creates API keys. */
export function isKeyProvider(provider: SecurityProvider): provider is WithKeyring {
  return keyringFactory in provider
}

/** Returns whether a provider checks passwords. */
export function isPasswordProvider(provider: SecurityProvider): provider is PasswordProvider {
  return provider.type === 'http_basic_auth' && 'hash' in provider
}

/** Returns the provider of a new key whose request has none: the only one, or the only enabled one. */
export function defaultKeyProvider(providers: readonly KeyProvider[]): KeyProvider | undefined {
  const enabled = providers.filter((one) => one.enabled !== false)
  return [providers, enabled].find(({ length }) => length === 1)?.[0]
}
