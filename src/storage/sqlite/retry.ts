import type { MaybePromise } from '../../maybe-promise.ts'
import { isBusy } from './failure.ts'

const pauseMilliseconds = 3

/** Runs work, and retries while another connection holds the lock. Rejects after a time in milliseconds. Never throws. */
export function retryWhileBusy<Result>(
  work: () => MaybePromise<Result>,
  milliseconds: number,
): MaybePromise<Result> {
  const later = (error: unknown): Promise<Result> => retryLater(error, work, milliseconds)
  try {
    const result = work()
    return result instanceof Promise ? result.catch(later) : result
  } catch (error) {
    return later(error)
  }
}

async function retryLater<Result>(
  error: unknown,
  work: () => MaybePromise<Result>,
  milliseconds: number,
): Promise<Result> {
  const began = performance.now()
  let latest = error
  while (isBusy(latest) && performance.now() - began < milliseconds) {
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds))
    try {
      return await work()
    } catch (again) {
      latest = again
    }
  }
  throw latest
}
