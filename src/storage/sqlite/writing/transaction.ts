import type { PublishedCollection } from '../../../definition/published.ts'
import type { Row, StorageTransaction } from '../../adapter.ts'
import type { ConstraintFields } from './constraint-fields.ts'
import { readLog, type ReadLog } from '../../write-lock/read-log.ts'
import { storageFailure, type Operation } from '../connection/failure.ts'
import type { WriteSession } from './write-session.ts'

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
  session: WriteSession,
  constraints: ConstraintFields,
  lock: Lock,
): OpenTransaction {
  return new SessionTransaction(session, constraints, lock)
}

// A class, because each write creates one.
class SessionTransaction implements OpenTransaction, StorageTransaction {
  readonly transaction: StorageTransaction = this
  readonly #session: WriteSession
  readonly #constraints: ConstraintFields
  readonly #lock: Lock
  #isEnded = false
  #operation: Operation = 'read'
  #hasSaved = false
  #log: ReadLog | undefined
  #lost: { readonly error: unknown } | undefined

  constructor(session: WriteSession, constraints: ConstraintFields, lock: Lock) {
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
    const { reads } = this.#session
    return this.#log?.isCurrent((collection, query) => reads.filter(collection, query)) ?? true
  }

  end(): void {
    this.#isEnded = true
  }

  // Functions of the object itself, so that a wrapper can spread it.
  readonly filter: StorageTransaction['filter'] = (collection, query) => {
    const wait = this.#wait()
    if (wait !== undefined) return wait.then(() => this.filter(collection, query))
    try {
      const page = this.#session.reads.filter(collection, query)
      // After its first write, a transaction keeps the lock, so its reads are never compared.
      if (this.#operation !== 'read') return page
      return (this.#log ??= readLog()).add(collection, query, page)
    } catch (error) {
      return this.#rejected(error, 'read', collection)
    }
  }

  readonly insert: StorageTransaction['insert'] = (collection, row) => {
    const wait = this.#wait()
    if (wait !== undefined) return wait.then(() => this.insert(collection, row))
    this.#operation = 'save'
    try {
      const stored = this.#session.insert(collection, row)
      this.#hasSaved = true
      return stored
    } catch (error) {
      return this.#rejected(error, 'save', collection, () => row)
    }
  }

  readonly update: StorageTransaction['update'] = (collection, conditions, changes) => {
    const wait = this.#wait()
    if (wait !== undefined) return wait.then(() => this.update(collection, conditions, changes))
    this.#operation = 'save'
    const session = this.#session
    try {
      const stored = session.update(collection, conditions, changes)
      if (stored !== undefined) this.#hasSaved = true
      return stored
    } catch (error) {
      // The failed update has changed nothing, so the other values are the stored ones.
      const row = (): Row => ({ ...session.update(collection, conditions, {}), ...changes })
      return this.#rejected(error, 'save', collection, row)
    }
  }

  readonly updateText: Required<StorageTransaction>['updateText'] = (
    collection,
    conditions,
    changes,
    select,
  ) => {
    const wait = this.#wait()
    if (wait !== undefined) {
      return wait.then(() => this.updateText(collection, conditions, changes, select))
    }
    this.#operation = 'save'
    try {
      const { isChanged, text } = this.#session.updateText(collection, conditions, changes, select)
      if (isChanged) this.#hasSaved = true
      return text
    } catch (error) {
      return this.#rejected(error, 'save', collection)
    }
  }

  readonly delete: StorageTransaction['delete'] = (collection, conditions) => {
    const wait = this.#wait()
    if (wait !== undefined) return wait.then(() => this.delete(collection, conditions))
    if (this.#operation === 'read') this.#operation = 'delete'
    try {
      const deleted = this.#session.delete(collection, conditions)
      if (deleted !== undefined) this.#hasSaved = true
      return deleted
    } catch (error) {
      return this.#rejected(error, 'delete', collection)
    }
  }

  /** Returns what a call must wait for, or a rejection. Undefined: it runs now. */
  #wait(): Promise<void> | undefined {
    if (this.#isEnded) return Promise.reject(new Error('The transaction has ended.'))
    if (!this.#lock.isHeld()) return this.#lock.acquire()
    // Each further statement would be committed by itself.
    return this.#lost === undefined ? undefined : rejected(this.#lost.error)
  }

  #rejected(
    error: unknown,
    operation: Operation,
    collection: PublishedCollection,
    rowOf: () => Row = () => ({}),
  ): Promise<never> {
    const constraints = this.#constraints
    const failure = storageFailure(error, operation, collection, (kind, message) =>
      kind === 'check'
        ? constraints.check(collection, message)
        : constraints.foreignKey(collection, rowOf()),
    )
    if (!this.#lock.isIntact()) this.#lost = { error: failure }
    return rejected(failure)
  }
}

async function rejected(error: unknown): Promise<never> {
  throw error
}
