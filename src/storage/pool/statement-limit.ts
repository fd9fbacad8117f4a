import { runtime } from '../../runtime.ts'
import { unavailable } from './failure.ts'

// The time-out on the server changes only if it differs by more, because that takes a message.
const toleranceMilliseconds = 1_000

/** The time-out of the statements of a connection, which follows the end of the request that uses it. */
export class StatementLimit {
  readonly #full: number
  readonly #grace: number
  // The time-out of the session, and the one that holds now: a transaction may have one of its own.
  #session: number
  #current: number
  #deadline: number | undefined

  /**
   * `full` is the time-out that the server has at first, in milliseconds. If it does not respond within `grace`
   * milliseconds after it, a statement is given up.
   */
  constructor(full: number, grace: number) {
    this.#full = full
    this.#grace = grace
    this.#session = full
    this.#current = full
  }

  /** Begins a use of the connection, until a time on the clock of `performance`. */
  use(deadline: number | undefined): void {
    this.#deadline = deadline
  }

  /** Notes that the server may not have the time-out of {@link change}: a short one before it may have ended its statement. */
  notChanged(): void {
    this.#session = 0
    this.#current = 0
  }

  /** Notes that a transaction has ended, and its time-out with it. */
  endTransaction(): void {
    this.#current = this.#session
  }

  /**
   * Returns the time-out that the server needs for the next statement, in milliseconds. Undefined if it has one that fits.
   * `isLocal`: it is set for the transaction alone. Throws an `unavailable` StorageError if the request has ended.
   */
  change(isLocal: boolean): number | undefined {
    const left = this.#left()
    if (left <= 0) throw unavailable(new Error('the time of the request has ended'))
    const wanted = left >= this.#full - toleranceMilliseconds ? this.#full : Math.ceil(left)
    const isLong = this.#current > wanted + toleranceMilliseconds
    const isShort = this.#current < wanted
    if (!isLong && !isShort) return undefined
    this.#current = wanted
    if (!isLocal) this.#session = wanted
    return wanted
  }

  /** Returns after how many milliseconds without a response a statement is given up: later than by the server. */
  maxWait(): number {
    return Math.min(this.#full, Math.max(0, this.#left()) + toleranceMilliseconds) + this.#grace
  }

  #left(): number {
    return this.#deadline === undefined ? Infinity : this.#deadline - runtime.performanceNow()
  }
}
