import type { ReadContext } from '../../adapter.ts'
import type { RawPage } from './page-read.ts'
import type { ScanJob, ScanThread, ScanThreadEvents } from './scan-thread.ts'
import { closedError, unavailable } from '../connection/failure.ts'

/** Runs reads that may take long, one after the other, in a thread. */
export interface ScanQueue {
  /**
   * Resolves with the page. The callers take turns. Rejects with an `unavailable` StorageError if too many reads are
   * waiting, unless another caller has more of them, whose last one is rejected then; if it takes too long, if the client disconnects, if the thread dies, and when the queue is closed; otherwise
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
  readonly caller: string
  resolve(page: RawPage): void
  reject(error: Error): void
  /** Undefined once the promise is settled. */
  release: (() => void) | undefined
}

/** Creates a queue. It starts the thread for the first read, and again after the thread has died. */
export function scanQueue({ maxWaiting, timeout, start }: ScanQueueOptions): ScanQueue {
  // By caller. A caller whose read begins becomes the last one.
  const callers = new Map<string, Set<Entry>>()
  let waiting = 0
  let running: Entry | undefined
  let thread: ScanThread | undefined
  let closing: Promise<void> | undefined

  function settle(entry: Entry, how: () => void): void {
    if (entry.release === undefined) return
    entry.release()
    entry.release = undefined
    how()
  }

  function leave(entry: Entry): void {
    const own = callers.get(entry.caller)
    if (own?.delete(entry) !== true) return
    waiting--
    if (own.size === 0) callers.delete(entry.caller)
  }

  /** Takes a place of the caller that has most of them. Returns false if `caller` would then have more. */
  function takePlace(caller: string): boolean {
    let most: Set<Entry> | undefined
    for (const own of callers.values()) if (own.size > (most?.size ?? 0)) most = own
    const last = most === undefined ? undefined : [...most].at(-1)
    if (last === undefined || (callers.get(caller)?.size ?? 0) + 1 >= (most?.size ?? 0))
      return false
    giveUp(last, tooManyWaiting())
    return true
  }

  function tooManyWaiting(): Error {
    return unavailable(new Error(`${waiting} reads of large tables are waiting already`))
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
    const [own] = callers.values()
    const [entry] = own ?? []
    if (running !== undefined || own === undefined || entry === undefined) return
    leave(entry)
    if (callers.delete(entry.caller)) callers.set(entry.caller, own)
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
    const others = [...callers.values()].flatMap((own) => [...own])
    const entries = running === undefined ? others : [running, ...others]
    running = undefined
    callers.clear()
    waiting = 0
    for (const entry of entries) settle(entry, () => entry.reject(failure()))
  }

  /** Gives up one read. If it runs, its place is free once the thread has noticed. */
  function giveUp(entry: Entry, error: Error): void {
    leave(entry)
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
    const own = callers.get(entry.caller) ?? new Set()
    callers.set(entry.caller, own.add(entry))
    waiting++
    begin()
  }

  async function closeAll(): Promise<void> {
    failAll(closedError)
    await thread?.close()
  }

  return {
    run(job, context) {
      if (closing !== undefined) return Promise.reject(closedError())
      const caller = context?.caller?.() ?? ''
      if (running !== undefined && waiting >= maxWaiting && !takePlace(caller)) {
        return Promise.reject(tooManyWaiting())
      }
      const signal = context?.signal()
      if (signal?.aborted === true) return Promise.reject(unavailable(signal.reason))
      return new Promise((resolve, reject) => {
        add({ job, caller, resolve, reject, release: undefined }, signal)
      })
    },
    close: () => (closing ??= closeAll()),
  }
}
