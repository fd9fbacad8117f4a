import { givenUp, waitLimits } from '../write-lock/wait-limits.ts'

/** A lock with a queue: high priority first, otherwise in the order of arrival. */
export interface LockQueue {
  /** Resolves when the caller holds the lock, until `release`. Rejects with `unavailable` after a long wait. */
  acquire(rank: Rank): Promise<void>
  release(): void
  /** Whether a caller with high priority is waiting. */
  hasUrgent(): boolean
  /** Rejects all waiting callers. */
  rejectAll(reason: () => Error): void
}

/** The order of waiting callers. `resumed`: the caller had the lock before and gave it back. */
export type Rank = 'high' | 'resumed' | 'normal'

interface Entry {
  readonly rank: number
  readonly admit: () => void
  readonly reject: (reason: Error) => void
}

const ranks: readonly Rank[] = ['high', 'resumed', 'normal']

/** Creates a lock that one caller at a time can hold. */
export function lockQueue(): LockQueue {
  let isHeld = false
  let waiting: Entry[] = []

  function wait(rank: Rank, admit: () => void, reject: (reason: Error) => void): void {
    const entry: Entry = {
      rank: ranks.indexOf(rank),
      admit: () => {
        clearTimeout(timer)
        admit()
      },
      reject: (reason) => {
        clearTimeout(timer)
        reject(reason)
      },
    }
    const timer = setTimeout(
      () => {
        waiting = waiting.filter((one) => one !== entry)
        reject(givenUp('expired'))
      },
      rank === 'high' ? waitLimits.urgent : waitLimits.queue,
    )
    const behind = waiting.findIndex((other) => other.rank > entry.rank)
    if (behind === -1) waiting.push(entry)
    else waiting.splice(behind, 0, entry)
  }

  return {
    acquire: (rank) =>
      new Promise((admit, reject) => {
        if (isHeld) {
          wait(rank, admit, reject)
          return
        }
        isHeld = true
        admit()
      }),
    release() {
      const next = waiting.shift()
      if (next === undefined) isHeld = false
      else next.admit()
    },
    hasUrgent: () => waiting[0]?.rank === 0,
    rejectAll(reason) {
      const rejected = waiting
      waiting = []
      for (const { reject } of rejected) reject(reason())
    },
  }
}
