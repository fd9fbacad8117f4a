import { isThenable, whenEnded, type MaybePromise } from '../../maybe-promise.ts'
import { runtime, type Timer } from '../../runtime.ts'
import { StorageError } from '../../storage/adapter.ts'

// What ends at the same time by a limit of its own knows better why.
const graceMilliseconds = 50

/**
 * The time that a request has for everything that it waits for: authentication, connections, statements, locks, its turn
 * among others, and application code. The time in which the client sends the body does not count.
 */
export class Budget {
  #milliseconds: number
  #deadline: number
  /** When the work for which the time does not count began. */
  #stoppedAt: number | undefined
  #failure: Error | undefined
  #timer: Timer | undefined

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
    this.#deadline = runtime.performanceNow() + milliseconds
  }

  /** Lets the request take at least so many milliseconds. */
  extendTo(milliseconds: number): void {
    if (milliseconds <= this.#milliseconds) return
    this.#deadline += milliseconds - this.#milliseconds
    this.#milliseconds = milliseconds
  }

  /** When the request ends at the latest, on the clock of `performance`. */
  get deadline(): number {
    return this.#deadline
  }

  /** Returns how many milliseconds are left: zero if there are none. */
  left(): number {
    return Math.max(0, this.#deadline - runtime.performanceNow())
  }

  /** Throws an `unavailable` StorageError if nothing is left, so that work does not begin, or is undone. */
  requireLeft(): void {
    if (runtime.performanceNow() >= this.#deadline) throw this.#isLate()
  }

  /** Runs work for which the time does not count. */
  outside<Result>(work: () => MaybePromise<Result>): MaybePromise<Result> {
    const began = runtime.performanceNow()
    this.#stoppedAt = began
    return whenEnded(work, () => {
      this.#stoppedAt = undefined
      this.#deadline += runtime.performanceNow() - began
    })
  }

  /** Notes that application code is late, with the error that the request fails with. */
  codeIsLate(error: Error): void {
    this.#failure ??= error
  }

  /**
   * Returns the result of work. If the time ends before, rejects with the error of application code that is late, or else
   * with an `unavailable` StorageError. The work goes on, and its result is ignored.
   */
  within<Result>(work: () => MaybePromise<Result>): MaybePromise<Result> {
    const result = work()
    if (!isThenable(result)) return result
    return new Promise((resolve, reject) => {
      this.#watch(reject)
      result.then(
        (value) => {
          runtime.clearTimeout(this.#timer)
          resolve(value)
        },
        (error: unknown) => {
          runtime.clearTimeout(this.#timer)
          reject(error)
        },
      )
    })
  }

  #watch(reject: (error: Error) => void): void {
    const end = (): void => {
      if (this.#stoppedAt === undefined && this.left() === 0)
        reject(this.#failure ?? this.#isLate())
      else this.#watch(reject)
    }
    const stopped = this.#stoppedAt === undefined ? 0 : runtime.performanceNow() - this.#stoppedAt
    this.#timer = runtime.setTimeout(end, Math.ceil(this.left() + stopped) + graceMilliseconds)
  }

  #isLate(): Error {
    const cause = new Error(`the request did not end within its ${this.#milliseconds} milliseconds`)
    return new StorageError('unavailable', { cause })
  }
}
