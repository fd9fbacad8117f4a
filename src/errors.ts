import { textOf, messageOf, withMessage, type Message } from './messages/message.ts'
import { requirePlainObject } from './checks/plain-object.ts'

/**
 * The codes of all errors of a request, each with its HTTP status. The list is closed; `docs/errors.md`
 * describes each code, and a test compares both.
 */
export const errorStatuses = {
  MALFORMED_TARGET: 400,
  MALFORMED_QUERY: 400,
  MALFORMED_HEADER: 400,
  MULTIPLE_CREDENTIALS: 400,
  MALFORMED_BODY: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  HTTPS_REQUIRED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  ITEM_IN_USE: 409,
  REQUEST_IN_PROGRESS: 409,
  RESPONSE_NOT_KEPT: 409,
  PRECONDITION_FAILED: 412,
  BODY_TOO_LARGE: 413,
  TARGET_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  PRECONDITION_REQUIRED: 428,
  TOO_MANY_REQUESTS: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const

/** A code of the closed list of service errors. */
export type ServiceErrorCode = keyof typeof errorStatuses

const brand = Symbol.for('rowgate.ServiceError')

/** Optional parts of a {@link ServiceError}. */
export interface ServiceErrorOptions {
  /** Response headers of the error, for example `Allow`. */
  readonly headers?: Readonly<Record<string, string>>
  /** The underlying error. It is reported and never sent. */
  readonly cause?: unknown
}

/**
 * The only error with which a request is rejected. Its message is sent to the client: it names what is wrong,
 * and may repeat a name that the client sent, at most 64 characters of it. The library never puts SQL, a stack
 * or a stored value in a message; application code that throws this error should not, either.
 */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode
  /** The HTTP status of the response. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  /** Throws a TypeError for a code that is not in the list, and for a message that is not a string or is empty. */
  constructor(code: ServiceErrorCode, message: string, options: ServiceErrorOptions = {}) {
    if (!isCode(code)) throw new TypeError(`ServiceError: unknown code ${String(code)}`)
    if (!isMessage(message)) throw new TypeError('ServiceError: message must be a non-empty string')
    requirePlainObject('The options', options, 'ServiceError')
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.status = errorStatuses[code]
    this.headers = options.headers ?? {}
    Object.defineProperty(this, brand, { value: true })
  }
}

/**
 * Returns whether a value is a {@link ServiceError}, including one of another copy of the package. Returns false if the
 * code is not in the list of this copy, if the status does not belong to the code, or if the message is not a string or is
 * empty.
 */
export function isServiceError(value: unknown): value is ServiceError {
  if (typeof value !== 'object' || value === null || !(brand in value)) return false
  // Another copy of the package may have other codes, and JavaScript can change the members of an error.
  const { code, status, message, headers } = value as Partial<Record<keyof ServiceError, unknown>>
  const isKnown = isCode(code) && status === errorStatuses[code]
  return isKnown && isMessage(message) && typeof headers === 'object' && headers !== null
}

function isCode(code: unknown): code is ServiceErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorStatuses, code)
}

function isMessage(message: unknown): message is string {
  return typeof message === 'string' && message !== ''
}

/** Returns the error with a message of the catalogue. */
export function errorOf(
  code: ServiceErrorCode,
  message: Message,
  options?: ServiceErrorOptions,
): ServiceError {
  return withMessage(new ServiceError(code, textOf(message), options), message)
}

/** Returns the error for everything that does not exist or that the caller must not see. */
export function notFound(): ServiceError {
  return errorOf('NOT_FOUND', messageOf('notFound', {}))
}

/** Returns the error for a method that a path does not have. `allowed` are those that it has. */
export function methodNotAllowed(allowed: readonly string[]): ServiceError {
  return errorOf('METHOD_NOT_ALLOWED', messageOf('methodNotAllowed', {}), {
    headers: { Allow: allowed.join(', ') },
  })
}

/** The right that a caller lacks, for reports. */
export interface MissingRight {
  readonly user: string | null
  readonly reason: string
}

/** Returns the error for a caller without the right. Which one is missing is reported, never sent. */
export function forbidden(missing: MissingRight): ServiceError {
  return errorOf('FORBIDDEN', messageOf('forbidden', {}), { cause: missing })
}

/** Returns the error for a failure of application code or of the database. It contains no internals. */
export function internal(cause: unknown): ServiceError {
  return errorOf('INTERNAL', messageOf('internal', {}), { cause })
}

/**
 * Returns the error while storage can't be reached, is locked or full, or while the service closes. The
 * client may try again after some seconds.
 */
export function unavailable(cause: unknown, retryAfter = 1): ServiceError {
  return errorOf('UNAVAILABLE', messageOf('unavailable', {}), {
    cause,
    headers: { 'Retry-After': String(retryAfter) },
  })
}

/** Marks the cause of an error with which work continues: the request must not be executed again. */
export const continues: unique symbol = Symbol.for('rowgate.continues')
