import type { ReadContext } from '../adapter.ts'
import type { RawPage } from './page-read.ts'
import type { ScanJob, ScanThread, ScanThreadEvents } from './scan-thread.ts'
import { closedError, unavailable } from './failure.ts'

/** Runs reads that may take long, one after the other, in a thread. */
export interface ScanQueue {
  /**
   * Resolves with the page. Rejects with an `unavailable` StorageError if too many reads are waiting, if it
   * takes too long, if the client disconnects, if the thread dies, and when the queue is closed; otherwise
   * with the error of the driver.
   */
  run(job: ScanJob, context: ReadContext | undefined): Promise<RawPage>
  close(): Promise<void>
}

/** Options of {@link scanQueue}. */
export interface ScanQueueOptions {
  /** How many reads may wait for the thread. */
  readonly maxWaiting: number
  /** Milliseconds that a read may take, including its wait. */
  readonly timeout: number
  readonly start: (events: ScanThreadEvents) => ScanThread
}

interface Entry {
  readonly job: ScanJob
  resolve(page: RawPage): void
  reject(error: Error): void
  /** Undefined once the promise is settled. */
  release: (() => void) | undefined
}

/** Creates a queue. It starts the thread for the first read, and again after the thread has died. */
export function scanQueue({ maxWaiting, timeout, start }: ScanQueueOptions): ScanQueue {
  const waiting = new Set<Entry>()
  let running: Entry | undefined
  let thread: ScanThread | undefined
  let closing: Promise<void> | undefined

  function settle(entry: Entry, how: () => void): void {
    if (entry.release === undefined) return
    entry.release()
    entry.release = undefined
    how()
  }

  function startThread(): ScanThread {
    const started: ScanThread = start({
      done: (page) => next((entry) => entry.resolve(page)),
      failed: (error) => next((entry) => entry.reject(error)),
      died(cause) {
        if (thread === started) thread = undefined
        failAll(() => unavailable(cause))
      },
    })
    return started
  }

  /** Settles the running read, and begins the next one. */
  function next(how: (entry: Entry) => void): void {
    const ended = running
    running = undefined
    if (ended !== undefined) settle(ended, () => how(ended))
    begin()
  }

  function begin(): void {
    const [entry] = waiting
    if (running !== undefined || entry === undefined) return
    waiting.delete(entry)
    running = entry
    try {
      thread ??= startThread()
    } catch (error) {
      // For example, the process has no memory for a thread.
      failAll(() => unavailable(error))
      return
    }
    thread.run(entry.job)
  }

  function failAll(failure: () => Error): void {
    const entries = [...(running === undefined ? [] : [running]), ...waiting]
    running = undefined
    waiting.clear()
    for (const entry of entries) settle(entry, () => entry.reject(failure()))
  }

  /** Gives up one read. If it runs, its place is free once the thread has noticed. */
  function giveUp(entry: Entry, error: Error): void {
    waiting.delete(entry)
    if (entry === running) thread?.interrupt()
    settle(entry, () => entry.reject(error))
  }

  function add(entry: Entry, signal: AbortSignal | undefined): void {
    const expire = (): void =>
      giveUp(entry, unavailable(new Error(`a read of a large table took over ${timeout} ms`)))
    const abort = (): void => giveUp(entry, unavailable(signal?.reason))
    const timer = setTimeout(expire, timeout)
    signal?.addEventListener('abort', abort)
    entry.release = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    waiting.add(entry)
    begin()
  }

  async function closeAll(): Promise<void> {
    failAll(closedError)
    await thread?.close()
  }

  return {
    run(job, context) {
      if (closing !== undefined) return Promise.reject(closedError())
      if (running !== undefined && waiting.size >= maxWaiting) {
        const cause = new Error(`${waiting.size} reads of large tables are waiting already`)
        return Promise.reject(unavailable(cause))
      }
      const signal = context?.signal()
      if (signal?.aborted === true) return Promise.reject(unavailable(signal.reason))
      return new Promise((resolve, reject) => {
        add({ job, resolve, reject, release: undefined }, signal)
      })
    },
    close: () => (closing ??= closeAll()),
  }
}
