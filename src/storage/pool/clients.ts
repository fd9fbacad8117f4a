import { isThenable, type MaybePromise } from '../../maybe-promise.ts'
import type { Connection, Connections } from './connection.ts'
import { closedError, notConnected, unavailable } from './failure.ts'

/** A client of a pool, while it is not given back. */
export interface PoolClient {
  /** Returns its connection, which then has the settings that the storage needs. */
  connection(): MaybePromise<Connection>
  /** Returns whether its connection can't be used any more. */
  isBroken(): boolean
  /** Gives the client back. If its connection is broken, it is closed. */
  release(): void
}

/** A call that waits for a client. */
interface Call {
  /** The number of calls before it. */
  readonly index: number
  /** When it is given up, on the clock of `performance`. */
  readonly deadline: number
  /** Runs it, and resolves with a function that passes its outcome on. */
  run(client: PoolClient): Promise<() => void>
  fail(error: unknown): void
}

/** How a pool limits {@link clientConnections}. */
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
 * Returns the connections of a pool. A call waits for one for a limited time. Calls that wait follow each other on a
 * client, which is given back when no more wait.
 */
export function clientConnections(
  acquire: () => Promise<PoolClient>,
  { acquireTimeout, maxConnections = 0, idleConnections }: PoolLimits,
): Connections {
  const maxAbandoned = maxConnections === 0 ? unknownMaximum : maxConnections
  const waiting: Call[] = []
  const idle: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let calls = 0
  let open = 0
  let held = 0
  // The clients that are requested of the pool for waiting calls, and for calls that were given up.
  let requested = 0
  let abandoned = 0
  let closed = false

  function request(): void {
    requested++
    const before = calls
    acquire().then(
      (client) => {
        received()
        void serve(client)
      },
      (error: unknown) => {
        received()
        // A call that began to wait after the request has another one.
        if (waiting[0] !== undefined && waiting[0].index < before) fail(notConnected(error))
        requestMissing()
      },
    )
  }

  function received(): void {
    if (abandoned > 0) abandoned--
    else requested--
  }

  // The clients in use serve the waiting calls too, so most requests stay in the queue of the pool.
  function requestMissing(): void {
    while (requested < waiting.length) request()
  }

  async function serve(client: PoolClient): Promise<void> {
    held++
    let running = waiting.shift()?.run(client)
    for (let left = maxCallsInARow - 1; running !== undefined; left--) {
      const end = await running
      // The server works on the next call while this process goes on with the outcome.
      running = left > 0 && !client.isBroken() ? waiting.shift()?.run(client) : undefined
      if (running === undefined) giveBack(client)
      end()
      ended()
      if (running === undefined) return
    }
    giveBack(client)
  }

  function giveBack(client: PoolClient): void {
    held--
    client.release()
    requestMissing()
  }

  function fail(error: unknown): void {
    waiting.shift()?.fail(error)
    ended()
  }

  function ended(): void {
    open--
    if (open === 0) for (const resolve of idle.splice(0)) resolve()
  }

  // One timer for all: each call waits for the same time.
  function startTimer(now: number): void {
    if (timer !== undefined || waiting[0] === undefined) return
    timer = setTimeout(giveUpLate, Math.ceil(waiting[0].deadline - now))
    timer.unref()
  }

  function giveUpLate(): void {
    timer = undefined
    const now = performance.now()
    const cause = new Error(`no connection of the pool became free within ${acquireTimeout} ms`)
    while (waiting[0] !== undefined && waiting[0].deadline <= now) {
      // The pool may not answer, but have other connections for later calls. When each of them is waited for, a later
      // call gets the first one that arrives, so that the requests of a long outage are not more and more.
      if (requested > 0 && abandoned < maxAbandoned) {
        requested--
        abandoned++
      }
      fail(unavailable(cause))
    }
    startTimer(now)
  }

  return {
    use(work) {
      if (closed) return Promise.reject(closedError())
      return new Promise((resolve, reject) => {
        const run = async (client: PoolClient): Promise<() => void> => {
          try {
            const connection = client.connection()
            const result = await work(isThenable(connection) ? await connection : connection)
            return () => resolve(result)
          } catch (error) {
            return () => reject(error)
          }
        }
        const now = performance.now()
        waiting.push({ index: calls++, deadline: now + acquireTimeout, run, fail: reject })
        open++
        startTimer(now)
        // Without a client in use, one that is requested may never be received.
        if (held === 0 && requested < waiting.length + maxAbandoned) request()
        else requestMissing()
      })
    },
    load: () => ({
      used: held,
      idle: idleConnections?.() ?? null,
      max: maxConnections === 0 ? null : maxConnections,
      pending: waiting.length,
    }),
    // Counted: each change of a set of promises would leave a table behind that keeps their results for longer.
    async close() {
      closed = true
      while (waiting.length > 0) fail(closedError())
      if (open > 0) await new Promise<void>((resolve) => idle.push(resolve))
    },
  }
}
