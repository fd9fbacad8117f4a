import { pause, runtime } from '../runtime.ts'
import { isStorageError, type StorageError } from '../storage/adapter.ts'
import { pauseAfter } from './back-off.ts'

const maxRepeats = 12
const maxEarlyRepeats = 200
const maxTime = 3_000
const backOff = { first: 8, max: 250 }
// Whoever waits for the lock of a row should not leave it to the next one that arrives.
const earlyBackOff = { first: 1, max: 16 }

/**
 * Waits after a failure of a transaction until it may be repeated. Rejects with the error if that is not a conflict with
 * another transaction, after 12 repeats, and 3 seconds after the first failure. `isEarly`: the transaction had done
 * nothing but wait for locks; there are up to 200 such repeats, which follow each other faster.
 */
export type ConflictPause = (error: unknown, isEarly?: boolean) => Promise<void>

/** Returns the pauses of one transaction. */
export function conflictPauses(): ConflictPause {
  let end: number | undefined
  let failures = 0
  let early = 0
  return async (error, isEarly = false) => {
    const wait = isEarly ? pauseAfter(++early, earlyBackOff) : pauseAfter(++failures, backOff)
    if (!isConflict(error) || failures > maxRepeats || early > maxEarlyRepeats) throw error
    if (!isEarly) end ??= runtime.performanceNow() + maxTime
    await pause(wait)
    if (!isEarly && runtime.performanceNow() > (end ?? 0)) throw error
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

/** Returns whether an error means that a transaction was rolled back because of another one. */
export function isConflict(error: unknown): error is StorageError {
  return isStorageError(error) && error.kind === 'unavailable' && error.isConflict
}
