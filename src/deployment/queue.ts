import type { MaybePromise } from '../maybe-promise.ts'

/** A release that waits for its build. */
export interface BuildTicket {
  readonly releaseId: string
}

/** What takes builds from a queue, until it is stopped. */
export interface QueueWorker {
  /** Takes no more, and resolves when those in progress have ended. */
  stop(): Promise<void>
}

/**
 * The port of build queues. The release's row in storage is the truth, and claiming it decides who
 * builds: a queue only tells that there is something to do. So it may hand out a ticket twice, or to
 * two workers; it MUST NOT lose one that was announced, while its own storage lives.
 */
export interface BuildQueue {
  /** For messages. */
  readonly name: string
  /** Told after a release was stored as queued, and again when a worker has died over it. */
  announce(ticket: BuildTicket): MaybePromise<void>
  /** Hands tickets to `work`, at most `concurrency` at a time. `work` never rejects. */
  process(
    work: (ticket: BuildTicket) => Promise<void>,
    options: { readonly concurrency: number },
  ): QueueWorker
}
