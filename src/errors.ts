/**
 * Every way in which a request can be refused: one code, one HTTP status, one text for the consumer.
 * The list is closed; `docs/errors.md` describes each code and a test compares both.
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
  BODY_TOO_LARGE: 413,
  TARGET_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  TOO_MANY_REQUESTS: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const

/** A code of the closed list of service errors. */
export type ServiceErrorCode = keyof typeof errorStatuses

const brand = Symbol.for('rowgate.ServiceError')

/** What a {@link ServiceError} may carry besides its code and message. */
export interface ServiceErrorOptions {
  /** Response headers that belong to the refusal, for instance `Allow`. */
  readonly headers?: Readonly<Record<string, string>>
  /** What went wrong underneath. Reported, never sent. */
  readonly cause?: unknown
}

/**
 * The one error that is thrown while a request is served. Its message is meant for the consumer:
 * it names the offending thing and never quotes input, SQL or a stack.
 */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode
  /** The HTTP status of the answer. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ServiceErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.status = errorStatuses[code]
    this.headers = options.headers ?? {}
    Object.defineProperty(this, brand, { value: true })
  }
}

/** Tells a {@link ServiceError}, also one that another copy of the package made. */
export function isServiceError(value: unknown): value is ServiceError {
  return typeof value === 'object' && value !== null && brand in value
}

/** The one answer for everything that does not exist or may not be seen. */
export function notFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Not found.')
}

/** What a caller lacks, for reports. */
export interface MissingRight {
  readonly user: string | null
  readonly reason: string
}

/** The one answer for a caller who lacks the right (D26). What is missing is reported, never sent. */
export function forbidden(missing: MissingRight): ServiceError {
  return new ServiceError('FORBIDDEN', 'You do not have the right to do this.', { cause: missing })
}

/** The one answer for a fault of the host's code or of a database: no internals. */
export function internal(cause: unknown): ServiceError {
  return new ServiceError(
    'INTERNAL',
    'The request could not be served because of an internal error.',
    {
      cause,
    },
  )
}

/** The one answer while storage can't be reached, is locked or full, or the service closes. */
export function unavailable(cause: unknown): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    'The service is not available at the moment. Try again later.',
    {
      cause,
      headers: { 'Retry-After': '1' },
    },
  )
}
