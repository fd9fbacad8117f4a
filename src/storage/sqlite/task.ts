import type { StorageTransaction, TransactionOptions } from '../adapter.ts'
import { waitLimits } from '../wait-limits.ts'
import type { Lock, OpenTransaction } from './transaction.ts'

/**
 * How a transaction's time with the lock ended: its work is done; or application code still waits, and
 * the lock was given back (`suspended`) or taken away (`overdue`).
 */
export type Ending = 'done' | 'suspended' | 'overdue'

/** A transaction from its call to its result. */
export interface Task {
  readonly options: TransactionOptions
  /** What it does and has read. */
  readonly opened: OpenTransaction
  /** When it began to wait for the lock. */
  since(): number
  /** Whether it waits for the lock a second time. */
  isResumed(): boolean
  /** Whether its result is known to the caller. */
  isSettled(): boolean
  /** The state of the database that it saw when it gave the lock back; undefined: not known. */
  version(): string | undefined
  /** Runs the work with the lock, from where it stopped. Never rejects. */
  run(): Promise<Ending>
  /** Looks whether application code has had the lock for long enough. Call it every now and then. */
  check(): void
  /** After `suspended`: lets the work end, or ask for the lock again. */
  detach(version: string | undefined): void
  /** The error of the work, once it has ended with one. */
  failure(): { readonly error: unknown } | undefined
  /** Passes the result of the work to the caller. */
  settle(): void
  /** Rejects, whatever the work makes of it. */
  fail(error: unknown): void
}

/** What a task needs to know. */
export interface TaskOptions<Result> {
  readonly options: TransactionOptions
  readonly work: (transaction: StorageTransaction) => Promise<Result>
  readonly open: (lock: Lock) => OpenTransaction
  /** Called when the task wants the lock again. */
  readonly enqueue: (task: Task) => void
  /** Whether the lock is to be taken away from a task that has held it for some milliseconds. */
  readonly isOverdue: (heldMilliseconds: number) => boolean
}

/** Makes the task of a call, whose promise it resolves or rejects. */
export function createTask<Result>(
  { options, work, open, enqueue, isOverdue }: TaskOptions<Result>,
  resolve: (result: Result) => void,
  reject: (reason: unknown) => void,
): Task {
  let since = performance.now()
  let held = false
  let started = false
  let detached = false
  let settled = false
  let version: string | undefined
  let heldSince = 0
  let leave: ((ending: Ending) => void) | undefined
  let outcome: { readonly failure?: { readonly error: unknown }; pass(): void } | undefined
  let resuming: Promise<void> | undefined
  let resume: { admit(): void; refuse(error: unknown): void } | undefined

  const opened = open({
    isHeld: () => held,
    acquire: () =>
      (resuming ??= new Promise((admit, refuse) => {
        resume = { admit, refuse }
        since = performance.now()
        enqueue(task)
      })),
  })

  async function perform(): Promise<void> {
    try {
      const result = await work(opened.transaction)
      outcome = { pass: () => resolve(result) }
    } catch (error) {
      outcome = { failure: { error }, pass: () => reject(error) }
    }
    opened.end()
    if (leave !== undefined) giveBack('done')
    else if (detached) task.settle()
  }

  function giveBack(ending: Ending): void {
    const ended = leave
    leave = undefined
    held = false
    ended?.(ending)
  }

  // Nothing was written, and what was read can be compared later. A `read` transaction must see one
  // state throughout: it keeps its own once it has read.
  function canSuspend(): boolean {
    return opened.operation() === 'read' && (options.mode === 'write' || !opened.hasRead())
  }

  function finish(pass: () => void, failure?: { readonly error: unknown }): void {
    if (settled) return
    settled = true
    opened.end()
    proceed(failure)
    pass()
  }

  // A call that waits for the lock goes on, and finds out whether the transaction has ended.
  function proceed(failure?: { readonly error: unknown }): void {
    const waiting = resume
    resume = undefined
    resuming = undefined
    if (failure === undefined) waiting?.admit()
    else waiting?.refuse(failure.error)
  }

  const task: Task = {
    options,
    opened,
    since: () => since,
    isResumed: () => started,
    isSettled: () => settled,
    version: () => version,
    run: () =>
      new Promise((ended) => {
        heldSince = performance.now()
        leave = ended
        held = true
        detached = false
        if (started) {
          proceed()
          return
        }
        started = true
        void perform()
      }),
    check() {
      const milliseconds = performance.now() - heldSince
      if (leave === undefined || milliseconds < waitLimits.suspend) return
      if (canSuspend()) giveBack('suspended')
      else if (isOverdue(milliseconds)) giveBack('overdue')
    },
    detach(seen) {
      version = seen
      detached = true
      if (outcome !== undefined) task.settle()
    },
    failure: () => outcome?.failure,
    settle: () => finish(() => outcome?.pass()),
    fail: (error) => finish(() => reject(error), { error }),
  }
  return task
}
