import type { MaybePromise } from '../maybe-promise.ts'

/** A queued release. */
export interface BuildTicket {
  readonly releaseId: string
}

/** A running worker. It takes builds from a queue until it is stopped. */
export interface QueueWorker {
  /** Stops taking builds, and resolves when the builds in progress have ended. */
  stop(): Promise<void>
}

/**
 * The port of build queues. A queue only notifies workers of queued releases; a worker builds a release
 * after it has claimed the release's row in storage. A queue may therefore deliver a ticket twice, or to
 * two workers. It MUST deliver every announced ticket at least once, as long as its own storage exists.
 */
export interface BuildQueue {
  /** The name in messages. */
  readonly name: string
  /**
   * Called after a release was stored as queued, and again when it is queued after its worker died or has
   * stopped.
   */
  announce(ticket: BuildTicket): MaybePromise<void>
  /**
   * Calls `work` for each ticket, at most `concurrency` at a time. `work` checks what it receives, because other
   * programs may write to a queue: it reports and ignores messages that are not a ticket. It never rejects.
   */
  process(
    work: (ticket: BuildTicket) => Promise<void>,
    options: { readonly concurrency: number },
  ): QueueWorker
}

/** Returns the ticket of a job, which any program may have written; undefined if it is not one. */
export function ticketOf(job: unknown): BuildTicket | undefined {
  try {
    const { releaseId } = Object(job) as { readonly releaseId?: unknown }
    return typeof releaseId === 'string' ? { releaseId } : undefined
  } catch {
    // A getter of the queue has failed.
    return undefined
  }
}
