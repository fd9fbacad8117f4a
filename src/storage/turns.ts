import { givenUp, waitLimits } from './wait-limits.ts'

/** Lets one in at a time: those with priority first, else in the order of arrival. */
export interface Turns {
  /** Resolves when it is the caller's turn, which lasts until `leave`. Rejects after a long wait. */
  enter(rank: Rank): Promise<void>
  leave(): void
  /** Whether a caller with high priority waits. */
  hasUrgent(): boolean
  /** Rejects all callers that wait. */
  refuse(reason: () => Error): void
}

/** `high` before `resumed`, which is a caller that gave its turn back, before `normal`. */
export type Rank = 'high' | 'resumed' | 'normal'

interface Entry {
  readonly rank: number
  readonly admit: () => void
  readonly reject: (reason: Error) => void
}

const ranks: readonly Rank[] = ['high', 'resumed', 'normal']

/** A queue in front of something that only one may use at a time. */
export function turns(): Turns {
  let taken = false
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
    enter: (rank) =>
      new Promise((admit, reject) => {
        if (taken) {
          wait(rank, admit, reject)
          return
        }
        taken = true
        admit()
      }),
    leave() {
      const next = waiting.shift()
      if (next === undefined) taken = false
      else next.admit()
    },
    hasUrgent: () => waiting[0]?.rank === 0,
    refuse(reason) {
      const rejected = waiting
      waiting = []
      for (const { reject } of rejected) reject(reason())
    },
  }
}
