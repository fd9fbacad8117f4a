import type { MaybePromise } from '../maybe-promise.ts'
import type { Principal } from '../definition/principal.ts'
import type { Credentials } from '../request/request.ts'
import type { RejectionReason } from '../observation.ts'
import type { KeyLookup } from './keys/key-store.ts'
import type { UserLookup } from './users/user-store.ts'

/** How callers authenticate, in the words of the environment record (section 2.5). */
export type AuthenticationType = 'api_key' | 'http_basic_auth' | 'auth_server'

/** A credential as it was found in a request; nothing is looked up yet. */
export interface Credential {
  /**
   * Where it was found, such as `header x-api-key`. Providers that look into the same place find the
   * same credential; credentials in two places are rejected with 400 (D25).
   */
  readonly place: string
  readonly value: string
}

/** A credential that is rejected. The reason goes to the host's log, never to the consumer (D25). */
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
   * While the answer is the same, nothing has changed about keys and users, in any process. Absent or
   * undefined: nobody can tell.
   */
  readonly version?: () => string | number | undefined
}

/**
 * The port of security: finds out who asks (section 5). The published cases of `rowgate/conformance`
 * are the exact contract.
 */
export interface SecurityProvider {
  readonly name: string
  /** A whole number, unique in a service: providers are asked and listed in this order (D43). */
  readonly priority: number
  /** A disabled provider rejects every credential of its own (D25). Default true. */
  readonly enabled?: boolean
  /** For the environment record (section 2.5). Default: none of the three. */
  readonly type?: AuthenticationType
  /** Its challenge in `WWW-Authenticate`, such as `Bearer`. */
  readonly challenge: string
  /** Whether credentials over plain HTTP are looked at (D26). Default false. */
  readonly allowInsecureHttp?: boolean
  /** Query parameters that carry a credential. They are taken off before the query is read. */
  readonly parameters?: readonly string[]
  /** More query parameters whose values no log may show: where clients put credentials by mistake. */
  readonly hiddenParameters?: readonly string[]
  /** What it needs the service to keep in its storage. Default: nothing. */
  readonly keeps?: readonly ('keys' | 'users')[]
  /** The credential of this provider's kind in a request, if there is one. MUST NOT look anything up. */
  find(request: Credentials): Credential | undefined
  /**
   * Who the credential stands for; rejected, or undefined, when it stands for nobody. MUST reject only
   * when it can't tell, for instance because a store is down: that is answered with 500 or 503.
   */
  identify(
    credential: Credential,
    context: SecurityContext,
  ): MaybePromise<Principal | Rejected | undefined>
}

/** Says that requests without a credential are served, and for whom they are. See `openAccess()`. */
export interface OpenAccess {
  readonly name: string
  readonly anyone: Principal
}

/** A provider that makes API keys: what the keyring needs of it (section 2.6). */
export interface KeyProvider extends SecurityProvider {
  readonly type: 'api_key'
  readonly identifier: string
  /** Minutes that a new key lives unless it is told otherwise; null: it does not expire. */
  readonly defaultExpiry: number | null
  /** Minutes that a new key may live at most; null: there is no maximum. */
  readonly maxExpiry: number | null
  /** Makes the text of a new key, unless one was chosen, and the hash by which it is found. */
  mint(chosen?: string): { readonly key: string; readonly hash: string }
}

/** A provider that checks passwords: what the users' own collection needs of it. */
export interface PasswordProvider extends SecurityProvider {
  readonly type: 'http_basic_auth'
  /** A salted hash of a password. */
  hash(password: string): Promise<string>
}
