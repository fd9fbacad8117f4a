import type { MaybePromise } from '../../maybe-promise.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Condition, Row, StorageTransaction } from '../adapter.ts'
import type { ConstraintFields } from './constraint-fields.ts'
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
export function openTransaction(session: Session, constraints: ConstraintFields): OpenTransaction {
  let ended = false
  let operation: Operation = 'read'

  function run<Result>(
    as: Operation,
    collection: PublishedCollection,
    work: () => Result,
    saved: () => Row = () => ({}),
  ): MaybePromise<Result> {
    if (ended) return Promise.reject(new Error('this transaction has ended'))
    if (as === 'save' || operation === 'read') operation = as
    try {
      return work()
    } catch (error) {
      const failure = storageFailure(error, as, collection, (kind, message) =>
        kind === 'check'
          ? constraints.check(collection, message)
          : constraints.foreignKey(collection, saved()),
      )
      return Promise.reject(failure as Error)
    }
  }

  // An update that has failed has changed nothing: the other values are those that are stored.
  function changed(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
  ): Row {
    return { ...session.update(collection, conditions, {}), ...changes }
  }

  return {
    transaction: {
      filter: (collection, query) => {
        return run('read', collection, () => session.filter(collection, query))
      },
      insert: (collection, row) =>
        run(
          'save',
          collection,
          () => session.insert(collection, row),
          () => row,
        ),
      update: (collection, conditions, changes) =>
        run(
          'save',
          collection,
          () => session.update(collection, conditions, changes),
          () => changed(collection, conditions, changes),
        ),
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
