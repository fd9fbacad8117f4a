import { internal, isServiceError, ServiceError, unavailable, type MissingRight } from './errors.ts'
import type { Place, Report } from './observation.ts'
import { isStorageError } from './storage/adapter.ts'

/**
 * Turns anything that was thrown while a request was served into the one refusal that the consumer
 * gets (D28, D29). What the consumer may not know is reported to the host.
 */
export function asServiceError(
  error: unknown,
  report: Report,
  placeOf: () => Place | null,
): ServiceError {
  if (isServiceError(error) && Object.entries(error.headers).every(isHeader)) {
    // An authorization server that can't be reached, say: nobody else tells the host.
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
    return new ServiceError('ITEM_IN_USE', 'Other items still refer to this one.', { cause: error })
  }
  if (isStorageError(error) && error.kind === 'unavailable') {
    report({ type: 'storage-unavailable', place: placeOf(), error })
    return unavailable(error)
  }
  const isUnfit = isStorageError(error) && error.kind === 'unfit'
  report({ type: isUnfit ? 'stored-value-unfit' : 'request-failed', place: placeOf(), error })
  return internal(error)
}

// What no header can carry would break the answer itself.
function isHeader([name, value]: readonly [string, unknown]): boolean {
  return (
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
    typeof value === 'string' &&
    /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
  )
}
