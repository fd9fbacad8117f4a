import { runtime } from '../../../runtime.ts'
import type { ReadContext } from '../../adapter.ts'
import type { RawPage } from './page-read.ts'
import type { ScanJob, ScanThread, ScanThreadEvents } from './scan-thread.ts'
import { closedError, unavailable } from '../connection/failure.ts'

/** Options of {@link ScanQueue}. */
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

/**
 * Runs reads that may take long, one after the other, in a thread. It starts the thread for the first read, and again
 * after the thread has died.
 */
export class ScanQueue {
  readonly #options: ScanQueueOptions
  // By caller. A caller whose read begins becomes the last one.
  readonly #callers = new Map<string, Set<Entry>>()
  #waiting = 0
  #running: Entry | undefined
  #thread: ScanThread | undefined
  #closing: Promise<void> | undefined

  constructor(options: ScanQueueOptions) {
    this.#options = options
  }

  /**
   * Resolves with the page. The callers take turns. Rejects with an `unavailable` StorageError if too many reads are
   * waiting, unless another caller has more of them: then its last one is rejected. Also rejects with it if the read
   * takes too long, if the client disconnects, if the thread dies, and when the queue is closed. Otherwise rejects with
   * the error of the driver.
   */
  run(job: ScanJob, context: ReadContext | undefined): Promise<RawPage> {
    if (this.#closing !== undefined) return Promise.reject(closedError())
    const caller = context?.caller?.() ?? ''
    if (
      this.#running !== undefined &&
      this.#waiting >= this.#options.maxWaiting &&
      !this.#takePlace(caller)
    ) {
      return Promise.reject(this.#tooManyWaiting())
    }
    const signal = context?.signal()
    if (signal?.aborted === true) return Promise.reject(unavailable(signal.reason))
    return new Promise((resolve, reject) => {
      this.#add({ job, caller, resolve, reject, release: undefined }, signal)
    })
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#closeAll())
  }

  #settle(entry: Entry, how: () => void): void {
    if (entry.release === undefined) return
    entry.release()
    entry.release = undefined
    how()
  }

  #leave(entry: Entry): void {
    const own = this.#callers.get(entry.caller)
    if (own?.delete(entry) !== true) return
    this.#waiting--
    if (own.size === 0) this.#callers.delete(entry.caller)
  }

  /** Takes a place of the caller that has most of them. Returns false if `caller` would then have more. */
  #takePlace(caller: string): boolean {
    let most: Set<Entry> | undefined
    for (const own of this.#callers.values()) if (own.size > (most?.size ?? 0)) most = own
    const last = most === undefined ? undefined : [...most].at(-1)
    if (last === undefined || (this.#callers.get(caller)?.size ?? 0) + 1 >= (most?.size ?? 0))
      return false
    this.#giveUp(last, this.#tooManyWaiting())
    return true
  }

  #tooManyWaiting(): Error {
    return unavailable(new Error(`${this.#waiting} reads of large tables are waiting already`))
  }

  #startThread(): ScanThread {
    const started: ScanThread = this.#options.start({
      done: (page) => this.#next((entry) => entry.resolve(page)),
      failed: (error) => this.#next((entry) => entry.reject(error)),
      died: (cause) => {
        if (this.#thread === started) this.#thread = undefined
        this.#failAll(() => unavailable(cause))
      },
    })
    return started
  }

  /** Settles the running read, and begins the next one. */
  #next(how: (entry: Entry) => void): void {
    const ended = this.#running
    this.#running = undefined
    if (ended !== undefined) this.#settle(ended, () => how(ended))
    this.#begin()
  }

  #begin(): void {
    const [own] = this.#callers.values()
    const [entry] = own ?? []
    if (this.#running !== undefined || own === undefined || entry === undefined) return
    this.#leave(entry)
    if (this.#callers.delete(entry.caller)) this.#callers.set(entry.caller, own)
    this.#running = entry
    try {
      this.#thread ??= this.#startThread()
    } catch (error) {
      // For example, the process has no memory for a thread.
      this.#failAll(() => unavailable(error))
      return
    }
    this.#thread.run(entry.job)
  }

  #failAll(failure: () => Error): void {
    const others = [...this.#callers.values()].flatMap((own) => [...own])
    const entries = this.#running === undefined ? others : [this.#running, ...others]
    this.#running = undefined
    this.#callers.clear()
    this.#waiting = 0
    for (const entry of entries) this.#settle(entry, () => entry.reject(failure()))
  }

  /** Gives up one read. If it runs, its place is free once the thread has noticed. */
  #giveUp(entry: Entry, error: Error): void {
    this.#leave(entry)
    if (entry === this.#running) this.#thread?.interrupt()
    this.#settle(entry, () => entry.reject(error))
  }

  #add(entry: Entry, signal: AbortSignal | undefined): void {
    const expire = (): void =>
      this.#giveUp(
        entry,
        unavailable(new Error(`a read of a large table took over ${this.#options.timeout} ms`)),
      )
    const abort = (): void => this.#giveUp(entry, unavailable(signal?.reason))
    const timer = runtime.setTimeout(expire, this.#options.timeout)
    signal?.addEventListener('abort', abort)
    entry.release = () => {
      runtime.clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const own = this.#callers.get(entry.caller) ?? new Set()
    this.#callers.set(entry.caller, own.add(entry))
    this.#waiting++
    this.#begin()
  }

  async #closeAll(): Promise<void> {
    this.#failAll(closedError)
    await this.#thread?.close()
  }
}
