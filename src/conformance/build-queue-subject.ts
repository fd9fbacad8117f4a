import type { BuildQueue, BuildTicket, QueueWorker } from '../deployment/queue.ts'
import type { MaybePromise } from '../maybe-promise.ts'

/** A queue under test, and the store of the releases that its tickets name. */
export interface QueueSubject {
  readonly queue: BuildQueue
  /** Stores a release as queued, as the service does before it announces the release. */
  store(ticket: BuildTicket): MaybePromise<void>
  /** Claims a release for its build, as a worker does. Returns false if it is not queued any more. */
  claim(ticket: BuildTicket): MaybePromise<boolean>
  /** Releases the resources of the queue. Its workers are stopped by then. */
  close(): MaybePromise<void>
}

/** One requirement of the port, and the code that tests it. */
export interface QueueCase {
  readonly name: string
  run(bench: QueueBench): Promise<void>
}

/** The queue and the functions that a case uses. */
export interface QueueBench extends Omit<QueueSubject, 'close'> {
  /** Stores and announces releases with new identifiers. */
  add(count: number): Promise<readonly BuildTicket[]>
  /** Starts a worker, which is stopped at the end of the case. */
  process(work: (ticket: BuildTicket) => Promise<void>, concurrency?: number): QueueWorker
}
