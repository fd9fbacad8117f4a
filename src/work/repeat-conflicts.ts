import { isStorageError, type StorageError } from '../storage/adapter.ts'
import { pauseAfter } from './back-off.ts'

const maxRepeats = 12
const maxTime = 3_000
const backOff = { first: 8, max: 250 }

/**
 * Returns a function that is called after each failure of a transaction, and resolves when the transaction may
 * be repeated. It rejects with the error if that is not a conflict with another transaction, after 12 repeats,
 * and 3 seconds after the first failure.
 */
export function conflictPauses(): (error: unknown) => Promise<void> {
  let failures = 0
  let end = 0
  return async (error) => {
    if (failures === 0) end = performance.now() + maxTime
    failures += 1
    if (!isConflict(error) || failures > maxRepeats) throw error
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(failures, backOff)))
    if (performance.now() > end) throw error
  }
}

/** Runs a transaction again as long as it fails because of others. Its work must be free of other effects. */
export async function repeatConflicts<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const pause = conflictPauses()
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      await pause(error)
    }
  }
}

/** Returns whether an error says that a transaction was undone because of another one. */
export function isConflict(error: unknown): error is StorageError {
  return isStorageError(error) && error.kind === 'unavailable' && error.isConflict
}
