import { requirePlainObject } from '../checks/plain-object.ts'
import type { Envelope } from '../protocol/envelope.ts'
import { tooManyBytes } from '../runtime-fetch.ts'

/**
 * Why a request failed. `PRECONDITION_FAILED`: the item has another version than `ifMatch`. `PRECONDITION_REQUIRED`: the
 * collection requires `ifMatch`. `STATUS`: the response has another error status. `REDIRECT`: the URL redirects, which is not
 * followed. `INVALID_RESPONSE`: the response does not come from a service; it may be a page of a proxy.
 * `RESPONSE_TOO_LARGE`, `TOO_MANY_PAGES`, `TOO_MANY_CONFIRMATIONS`: a limit of the client was exceeded. `PAGE_CYCLE`:
 * a cursor was repeated.
 * `CONNECTION_FAILED`, `TIMEOUT`, `ABORTED`: there was no complete response. `CREDENTIAL_FAILED`: the function
 * of the credential failed, and nothing was sent.
 */
export type RequestErrorCode =
  | 'STATUS'
  | 'PRECONDITION_FAILED'
  | 'PRECONDITION_REQUIRED'
  | 'REDIRECT'
  | 'INVALID_RESPONSE'
  | 'RESPONSE_TOO_LARGE'
  | 'TOO_MANY_PAGES'
  | 'PAGE_CYCLE'
  | 'TOO_MANY_CONFIRMATIONS'
  | 'CONNECTION_FAILED'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'CREDENTIAL_FAILED'

/** What a {@link RequestError} may carry besides its code and message. */
export interface RequestErrorOptions {
  readonly status?: number
  readonly envelope?: Envelope | undefined
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/** The error of a failed request. It contains no credential. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: RequestErrorCode
  /** The HTTP status; null without a response. */
  readonly status: number | null
  /** The body of the error response; null if it is not one of a service. */
  readonly envelope: Envelope | null
  /** The seconds after which the service accepts a retry, if it stated them; else null. */
  readonly retryAfter: number | null

  constructor(code: RequestErrorCode, message: string, options: RequestErrorOptions = {}) {
    requirePlainObject('The options', options, 'RequestError')
    const { status, envelope, retryAfter, cause } = options
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status ?? null
    this.envelope = envelope ?? null
    this.retryAfter = retryAfter ?? null
  }

  /**
   * Whether the same request may succeed later. A write may have been made nevertheless if there was no
   * response, or one with a status of 500 or above.
   */
  get isTemporary(): boolean {
    const { code, status } = this
    if (code === 'STATUS') return status === 429 || (status ?? 0) >= 500
    return code === 'CONNECTION_FAILED' || code === 'TIMEOUT' || code === 'INVALID_RESPONSE'
  }
}

const codes: Readonly<Record<number, RequestErrorCode>> = {
  412: 'PRECONDITION_FAILED',
  428: 'PRECONDITION_REQUIRED',
}

/** Returns the error of a response with an error status; `envelope` is undefined if it has none. */
export function statusError(
  status: number,
  envelope: Envelope | undefined,
  retryAfter: number | undefined,
): RequestError {
  const findings = (envelope?.validations ?? []).map(({ message, field }) =>
    field === undefined ? message : `${field}: ${message}`,
  )
  const text = [envelope?.message ?? 'There was no message.', ...findings].join(' ')
  const code = envelope === undefined ? undefined : codes[status]
  return new RequestError(code ?? 'STATUS', `The service responded ${status}: ${text}`, {
    status,
    envelope,
    retryAfter,
  })
}

/** Returns the error of a response that is larger than allowed. */
export function tooLarge(maxBytes: number): RequestError {
  const text = `The response has more than ${maxBytes} bytes. Raise maxResponseBytes, or request less.`
  return new RequestError('RESPONSE_TOO_LARGE', text)
}

/** Returns the error of a request without a response. The reason of a failed `fetch` is in its cause. */
export function connectionError(error: unknown, maxBytes: number): RequestError {
  const { cause } = Object(error) as { readonly cause?: unknown }
  const { code, message } = Object(cause instanceof Error ? cause : error) as {
    readonly code?: unknown
    readonly message?: unknown
  }
  if (code === tooManyBytes) return tooLarge(maxBytes)
  const text = typeof message === 'string' && message !== '' ? message : 'the connection failed'
  const reason = typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text
  return new RequestError('CONNECTION_FAILED', `The service could not be reached: ${reason}.`, {
    cause: error,
  })
}
