import { isThenable, type MaybePromise } from '../../maybe-promise.ts'
import type { StorageTransaction, TransactionOptions } from '../adapter.ts'
import { givenUp, waitLimits } from '../wait-limits.ts'
import type { Connection } from './connection.ts'
import { closedError, handleInUse, isBusy, storageFailure, unavailable } from './failure.ts'
import { createTask, type Ending, type Task } from './task.ts'
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
  /** Called after each commit. */
  readonly committed: () => void
}

const maxMembers = 128
const pauseMilliseconds = 3
// Other processes try to lock every few milliseconds, or less often on a busy machine.
const freeMilliseconds = 15
const maxOccupiedMilliseconds = 40

/** Creates the writer of a connection that is used for no other writes. */
export function sqliteWriter(connection: Connection, options: WriterOptions): Writer {
  const beginImmediate = connection.command('BEGIN IMMEDIATE')
  const beginDeferred = connection.command('BEGIN')
  const commitCommand = connection.command('COMMIT')
  const rollbackCommand = connection.command('ROLLBACK')
  const savepoint = connection.command('SAVEPOINT rowgate_turn')
  const release = connection.command('RELEASE rowgate_turn')
  const rollbackTo = connection.command('ROLLBACK TO rowgate_turn')
  const othersVersion = connection.value('PRAGMA data_version')
  const queue = waitingTasks(options.limits)
  const surroundings = { open: options.open, enqueue: schedule, isOverdue: queue.isOverdue }
  const readers: { run(): void; reject(error: unknown): void }[] = []
  let running: Promise<void> | undefined
  let holder: Task | undefined
  let watch: ReturnType<typeof setInterval> | undefined
  let open = false
  let frozen = false
  let closed = false
  let commits = 0
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
        else if (queue.blocked(began)) await sleep(pauseMilliseconds)
        continue
      }
      queue.unblocked()
      open = true
      frozen = first.options.mode === 'read'
      options.began()
      const since = performance.now()
      const shares = isShareable(first) && isShareable(queue.second())
      await (shares ? runTogether() : runAlone(queue.shift() as Task))
      open = false
      if (!shares) leaveFree(performance.now() - since)
      for (const reader of readers.splice(0)) reader.run()
    }
  }

  // One timer for all transactions: a timer for each costs more than a small statement.
  function watched(task: Task): MaybePromise<Ending> {
    const ending = task.run()
    if (!isThenable(ending)) return ending
    holder = task
    watch ??= setInterval(() => {
      if (open) holder?.check()
      else {
        clearInterval(watch)
        watch = undefined
      }
    }, waitLimits.suspend)
    return ending
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

  function isShareable(task: Task | undefined): boolean {
    if (task === undefined || task.isResumed() || !options.sharesCommits()) return false
    return task.options.brief && task.options.mode === 'write'
  }

  async function runAlone(task: Task): Promise<void> {
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
    const isIntact = connection.inTransaction()
    const seen = ending === 'suspended' ? version() : undefined
    rollback()
    if (ending === 'overdue') task.fail(givenUp('overdue'))
    else if (!isIntact) task.fail(unavailable(task.failure()?.error))
    else if (ending === 'suspended') task.detach(seen)
    else task.settle()
  }

  // If its reads are still current, the transaction is equivalent to one that begins now.
  function staleness(task: Task): unknown {
    try {
      if (task.version() === version() || task.opened.isCurrent()) return undefined
      return givenUp('stale')
    } catch (error) {
      return storageFailure(error, 'read')
    }
  }

  function version(): string {
    return `${String(othersVersion())} ${commits}`
  }

  async function runTogether(): Promise<void> {
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
      if (!connection.inTransaction()) broken ??= unavailable(task.failure()?.error)
      else if (hasSavepoint) {
        if (isUndone) broken ??= attempt(rollbackTo)
        broken ??= attempt(release)
      } else if (isUndone && task.opened.hasSaved()) broken = unavailable(task.failure()?.error)
      if (ending === 'overdue') task.fail(givenUp('overdue'))
      if (broken === undefined) continue
      rollback()
      for (const member of [...members, task]) member.fail(unavailable(broken))
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
    let error = attempt(commitCommand)
    while (isBusy(error) && performance.now() - began < options.limits.busy) {
      await sleep(pauseMilliseconds)
      error = attempt(commitCommand)
    }
    if (error === undefined) {
      commits++
      options.committed()
      for (const member of members) member.settle()
      return true
    }
    rollback()
    const failure = storageFailure(error, members.at(-1)?.opened.operation() ?? 'save')
    for (const member of members) member.fail(failure)
    return false
  }

  function rollback(): void {
    if (connection.inTransaction()) attempt(rollbackCommand)
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
      clearInterval(watch)
    },
  }
}

function attempt(command: () => void): unknown {
  try {
    command()
    return undefined
  } catch (error) {
    return error
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
