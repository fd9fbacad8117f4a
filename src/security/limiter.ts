/**
 * A limiter as rate-limiter-flexible has them: `consume` resolves while there is something left, and
 * rejects with an object that has `msBeforeNext` (milliseconds) when there is not. What it rejects with
 * otherwise is a failure of the limiter itself: it is reported, and the request goes on.
 */
export interface Limiter {
  consume(key: string): Promise<unknown>
}

/** The limits of a service; each is off unless it is given. */
export interface Limits {
  /** Consumes one point a request, by API key where there is one, else by user. */
  readonly requests?: Limiter | undefined
  /** Consumes one point for each credential that is rejected, by the client's address. */
  readonly failures?: Limiter | undefined
}
