import type { StorageAdapter } from '../adapter.ts'
import { isOwn, observed } from './commits.ts'

/** Adds a version of the built-in tables, such as users and keys, to a storage. */
export interface VersionClock {
  readonly version: NonNullable<StorageAdapter['version']>
  /** Returns transactions whose commits change the version. */
  counting(transaction: StorageAdapter['transaction']): StorageAdapter['transaction']
  /** Changes the version at once. */
  forget(): void
  /** Ends the polling. */
  stop(): void
}

interface Snapshot {
  readonly text: string
  /** When it can't be used any more. */
  readonly expires: number
}

/**
 * Creates a version clock. `poll` reads a string that is different after each commit of any process. The version is that
 * text and the number of own commits, so own commits count at once, and others within `maxStaleness` milliseconds.
 * It is polled while it is used, twice in that time. If that fails or is late, the version is undefined.
 */
export function versionClock(poll: () => Promise<string>, maxStaleness: number): VersionClock {
  return new PolledClock(poll, maxStaleness)
}

class PolledClock implements VersionClock {
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

  readonly version: VersionClock['version'] = (collections) => {
    // Responses would show a client that another process serves next an older state than its own change.
    if (!collections.every(isOwn)) return undefined
    this.#isUsed = true
    if (!this.#isPolling && !this.#isStopped) void this.#pollWhileUsed()
    if (this.#committing > 0 || this.#snapshot === undefined) return undefined
    return performance.now() < this.#snapshot.expires
      ? `${this.#commits} ${this.#snapshot.text}`
      : undefined
  }

  readonly counting: VersionClock['counting'] = (transaction) =>
    observed(transaction, {
      counts: isOwn,
      sent: () => {
        this.#committing += 1
      },
      ended: () => {
        this.#committing -= 1
        this.#commits += 1
      },
    })

  readonly forget: VersionClock['forget'] = () => {
    this.#commits += 1
  }

  readonly stop: VersionClock['stop'] = () => {
    this.#isStopped = true
  }

  async #pollWhileUsed(): Promise<void> {
    this.#isPolling = true
    while (this.#isUsed && !this.#isStopped) {
      this.#isUsed = false
      // A commit after this moment may be missing in the snapshot.
      const expires = performance.now() + this.#maxStaleness
      try {
        this.#snapshot = { text: await this.#poll(), expires }
      } catch {
        this.#snapshot = undefined
      }
      await new Promise((resolve) => setTimeout(resolve, this.#maxStaleness / 2).unref())
    }
    this.#isPolling = false
  }
}
