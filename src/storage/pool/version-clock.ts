import { runtime } from '../../runtime.ts'
import type { StorageAdapter } from '../adapter.ts'
import { isOwn, observed } from './commits.ts'

interface Snapshot {
  readonly text: string
  /** When it expires, on the clock of `performance`. */
  readonly expires: number
}

/**
 * Adds a version of the built-in tables, such as users and keys, to a storage. `poll` reads a string that is different
 * after each commit of any process. The version is this string with the number of own commits, so own commits count at
 * once, and others within `maxStaleness` milliseconds. The string is polled while the version is used, twice in that time.
 * If a poll fails or is late, the version is undefined.
 */
export class VersionClock {
  readonly #poll: () => Promise<string>
  readonly #maxStaleness: number
  #snapshot: Snapshot | undefined
  #isPolling = false
  #isUsed = false
  #isStopped = false
  #commits = 0
  #committing = 0

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
    if (this.#committing > 0 || this.#snapshot === undefined) return undefined
    return runtime.performanceNow() < this.#snapshot.expires
      ? `${this.#commits} ${this.#snapshot.text}`
      : undefined
  }

  /** Returns transactions whose commits change the version. */
  counting(transaction: StorageAdapter['transaction']): StorageAdapter['transaction'] {
    return observed(transaction, {
      counts: isOwn,
      sent: () => {
        this.#committing += 1
      },
      ended: () => {
        this.#committing -= 1
        this.#commits += 1
      },
    })
  }

  /** Changes the version at once. */
  forget(): void {
    this.#commits += 1
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
      await new Promise<void>((resolve) =>
        runtime.setTimeout(resolve, this.#maxStaleness / 2).unref(),
      )
    }
    this.#isPolling = false
  }
}
