import { unavailable } from './errors.ts'
import { inTime, whenEnded, type MaybePromise } from './maybe-promise.ts'
import { pause, runtime } from './runtime.ts'

/** Whether a service accepts work, and the work in progress that closing waits for. */
export interface Lifecycle {
  /** Whether the service is closing, or has closed. */
  readonly isClosing: boolean
  /** Throws UNAVAILABLE once the service is closing. */
  requireOpen(): void
  /** Counts the authentication of a caller, for which closing waits for a limited time. */
  authenticate<Result>(work: () => MaybePromise<Result>): MaybePromise<Result>
  /** Runs work once `ready` has resolved. Throws UNAVAILABLE once the service is closing. */
  enter<Result>(
    ready: () => MaybePromise<void>,
    work: () => MaybePromise<Result>,
  ): MaybePromise<Result>
  /**
   * Counts work that is not rejected while the service closes, because other work may have called it. Throws UNAVAILABLE
   * once it has closed.
   */
  count<Result>(work: () => MaybePromise<Result>): MaybePromise<Result>
  /**
   * Throws UNAVAILABLE once the service has closed, or has been closing for the time of a handler: until then, application
   * code that is in progress may use it.
   */
  requireUsable(): void
  /** Counts a call of application code. Throws as `requireUsable` does. */
  call<Result>(work: () => MaybePromise<Result>): MaybePromise<Result>
  /** Counts work that continues after its response. */
  track(work: Promise<unknown>): void
  /** Starts work in a later turn of the event loop, off the path of the request. */
  defer(work: () => Promise<unknown>): void
  /**
   * Accepts no more work, calls `begin`, then each of `ends` once no work is in progress, and then `last`, from which on no
   * work begins. Closes once.
   */
  close(
    begin: () => void,
    ends: readonly (() => MaybePromise<unknown>)[],
    last: () => MaybePromise<void>,
  ): Promise<void>
}

/**
 * Creates the lifecycle of a service, which is open at first. `handlerTimeout`: the milliseconds that application code
 * takes at most. Nothing else limits a security provider, so closing waits for authentications as long.
 */
export function createLifecycle(handlerTimeout: number): Lifecycle {
  const authentications = createCounter()
  const events = createCounter()
  let closing: Promise<void> | undefined
  let closedAt = Infinity
  let hasClosed = false

  const requireOpen = (): void => {
    if (closing !== undefined) throw unavailable('closing')
  }
  const requireNotClosed = (): void => {
    if (hasClosed) throw unavailable('closing')
  }
  const requireUsable = (): void => {
    requireNotClosed()
    if (runtime.performanceNow() - closedAt >= handlerTimeout) throw unavailable('closing')
  }
  const track = (work: Promise<unknown>): void => {
    Promise.resolve(events.run(() => work)).catch(() => undefined)
  }

  return {
    get isClosing() {
      return closing !== undefined
    },
    requireOpen,
    authenticate: authentications.run,
    count: (work) => {
      requireNotClosed()
      return events.run(work)
    },
    requireUsable,
    call: (work) => {
      requireUsable()
      return events.run(work)
    },
    track,
    enter: (ready, work) => {
      requireOpen()
      const opening = ready()
      return events.run(opening === undefined ? work : () => opening.then(work))
    },
    defer: (work) => {
      track(pause(0).then(work))
    },
    close: (begin, ends, last) => {
      const close = async (): Promise<void> => {
        closedAt = runtime.performanceNow()
        begin()
        // A request that is authenticated from now on is rejected, but its provider may have begun other work.
        await settledWithin(authentications, handlerTimeout)
        await endInOrder(events, ends)
        hasClosed = true
        await last()
      }
      return (closing ??= close())
    },
  }
}

/** Resolves as soon as no work is in progress, and after some milliseconds anyway. */
async function settledWithin(work: Counter, milliseconds: number): Promise<void> {
  await inTime(work.settled(), milliseconds, (reject) => {
    reject(new Error('late'))
  }).catch(() => undefined)
}

/** Calls each function once no work is in progress, and waits until none is after the last one. */
async function endInOrder(
  work: Counter,
  ends: readonly (() => MaybePromise<unknown>)[],
): Promise<void> {
  await work.settled()
  for (const end of ends) {
    await end()
    await work.settled()
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
