import { requirePlainObject } from '../checks/plain-object.ts'
import type { EndpointResponse } from './call.ts'

/**
 * Why a call failed, and what the error's message says about it. The list is closed; the guide
 * describes each code.
 */
export const callErrorCodes = {
  INVALID_INPUT: 'the input is not valid',
  FORBIDDEN_URL: 'the URL is not allowed',
  PRIVATE_ADDRESS: 'its host has a private address',
  IN_TRANSACTION:
    'a write transaction is open; make the call before the transaction, or send it through an outbox',
  FILE_FAILED: 'a file of the request could not be read',
  NAME_NOT_FOUND: 'its host name could not be resolved',
  CONNECTION_FAILED: 'the connection failed',
  TLS_FAILED: 'the certificate or the TLS connection was not accepted',
  FUNCTION_FAILED: 'the function failed',
  TIMEOUT: 'there was no complete response in time',
  AUTHENTICATION_FAILED: 'no credentials could be obtained',
  STATUS: 'the response has an error status',
  REDIRECT: 'the response is a redirect that is not followed',
  RESPONSE_TOO_LARGE: 'the response is too large',
  RESPONSE_TOO_DEEP: 'the response is nested too deeply',
  RESPONSE_NOT_JSON: 'the response is not JSON',
  INVALID_JSON: 'the response contains invalid JSON',
  INVALID_RESPONSE: 'the response does not match the description of the endpoint',
  TOO_MANY_PAGES: 'there are more pages than allowed',
  PAGE_CYCLE: 'a page was repeated',
} as const

/** A code of the closed list of {@link CallError}. */
export type CallErrorCode = keyof typeof callErrorCodes

/** What a {@link CallError} may carry besides its code and endpoint. */
export interface CallErrorOptions {
  readonly status?: number | undefined
  readonly retryAfter?: number | undefined
  /** Completes the message. It must not contain values of a response, of an input or of a credential. */
  readonly detail?: string | undefined
  readonly response?: EndpointResponse | undefined
  /** The beginning of a body; see {@link CallError.excerpt}. */
  readonly excerpt?: string | undefined
  readonly cause?: unknown
}

const brand = Symbol.for('rowgate.CallError')

/**
 * The error of a failed call. Its message names the endpoint, the reason and the place in the response, in which names
 * that may be data are `*`. It contains no values of the response's body, of the credentials or of the input.
 */
export class CallError extends Error {
  readonly code: CallErrorCode
  /** The name of the endpoint. */
  readonly endpoint: string
  /** The HTTP status; null if there was no response. */
  readonly status: number | null
  /** The seconds after which the other service accepts a retry, if it stated them; else null. */
  readonly retryAfter: number | null
  // Private, so that logs which print the error's members don't contain the body.
  readonly #response: EndpointResponse | null
  readonly #excerpt: string | null

  constructor(code: CallErrorCode, endpoint: string, options: CallErrorOptions = {}) {
    requirePlainObject('The options', options, 'CallError')
    const { status, retryAfter, detail, response, excerpt, cause } = options
    const reason =
      detail ??
      (code === 'STATUS' && status !== undefined ? `it responded ${status}` : callErrorCodes[code])
    super(`The call of ${endpoint} failed: ${reason}.`, cause === undefined ? undefined : { cause })
    this.name = 'CallError'
    this.code = code
    this.endpoint = endpoint
    this.status = status ?? null
    this.retryAfter = retryAfter ?? null
    this.#response = response ?? null
    this.#excerpt = excerpt ?? null
    Object.defineProperty(this, brand, { value: true })
  }

  /**
   * Returns the response with an error status; null for other codes. Its body is parsed JSON, and null
   * if it is not JSON or exceeds a limit. The body is data of the other service: don't log or forward it.
   */
  get response(): EndpointResponse | null {
    return this.#response
  }

  /**
   * Returns the first 8,192 bytes of the body of a response with an error status, or of one whose body could not be read,
   * as text; null if there is none. It is data of the other service: don't log or forward it.
   */
  get excerpt(): string | null {
    return this.#excerpt
  }
}

/** Returns whether a value is a {@link CallError}, including one of another copy of the package. */
export function isCallError(value: unknown): value is CallError {
  return value instanceof Error && brand in value
}
