import type { PublishedCollection } from '../../definition/published.ts'
import type { StorageAdapter, StorageTransaction } from '../adapter.ts'

/** What happens to the commits of transactions that write. */
export interface CommitObserver {
  /** Returns whether a transaction that writes rows of a collection counts. */
  counts(collection: PublishedCollection): boolean
  /** Called before a commit is sent. Others may see its rows from now on. */
  sent?(): void
  /** Called after that when it has succeeded, has failed, or when its outcome is unknown. */
  ended(): void
}

/** Returns transactions whose commits are observed. */
export function observed(
  transaction: StorageAdapter['transaction'],
  observer: CommitObserver,
): StorageAdapter['transaction'] {
  return async (options, work) => {
    const commit = { writes: false, isSent: false }
    const send = (): void => {
      commit.isSent = true
      observer.sent?.()
    }
    const notice = (collection: PublishedCollection): void => {
      if (!observer.counts(collection)) return
      commit.writes = true
      // It may commit with this write.
      if (options.oneWrite === true && !commit.isSent) send()
    }
    try {
      return await transaction(options, async (on) => {
        const result = await work(noticing(on, notice))
        if (commit.writes && !commit.isSent) send()
        return result
      })
    } finally {
      if (commit.isSent) observer.ended()
    }
  }
}

function noticing(
  on: StorageTransaction,
  notice: (collection: PublishedCollection) => void,
): StorageTransaction {
  return {
    filter: (collection, query) => on.filter(collection, query),
    insert: (collection, row) => {
      notice(collection)
      return on.insert(collection, row)
    },
    update: (collection, conditions, ...changes) => {
      notice(collection)
      return on.update(collection, conditions, ...changes)
    },
    delete: (collection, conditions) => {
      notice(collection)
      return on.delete(collection, conditions)
    },
  }
}

/** Returns whether a collection belongs to the library, such as the collection of users. */
export function isOwn({ application }: PublishedCollection): boolean {
  return application.startsWith('rowgate-')
}
