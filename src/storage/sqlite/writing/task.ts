import { isThenable, type MaybePromise } from '../../../maybe-promise.ts'
import { runtime } from '../../../runtime.ts'
import type { StorageTransaction, TransactionOptions } from '../../adapter.ts'
import { waitLimits } from '../../write-lock/wait-limits.ts'
import type { Lock, OpenTransaction } from './transaction.ts'

/**
 * Why a transaction no longer holds the lock. `done`: its work has ended. Otherwise application code is
 * still waiting. `suspended`: the transaction returned the lock. `overdue`: it lost the lock.
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
  /** The version of the database when it returned the lock. Undefined: unknown. */
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

/** The call of a transaction. */
export interface Call<Result> {
  readonly options: TransactionOptions
  readonly work: (transaction: StorageTransaction) => MaybePromise<Result>
  readonly resolve: (result: Result) => void
  readonly reject: (reason: unknown) => void
}

/** What the tasks of a writer share. */
export interface Surroundings {
  readonly open: (lock: Lock) => OpenTransaction
  /** Returns whether a transaction is open on the connection. */
  readonly inTransaction: () => boolean
  /** Called when the task has to wait for the lock again. */
  readonly enqueue: (task: Task) => void
  /** Returns whether a task that has held the lock for some milliseconds must release it. */
  readonly isOverdue: (heldMilliseconds: number) => boolean
}

/** Creates the task of a call. It resolves or rejects the promise of the caller. */
export function createTask<Result>(surroundings: Surroundings, call: Call<Result>): Task {
  return new CalledTask(surroundings, call)
}

// A class, because each write creates one: closures for all that a task can do would cost more than the rest of it.
class CalledTask<Result> implements Task, Lock {
  readonly options: TransactionOptions
  readonly opened: OpenTransaction
  readonly #surroundings: Surroundings
  readonly #call: Call<Result>
  #since = runtime.performanceNow()
  #heldSince = 0
  #state: 'waiting' | 'held' | 'detached' = 'waiting'
  #isStarted = false
  #isSettled = false
  #version: string | undefined
  #leave: ((ending: Ending) => void) | undefined
  #outcome: Outcome<Result> | undefined
  #resuming: Promise<void> | undefined
  #waiter: { resolve(): void; reject(error: unknown): void } | undefined

  constructor(surroundings: Surroundings, call: Call<Result>) {
    this.options = call.options
    this.#surroundings = surroundings
    this.#call = call
    this.opened = surroundings.open(this)
  }

  since(): number {
    return this.#since
  }

  isResumed(): boolean {
    return this.#isStarted
  }

  isSettled(): boolean {
    return this.#isSettled
  }

  version(): string | undefined {
    return this.#version
  }

  isHeld(): boolean {
    return this.#state === 'held'
  }

  isIntact(): boolean {
    return this.#surroundings.inTransaction()
  }

  acquire(): Promise<void> {
    return (this.#resuming ??= new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject }
      this.#since = runtime.performanceNow()
      this.#surroundings.enqueue(this)
    }))
  }

  run(): MaybePromise<Ending> {
    this.#heldSince = runtime.performanceNow()
    this.#state = 'held'
    if (this.#isStarted) this.#proceed()
    else {
      this.#isStarted = true
      this.#perform()
      if (this.#outcome !== undefined) return 'done'
    }
    return new Promise((ended) => {
      this.#leave = ended
    })
  }

  check(): void {
    const milliseconds = runtime.performanceNow() - this.#heldSince
    if (this.#leave === undefined || milliseconds < waitLimits.suspend) return
    if (this.#canSuspend()) this.#release('suspended')
    else if (this.#surroundings.isOverdue(milliseconds)) this.#release('overdue')
  }

  detach(version: string | undefined): void {
    this.#version = version
    this.#state = 'detached'
    if (this.#outcome !== undefined) this.settle()
  }

  failure(): { readonly error: unknown } | undefined {
    const outcome = this.#outcome
    return outcome !== undefined && 'error' in outcome ? outcome : undefined
  }

  settle(): void {
    const outcome = this.#outcome
    if (outcome === undefined || !this.#end()) return
    this.#proceed()
    if ('error' in outcome) this.#call.reject(outcome.error)
    else this.#call.resolve(outcome.result)
  }

  fail(error: unknown): void {
    if (!this.#end()) return
    this.#proceed({ error })
    this.#call.reject(error)
  }

  #perform(): void {
    let result: MaybePromise<Result>
    try {
      result = this.#call.work(this.opened.transaction)
    } catch (error) {
      this.#complete({ error })
      return
    }
    if (!isThenable(result)) {
      this.#complete({ result })
      return
    }
    Promise.resolve(result).then(
      (value) => this.#complete({ result: value }),
      (error: unknown) => this.#complete({ error }),
    )
  }

  #complete(outcome: Outcome<Result>): void {
    this.#outcome = outcome
    this.opened.end()
    if (this.#leave !== undefined) this.#release('done')
    else if (this.#state === 'detached') this.settle()
    else this.#state = 'waiting'
  }

  #release(ending: Ending): void {
    const leave = this.#leave
    this.#leave = undefined
    this.#state = 'waiting'
    leave?.(ending)
  }

  // True if nothing was written, and the reads can be compared later. A `read` transaction must see one
  // state, so it can't be suspended after its first read.
  #canSuspend(): boolean {
    const { opened, options } = this
    return opened.operation() === 'read' && (options.mode === 'write' || !opened.hasRead())
  }

  /** Returns false if the promise of the caller is settled already. */
  #end(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.opened.end()
    return true
  }

  // A call that waits for the lock continues. It rejects if the transaction has ended.
  #proceed(failure?: { readonly error: unknown }): void {
    const waiting = this.#waiter
    this.#waiter = undefined
    this.#resuming = undefined
    if (failure === undefined) waiting?.resolve()
    else waiting?.reject(failure.error)
  }
}

type Outcome<Result> = { readonly result: Result } | { readonly error: unknown }
