import type { MaybePromise } from '../../maybe-promise.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Condition, Row, StorageTransaction } from '../adapter.ts'
import type { ConstraintFields } from './constraint-fields.ts'
import { readLog, type ReadLog } from '../read-log.ts'
import { storageFailure, type Operation } from './failure.ts'
import type { Session } from './session.ts'

/** The lock of a transaction, which may be released while application code waits. */
export interface Lock {
  isHeld(): boolean
  /** Resolves when the lock is held again. Rejects if the transaction can't go on. */
  acquire(): Promise<void>
}

/** A transaction on a connection. */
export interface OpenTransaction {
  readonly transaction: StorageTransaction
  /** The operation so far: `save` after any save. */
  operation(): Operation
  /** Whether it has read anything. */
  hasRead(): boolean
  /** Whether a save of it has succeeded. */
  hasSaved(): boolean
  /** Returns whether its reads are still current. Throws the errors of the driver. */
  isCurrent(): boolean
  /** Ends the transaction. Later calls reject. */
  end(): void
}

/** Creates the calls of one transaction over a session. */
export function openTransaction(
  session: Session,
  constraints: ConstraintFields,
  lock: Lock,
): OpenTransaction {
  let ended = false
  let operation: Operation = 'read'
  let saved = false
  let log: ReadLog | undefined

  function run<Result>(
    as: Operation,
    collection: PublishedCollection,
    work: () => Result,
    rowOf: () => Row = () => ({}),
  ): MaybePromise<Result> {
    if (ended) return Promise.reject(new Error('The transaction has ended.'))
    if (!lock.isHeld()) return lock.acquire().then(() => run(as, collection, work, rowOf))
    if (as === 'save' || operation === 'read') operation = as
    try {
      const result = work()
      if (as !== 'read' && result !== undefined) saved = true
      return result
    } catch (error) {
      const failure = storageFailure(error, as, collection, (kind, message) =>
        kind === 'check'
          ? constraints.check(collection, message)
          : constraints.foreignKey(collection, rowOf()),
      )
      return Promise.reject(failure)
    }
  }

  // The failed update has changed nothing, so the other values are the stored ones.
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
          // After its first write, a transaction keeps the lock, so its reads are never compared.
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
    hasSaved: () => saved,
    isCurrent: () =>
      log?.isCurrent((collection, query) => session.filter(collection, query)) ?? true,
    end() {
      ended = true
    },
  }
}
