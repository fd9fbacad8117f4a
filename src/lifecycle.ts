import { unavailable } from './errors.ts'
import { whenDone, whenFailed, type MaybePromise } from './maybe-promise.ts'

/** Whether a service accepts work, and the work in progress that closing waits for. */
export interface Lifecycle {
  /** Throws UNAVAILABLE once the service is closing. */
  requireOpen(): void
  /** Runs work once `ready` has resolved. Throws UNAVAILABLE once the service is closing. */
  enter<Result>(
    ready: () => MaybePromise<void>,
    work: () => MaybePromise<Result>,
  ): MaybePromise<Result>
  /** Counts work that continues after its response. */
  track(work: Promise<unknown>): void
  /** Starts work in a later turn of the event loop, off the path of the request. */
  defer(work: () => Promise<unknown>): void
  /** Accepts no more work, calls `begin`, waits for the work in progress, then calls `end`. Closes once. */
  close(begin: () => void, end: () => Promise<void>): Promise<void>
}

/** Creates the lifecycle of a service, which is open at first. */
export function createLifecycle(): Lifecycle {
  let inProgress = 0
  let closing: Promise<void> | undefined
  const waiting: (() => void)[] = []

  const leave = (): void => {
    inProgress--
    if (inProgress === 0) for (const resolve of waiting.splice(0)) resolve()
  }
  const run = <Result>(work: () => MaybePromise<Result>): MaybePromise<Result> => {
    inProgress++
    const ended = whenFailed(work, (error) => {
      leave()
      throw error
    })
    return whenDone(ended, (result) => {
      leave()
      return result
    })
  }
  const settled = async (): Promise<void> => {
    if (inProgress > 0) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const requireOpen = (): void => {
    if (closing !== undefined) throw unavailable('closing')
  }
  const track = (work: Promise<unknown>): void => {
    Promise.resolve(run(() => work)).catch(() => undefined)
  }

  return {
    requireOpen,
    track,
    enter: (ready, work) => {
      requireOpen()
      const opening = ready()
      return run(opening === undefined ? work : () => opening.then(work))
    },
    defer: (work) => {
      track(new Promise((resolve) => setTimeout(resolve)).then(work))
    },
    close: (begin, end) => {
      const close = async (): Promise<void> => {
        begin()
        await settled()
        await end()
      }
      return (closing ??= close())
    },
  }
}
