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
  let snapshot: Snapshot | undefined
  let isPolling = false
  let isUsed = false
  let isStopped = false
  let commits = 0
  let committing = 0

  async function pollWhileUsed(): Promise<void> {
    isPolling = true
    while (isUsed && !isStopped) {
      isUsed = false
      // A commit after this moment may be missing in the snapshot.
      const expires = performance.now() + maxStaleness
      try {
        snapshot = { text: await poll(), expires }
      } catch {
        snapshot = undefined
      }
      await new Promise((resolve) => setTimeout(resolve, maxStaleness / 2).unref())
    }
    isPolling = false
  }

  return {
    version(collections) {
      // Responses would show a client that another process serves next an older state than its own change.
      if (!collections.every(isOwn)) return undefined
      isUsed = true
      if (!isPolling && !isStopped) void pollWhileUsed()
      if (committing > 0 || snapshot === undefined) return undefined
      return performance.now() < snapshot.expires ? `${commits} ${snapshot.text}` : undefined
    },
    counting: (transaction) =>
      observed(transaction, {
        counts: isOwn,
        sent: () => {
          committing += 1
        },
        ended: () => {
          committing -= 1
          commits += 1
        },
      }),
    forget() {
      commits += 1
    },
    stop() {
      isStopped = true
    },
  }
}
