import { unavailable } from './errors.ts'
import { inTime, whenEnded, type MaybePromise } from './maybe-promise.ts'
import { pause } from './runtime.ts'

/** Whether a service accepts work, and the work in progress that closing waits for. */
export interface Lifecycle {
  /** Throws UNAVAILABLE once the service is closing. */
  requireOpen(): void
  /** Counts the authentication of a caller, for which closing waits for a limited time. */
  authenticate<Result>(work: () => MaybePromise<Result>): MaybePromise<Result>
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

/**
 * Creates the lifecycle of a service, which is open at first. Nothing else limits the time that a security provider
 * takes, so closing waits for authentications at most `maxAuthentication` milliseconds.
 */
export function createLifecycle(maxAuthentication: number): Lifecycle {
  const authentications = createCounter()
  const events = createCounter()
  let closing: Promise<void> | undefined

  const requireOpen = (): void => {
    if (closing !== undefined) throw unavailable('closing')
  }
  const track = (work: Promise<unknown>): void => {
    Promise.resolve(events.run(() => work)).catch(() => undefined)
  }

  return {
    requireOpen,
    authenticate: authentications.run,
    track,
    enter: (ready, work) => {
      requireOpen()
      const opening = ready()
      return events.run(opening === undefined ? work : () => opening.then(work))
    },
    defer: (work) => {
      track(pause(0).then(work))
    },
    close: (begin, end) => {
      const close = async (): Promise<void> => {
        begin()
        // A request that is authenticated from now on is rejected, but its provider may have begun other work.
        await inTime(authentications.settled(), maxAuthentication, (reject) => {
          reject(new Error('late'))
        }).catch(() => undefined)
        await events.settled()
        await end()
      }
      return (closing ??= close())
    },
  }
}

/** Counts work in progress. */
interface Counter {
  run<Result>(this: void, work: () => MaybePromise<Result>): MaybePromise<Result>
  /** Resolves as soon as no work is in progress. */
  settled(): Promise<void>
}

function createCounter(): Counter {
  let inProgress = 0
  const waiting: (() => void)[] = []

  const leave = (): void => {
    inProgress--
    if (inProgress === 0) for (const resolve of waiting.splice(0)) resolve()
  }
  return {
    run: (work) => {
      inProgress++
      return whenEnded(work, leave)
    },
    async settled() {
      if (inProgress > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
