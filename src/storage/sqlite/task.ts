import { whenDone, whenFailed, type MaybePromise } from '../../maybe-promise.ts'
import type { StorageTransaction, TransactionOptions } from '../adapter.ts'
import { waitLimits } from '../wait-limits.ts'
import type { Lock, OpenTransaction } from './transaction.ts'

/**
 * Why a transaction no longer holds the lock. `done`: its work has ended. Otherwise application code is
 * still waiting. `suspended`: the transaction gave the lock back. `overdue`: it lost the lock.
 */
export type Ending = 'done' | 'suspended' | 'overdue'

/** A transaction from its call to its result. */
export interface Task {
  readonly options: TransactionOptions
  /** The operations and reads of the transaction. */
  readonly opened: OpenTransaction
  /** When it began to wait for the lock. */
  since(): number
  /** Whether it has held the lock before. */
  isResumed(): boolean
  /** Whether the promise of the caller is settled. */
  isSettled(): boolean
  /** The version of the database when it gave the lock back. Undefined: unknown. */
  version(): string | undefined
  /** Starts or continues the work with the lock. Never throws or rejects. */
  run(): MaybePromise<Ending>
  /** Releases the lock if application code has held it for too long. Called at regular intervals. */
  check(): void
  /** Called after `suspended`. The work may then end, or acquire the lock again. */
  detach(version: string | undefined): void
  /** The error of the work. Undefined while it runs, and if it has succeeded. */
  failure(): { readonly error: unknown } | undefined
  /** Passes the result of the work to the caller. */
  settle(): void
  /** Rejects the promise of the caller, whatever the result of the work. */
  fail(error: unknown): void
}

/** Options of {@link createTask}. */
export interface TaskOptions<Result> {
  readonly options: TransactionOptions
  readonly work: (transaction: StorageTransaction) => MaybePromise<Result>
  readonly open: (lock: Lock) => OpenTransaction
  /** Called when the task has to wait for the lock again. */
  readonly enqueue: (task: Task) => void
  /** Returns whether a task that has held the lock for some milliseconds must release it. */
  readonly isOverdue: (heldMilliseconds: number) => boolean
}

/** Creates the task of a call. It resolves or rejects the promise of the caller. */
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
  let waiter: { resolve(): void; reject(error: unknown): void } | undefined

  const opened = open({
    isHeld: () => held,
    acquire: () =>
      (resuming ??= new Promise((acquired, failed) => {
        waiter = { resolve: acquired, reject: failed }
        since = performance.now()
        enqueue(task)
      })),
  })

  function perform(): void {
    const performed = (): MaybePromise<void> =>
      whenDone(work(opened.transaction), (result) => {
        complete({ pass: () => resolve(result) })
      })
    void whenFailed(performed, (error) => {
      complete({ failure: { error }, pass: () => reject(error) })
    })
  }

  function complete(result: NonNullable<typeof outcome>): void {
    outcome = result
    opened.end()
    if (leave !== undefined) releaseLock('done')
    else if (detached) task.settle()
    else held = false
  }

  function releaseLock(ending: Ending): void {
    const ended = leave
    leave = undefined
    held = false
    ended?.(ending)
  }

  // True if nothing was written, and the reads can be compared later. A `read` transaction must see one
  // state, so it can't be suspended after its first read.
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

  // A call that waits for the lock continues. It rejects if the transaction has ended.
  function proceed(failure?: { readonly error: unknown }): void {
    const waiting = waiter
    waiter = undefined
    resuming = undefined
    if (failure === undefined) waiting?.resolve()
    else waiting?.reject(failure.error)
  }

  const task: Task = {
    options,
    opened,
    since: () => since,
    isResumed: () => started,
    isSettled: () => settled,
    version: () => version,
    run() {
      heldSince = performance.now()
      held = true
      detached = false
      if (started) proceed()
      else {
        started = true
        perform()
        if (outcome !== undefined) return 'done'
      }
      return new Promise((ended) => {
        leave = ended
      })
    },
    check() {
      const milliseconds = performance.now() - heldSince
      if (leave === undefined || milliseconds < waitLimits.suspend) return
      if (canSuspend()) releaseLock('suspended')
      else if (isOverdue(milliseconds)) releaseLock('overdue')
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
