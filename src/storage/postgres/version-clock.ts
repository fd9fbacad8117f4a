import type { PublishedCollection } from '../../definition/published.ts'
import type { StorageAdapter, StorageTransaction } from '../adapter.ts'

/** Adds a version of the built-in tables, such as users and keys, to a storage. */
export interface VersionClock {
  readonly version: NonNullable<StorageAdapter['version']>
  /** Returns transactions whose commits change the version. */
  counting(transaction: StorageAdapter['transaction']): StorageAdapter['transaction']
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
    counting: (transaction) => async (options, work) => {
      const written = new Set<PublishedCollection>()
      const commit = { isSent: false }
      try {
        return await transaction(options, async (on) => {
          const result = await work(noticing(on, written))
          // Others may see the rows from now on, before the server's answer arrives.
          commit.isSent = written.size > 0
          if (commit.isSent) committing += 1
          return result
        })
      } finally {
        if (commit.isSent) {
          committing -= 1
          commits += 1
        }
      }
    },
    stop() {
      isStopped = true
    },
  }
}

function noticing(on: StorageTransaction, written: Set<PublishedCollection>): StorageTransaction {
  const notice = (collection: PublishedCollection): void => {
    if (isOwn(collection)) written.add(collection)
  }
  return {
    filter: (collection, query) => on.filter(collection, query),
    insert: (collection, row) => {
      notice(collection)
      return on.insert(collection, row)
    },
    update: (collection, conditions, changes) => {
      notice(collection)
      return on.update(collection, conditions, changes)
    },
    delete: (collection, conditions) => {
      notice(collection)
      return on.delete(collection, conditions)
    },
  }
}

// Applications of this name belong to the library.
function isOwn({ application }: PublishedCollection): boolean {
  return application.startsWith('rowgate-')
}
