import type { MaybePromise } from '../../maybe-promise.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { StorageTransaction } from '../adapter.ts'
import { storageFailure, type Operation } from './failure.ts'
import type { Session } from './session.ts'

/** The transaction that is open on a connection. */
export interface OpenTransaction {
  readonly transaction: StorageTransaction
  /** What it did so far: a transaction that saved anything is a save. */
  operation(): Operation
  /** From now on every call rejects. */
  end(): void
}

/** Hands a session to one transaction. */
export function openTransaction(session: Session): OpenTransaction {
  let ended = false
  let operation: Operation = 'read'

  function run<Result>(
    as: Operation,
    collection: PublishedCollection,
    work: () => Result,
  ): MaybePromise<Result> {
    if (ended) return Promise.reject(new Error('this transaction has ended'))
    if (as === 'save' || operation === 'read') operation = as
    return settle(as, collection, work)
  }

  return {
    transaction: {
      filter: (collection, query) => {
        return run('read', collection, () => session.filter(collection, query))
      },
      insert: (collection, row) => run('save', collection, () => session.insert(collection, row)),
      update: (collection, conditions, changes) => {
        return run('save', collection, () => session.update(collection, conditions, changes))
      },
      delete: (collection, conditions) => {
        return run('delete', collection, () => session.delete(collection, conditions))
      },
    },
    operation: () => operation,
    end() {
      ended = true
    },
  }
}

/** The result of synchronous work, or a promise that rejects with what the port knows of its error. */
export function settle<Result>(
  as: Operation,
  collection: PublishedCollection,
  work: () => Result,
): MaybePromise<Result> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(storageFailure(error, as, collection))
  }
}
