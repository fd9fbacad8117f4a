import type { MaybePromise } from '../../maybe-promise.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Condition, Row, StorageTransaction } from '../adapter.ts'
import type { ConstraintFields } from './constraint-fields.ts'
import { readLog, type ReadLog } from '../read-log.ts'
import { storageFailure, type Operation } from './failure.ts'
import type { Session } from './session.ts'

/** The lock of a transaction, which it may have given back while application code waits. */
export interface Lock {
  isHeld(): boolean
  /** Resolves when the lock is held again. Rejects if the transaction can't go on. */
  acquire(): Promise<void>
}

/** A transaction on a connection. */
export interface OpenTransaction {
  readonly transaction: StorageTransaction
  /** What it did so far: a transaction that saved anything is a save. */
  operation(): Operation
  /** Whether it has read anything. */
  hasRead(): boolean
  /** Whether what it has read is still so. Throws the driver's errors. */
  isCurrent(): boolean
  /** From now on every call rejects. */
  end(): void
}

/** Opens a session to one transaction. */
export function openTransaction(
  session: Session,
  constraints: ConstraintFields,
  lock: Lock,
): OpenTransaction {
  let ended = false
  let operation: Operation = 'read'
  let log: ReadLog | undefined

  function run<Result>(
    as: Operation,
    collection: PublishedCollection,
    work: () => Result,
    saved: () => Row = () => ({}),
  ): MaybePromise<Result> {
    if (ended) return Promise.reject(new Error('this transaction has ended'))
    if (!lock.isHeld()) return lock.acquire().then(() => run(as, collection, work, saved))
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
      filter: (collection, query) =>
        run('read', collection, () => {
          const page = session.filter(collection, query)
          // After its first write a transaction keeps the lock: nothing is compared any more.
          return operation === 'read' ? (log ??= readLog()).add(collection, query, page) : page
        }),
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
    hasRead: () => log !== undefined,
    isCurrent: () =>
      log?.isCurrent((collection, query) => session.filter(collection, query)) ?? true,
    end() {
      ended = true
    },
  }
}
