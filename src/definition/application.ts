import type { CollectionDefinition } from './collection.ts'

/** An application: collections under one endpoint name. */
export interface ApplicationDefinition {
  /** The collections by endpoint name. */
  readonly collections: Readonly<Record<string, CollectionDefinition>>
  /** The roles that may use the application: a caller needs one of them. Default: every caller. */
  readonly roles?: readonly string[]
  readonly description?: string
  /**
   * Whether a write with the header `Idempotency-Key` is executed once: a repetition gets the stored response. See "When
   * several write" in the guides. Default: false, the header is ignored.
   */
  readonly idempotencyKeys?: boolean | IdempotencyKeys
}

/** How requests with the header `Idempotency-Key` are kept. */
export interface IdempotencyKeys {
  /** How long a response is kept, in minutes. Default 1440, a day. */
  readonly keepFor?: number
  /** About how many keys of one caller are kept. Writes with further keys respond 429. Default 100000. */
  readonly maxKeys?: number
  /** The largest response that is kept, in bytes. A repetition of a request with a larger one responds 409. Default 262144. */
  readonly maxBytes?: number
}

/** The applications of a service by endpoint name. */
export type ApplicationDefinitions = Readonly<Record<string, ApplicationDefinition>>
