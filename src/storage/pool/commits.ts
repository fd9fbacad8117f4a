import type { PublishedCollection } from '../../definition/published.ts'
import type { StorageAdapter, StorageTransaction } from '../adapter.ts'

/** What happens to the commits of transactions that write. */
export interface CommitObserver {
  /** Called before a commit is sent that may change rows of a collection. Others may see them from now on. */
  sent?(collection: PublishedCollection): void
  /** Called after that when the commit has succeeded, has failed, or when its outcome is unknown. */
  ended(collections: ReadonlySet<PublishedCollection>): void
}

/** Returns transactions whose commits are observed. */
export function observed(
  transaction: StorageAdapter['transaction'],
  observer: CommitObserver,
): StorageAdapter['transaction'] {
  return async (options, work) => {
    const written = new Set<PublishedCollection>()
    const sent = new Set<PublishedCollection>()
    const send = (collection: PublishedCollection): void => {
      if (sent.has(collection)) return
      sent.add(collection)
      observer.sent?.(collection)
    }
    // It may commit with this write.
    const notice = (collection: PublishedCollection): void =>
      options.oneWrite === true ? send(collection) : void written.add(collection)
    try {
      return await transaction(options, async (on) => {
        const result = await work(noticing(on, notice))
        for (const collection of written) send(collection)
        return result
      })
    } finally {
      if (sent.size > 0) observer.ended(sent)
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
