import type { PublishedCollection } from '../definition/published.ts'
import type { Row, StorageReader, StorageTransaction } from '../storage/adapter.ts'
import { readFitting, type FittingRows } from '../storage/fitting-rows.ts'
import { table, tableReader, type TablePage } from '../storage/table.ts'
import { nextAttempt } from './attempts.ts'

/** How a collection stores jobs. It has a field for the state, and the fields `attempt` and `lost`. */
export interface JobTableOptions<Job, Key extends keyof Job, State extends string> {
  readonly collection: PublishedCollection
  /** The key of the collection. */
  readonly key: Key & string
  /** The name of the field with the state. */
  readonly stateField: keyof Job & string
  /** The state of jobs that can be claimed. */
  readonly waiting: State
  /** The state of jobs that a worker has claimed. */
  readonly claimed: State
  readonly jobOf: (row: Row) => Job
}

/** A job as it was read: its key, and the number of its claims. */
type Seen<Job, Key extends keyof Job> = Pick<Job, Key> & { readonly attempt: number }

/**
 * The table of a kind of jobs. A worker claims a job by compare-and-set before it works on it. Every later change
 * compares the attempt, so a worker that has lost its claim changes nothing. All writes are made in the transaction of
 * the caller, which may write other rows with them.
 */
export class JobTable<Job, Key extends keyof Job, State extends string> {
  readonly #options: JobTableOptions<Job, Key, State>

  constructor(options: JobTableOptions<Job, Key, State>) {
    this.#options = options
  }

  /** Waiting → claimed, as a new attempt, with further changes. Returns undefined if another worker has claimed the job. */
  claim(on: StorageTransaction, job: Seen<Job, Key>, changes: Row = {}): Promise<Job | undefined> {
    const { stateField, waiting, claimed } = this.#options
    const attempt = nextAttempt(job.attempt)
    const where = { ...this.#seen(job), [stateField]: waiting }
    return this.#change(on, where, { [stateField]: claimed, attempt, ...changes })
  }

  /**
   * Changes a claimed job: a heartbeat, or another state. Returns undefined if the claim is lost, or if values of `and`
   * have changed.
   */
  changeClaimed(
    on: StorageTransaction,
    job: Seen<Job, Key>,
    changes: Row,
    and: Row = {},
  ): Promise<Job | undefined> {
    const { stateField, claimed } = this.#options
    return this.#change(on, { ...this.#seen(job), [stateField]: claimed, ...and }, changes)
  }

  /** Claimed → waiting, with further changes. Returns undefined as {@link changeClaimed} does. */
  giveBack(
    on: StorageTransaction,
    job: Seen<Job, Key>,
    changes: Row = {},
    and: Row = {},
  ): Promise<Job | undefined> {
    const { stateField, waiting } = this.#options
    return this.changeClaimed(on, job, { ...changes, [stateField]: waiting }, and)
  }

  /** Ends a job whose values do not fit their fields. Returns undefined if it is no longer in the state. */
  endUnfit(on: StorageTransaction, state: State, key: Row, changes: Row): Promise<Job | undefined> {
    return this.#change(on, { ...key, [this.#options.stateField]: state }, changes)
  }

  /** Reads the jobs of a state. */
  inState(reader: StorageReader, state: State, page: TablePage): Promise<FittingRows> {
    const { collection, stateField } = this.#options
    return readFitting(reader, collection, { [stateField]: state }, page)
  }

  /** Returns the number of jobs of a state. */
  async count(reader: StorageReader, state: State): Promise<number> {
    const { collection, stateField } = this.#options
    return tableReader(reader, collection).count({ [stateField]: state })
  }

  #seen(job: Seen<Job, Key>): Row {
    const { key } = this.#options
    return { [key]: job[key] as string, attempt: job.attempt }
  }

  async #change(on: StorageTransaction, where: Row, changes: Row): Promise<Job | undefined> {
    const { collection, jobOf } = this.#options
    const row = await table(on, collection).change(where, changes)
    return row && jobOf(row)
  }
}
