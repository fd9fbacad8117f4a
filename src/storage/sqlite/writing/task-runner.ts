import { isThenable, type MaybePromise } from '../../../maybe-promise.ts'
import { pause, runtime, type Timer } from '../../../runtime.ts'
import { isStorageError, StorageError } from '../../adapter.ts'
import { givenUp, waitLimits } from '../../write-lock/wait-limits.ts'
import { savepoint, type Connection, type Savepoint } from '../connection/connection.ts'
import { isBusy, storageFailure, unavailable } from '../connection/failure.ts'
import type { Ending, Task } from './task.ts'
import type { WaitingTasks } from './waiting-tasks.ts'

/** Options of a {@link TaskRunner}. */
export interface TaskRunnerOptions {
  readonly queue: WaitingTasks
  /** How long a commit waits for other connections, in milliseconds. */
  readonly busyTimeout: number
  /** Whether transactions may share a commit. */
  readonly sharesCommits: () => boolean
  /** Called before each attempt to commit. */
  readonly committing: () => void
  /** Called after each commit. */
  readonly committed: () => void
}

const maxMembers = 128
const pauseMilliseconds = 3

/** Runs tasks in the transaction that has begun on a connection, and ends it. */
export class TaskRunner {
  readonly #connection: Connection
  readonly #options: TaskRunnerOptions
  readonly #commitCommand: () => void
  readonly #rollbackCommand: () => void
  readonly #savepoint: Savepoint
  readonly #othersVersion: () => unknown
  #holder: Task | undefined
  #watch: Timer | undefined
  // False after a transaction has undone others that had shared its commit.
  #isSharing = true
  #commits = 0

  constructor(connection: Connection, options: TaskRunnerOptions) {
    this.#connection = connection
    this.#options = options
    this.#commitCommand = connection.command('COMMIT')
    this.#rollbackCommand = connection.command('ROLLBACK')
    this.#savepoint = savepoint(connection, 'rowgate_turn')
    this.#othersVersion = connection.value('PRAGMA data_version')
  }

  /** Returns whether a task may share a commit with others. */
  isShareable(task: Task | undefined): boolean {
    if (task === undefined || task.isResumed()) return false
    if (!this.#isSharing || !this.#options.sharesCommits()) return false
    return task.options.brief && task.options.mode === 'write'
  }

  /** Runs a task, and commits or rolls back. It also resolves if the task suspends itself. */
  async alone(task: Task): Promise<void> {
    const stale = task.isResumed() ? this.#staleness(task) : undefined
    if (stale !== undefined) {
      this.#rollback()
      task.fail(stale)
      return
    }
    const ran = this.#watched(task)
    const ending = isThenable(ran) ? await ran : ran
    this.#holder = undefined
    const isOpen = this.#connection.inTransaction()
    if (ending === 'done' && isOpen && task.failure() === undefined) {
      await this.#commit([task])
      return
    }
    const loss = isOpen ? undefined : lossOf(task)
    const seen = ending === 'suspended' ? this.#version() : undefined
    this.#rollback()
    if (ending === 'overdue') task.fail(givenUp('overdue'))
    else if (loss !== undefined && !(isConstraint(loss) && task.failure() !== undefined))
      task.fail(loss)
    else if (ending === 'suspended') task.detach(seen)
    else task.settle()
  }

  /** Runs the waiting tasks that may share a commit, and commits them. */
  async together(): Promise<void> {
    const { queue } = this.#options
    const members: Task[] = []
    const began = runtime.performanceNow()
    let waits: Task | undefined
    // After slow code the commit is due, so that the other waiting transactions can run.
    const isFull = (): boolean =>
      members.length === maxMembers || runtime.performanceNow() - began > waitLimits.suspend
    while (waits === undefined && this.isShareable(queue.first())) {
      if (members.length > 0 && isFull()) break
      const task = queue.shift() as Task
      // If the only write of a transaction fails, it has changed nothing.
      const hasSavepoint = task.options.oneWrite !== true
      const unset = hasSavepoint ? attempt(this.#savepoint.set) : undefined
      const ran = this.#watched(task)
      const ending = isThenable(ran) ? await ran : ran
      this.#holder = undefined
      const broken = unset ?? this.#endTurn(task, ending, hasSavepoint)
      if (ending === 'done') members.push(task)
      else waits = task
      if (ending === 'overdue') task.fail(givenUp('overdue'))
      if (broken === undefined) continue
      this.#rollback()
      const failure = this.#failureOfAll(broken)
      for (const member of [...members, task]) member.fail(failure)
      return
    }
    const isCommitted = members.length > 0 && (await this.#commit(members))
    this.#rollback()
    // The suspended task may have read what other members wrote.
    if (members.length === 0 || isCommitted) waits?.detach(undefined)
    else waits?.fail(givenUp('dependent'))
  }

  /** Ends the savepoint of a task. Returns the error for which the whole transaction must be undone. */
  #endTurn(task: Task, ending: Ending, hasSavepoint: boolean): unknown {
    const isUndone = task.failure() !== undefined || ending !== 'done'
    // SQLite may have rolled back the transaction because of a full disk or an I/O error.
    if (!this.#connection.inTransaction()) return lossOf(task)
    if (hasSavepoint) {
      const failure = isUndone ? attempt(this.#savepoint.undo) : undefined
      return failure ?? attempt(this.#savepoint.release)
    }
    return isUndone && task.opened.hasSaved() ? unavailable(task.failure()?.error) : undefined
  }

  // One timer for all transactions: a timer for each costs more than a small statement.
  #watched(task: Task): MaybePromise<Ending> {
    const ending = task.run()
    if (!isThenable(ending)) return ending
    this.#holder = task
    this.#watch ??= runtime.setInterval(() => {
      if (this.#holder !== undefined) this.#holder.check()
      else {
        runtime.clearInterval(this.#watch)
        this.#watch = undefined
      }
    }, waitLimits.suspend)
    return ending
  }

  // If its reads are still current, the transaction is equivalent to one that begins now.
  #staleness(task: Task): unknown {
    try {
      const current = this.#version()
      if (current !== undefined && task.version() === current) return undefined
      if (task.opened.isCurrent()) return undefined
      return givenUp('stale')
    } catch (error) {
      return storageFailure(error, 'read')
    }
  }

  // Undefined if it can't be read, for instance because the application has closed its handle.
  #version(): string | undefined {
    try {
      return `${String(this.#othersVersion())} ${this.#commits}`
    } catch {
      return undefined
    }
  }

  // No task is settled before the commit. A rejection, too, may depend on what another member wrote.
  async #commit(members: readonly Task[]): Promise<boolean> {
    const { busyTimeout, committing, committed } = this.#options
    const began = runtime.performanceNow()
    const end = (): unknown => {
      committing()
      return attempt(this.#commitCommand)
    }
    let error = end()
    while (isBusy(error) && runtime.performanceNow() - began < busyTimeout) {
      await busyPause()
      error = end()
    }
    if (error === undefined) {
      this.#commits++
      committed()
      for (const member of members) member.settle()
      return true
    }
    this.#rollback()
    const cause = storageFailure(error, members.at(-1)?.opened.operation() ?? 'save')
    const failure = members.length > 1 ? this.#failureOfAll(cause) : cause
    for (const member of members) member.fail(failure)
    return false
  }

  /** Returns the error of transactions that have shared a commit. */
  #failureOfAll(cause: unknown): StorageError {
    if (!isConstraint(cause)) return unavailable(cause)
    // One of them has violated a constraint. Repeated alone, each gets an error of its own.
    this.#isSharing = false
    return new StorageError('unavailable', { isConflict: true, cause })
  }

  #rollback(): void {
    if (this.#connection.inTransaction()) attempt(this.#rollbackCommand)
  }
}

/** Returns the error of a task whose transaction SQLite has rolled back: a violated constraint, or a full disk. */
function lossOf(task: Task): unknown {
  const { error } = task.opened.lost() ?? task.failure() ?? {}
  return isConstraint(error) ? error : unavailable(error)
}

function isConstraint(error: unknown): boolean {
  return isStorageError(error) && error.kind !== 'unavailable' && error.kind !== 'unfit'
}

function attempt(command: () => void): unknown {
  try {
    command()
    return undefined
  } catch (error) {
    return error
  }
}

/** Resolves when another connection may have released the lock. */
export function busyPause(): Promise<void> {
  return pause(pauseMilliseconds)
}
