import { builtin } from '../builtin.ts'
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

/** A worker that polls for jobs, which may be announced by other processes only in storage. */
export interface PollingWorker extends Worker {
  /** Polls now. The job with this id, or every job, is tried again even if it could not be claimed before. */
  wake(id?: string): void
}

const pageSize = 100

/** Starts a worker that polls until it is stopped. Does not keep the process alive. */
export function startPolling<Job>(options: PollingOptions<Job>): PollingWorker {
  const { find, idOf, work, concurrency, pollInterval, report } = options
  const groupOf = options.groupOf ?? idOf
  const running = new Map<string, Promise<void>>()
  // Jobs that could not be claimed are skipped until the next poll, or until they are announced. All pages
  // are read, so that such jobs do not hide others behind them.
  const tried = new Set<string>()
  const state: { again: boolean; stopped: boolean } = { again: false, stopped: false }
  let polling: Promise<void> | undefined
  // What wakes the worker may run in a transaction or in a trace, which its jobs do not belong to.
  const inOwnContext = contextOfNow()
  const hasRoom = (): boolean => !state.stopped && running.size < concurrency

  function start(job: Job): void {
    const id = idOf(job)
    tried.add(groupOf(job))
    // An unhandled rejection would end the process.
    const done = (async () => work(job))()
      .catch(report)
      .finally(() => {
        running.delete(id)
        poll()
      })
    running.set(id, done)
  }

  async function startFound(): Promise<void> {
    while (state.again && hasRoom()) {
      state.again = false
      for (let offset = 0; hasRoom(); offset += pageSize) {
        const page = await find({ limit: pageSize, offset, room: concurrency - running.size })
        for (const job of page) {
          if (hasRoom() && !running.has(idOf(job)) && !tried.has(groupOf(job))) start(job)
        }
        if (page.length < pageSize) break
      }
    }
  }

  function poll(): void {
    state.again = true
    if (!hasRoom() || polling !== undefined) return
    inOwnContext(() => {
      polling = startFound()
        .catch(report)
        .finally(() => {
          polling = undefined
          if (state.again && hasRoom()) poll()
        })
    })
  }

  const timer = setInterval(() => {
    tried.clear()
    poll()
  }, pollInterval)
  timer.unref()
  poll()
  return {
    wake: (id) => {
      if (id === undefined) tried.clear()
      else tried.delete(id)
      poll()
    },
    stop: async () => {
      state.stopped = true
      clearInterval(timer)
      await polling
      await Promise.all(running.values())
    },
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
