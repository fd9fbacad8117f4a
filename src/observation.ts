import { isThenable } from './maybe-promise.ts'

/** Where something happened, in the words of the definition. */
export interface Place {
  readonly application: string
  readonly collection: string
  readonly event: string
}

/** Why a credential was refused; for the host's log only (D25). */
export type RejectionReason =
  | 'missing'
  | 'malformed'
  | 'unknown'
  | 'revoked'
  | 'expired'
  | 'provider-disabled'
  | 'user-disabled'
  | 'user-unknown'

/**
 * Everything that a service reports. Nothing of it reaches a client. The option `report` of
 * `createService` receives it; without that option failures are printed with `console.error`.
 */
export type Observation =
  /** A handler, rule or default of the host threw, or returned what it may not. */
  | {
      readonly type: 'handler-failed'
      readonly place: Place
      readonly name: string
      readonly error: unknown
    }
  /** A handler did not settle within `handlerTimeout` milliseconds and was cut off. */
  | {
      readonly type: 'handler-timed-out'
      readonly place: Place
      readonly name: string
      readonly milliseconds: number
    }
  /** A handler that runs after the commit failed. The change is kept and the answer was not affected. */
  | { readonly type: 'committed-handler-failed'; readonly place: Place; readonly error: unknown }
  /** Something else that a request needs could not be had: the request was answered with 503. */
  | { readonly type: 'unavailable'; readonly place: Place | null; readonly error: unknown }
  /** Storage could not be reached, was locked, full or closed: the request was answered with 503. */
  | { readonly type: 'storage-unavailable'; readonly place: Place | null; readonly error: unknown }
  /**
   * A stored value does not fit its field; the message of the error names collection, key and field. A read
   * responded 500. An update or delete of the row succeeded, with null in place of the value.
   */
  | { readonly type: 'stored-value-unfit'; readonly place: Place | null; readonly error: unknown }
  /** A request was answered with 403. The client does not learn which right was missing. */
  | {
      readonly type: 'forbidden'
      readonly place: Place | null
      readonly user: string | null
      /** The role, attribute or rule that was missing. */
      readonly reason: string
    }
  /** A request was answered with 401. The consumer is never told why (D25). */
  | {
      readonly type: 'credential-rejected'
      readonly reason: RejectionReason
      /** The name of the provider that refused; null when the request brought no credential. */
      readonly provider: string | null
      readonly user: string | null
      readonly keyId: string | null
      /** The client's address, where it is known. */
      readonly peer: string | null
    }
  /** A credential came over plain HTTP and was not looked at (D26): it has to be replaced. */
  | {
      readonly type: 'credential-in-clear'
      readonly provider: string
      readonly peer: string | null
    }
  /** A limiter failed otherwise than by refusing; the request went on. */
  | { readonly type: 'limiter-failed'; readonly error: unknown }
  /** Something about a key, such as its last use, could not be written down. */
  | { readonly type: 'security-record-failed'; readonly error: unknown }
  /** A pattern of a field can hold the process, since patterns run on the main thread. Reported at start. */
  | {
      readonly type: 'pattern-at-risk'
      readonly application: string
      readonly collection: string
      readonly field: string
      readonly pattern: string
      /**
       * `no-maximum-length`: the field has no `maxLength`. `super-linear`: the time may grow faster than
       * the length of the text. `not-analyzed`: that is not known, for example of a very long pattern.
       */
      readonly reason: 'no-maximum-length' | 'super-linear' | 'not-analyzed'
    }
  /** Anything else that was answered with 500. */
  | { readonly type: 'request-failed'; readonly place: Place | null; readonly error: unknown }

/** Receives what a service reports. MUST NOT throw; what it throws is dropped. */
export type Report = (observation: Observation) => void

/** What the host listens with, so that it can't do harm: a host that fails there has nobody left to tell. */
export function harmless<Told>(listen: (told: Told) => unknown): (told: Told) => void {
  return (told) => {
    try {
      const heard = listen(told)
      if (isThenable(heard)) Promise.resolve(heard).catch(() => undefined)
    } catch {}
  }
}
