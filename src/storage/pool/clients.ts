import { isThenable, type MaybePromise } from '../../maybe-promise.ts'
import { runtime, unref, type Timer } from '../../runtime.ts'
import type { Connection, Connections } from './connection.ts'
import { closedError, notConnected, unavailable } from './failure.ts'

/** A client of a pool, while it is not given back. */
export interface PoolClient {
  /** Returns its connection, which then has the settings that the storage needs, for a use until `deadline`. */
  connection(deadline: number | undefined): MaybePromise<Connection>
  /** Returns whether its connection can no longer be used. */
  isBroken(): boolean
  /** Gives the client back. If its connection is broken, it is closed. */
  release(): void
}

/** A call that waits for a client. */
interface Call {
  /** The number of calls before it. */
  readonly index: number
  /** When it began to wait, and when it is given up, on the clock of `performance`. */
  readonly since: number
  readonly deadline: number
  /** Runs it, and resolves with a function that passes its outcome on. */
  run(client: PoolClient): Promise<() => void>
  fail(error: unknown): void
}

/** How a pool limits its {@link ClientConnections}. */
export interface PoolLimits {
  /** Milliseconds that a call waits for a connection. */
  readonly acquireTimeout: number
  /** How many connections the pool opens at most. 0: any number. Undefined: not known. */
  readonly maxConnections?: number | undefined
  /** Returns how many open connections of the pool are not used. Undefined: not known. */
  readonly idleConnections?: (() => number | undefined) | undefined
}

const unknownMaximum = 64

// Others may use the pool too, and it replaces old connections.
const maxCallsInARow = 64

/**
 * The connections of a pool. A call waits for one for a limited time. Calls that wait follow each other on a client,
 * which is given back when no more wait.
 */
export class ClientConnections implements Connections {
  readonly #acquire: () => Promise<PoolClient>
  readonly #options: PoolLimits
  readonly #maxConnections: number
  readonly #maxAbandoned: number
  readonly #waiting: Call[] = []
  readonly #idle: (() => void)[] = []
  #timer: Timer | undefined
  // When the timer ends, on the clock of `performance`.
  #timerAt = Infinity
  #calls = 0
  #open = 0
  #held = 0
  // The clients that are requested of the pool for waiting calls, and for calls that were given up.
  #requested = 0
  #abandoned = 0
  #closed = false

  constructor(acquire: () => Promise<PoolClient>, options: PoolLimits) {
    this.#acquire = acquire
    this.#options = options
    this.#maxConnections = options.maxConnections ?? 0
    this.#maxAbandoned = this.#maxConnections === 0 ? unknownMaximum : this.#maxConnections
  }

  readonly use: Connections['use'] = (work, deadline) => {
    if (this.#closed) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      const run = async (client: PoolClient): Promise<() => void> => {
        try {
          const opened = client.connection(deadline)
          const connection = isThenable(opened) ? await opened : opened
          connection.use(deadline)
          const result = await work(connection)
          return () => resolve(result)
        } catch (error) {
          return () => reject(error)
        }
      }
      const now = runtime.performanceNow()
      this.#waiting.push({
        index: this.#calls++,
        since: now,
        deadline: Math.min(now + this.#options.acquireTimeout, deadline ?? Infinity),
        run,
        fail: reject,
      })
      this.#open++
      this.#startTimer(now, this.#waiting.at(-1)?.deadline)
      // Without a client in use, one that is requested may never be received.
      if (this.#held === 0 && this.#requested < this.#waiting.length + this.#maxAbandoned)
        this.#request()
      else this.#requestMissing()
    })
  }

  readonly load: Connections['load'] = () => ({
    used: this.#held,
    idle: this.#options.idleConnections?.() ?? null,
    max: this.#maxConnections === 0 ? null : this.#maxConnections,
    pending: this.#waiting.length,
  })

  // Counted: each change of a set of promises would leave a table behind that keeps their results for longer.
  readonly close: Connections['close'] = async () => {
    this.#closed = true
    while (this.#waiting.length > 0) this.#fail(0, closedError())
    if (this.#open > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #request(): void {
    this.#requested++
    const before = this.#calls
    this.#acquire().then(
      (client) => {
        this.#received()
        void this.#serve(client)
      },
      (error: unknown) => {
        this.#received()
        // A call that began to wait after the request has another one.
        if (this.#waiting[0] !== undefined && this.#waiting[0].index < before)
          this.#fail(0, notConnected(error))
        this.#requestMissing()
      },
    )
  }

  #received(): void {
    if (this.#abandoned > 0) this.#abandoned--
    else this.#requested--
  }

  // The clients in use serve the waiting calls too, so most requests stay in the queue of the pool.
  #requestMissing(): void {
    while (this.#requested < this.#waiting.length) this.#request()
  }

  async #serve(client: PoolClient): Promise<void> {
    this.#held++
    let running = this.#waiting.shift()?.run(client)
    for (let left = maxCallsInARow - 1; running !== undefined; left--) {
      const end = await running
      // The server works on the next call while this process goes on with the outcome.
      running = left > 0 && !client.isBroken() ? this.#waiting.shift()?.run(client) : undefined
      if (running === undefined) this.#giveBack(client)
      end()
      this.#ended()
      if (running === undefined) return
    }
    this.#giveBack(client)
  }

  #giveBack(client: PoolClient): void {
    this.#held--
    client.release()
    this.#requestMissing()
  }

  #fail(index: number, error: unknown): void {
    for (const call of this.#waiting.splice(index, 1)) call.fail(error)
    this.#ended()
  }

  #ended(): void {
    this.#open--
    if (this.#open === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  // One timer for all. It ends when the first one is given up, or before, if that has a client meanwhile.
  #startTimer(now: number, deadline = Infinity): void {
    if (deadline >= this.#timerAt) return
    runtime.clearTimeout(this.#timer)
    this.#timerAt = deadline
    this.#timer = runtime.setTimeout(this.#giveUpLate, Math.ceil(deadline - now))
    unref(this.#timer)
  }

  readonly #giveUpLate = (): void => {
    const now = runtime.performanceNow()
    this.#timerAt = Infinity
    for (let index = 0; index < this.#waiting.length;) {
      const { since, deadline } = this.#waiting[index] as Call
      if (deadline > now) {
        index++
        continue
      }
      // The pool may not answer, but have other connections for later calls. When each of them is waited for, a later
      // call gets the first one that arrives, so that the requests of a long outage are not more and more.
      if (this.#requested > 0 && this.#abandoned < this.#maxAbandoned) {
        this.#requested--
        this.#abandoned++
      }
      const waited = Math.round(deadline - since)
      this.#fail(
        index,
        unavailable(new Error(`no connection of the pool became free within ${waited} ms`)),
      )
    }
    this.#startTimer(now, Math.min(...this.#waiting.map(({ deadline }) => deadline)))
  }
}
