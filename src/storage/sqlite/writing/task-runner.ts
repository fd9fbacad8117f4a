import { isThenable, type MaybePromise } from '../../../maybe-promise.ts'
import { isStorageError, StorageError } from '../../adapter.ts'
import { givenUp, waitLimits } from '../../write-lock/wait-limits.ts'
import type { Connection } from '../connection/connection.ts'
import { isBusy, storageFailure, unavailable } from '../connection/failure.ts'
import type { Ending, Task } from './task.ts'
import type { WaitingTasks } from './waiting-tasks.ts'

/** Runs tasks in the transaction that has begun on a connection, and ends it. */
export interface TaskRunner {
  /** Returns whether a task may share a commit with others. */
  isShareable(task: Task | undefined): boolean
  /** Runs a task, and commits or rolls back. Resolves also if the task suspends itself. */
  alone(task: Task): Promise<void>
  /** Runs the waiting tasks that may share a commit, and commits them. */
  together(): Promise<void>
}

/** Options of {@link taskRunner}. */
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

/** Creates the runner of the tasks of a connection. */
export function taskRunner(
  connection: Connection,
  { queue, busyTimeout, sharesCommits, committing, committed }: TaskRunnerOptions,
): TaskRunner {
  const commitCommand = connection.command('COMMIT')
  const rollbackCommand = connection.command('ROLLBACK')
  const savepoint = connection.command('SAVEPOINT rowgate_turn')
  const release = connection.command('RELEASE rowgate_turn')
  const rollbackTo = connection.command('ROLLBACK TO rowgate_turn')
  const othersVersion = connection.value('PRAGMA data_version')
  let holder: Task | undefined
  let watch: ReturnType<typeof setInterval> | undefined
  // After a transaction has undone others that had shared its commit, none share one any more.
  let isSharing = true
  let commits = 0

  const ended = (): void => {
    holder = undefined
  }

  // One timer for all transactions: a timer for each costs more than a small statement.
  function watched(task: Task): MaybePromise<Ending> {
    const ending = task.run()
    if (!isThenable(ending)) return ending
    holder = task
    watch ??= setInterval(() => {
      if (holder !== undefined) holder.check()
      else {
        clearInterval(watch)
        watch = undefined
      }
    }, waitLimits.suspend)
    return ending
  }

  function isShareable(task: Task | undefined): boolean {
    if (task === undefined || task.isResumed()) return false
    if (!isSharing || !sharesCommits()) return false
    return task.options.brief && task.options.mode === 'write'
  }

  async function alone(task: Task): Promise<void> {
    const stale = task.isResumed() ? staleness(task) : undefined
    if (stale !== undefined) {
      rollback()
      task.fail(stale)
      return
    }
    const ending = await watched(task)
    if (ending === 'done' && connection.inTransaction() && task.failure() === undefined) {
      await commit([task])
      return
    }
    const loss = connection.inTransaction() ? undefined : lossOf(task)
    const seen = ending === 'suspended' ? version() : undefined
    rollback()
    if (ending === 'overdue') task.fail(givenUp('overdue'))
    else if (loss !== undefined && !(isConstraint(loss) && task.failure() !== undefined))
      task.fail(loss)
    else if (ending === 'suspended') task.detach(seen)
    else task.settle()
  }

  // If its reads are still current, the transaction is equivalent to one that begins now.
  function staleness(task: Task): unknown {
    try {
      const current = version()
      if (current !== undefined && task.version() === current) return undefined
      if (task.opened.isCurrent()) return undefined
      return givenUp('stale')
    } catch (error) {
      return storageFailure(error, 'read')
    }
  }

  // Undefined if it can't be read, for instance because the application has closed its handle.
  function version(): string | undefined {
    try {
      return `${String(othersVersion())} ${commits}`
    } catch {
      return undefined
    }
  }

  async function together(): Promise<void> {
    const members: Task[] = []
    const began = performance.now()
    let waits: Task | undefined
    // After slow code the commit is due, so that the other waiting transactions can run.
    const isFull = (): boolean =>
      members.length === maxMembers || performance.now() - began > waitLimits.suspend
    while (waits === undefined && isShareable(queue.first())) {
      if (members.length > 0 && isFull()) break
      const task = queue.shift() as Task
      // If the only write of a transaction fails, it has changed nothing.
      const hasSavepoint = task.options.oneWrite !== true
      let broken = hasSavepoint ? attempt(savepoint) : undefined
      const ran = watched(task)
      const ending = isThenable(ran) ? await ran : ran
      if (ending === 'done') members.push(task)
      else waits = task
      const isUndone = task.failure() !== undefined || ending !== 'done'
      // SQLite may have rolled back the transaction because of a full disk or an I/O error.
      if (!connection.inTransaction()) broken ??= lossOf(task)
      else if (hasSavepoint) {
        if (isUndone) broken ??= attempt(rollbackTo)
        broken ??= attempt(release)
      } else if (isUndone && task.opened.hasSaved()) broken = unavailable(task.failure()?.error)
      if (ending === 'overdue') task.fail(givenUp('overdue'))
      if (broken === undefined) continue
      rollback()
      const failure = failureOfAll(broken)
      for (const member of [...members, task]) member.fail(failure)
      return
    }
    const isCommitted = members.length > 0 && (await commit(members))
    rollback()
    // The suspended task may have read what other members wrote.
    if (members.length === 0 || isCommitted) waits?.detach(undefined)
    else waits?.fail(givenUp('dependent'))
  }

  // No task is settled before the commit. A rejection, too, may depend on what another member wrote.
  async function commit(members: readonly Task[]): Promise<boolean> {
    const began = performance.now()
    const end = (): unknown => {
      committing()
      return attempt(commitCommand)
    }
    let error = end()
    while (isBusy(error) && performance.now() - began < busyTimeout) {
      await busyPause()
      error = end()
    }
    if (error === undefined) {
      commits++
      committed()
      for (const member of members) member.settle()
      return true
    }
    rollback()
    const cause = storageFailure(error, members.at(-1)?.opened.operation() ?? 'save')
    const failure = members.length > 1 ? failureOfAll(cause) : cause
    for (const member of members) member.fail(failure)
    return false
  }

  /** Returns the error of transactions that have shared a commit. */
  function failureOfAll(cause: unknown): StorageError {
    if (!isConstraint(cause)) return unavailable(cause)
    // One of them has violated a constraint. Repeated alone, each gets an error of its own.
    isSharing = false
    return new StorageError('unavailable', { isConflict: true, cause })
  }

  function rollback(): void {
    if (connection.inTransaction()) attempt(rollbackCommand)
  }

  return {
    isShareable,
    alone: (task) => alone(task).finally(ended),
    together: () => together().finally(ended),
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
  return new Promise((resolve) => setTimeout(resolve, pauseMilliseconds))
}
