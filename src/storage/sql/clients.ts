import { closedError, unavailable } from './failure.ts'

/** The clients of a pool: its connections, each used by one call at a time. */
export interface ClientPool<Client> {
  connect(): Promise<Client>
  /** Gives a client back. If its connection is broken, it is closed. */
  release(client: Client, isBroken: boolean): void
}

/** Calls that use a client. */
export interface Clients<Client> {
  /**
   * Runs work with a client. The work calls `broken` if the connection can't be used any more. Rejects with
   * `unavailable` if no client becomes free in time.
   */
  use<Result>(work: (client: Client, broken: () => void) => Promise<Result>): Promise<Result>
  /** Rejects waiting and later calls, and resolves when those in progress have ended. */
  close(): Promise<void>
}

/** Returns the clients of a pool. A call waits for one for a limited time, in milliseconds. */
export function clients<Client>(pool: ClientPool<Client>, acquireTimeout: number): Clients<Client> {
  const waiting = new Set<(error: unknown) => void>()
  const idle: (() => void)[] = []
  let inUse = 0
  let closed = false

  function acquire(): Promise<Client> {
    if (closed) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      let isOver = false
      const fail = (error: unknown): void => {
        isOver = true
        end()
        reject(error)
      }
      const late = (): void =>
        fail(
          unavailable(
            new Error(`no connection of the pool became free within ${acquireTimeout} ms`),
          ),
        )
      const timer = setTimeout(late, acquireTimeout)
      const end = (): void => {
        clearTimeout(timer)
        waiting.delete(fail)
      }
      waiting.add(fail)
      pool.connect().then((client) => {
        end()
        if (isOver) pool.release(client, false)
        else resolve(client)
      }, fail)
    })
  }

  return {
    // Counted: each change of a set of promises would leave a table behind that keeps their results for longer.
    async use(work) {
      inUse++
      try {
        const client = await acquire()
        let isBroken = false
        try {
          return await work(client, () => {
            isBroken = true
          })
        } finally {
          pool.release(client, isBroken)
        }
      } finally {
        inUse--
        if (inUse === 0) for (const resolve of idle.splice(0)) resolve()
      }
    },
    async close() {
      closed = true
      for (const fail of [...waiting]) fail(closedError())
      if (inUse > 0) await new Promise<void>((resolve) => idle.push(resolve))
    },
  }
}
