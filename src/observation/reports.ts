import { isThenable } from '../maybe-promise.ts'

/** The collection and event to which a report belongs. */
export interface EventPlace {
  readonly application: string
  readonly collection: string
  readonly event: string
}

/** Why a credential was rejected. For reports only; responses never contain it. */
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
 * Everything that a service reports to your application. Clients receive none of it. The option `report`
 * of `createService` receives it; without that option, failures are printed with `console.error`.
 */
export type Observation =
  /**
   * A handler, rule, default function, computed field or serving function of your application threw, or
   * returned an invalid value.
   */
  | {
      readonly type: 'handler-failed'
      readonly place: EventPlace
      readonly name: string
      readonly error: unknown
    }
  /**
   * A handler did not settle within `handlerTimeout` milliseconds, or a serving function within its own
   * limit, and did not wait for storage. Its event failed.
   */
  | {
      readonly type: 'handler-timed-out'
      readonly place: EventPlace
      readonly name: string
      readonly milliseconds: number
    }
  /** A handler that runs after the commit failed. The change is kept, the response was not affected. */
  | {
      readonly type: 'committed-handler-failed'
      readonly place: EventPlace
      readonly error: unknown
    }
  /**
   * A `prepare` handler reported a failure, such as a failure of another service. The handler decides whether the
   * event continues.
   */
  | { readonly type: 'prepare-failed'; readonly place: EventPlace; readonly error: unknown }
  /** Something other than storage was not available, such as an authorization server: responded 503. */
  | { readonly type: 'unavailable'; readonly place: EventPlace | null; readonly error: unknown }
  /**
   * Storage was unreachable, locked, full or closed, or a serving function threw `unavailable`: responded 503.
   */
  | {
      readonly type: 'storage-unavailable'
      readonly place: EventPlace | null
      readonly error: unknown
    }
  /**
   * A stored value does not fit its field; the message of the error names collection, key and field. A read
   * responded 500. An update or delete of the row succeeded, with null in place of the value.
   */
  | {
      readonly type: 'stored-value-unfit'
      readonly place: EventPlace | null
      readonly error: unknown
    }
  /** Responded 403. The response does not say which right was missing. */
  | {
      readonly type: 'forbidden'
      readonly place: EventPlace | null
      readonly user: string | null
      /** The role, attribute or rule that was missing. */
      readonly reason: string
    }
  /**
   * The database does not let the role of its connection do this, or a policy of it rejects the row: responded 403. The
   * cause of the error is the error of the database.
   */
  | {
      readonly type: 'storage-forbidden'
      readonly place: EventPlace | null
      readonly error: unknown
    }
  /** Responded 401. The response does not say why. */
  | {
      readonly type: 'credential-rejected'
      readonly reason: RejectionReason
      /** The name of the provider that rejected the credential; null if the request had none. */
      readonly provider: string | null
      readonly user: string | null
      readonly keyId: string | null
      /** The client's address, where it is known. */
      readonly peer: string | null
    }
  /** A credential was sent over plain HTTP and was not checked. Replace it: it may have been read. */
  | {
      readonly type: 'credential-in-clear'
      readonly provider: string
      readonly peer: string | null
    }
  /**
   * Administration is published, and nothing limits how often a client may guess passwords: set `attempts` of the provider,
   * or `limits.failures`. Reported at start.
   */
  | { readonly type: 'passwords-without-limit'; readonly provider: string }
  /** A limiter threw. The request was handled as if it were within the limit. */
  | { readonly type: 'limiter-failed'; readonly error: unknown }
  /** Something about a key, such as its last use, could not be recorded. */
  | { readonly type: 'security-record-failed'; readonly error: unknown }
  /** A pattern of a field can block the process, because patterns run on the main thread. Reported at start. */
  | {
      readonly type: 'pattern-at-risk'
      readonly application: string
      readonly collection: string
      readonly field: string
      readonly pattern: string
      /**
       * `no-maximum-length`: the field has no `maxLength`. `super-linear`: the time may grow faster than
       * the length of the string. `not-analyzed`: unknown, for example for a very long pattern.
       */
      readonly reason: 'no-maximum-length' | 'super-linear' | 'not-analyzed'
    }
  /**
   * A pool of connections does not limit the time to connect: a connection that is accepted and never answered would keep
   * its place. The storage has set the limit. Set `option` where the pool is created. Reported at start.
   */
  | {
      readonly type: 'pool-without-connect-timeout'
      /** The name of the storage. */
      readonly storage: string
      /** The option of the pool that is missing. */
      readonly option: 'connectionTimeoutMillis' | 'connectTimeout'
      /** The limit that the storage has set, in milliseconds. */
      readonly milliseconds: number
    }
  /**
   * Pages in an order read and sort a whole table, which is large and has an index on the first column that has another
   * order. Reported at start.
   */
  | {
      readonly type: 'order-without-index'
      readonly application: string
      readonly collection: string
      /** The fields of the order. */
      readonly fields: readonly string[]
      /** The statements that create an index with the order. Empty: the values are too long for an index. */
      readonly statements: readonly string[]
    }
  /**
   * Conditions of requests read a whole table, which is large, because no index begins with their fields. Reported at
   * start. The method `inspect` also finds conditions that no index would serve.
   */
  | {
      readonly type: 'condition-without-index'
      readonly application: string
      readonly collection: string
      /** The fields that an index should begin with. */
      readonly fields: readonly string[]
      /** The parameters, such as `status.in`, references and row rules that have these conditions. */
      readonly conditions: readonly string[]
      /** The statements that create the indexes. */
      readonly statements: readonly string[]
    }
  /** A call of the outbox failed. It is repeated later. The error has nothing of the response. */
  | {
      readonly type: 'delivery-failed'
      readonly deliveryId: string
      /** The name of the endpoint in the outbox. */
      readonly endpoint: string
      readonly lane: string | null
      readonly error: unknown
    }
  /** A delivery of the outbox will not be repeated until it is retried: see `rowgate outbox`. */
  | {
      readonly type: 'delivery-dead'
      readonly deliveryId: string
      readonly endpoint: string
      readonly lane: string | null
      readonly error: unknown
    }
  /** A worker ended during a delivery, or made no progress for a whole lease. Another one sends it again. */
  | {
      readonly type: 'delivery-lost'
      readonly deliveryId: string
      readonly endpoint: string
      readonly lane: string | null
    }
  /** A worker of the outbox could not use storage. It tries again. */
  | { readonly type: 'outbox-unavailable'; readonly error: unknown }
  /**
   * The build queue had a job without a release of this deployment, or storage has a release that can't be read:
   * another program has written it. It is not built.
   */
  | {
      readonly type: 'build-discarded'
      /** Null if the job has none. */
      readonly releaseId: string | null
      readonly error: unknown
    }
  /**
   * Any other failure: responded 500. Or the service could not respond, because other code had begun the response or a
   * wrapper around the service has failed: ended the response.
   */
  | { readonly type: 'request-failed'; readonly place: EventPlace | null; readonly error: unknown }

/** What is wrong with how a storage adapter was created, although it works. */
export type StorageWarning = Extract<Observation, { readonly type: 'pool-without-connect-timeout' }>

/** What would make a storage adapter faster. */
export type StorageAdvice = Extract<
  Observation,
  { readonly type: 'order-without-index' | 'condition-without-index' }
>

/** Receives the reports of a service. MUST NOT throw; what it throws is ignored. */
export type Report = (observation: Observation) => void

/** Returns a listener that ignores what `listen` throws, or rejects with: a failing listener must not fail a request. */
export function guardedListener<Value>(listen: (value: Value) => unknown): (value: Value) => void {
  return (value) => {
    try {
      const result = listen(value)
      if (isThenable(result)) Promise.resolve(result).catch(() => undefined)
    } catch {}
  }
}

/** Returns what is slow about pages in the order of fields, and the statements that end it. */
export function slowOrderText(fields: readonly string[], statements: readonly string[]): string {
  const slow = `pages in the order of ${fields.join(', ')} sort the whole table, because no index has this order`
  return statements.length === 0
    ? `${slow}, and the values are too long for one.`
    : `${slow}. Create one with\n${statements.join('\n')}`
}

/** Returns which conditions read a whole table, and the statements that end it. */
export function slowConditionText(
  fields: readonly string[],
  conditions: readonly string[],
  statements: readonly string[],
): string {
  const names = fields.join(' and ')
  const slow = `conditions on ${names} (${conditions.join(', ')}) read the whole table`
  return statements.length === 0
    ? `${slow}, and no index of the database serves them.`
    : `${slow}, because no index serves them. Create one with\n${statements.join('\n')}`
}
