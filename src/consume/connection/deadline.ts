import { runtime } from '../../runtime.ts'

/** The time that a call has. */
export interface Deadline {
  /** Aborted when the time has passed and when the caller aborts, not after the work has ended. */
  readonly signal: AbortSignal
  /** Returns the milliseconds that are left. */
  remaining(): number
}

/** The limits of some work. */
export interface TimeLimits {
  /** Milliseconds. */
  readonly timeout: number
  readonly signal: AbortSignal | undefined
  /** Creates the error of work that takes longer. */
  readonly late: () => Error
}

/**
 * Runs work within a time. Rejects with `late()` when the time has passed, and with the reason of `signal` once it is
 * aborted, even if the work does not react to its signal.
 */
export async function withinTime<Result>(
  { timeout, signal, late }: TimeLimits,
  work: (deadline: Deadline) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted()
  const control = new AbortController()
  const end = runtime.performanceNow() + timeout
  const timer = runtime.setTimeout(() => {
    control.abort(late())
  }, timeout)
  const abort = (): void => {
    control.abort(signal?.reason)
  }
  signal?.addEventListener('abort', abort, { once: true })
  const aborted = new Promise<never>((_, reject) => {
    control.signal.addEventListener('abort', () => {
      reject(control.signal.reason as Error)
    })
  })
  try {
    const deadline = { signal: control.signal, remaining: () => end - runtime.performanceNow() }
    return await Promise.race([work(deadline), aborted])
  } catch (error) {
    // What the work threw is a consequence of the abort.
    throw control.signal.aborted ? control.signal.reason : error
  } finally {
    runtime.clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    // Nothing listens once the work has ended. A fetch that has ended must not be aborted: in Node 20, that may end
    // the process.
    aborted.catch(() => undefined)
  }
}

/** Waits some milliseconds. Resolves early when the signal is aborted. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      runtime.clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = runtime.setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}
