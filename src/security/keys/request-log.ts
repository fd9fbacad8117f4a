import { runtime, unref, type Timer } from '../../runtime.ts'
import type { StorageTransaction } from '../../storage/adapter.ts'
import type { KeyRecord } from './key-store.ts'
import { RequestCounter, type RequestCount } from './request-counter.ts'
import { addRequests, partsOf, removeOldRequests } from './request-counts.ts'

/** Work of a transaction. */
export type Work = (transaction: StorageTransaction) => Promise<void>

/** Counts the requests of keys by day. */
export interface RequestLog {
  /** Counts a request, unless the key is a session: that is of a person, not of a client. */
  count(key: KeyRecord, at: Date): void
  /** Returns whether counts have waited for a minute. */
  isDue(at: Date): boolean
  /** Writes the counts, at most once a minute. Never rejects. */
  write(): Promise<void>
  /** Writes all counts for the last time before a service closes. Never rejects. */
  end(): Promise<void>
}

/** What a log of requests needs. */
export interface RequestLogOptions {
  /** Runs a transaction, and resolves with whether it has succeeded. */
  readonly write: (work: Work) => Promise<boolean>
  readonly inBackground: (work: () => Promise<void>) => void
  readonly now: () => Date
}

const maxWait = 60_000

/**
 * Creates the log of requests. Counts are written a minute after the first of them, even if no request follows: a process
 * that ends without closing its service loses those of the last minute.
 */
export function createRequestLog(
  capacity: number,
  { write, inBackground, now }: RequestLogOptions,
): RequestLog {
  const counter = new RequestCounter(capacity)
  let running = Promise.resolve()
  let isRunning = false
  const removeOld = oldRequestsRemoval(write)
  // Runs while counts wait.
  const timer = createTimer(() => inBackground(writeAll))

  async function add(counts: readonly RequestCount[], at: Date): Promise<boolean> {
    const parts = partsOf(counts)
    for (const [index, part] of parts.entries()) {
      if (await write((transaction) => addRequests(transaction, part))) continue
      counter.restore(parts.slice(index).flat(), at)
      timer.start()
      return false
    }
    return true
  }

  async function run(): Promise<void> {
    const at = now()
    timer.stop()
    const counts = counter.take(at)
    if (counts.length > 0 && (await add(counts, at))) await removeOld(at)
  }

  function writeAll(): Promise<void> {
    isRunning = true
    running = running.then(run).finally(() => {
      isRunning = false
    })
    return running
  }

  return {
    count: (key, at) => {
      const { purpose } = key as KeyRecord & { readonly purpose?: unknown }
      if (purpose === 'session') return
      counter.count(key.keyId, at)
      timer.start()
    },
    isDue: (at) => !isRunning && counter.isDue(at),
    write: async () => {
      if (!isRunning && counter.isPending(now())) await writeAll()
    },
    end: () => {
      timer.end()
      return writeAll()
    },
  }
}

/** Returns a function that removes old counts, once a day of its process. */
function oldRequestsRemoval(write: RequestLogOptions['write']): (at: Date) => Promise<void> {
  let cleaned: string | undefined
  return async (at) => {
    const today = at.toISOString().slice(0, 10)
    if (cleaned === today) return
    cleaned = today
    const state = { isMore: true }
    const remove: Work = async (transaction) => {
      state.isMore = await removeOldRequests(transaction, at)
    }
    while (state.isMore && (await write(remove)));
  }
}

/** Returns a timer that calls a function after a minute, unless it is stopped. It does not keep the process alive. */
function createTimer(call: () => void) {
  let timer: Timer | undefined
  let isEnded = false
  const stop = (): void => {
    runtime.clearTimeout(timer)
    timer = undefined
  }
  return {
    /** Does nothing if it runs, or if it has ended. */
    start: (): void => {
      if (timer !== undefined || isEnded) return
      timer = unref(runtime.setTimeout(call, maxWait))
    },
    stop,
    end: (): void => {
      stop()
      isEnded = true
    },
  }
}
