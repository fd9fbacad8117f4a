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

/** The transactions that wait for the lock, in the order in which they acquire it. */
export interface WaitingTasks {
  /** Adds a task. Order: high priority, then tasks that had the lock before, then all others. */
  add(task: Task): void
  first(): Task | undefined
  second(): Task | undefined
  shift(): Task | undefined
  isEmpty(): boolean
  /**
   * Resolves when the tasks that are on their way have arrived: after one turn of the event loop, or a few while
   * each brings another task that may share a commit.
   */
  gathered(isShareable: (task: Task | undefined) => boolean): Promise<void>
  /** Fails the tasks that have waited too long for another connection. Returns whether any task is left. */
  blocked(cause: unknown): boolean
  /** Called when no other connection holds the lock. */
  unblocked(): void
  /** Returns whether a transaction that has held the lock for some milliseconds must release it. */
  isOverdue(heldMilliseconds: number): boolean
  failAll(error: () => unknown): void
}

// A commit takes longer than many turns of the event loop, so waiting for more tasks makes all of them faster.
const maxGatherMilliseconds = 2

/** Creates an empty queue. A task that has waited for too long fails. */
export function waitingTasks(limits: WaitLimits): WaitingTasks {
  let tasks: Task[] = []
  let blockedSince: number | undefined
  let expiry: ReturnType<typeof setTimeout> | undefined
  // When the timer is due; infinite without one.
  let expiresAt = Infinity

  function take(isIn: (task: Task) => boolean): readonly Task[] {
    const taken: Task[] = []
    const kept: Task[] = []
    for (const task of tasks) (isIn(task) ? taken : kept).push(task)
    tasks = kept
    return taken
  }

  // A task may be settled while it waits, for instance because a handler timed out.
  function dropSettled(): void {
    while (tasks[0]?.isSettled() === true) tasks.shift()
  }

  function expire(): void {
    expiresAt = Infinity
    const now = performance.now()
    for (const task of take((one) => endOf(one) <= now)) task.fail(givenUp('expired'))
    expireAt(tasks.reduce((least, task) => Math.min(least, endOf(task)), Infinity))
  }

  /** Sets the timer, unless it is due earlier. */
  function expireAt(end: number): void {
    if (end >= expiresAt) return
    clearTimeout(expiry)
    expiresAt = end
    expiry = setTimeout(expire, Math.max(1, end - performance.now()))
    expiry.unref()
  }

  function endOf(task: Task): number {
    return task.since() + timeoutOf(task, limits.queue)
  }

  return {
    add(task) {
      const rank = rankOf(task)
      const behind = rank === lastRank ? -1 : tasks.findIndex((other) => rankOf(other) > rank)
      if (behind === -1) tasks.push(task)
      else tasks.splice(behind, 0, task)
      expireAt(endOf(task))
    },
    first() {
      dropSettled()
      return tasks[0]
    },
    second: () => tasks[1],
    shift: () => tasks.shift(),
    isEmpty: () => tasks.length === 0,
    async gathered(isShareable) {
      const end = performance.now() + maxGatherMilliseconds
      let before: number
      do {
        before = Math.max(1, tasks.length)
        // By then every ready socket has delivered its request.
        await new Promise<void>((resolve) => setImmediate(resolve))
      } while (tasks.length > before && isShareable(tasks[0]) && performance.now() < end)
    },
    blocked(cause) {
      const now = performance.now()
      blockedSince ??= now
      const since = blockedSince
      const isOver = (task: Task): boolean =>
        Math.max(task.since(), since) + timeoutOf(task, limits.busy) <= now
      for (const task of take(isOver)) task.fail(storageFailure(cause, 'save'))
      if (tasks.length > 0) return true
      blockedSince = undefined
      return false
    },
    unblocked() {
      blockedSince = undefined
    },
    isOverdue(heldMilliseconds) {
      if (heldMilliseconds >= limits.lock) return true
      const [next] = tasks
      return next !== undefined && isUrgent(next) && heldMilliseconds >= waitLimits.lockBeforeUrgent
    },
    failAll(error) {
      for (const task of take(() => true)) task.fail(error())
    },
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
