/**
 * A request that did not do what it was for. `refused`: the service has answered that it won't, and
 * would again. `unreached`: there was no answer of the service, or that it can't now; the next request
 * may fare better.
 */
export class RequestError extends Error {
  readonly kind: 'refused' | 'unreached'
  /** The HTTP status; null without an answer. */
  readonly status: number | null

  constructor(
    kind: 'refused' | 'unreached',
    message: string,
    { status = null, cause }: { readonly status?: number | null; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'RequestError'
    this.kind = kind
    this.status = status
  }
}
