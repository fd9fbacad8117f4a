import { nextTurn, runtime, unref, type Timer } from '../../../runtime.ts'
import { givenUp, waitLimits } from '../../write-lock/wait-limits.ts'
import { storageFailure } from '../connection/failure.ts'
import type { Task } from './task.ts'

/** How long transactions wait, in milliseconds. */
export interface WaitLimits {
  /** For a lock that another connection or process holds. */
  readonly busy: number
  /** For the other transactions of this process. */
  readonly queue: number
  /** How long application code may keep the lock after the first write of its transaction. */
  readonly lock: number
}

// A commit takes longer than many turns of the event loop, so waiting for more tasks makes all of them faster.
const maxGatherMilliseconds = 2

/**
 * The transactions that wait for the lock, in the order in which they acquire it: high priority, then tasks that had the
 * lock before, then all others. A task that has waited for too long fails.
 */
export class WaitingTasks {
  readonly #limits: WaitLimits
  #tasks: Task[] = []
  #blockedSince: number | undefined
  #expiry: Timer | undefined
  // When the timer is due; infinite without one.
  #expiresAt = Infinity

  constructor(limits: WaitLimits) {
    this.#limits = limits
  }

  add(task: Task): void {
    const rank = rankOf(task)
    const behind = rank === lastRank ? -1 : this.#tasks.findIndex((other) => rankOf(other) > rank)
    if (behind === -1) this.#tasks.push(task)
    else this.#tasks.splice(behind, 0, task)
    this.#expireAt(this.#endOf(task))
  }

  first(): Task | undefined {
    // A task may be settled while it waits, for instance because a handler timed out.
    while (this.#tasks[0]?.isSettled() === true) this.#tasks.shift()
    return this.#tasks[0]
  }

  second(): Task | undefined {
    return this.#tasks[1]
  }

  shift(): Task | undefined {
    return this.#tasks.shift()
  }

  isEmpty(): boolean {
    return this.#tasks.length === 0
  }

  /**
   * Resolves when the tasks that are on their way have arrived: after one turn of the event loop, or a few while
   * each brings another task that may share a commit.
   */
  async gathered(isShareable: (task: Task | undefined) => boolean): Promise<void> {
    const end = runtime.performanceNow() + maxGatherMilliseconds
    let before: number
    do {
      before = Math.max(1, this.#tasks.length)
      // By then every ready socket has delivered its request.
      await nextTurn()
    } while (
      this.#tasks.length > before &&
      isShareable(this.#tasks[0]) &&
      runtime.performanceNow() < end
    )
  }

  /** Fails the tasks that have waited too long for another connection. Returns whether any task is left. */
  blocked(cause: unknown): boolean {
    const now = runtime.performanceNow()
    const since = (this.#blockedSince ??= now)
    const isOver = (task: Task): boolean =>
      Math.max(task.since(), since) + timeoutOf(task, this.#limits.busy) <= now
    for (const task of this.#take(isOver)) task.fail(storageFailure(cause, 'save'))
    if (this.#tasks.length > 0) return true
    this.#blockedSince = undefined
    return false
  }

  /** Called when no other connection holds the lock. */
  unblocked(): void {
    this.#blockedSince = undefined
  }

  /** Returns whether a transaction that has held the lock for some milliseconds must release it. */
  isOverdue(heldMilliseconds: number): boolean {
    if (heldMilliseconds >= this.#limits.lock) return true
    const [next] = this.#tasks
    return next !== undefined && isUrgent(next) && heldMilliseconds >= waitLimits.lockBeforeUrgent
  }

  failAll(error: () => unknown): void {
    for (const task of this.#take(() => true)) task.fail(error())
  }

  #take(isIn: (task: Task) => boolean): readonly Task[] {
    const taken: Task[] = []
    const kept: Task[] = []
    for (const task of this.#tasks) (isIn(task) ? taken : kept).push(task)
    this.#tasks = kept
    return taken
  }

  #expire(): void {
    this.#expiresAt = Infinity
    const now = runtime.performanceNow()
    for (const task of this.#take((one) => this.#endOf(one) <= now)) task.fail(givenUp('expired'))
    this.#expireAt(
      this.#tasks.reduce((least, task) => Math.min(least, this.#endOf(task)), Infinity),
    )
  }

  /** Sets the timer, unless it is due earlier. */
  #expireAt(end: number): void {
    if (end >= this.#expiresAt) return
    runtime.clearTimeout(this.#expiry)
    this.#expiresAt = end
    this.#expiry = runtime.setTimeout(
      () => this.#expire(),
      Math.max(1, end - runtime.performanceNow()),
    )
    unref(this.#expiry)
  }

  #endOf(task: Task): number {
    return task.since() + timeoutOf(task, this.#limits.queue)
  }
}

function isUrgent({ options }: Task): boolean {
  return options.priority === 'high'
}

function timeoutOf(task: Task, milliseconds: number): number {
  return isUrgent(task) ? Math.max(waitLimits.urgent, milliseconds) : milliseconds
}

const lastRank = 2

function rankOf(task: Task): number {
  if (isUrgent(task)) return 0
  return task.isResumed() ? 1 : lastRank
}
