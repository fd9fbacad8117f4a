import type { BuildQueue, BuildTicket, QueueWorker } from '../deployment/queue.ts'
import type { MaybePromise } from '../maybe-promise.ts'

/** A queue under test, and the releases that its tickets name. */
export interface QueueSubject {
  readonly queue: BuildQueue
  /** Stores a release as queued, as the service does before it announces one. */
  store(ticket: BuildTicket): MaybePromise<void>
  /** Claims a release for its build, as a worker does; false when it is not queued any more. */
  claim(ticket: BuildTicket): MaybePromise<boolean>
  /** Releases whatever the queue holds. The case has stopped its workers. */
  close(): MaybePromise<void>
}

/** A case of the port: what it says, and how it is tried. */
export interface QueueCase {
  readonly name: string
  run(bench: QueueBench): Promise<void>
}

/** What a case works with. */
export interface QueueBench extends Omit<QueueSubject, 'close'> {
  /** Stores and announces releases with new identifiers. */
  add(count: number): Promise<readonly BuildTicket[]>
  /** Starts a worker, which is stopped when the case is over. */
  process(work: (ticket: BuildTicket) => Promise<void>, concurrency?: number): QueueWorker
}
