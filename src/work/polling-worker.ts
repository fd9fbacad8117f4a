import { builtin } from '../builtin.ts'
import { runtime, unref, type Timer } from '../runtime.ts'
import type { Worker } from './worker-pool.ts'

/** What a polling worker takes its jobs from, and does with them. */
export interface PollingOptions<Job> {
  /**
   * Returns a page of the jobs that can be claimed, in the order in which they are tried. At most `room` of them
   * are started.
   */
  readonly find: (page: {
    readonly limit: number
    readonly offset: number
    readonly room: number
  }) => Promise<readonly Job[]>
  readonly idOf: (job: Job) => string
  /** Names a group of jobs of which only the first one is tried. Default: each job is its own group. */
  readonly groupOf?: (job: Job) => string
  /** Claims a job and does it, unless another worker has claimed it. A rejection is reported. */
  readonly work: (job: Job) => Promise<void>
  /** How many jobs are done at a time. */
  readonly concurrency: number
  /** Milliseconds between two polls. Jobs that {@link PollingWorker.wake} names are taken at once. */
  readonly pollInterval: number
  /** Called when a poll or a job fails. The next poll retries. MUST NOT throw. */
  readonly report: (error: unknown) => void
}

const pageSize = 100

/**
 * A worker that polls for jobs, which may be announced by other processes only in storage, until it is stopped. Does not
 * keep the process alive.
 */
export class PollingWorker<Job> implements Worker {
  readonly #options: PollingOptions<Job>
  readonly #groupOf: (job: Job) => string
  readonly #running = new Map<string, Promise<void>>()
  // Jobs that could not be claimed are skipped until the next poll, or until they are announced. All pages
  // are read, so that such jobs do not hide others behind them.
  readonly #tried = new Set<string>()
  // What wakes the worker may run in a transaction or in a trace, which its jobs do not belong to.
  readonly #inOwnContext = contextOfNow()
  readonly #timer: Timer
  #polling: Promise<void> | undefined
  #isRequested = false
  #isStopped = false

  /** Starts the worker. */
  constructor(options: PollingOptions<Job>) {
    this.#options = options
    this.#groupOf = options.groupOf ?? options.idOf
    this.#timer = runtime.setInterval(() => {
      this.wake()
    }, options.pollInterval)
    unref(this.#timer)
    this.#poll()
  }

  /** Polls now. The job with this id, or every job, is tried again even if it could not be claimed before. */
  wake(id?: string): void {
    if (id === undefined) this.#tried.clear()
    else this.#tried.delete(id)
    this.#poll()
  }

  /** Takes no more jobs, and resolves when the jobs in progress have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    runtime.clearInterval(this.#timer)
    await this.#polling
    await Promise.all(this.#running.values())
  }

  #hasRoom(): boolean {
    return !this.#isStopped && this.#running.size < this.#options.concurrency
  }

  #poll(): void {
    this.#isRequested = true
    if (!this.#hasRoom() || this.#polling !== undefined) return
    this.#inOwnContext(() => {
      this.#polling = this.#startFound()
        .catch(this.#options.report)
        .finally(() => {
          this.#polling = undefined
          if (this.#isRequested && this.#hasRoom()) this.#poll()
        })
    })
  }

  async #startFound(): Promise<void> {
    const { find, idOf, concurrency } = this.#options
    while (this.#isRequested && this.#hasRoom()) {
      this.#isRequested = false
      for (let offset = 0; this.#hasRoom(); offset += pageSize) {
        const room = concurrency - this.#running.size
        const page = await find({ limit: pageSize, offset, room })
        for (const job of page) {
          const isNew = !this.#running.has(idOf(job)) && !this.#tried.has(this.#groupOf(job))
          if (isNew && this.#hasRoom()) this.#start(job)
        }
        if (page.length < pageSize) break
      }
    }
  }

  #start(job: Job): void {
    const { idOf, work, report } = this.#options
    const id = idOf(job)
    this.#tried.add(this.#groupOf(job))
    // An unhandled rejection would end the process.
    const done = (async () => work(job))()
      .catch(report)
      .finally(() => {
        this.#running.delete(id)
        this.#poll()
      })
    this.#running.set(id, done)
  }
}

interface Context {
  runInAsyncScope(work: () => void): void
}

/** Returns a function that runs work in the asynchronous context in which it was created. */
function contextOfNow(): (work: () => void) => void {
  const { AsyncResource } = builtin<{ AsyncResource: new (type: string) => Context }>('async_hooks')
  if (AsyncResource === undefined) return (work) => work()
  const context = new AsyncResource('rowgate.worker')
  return (work) => context.runInAsyncScope(work)
}
