import { pause, runtime } from '../runtime.ts'
import { isStorageError } from '../storage/adapter.ts'

/** The limits of the pauses between attempts, in milliseconds. */
export interface BackOff {
  /** The maximum pause after the first failure; it doubles with each further one. */
  readonly first: number
  /** The maximum pause after any failure. */
  readonly max: number
}

/**
 * Returns a random pause before the next attempt, in milliseconds, from 0 to a maximum that grows with the
 * number of failures (full jitter). Jobs that failed together are not retried together.
 */
export function pauseAfter(failures: number, { first, max }: BackOff): number {
  return Math.floor(runtime.random() * Math.min(max, first * 2 ** Math.max(0, failures - 1)))
}

/** Retries a write while storage is unreachable, until `stop` is aborted. */
export async function retryWhileUnavailable<Result>(
  stop: AbortSignal,
  write: () => Promise<Result>,
): Promise<Result> {
  for (let wait = 50; ; wait = Math.min(wait * 2, 5_000)) {
    try {
      return await write()
    } catch (error) {
      if (!isStorageError(error) || error.kind !== 'unavailable' || stop.aborted) throw error
      await pause(wait)
    }
  }
}
