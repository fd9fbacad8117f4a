import type { MaybePromise } from '../../../maybe-promise.ts'
import { pause, runtime } from '../../../runtime.ts'
import type { StorageTransaction, TransactionOptions } from '../../adapter.ts'
import type { Connection } from '../connection/connection.ts'
import { closedError, handleInUse, isBusy, storageFailure } from '../connection/failure.ts'
import { createTask, type Surroundings, type Task } from './task.ts'
import { busyPause, TaskRunner } from './task-runner.ts'
import type { Lock, OpenTransaction } from './transaction.ts'
import { WaitingTasks, type WaitLimits } from './waiting-tasks.ts'

/** Options of a {@link Writer}. */
export interface WriterOptions {
  /** Opens a transaction on the connection. */
  readonly open: (lock: Lock) => OpenTransaction
  readonly limits: WaitLimits
  /** Whether other processes may use the database. */
  readonly isShared: boolean
  /** Whether transactions may share a commit. */
  readonly sharesCommits: () => boolean
  /** Called when a transaction has begun on the connection. */
  readonly began: () => void
  /** Called before each attempt to commit. */
  readonly committing: () => void
  /** Called after each commit. */
  readonly committed: () => void
}

// Other processes try to lock every few milliseconds, or less often on a busy machine.
const freeMilliseconds = 15
const maxOccupiedMilliseconds = 40

/**
 * Runs one transaction at a time on a connection that is used for no other writes. Brief transactions may share a commit.
 */
export class Writer {
  readonly #connection: Connection
  readonly #options: WriterOptions
  readonly #beginImmediate: () => void
  readonly #beginDeferred: () => void
  readonly #queue: WaitingTasks
  readonly #runner: TaskRunner
  readonly #surroundings: Surroundings
  readonly #readers: { run(): void; reject(error: unknown): void }[] = []
  #running: Promise<void> | undefined
  #isOpen = false
  #isFrozen = false
  #isClosed = false
  #occupied = 0
  #freeUntil = 0

  constructor(connection: Connection, options: WriterOptions) {
    const { limits, open } = options
    const queue = new WaitingTasks(limits)
    this.#connection = connection
    this.#options = options
    this.#beginImmediate = connection.command('BEGIN IMMEDIATE')
    this.#beginDeferred = connection.command('BEGIN')
    this.#queue = queue
    this.#runner = new TaskRunner(connection, { ...options, queue, busyTimeout: limits.busy })
    this.#surroundings = {
      open,
      inTransaction: connection.inTransaction,
      enqueue: (task) => this.#schedule(task),
      isOverdue: (heldMilliseconds) => queue.isOverdue(heldMilliseconds),
    }
  }

  /** Runs work in a transaction after the transactions ahead of it. */
  transaction<Result>(
    options: TransactionOptions,
    work: (transaction: StorageTransaction) => MaybePromise<Result>,
  ): Promise<Result> {
    if (this.#isClosed) return Promise.reject(closedError())
    return new Promise<Result>((resolve, reject) => {
      this.#schedule(createTask(this.#surroundings, { options, work, resolve, reject }))
    })
  }

  /** Runs work that reads at once, as soon as no transaction is open on the connection. */
  between<Result>(work: () => MaybePromise<Result>): MaybePromise<Result> {
    if (this.#isClosed) return Promise.reject(closedError())
    if (!this.#isOpen) return work()
    return new Promise<Result>((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      }
      this.#readers.push({ run, reject })
    })
  }

  /** Whether a transaction is open that sees the state in which it began, not later commits of others. */
  isFrozen(): boolean {
    return this.#isFrozen && this.#connection.inTransaction()
  }

  /** Rejects waiting transactions. Resolves after the running one has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#queue.failAll(closedError)
    for (const reader of this.#takeReaders()) reader.reject(closedError())
    await this.#running
  }

  #schedule(task: Task): void {
    if (this.#isClosed) {
      task.fail(closedError())
      return
    }
    this.#queue.add(task)
    this.#start()
  }

  #start(): void {
    this.#running ??= this.#runAll().finally(() => {
      this.#running = undefined
      if (!this.#queue.isEmpty()) this.#start()
    })
  }

  async #runAll(): Promise<void> {
    const queue = this.#queue
    this.#occupied = 0
    for (;;) {
      await queue.gathered(this.#isShareable)
      const wait = this.#freeUntil - runtime.performanceNow()
      if (wait > 0) await pause(wait)
      const first = queue.first()
      if (first === undefined) return
      const began = this.#begin(first)
      if (began !== true) {
        if (!isBusy(began)) queue.shift()?.fail(storageFailure(began, 'save'))
        else if (queue.blocked(began)) await busyPause()
        continue
      }
      queue.unblocked()
      this.#isOpen = true
      this.#isFrozen = first.options.mode === 'read'
      this.#options.began()
      const since = runtime.performanceNow()
      const shares = this.#isShareable(first) && this.#isShareable(queue.second())
      await (shares ? this.#runner.together() : this.#runner.alone(queue.shift() as Task))
      this.#isOpen = false
      if (!shares) this.#leaveFree(runtime.performanceNow() - since)
      for (const reader of this.#takeReaders()) reader.run()
    }
  }

  readonly #isShareable = (task: Task | undefined): boolean => this.#runner.isShareable(task)

  // A process that locks again at once could starve other processes, which try only at intervals.
  #leaveFree(heldMilliseconds: number): void {
    this.#occupied += heldMilliseconds
    if (!this.#options.isShared || this.#occupied < maxOccupiedMilliseconds) return
    this.#occupied = 0
    this.#freeUntil = runtime.performanceNow() + freeMilliseconds
  }

  #begin(first: Task): unknown {
    try {
      if (this.#connection.inTransaction()) throw handleInUse()
      if (first.options.mode === 'read') this.#beginDeferred()
      else this.#beginImmediate()
      return true
    } catch (error) {
      return error
    }
  }

  #takeReaders() {
    return this.#readers.splice(0)
  }
}
