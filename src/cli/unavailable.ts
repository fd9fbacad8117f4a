import { isStorageError, type StorageError } from '../storage/adapter.ts'
import { errorMessage } from './text.ts'

/** Returns whether an error says that the database can't be reached, or is locked. */
export function isUnavailable(error: unknown): error is StorageError {
  return isStorageError(error) && error.kind === 'unavailable'
}

/** Returns one sentence that says why the database is unavailable. */
export function unavailableMessage({ message, cause }: StorageError): string {
  const reason = cause === undefined ? message : cause
  return `The database is unavailable: ${errorMessage(reason).replace(/\.$/, '')}.`
}
