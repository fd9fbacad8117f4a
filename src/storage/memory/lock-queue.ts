import { runtime } from '../../runtime.ts'
import { givenUp, waitLimits } from '../write-lock/wait-limits.ts'

/** The order of waiting callers. `resumed`: the caller had the lock before and returned it. */
export type Rank = 'high' | 'resumed' | 'normal'

interface Entry {
  readonly rank: number
  readonly admit: () => void
  readonly reject: (reason: Error) => void
}

const ranks: readonly Rank[] = ['high', 'resumed', 'normal']

/** A lock that one caller at a time can hold, with a queue: high priority first, otherwise in the order of arrival. */
export class LockQueue {
  #isHeld = false
  #waiting: Entry[] = []

  /** Resolves when the caller holds the lock, until `release`. Rejects with `unavailable` after a long wait. */
  acquire(rank: Rank): Promise<void> {
    return new Promise((admit, reject) => {
      if (this.#isHeld) {
        this.#wait(rank, admit, reject)
        return
      }
      this.#isHeld = true
      admit()
    })
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isHeld = false
    else next.admit()
  }

  /** Returns whether a caller with high priority is waiting. */
  hasUrgent(): boolean {
    return this.#waiting[0]?.rank === 0
  }

  /** Rejects all waiting callers. */
  rejectAll(reason: () => Error): void {
    const rejected = this.#waiting
    this.#waiting = []
    for (const { reject } of rejected) reject(reason())
  }

  #wait(rank: Rank, admit: () => void, reject: (reason: Error) => void): void {
    const entry: Entry = {
      rank: ranks.indexOf(rank),
      admit: () => {
        runtime.clearTimeout(timer)
        admit()
      },
      reject: (reason) => {
        runtime.clearTimeout(timer)
        reject(reason)
      },
    }
    const timer = runtime.setTimeout(
      () => {
        this.#waiting = this.#waiting.filter((one) => one !== entry)
        reject(givenUp('expired'))
      },
      rank === 'high' ? waitLimits.urgent : waitLimits.queue,
    )
    const behind = this.#waiting.findIndex((other) => other.rank > entry.rank)
    if (behind === -1) this.#waiting.push(entry)
    else this.#waiting.splice(behind, 0, entry)
  }
}
