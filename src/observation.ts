/** Where something happened, in the words of the definition. */
export interface Place {
  readonly application: string
  readonly collection: string
  readonly event: string
}

/**
 * Everything that a service reports to its host. Nothing of it reaches a consumer, and nothing is
 * printed: the host decides what to do with it (see the `report` option of `createService`).
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
  /** Storage could not be reached, was locked, full or closed: the request was answered with 503. */
  | { readonly type: 'storage-unavailable'; readonly error: unknown }
  /** Anything else that was answered with 500. */
  | { readonly type: 'request-failed'; readonly error: unknown }

/** Receives what a service reports. MUST NOT throw; what it throws is dropped. */
export type Report = (observation: Observation) => void
