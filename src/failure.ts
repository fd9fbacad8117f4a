import {
  errorOf,
  internal,
  isServiceError,
  unavailable,
  type MissingRight,
  type ServiceError,
} from './errors.ts'
import { messageOf } from './messages/message.ts'
import type { EventPlace, Report } from './observation/reports.ts'
import { isStorageError } from './storage/adapter.ts'

/**
 * Returns the error that the client receives for anything thrown while a request was handled. Details
 * that must not be in a response are reported instead.
 */
export function asServiceError(
  error: unknown,
  report: Report,
  placeOf: () => EventPlace | null,
): ServiceError {
  try {
    return translated(error, report, placeOf)
  } catch (fault) {
    // The members of the error can't be read, for example because it is a revoked proxy.
    report({ type: 'request-failed', place: placeOf(), error: fault })
    return internal(fault)
  }
}

function translated(
  error: unknown,
  report: Report,
  placeOf: () => EventPlace | null,
): ServiceError {
  if (isServiceError(error) && Object.entries(error.headers).every(isHeader)) {
    // For example an authorization server that can't be reached. Nothing else reports it.
    if (error.code === 'UNAVAILABLE' && error.cause instanceof Error) {
      report({ type: 'unavailable', place: placeOf(), error: error.cause })
    }
    if (error.code === 'FORBIDDEN') {
      const { user = null, reason = error.message } = Object(error.cause) as Partial<MissingRight>
      report({ type: 'forbidden', place: placeOf(), user, reason })
    }
    return error
  }
  if (isStorageError(error) && error.kind === 'referenced') {
    return errorOf('ITEM_IN_USE', messageOf('itemInUse', {}), { cause: error })
  }
  if (isStorageError(error) && error.kind === 'unavailable') {
    // The client has disconnected, so storage has stopped its read: nothing is wrong.
    if (!isAbort(error.cause)) report({ type: 'storage-unavailable', place: placeOf(), error })
    return unavailable(error, error.retryAfter)
  }
  if (isStorageError(error) && error.kind === 'forbidden') {
    report({ type: 'storage-forbidden', place: placeOf(), error })
    return errorOf('FORBIDDEN', messageOf('forbidden', {}), { cause: error })
  }
  const isUnfit = isStorageError(error) && error.kind === 'unfit'
  report({ type: isUnfit ? 'stored-value-unfit' : 'request-failed', place: placeOf(), error })
  return internal(error)
}

function isAbort(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'AbortError'
}

// An invalid header would make the response fail.
function isHeader([name, value]: readonly [string, unknown]): boolean {
  return (
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
    typeof value === 'string' &&
    /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
  )
}
