import type { MaybePromise } from '../../../maybe-promise.ts'
import type { StorageTransaction, TransactionOptions } from '../../adapter.ts'
import type { Connection } from '../connection/connection.ts'
import { closedError, handleInUse, isBusy, storageFailure } from '../connection/failure.ts'
import { createTask, type Task } from './task.ts'
import { busyPause, taskRunner } from './task-runner.ts'
import type { Lock, OpenTransaction } from './transaction.ts'
import { waitingTasks, type WaitLimits } from './waiting-tasks.ts'

/** Runs one transaction at a time on a connection. Brief transactions may share a commit. */
export interface Writer {
  /** Runs work in a transaction after the transactions ahead of it. */
  transaction<Result>(
    options: TransactionOptions,
    work: (transaction: StorageTransaction) => MaybePromise<Result>,
  ): Promise<Result>
  /** Runs work that reads at once, as soon as no transaction is open on the connection. */
  between<Result>(work: () => MaybePromise<Result>): MaybePromise<Result>
  /** Whether a transaction is open that sees the state in which it began, not later commits of others. */
  isFrozen(): boolean
  /** Rejects waiting transactions. Resolves after the running one has ended. */
  close(): Promise<void>
}

/** Options of {@link sqliteWriter}. */
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

/** Creates the writer of a connection that is used for no other writes. */
export function sqliteWriter(connection: Connection, options: WriterOptions): Writer {
  const beginImmediate = connection.command('BEGIN IMMEDIATE')
  const beginDeferred = connection.command('BEGIN')
  const queue = waitingTasks(options.limits)
  const surroundings = {
    open: options.open,
    inTransaction: connection.inTransaction,
    enqueue: schedule,
    isOverdue: queue.isOverdue,
  }
  const runner = taskRunner(connection, { ...options, queue, busyTimeout: options.limits.busy })
  const { isShareable } = runner
  const readers: { run(): void; reject(error: unknown): void }[] = []
  let running: Promise<void> | undefined
  let open = false
  let frozen = false
  let closed = false
  let occupied = 0
  let freeUntil = 0

  function schedule(task: Task): void {
    if (closed) {
      task.fail(closedError())
      return
    }
    queue.add(task)
    start()
  }

  function start(): void {
    running ??= runAll().finally(() => {
      running = undefined
      if (!queue.isEmpty()) start()
    })
  }

  async function runAll(): Promise<void> {
    occupied = 0
    for (;;) {
      await queue.gathered(isShareable)
      const wait = freeUntil - performance.now()
      if (wait > 0) await sleep(wait)
      const first = queue.first()
      if (first === undefined) return
      const began = begin(first)
      if (began !== true) {
        if (!isBusy(began)) queue.shift()?.fail(storageFailure(began, 'save'))
        else if (queue.blocked(began)) await busyPause()
        continue
      }
      queue.unblocked()
      open = true
      frozen = first.options.mode === 'read'
      options.began()
      const since = performance.now()
      const shares = isShareable(first) && isShareable(queue.second())
      await (shares ? runner.together() : runner.alone(queue.shift() as Task))
      open = false
      if (!shares) leaveFree(performance.now() - since)
      for (const reader of readers.splice(0)) reader.run()
    }
  }

  // A process that locks again at once could starve other processes, which try only at intervals.
  function leaveFree(heldMilliseconds: number): void {
    occupied += heldMilliseconds
    if (!options.isShared || occupied < maxOccupiedMilliseconds) return
    occupied = 0
    freeUntil = performance.now() + freeMilliseconds
  }

  function begin(first: Task): unknown {
    try {
      if (connection.inTransaction()) throw handleInUse()
      if (first.options.mode === 'read') beginDeferred()
      else beginImmediate()
      return true
    } catch (error) {
      return error
    }
  }

  return {
    transaction<Result>(
      transactionOptions: TransactionOptions,
      work: (transaction: StorageTransaction) => MaybePromise<Result>,
    ): Promise<Result> {
      if (closed) return Promise.reject(closedError())
      return new Promise<Result>((resolve, reject) => {
        const call = { options: transactionOptions, work, resolve, reject }
        schedule(createTask(surroundings, call))
      })
    },
    between<Result>(work: () => MaybePromise<Result>): MaybePromise<Result> {
      if (closed) return Promise.reject(closedError())
      if (!open) return work()
      return new Promise<Result>((resolve, reject) => {
        const run = (): void => {
          try {
            resolve(work())
          } catch (error) {
            reject(error)
          }
        }
        readers.push({ run, reject })
      })
    },
    isFrozen: () => frozen && connection.inTransaction(),
    async close() {
      closed = true
      queue.failAll(closedError)
      for (const reader of readers.splice(0)) reader.reject(closedError())
      await running
    },
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
