import type { MaybePromise } from '../../../maybe-promise.ts'
import type { PublishedCollection } from '../../../definition/published.ts'
import type { Row, StorageTransaction } from '../../adapter.ts'
import type { ConstraintFields } from './constraint-fields.ts'
import { readLog, type ReadLog } from '../../write-lock/read-log.ts'
import { storageFailure, type Operation } from '../connection/failure.ts'
import type { Session } from '../session.ts'

/** The lock of a transaction, which may be released while application code waits. */
export interface Lock {
  isHeld(): boolean
  /** Returns false if SQLite has rolled back the transaction by itself. */
  isIntact(): boolean
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
  /** The error for which SQLite has rolled back the whole transaction. */
  lost(): { readonly error: unknown } | undefined
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
  return new SessionTransaction(session, constraints, lock)
}

// A class, because each write creates one.
class SessionTransaction implements OpenTransaction, StorageTransaction {
  readonly transaction: StorageTransaction = this
  readonly #session: Session
  readonly #constraints: ConstraintFields
  readonly #lock: Lock
  #isEnded = false
  #operation: Operation = 'read'
  #hasSaved = false
  #log: ReadLog | undefined
  #lost: { readonly error: unknown } | undefined

  constructor(session: Session, constraints: ConstraintFields, lock: Lock) {
    this.#session = session
    this.#constraints = constraints
    this.#lock = lock
  }

  operation(): Operation {
    return this.#operation
  }

  hasRead(): boolean {
    return this.#log !== undefined
  }

  hasSaved(): boolean {
    return this.#hasSaved
  }

  lost(): { readonly error: unknown } | undefined {
    return this.#lost
  }

  isCurrent(): boolean {
    const session = this.#session
    return this.#log?.isCurrent((collection, query) => session.filter(collection, query)) ?? true
  }

  end(): void {
    this.#isEnded = true
  }

  // Functions of the object itself, so that a wrapper can spread it.
  readonly filter: StorageTransaction['filter'] = (collection, query) =>
    this.#run('read', collection, () => {
      const page = this.#session.filter(collection, query)
      // After its first write, a transaction keeps the lock, so its reads are never compared.
      if (this.#operation !== 'read') return page
      return (this.#log ??= readLog()).add(collection, query, page)
    })

  readonly insert: StorageTransaction['insert'] = (collection, row) =>
    this.#run(
      'save',
      collection,
      () => this.#session.insert(collection, row),
      () => row,
    )

  readonly update: StorageTransaction['update'] = (collection, conditions, changes) =>
    this.#run(
      'save',
      collection,
      () => this.#session.update(collection, conditions, changes),
      // The failed update has changed nothing, so the other values are the stored ones.
      () => ({ ...this.#session.update(collection, conditions, {}), ...changes }),
    )

  readonly updateText: Required<StorageTransaction>['updateText'] = (
    collection,
    conditions,
    changes,
    select,
  ) =>
    this.#run('save', collection, () => {
      const { isChanged, text } = this.#session.updateText(collection, conditions, changes, select)
      if (isChanged) this.#hasSaved = true
      return text
    })

  readonly delete: StorageTransaction['delete'] = (collection, conditions) =>
    this.#run('delete', collection, () => this.#session.delete(collection, conditions))

  #run<Result>(
    as: Operation,
    collection: PublishedCollection,
    work: () => Result,
    rowOf: () => Row = () => ({}),
  ): MaybePromise<Result> {
    if (this.#isEnded) return Promise.reject(new Error('The transaction has ended.'))
    if (!this.#lock.isHeld()) {
      return this.#lock.acquire().then(() => this.#run(as, collection, work, rowOf))
    }
    // Each further statement would be committed by itself.
    if (this.#lost !== undefined) return rejected(this.#lost.error)
    if (as === 'save' || this.#operation === 'read') this.#operation = as
    try {
      const result = work()
      if (as !== 'read' && result !== undefined && result !== null) this.#hasSaved = true
      return result
    } catch (error) {
      const constraints = this.#constraints
      const failure = storageFailure(error, as, collection, (kind, message) =>
        kind === 'check'
          ? constraints.check(collection, message)
          : constraints.foreignKey(collection, rowOf()),
      )
      if (!this.#lock.isIntact()) this.#lost = { error: failure }
      return rejected(failure)
    }
  }
}

async function rejected(error: unknown): Promise<never> {
  throw error
}
