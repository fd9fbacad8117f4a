import type { PublishedCollection } from '../../definition/published.ts'
import { runtime, unref } from '../../runtime.ts'
import type { StorageAdapter } from '../adapter.ts'
import { isOwn, observed } from './commits.ts'

interface Snapshot {
  readonly text: string
  /** When it expires, on the clock of `performance`. */
  readonly expires: number
}

/** The commits of this process that write a built-in table. */
interface Commits {
  /** How many have ended. */
  ended: number
  /** How many are sent and have not ended. */
  pending: number
}

/**
 * Adds a version of built-in tables, such as users and keys, to a storage. `poll` reads a string that is different
 * after each commit of any process. The version is this string with the number of own commits that write the tables, so
 * these count at once, and those of other processes within `maxStaleness` milliseconds. The string is polled while the
 * version is used, twice in that time. If a poll fails or is late, the version is undefined.
 */
export class VersionClock {
  readonly #poll: () => Promise<string>
  readonly #maxStaleness: number
  #snapshot: Snapshot | undefined
  #isPolling = false
  #isUsed = false
  #isStopped = false
  #forgotten = 0
  readonly #commits = new Map<string, Commits>()

  constructor(poll: () => Promise<string>, maxStaleness: number) {
    this.#poll = poll
    this.#maxStaleness = maxStaleness
  }

  /** As in {@link StorageAdapter}. */
  readonly version: NonNullable<StorageAdapter['version']> = (collections) => {
    // Responses would show a client that another process serves next an older state than its own change.
    if (!collections.every(isOwn)) return undefined
    this.#isUsed = true
    if (!this.#isPolling && !this.#isStopped) void this.#pollWhileUsed()
    const snapshot = this.#snapshot
    if (snapshot === undefined || runtime.performanceNow() >= snapshot.expires) return undefined
    let commits = this.#forgotten
    for (const collection of collections) {
      const { ended, pending } = this.#commitsOf(collection)
      if (pending > 0) return undefined
      commits += ended
    }
    return `${commits} ${snapshot.text}`
  }

  /** Returns transactions whose commits change the version. */
  counting(transaction: StorageAdapter['transaction']): StorageAdapter['transaction'] {
    return observed(transaction, {
      sent: (collection) => {
        if (isOwn(collection)) this.#commitsOf(collection).pending += 1
      },
      ended: (collections) => {
        for (const collection of collections) {
          if (!isOwn(collection)) continue
          const commits = this.#commitsOf(collection)
          commits.pending -= 1
          commits.ended += 1
        }
      },
    })
  }

  /** Changes the version at once. */
  forget(): void {
    this.#forgotten += 1
  }

  #commitsOf({ table }: PublishedCollection): Commits {
    let commits = this.#commits.get(table)
    if (commits === undefined) {
      commits = { ended: 0, pending: 0 }
      this.#commits.set(table, commits)
    }
    return commits
  }

  /** Ends the polling. */
  stop(): void {
    this.#isStopped = true
  }

  async #pollWhileUsed(): Promise<void> {
    this.#isPolling = true
    while (this.#isUsed && !this.#isStopped) {
      this.#isUsed = false
      // A commit after this moment may be missing in the snapshot.
      const expires = runtime.performanceNow() + this.#maxStaleness
      try {
        this.#snapshot = { text: await this.#poll(), expires }
      } catch {
        this.#snapshot = undefined
      }
      await new Promise<void>((resolve) => {
        unref(runtime.setTimeout(resolve, this.#maxStaleness / 2))
      })
    }
    this.#isPolling = false
  }
}
