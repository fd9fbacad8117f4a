import { internal, isServiceError, ServiceError, unavailable } from './errors.ts'
import type { Report } from './observation.ts'
import { isStorageError } from './storage/adapter.ts'

/**
 * Turns anything that was thrown while a request was served into the one refusal that the consumer
 * gets (D28, D29). What the consumer may not know is reported to the host.
 */
export function asServiceError(error: unknown, report: Report): ServiceError {
  if (isServiceError(error) && Object.entries(error.headers).every(isHeader)) {
    // An authorization server that can't be reached, say: nobody else tells the host.
    if (error.code === 'UNAVAILABLE' && error.cause instanceof Error) {
      report({ type: 'unavailable', error: error.cause })
    }
    return error
  }
  if (isStorageError(error) && error.kind === 'referenced') {
    return new ServiceError('ITEM_IN_USE', 'Other items still refer to this one.', { cause: error })
  }
  if (isStorageError(error) && error.kind === 'unavailable') {
    report({ type: 'storage-unavailable', error })
    return unavailable(error)
  }
  const isUnfit = isStorageError(error) && error.kind === 'unfit'
  report({ type: isUnfit ? 'stored-value-unfit' : 'request-failed', error })
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
