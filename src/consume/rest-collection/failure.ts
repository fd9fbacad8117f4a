import type { CollectionShape } from '../../definition/item.ts'
import type { WritingContext } from '../../definition/serve.ts'
import { ServiceError } from '../../errors.ts'
import { StorageError } from '../../storage/adapter.ts'
import { isCallError, type CallError, type CallErrorCode } from '../call-error.ts'
import type { CompleteItem } from './complete-options.ts'

const maxRetryAfter = 60
const missing = new Set([404, 410])
// These are mistakes of application code: a retry would not help.
const mistakes = new Set<CallErrorCode>(['INVALID_INPUT', 'IN_TRANSACTION'])

/** Returns whether a call failed because the other service has no such item. */
export function isMissing(error: unknown): boolean {
  return isCallError(error) && error.code === 'STATUS' && missing.has(error.status ?? 0)
}

/**
 * Returns what a failed read throws. A rejected request is a mistake of the mapping; everything else makes
 * the collection unavailable.
 */
export function readError(error: unknown): unknown {
  if (!isCallError(error)) return error
  if (error.status === 414) {
    return new ServiceError('TARGET_TOO_LONG', 'The request is too long for the other service.')
  }
  const isRejected = error.code === 'STATUS' && (error.status === 400 || error.status === 422)
  return isRejected || mistakes.has(error.code) ? error : unavailable(error)
}

/**
 * Returns what a failed save or delete throws, or undefined if the item does not exist. Calls `reject` for a
 * message of the mapping.
 */
export function writeError(
  error: unknown,
  event: 'insert' | 'update' | 'delete',
  { rejection }: CompleteItem,
  { reject }: Pick<WritingContext<CollectionShape>, 'reject'>,
): unknown {
  if (!isCallError(error)) return error
  const described = error.response === null ? undefined : rejection?.(error.response)
  if (described !== undefined && 'message' in described) {
    return reject(described.message, described.field)
  }
  const { kind, fields } = described ?? { kind: failureKind(error, event) }
  if (kind === 'missing' && event !== 'insert') return undefined
  if (kind === 'missing' || kind === 'unavailable') return unavailable(error)
  // A Delete submits no values that could be invalid.
  if (event === 'delete' && kind !== 'referenced') {
    return reject('The other service did not accept the deletion.')
  }
  return new StorageError(kind, { fields: fields ?? [], cause: error, message: error.message })
}

function failureKind(
  error: CallError,
  event: string,
): 'missing' | 'duplicate' | 'invalid' | 'referenced' | 'unavailable' {
  const { code, status } = error
  if (code === 'INVALID_INPUT') return 'invalid'
  if (isMissing(error)) return 'missing'
  if (status === 409 && code === 'STATUS') return event === 'delete' ? 'referenced' : 'duplicate'
  return code === 'STATUS' && (status === 400 || status === 422) ? 'invalid' : 'unavailable'
}

/** Returns the error for a call whose failure the client has not caused. It is reported. */
export function unavailable(error: CallError): StorageError {
  // Also for 401 and 403: the call has the credentials of this service, not of the client.
  const { status, message, retryAfter } = error
  const stated = status === 429 || status === 503 ? retryAfter : null
  const seconds = Math.min(maxRetryAfter, Math.max(1, stated ?? 1))
  return new StorageError('unavailable', { cause: error, message, retryAfter: seconds })
}
