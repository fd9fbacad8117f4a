import type { MaybePromise } from '../../maybe-promise.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { isStorageError, StorageError, type Condition, type StorageAdapter } from '../adapter.ts'
import type { StorageTransaction, TransactionOptions } from '../adapter.ts'
import { holdTransaction, type HeldTransaction } from '../held-transaction.ts'

/** A transaction in progress over several adapters. */
export interface ActiveTransaction {
  /** The adapters that it writes to. */
  readonly holds: ReadonlySet<StorageAdapter>
  /** The adapters whose locks it waits for. */
  readonly awaits: ReadonlySet<StorageAdapter>
}

/** Options of {@link mountTransaction}. */
export interface MountTransactionOptions {
  /** Returns the adapter of a collection, and of the rows of others that the conditions read. */
  readonly homeFor: (
    collection: PublishedCollection,
    conditions: readonly Condition[],
  ) => StorageAdapter
  /** All transactions in progress, to detect deadlocks. */
  readonly active: Set<ActiveTransaction>
  readonly options: TransactionOptions
}

/** Runs work in a transaction that begins on each adapter with the first call for it, and ends on all. */
export async function mountTransaction<Result>(
  options: MountTransactionOptions,
  work: (transaction: StorageTransaction) => MaybePromise<Result>,
): Promise<Result> {
  const { active } = options
  const transaction = new MountTransaction(options)
  let isCommitted = false
  active.add(transaction)
  try {
    const result = await work(transaction)
    transaction.end()
    transaction.throwIfFailed()
    for (const one of transaction.opened.values()) {
      await one.commit()
      isCommitted = true
    }
    return result
  } catch (error) {
    transaction.end()
    await Promise.all([...transaction.opened.values()].map((one) => one.undo(error)))
    // Repeated, the work would be done twice on the adapters that have committed.
    throw isCommitted && isStorageError(error) && error.isConflict
      ? new StorageError('unavailable', { cause: error })
      : error
  } finally {
    active.delete(transaction)
  }
}

class MountTransaction implements ActiveTransaction, StorageTransaction {
  readonly holds = new Set<StorageAdapter>()
  readonly awaits = new Set<StorageAdapter>()
  /** The transactions of the adapters, in the order of the first calls for them. */
  readonly opened = new Map<StorageAdapter, HeldTransaction>()
  readonly #options: MountTransactionOptions
  #isEnded = false
  #failure: { readonly error: unknown } | undefined

  constructor(options: MountTransactionOptions) {
    this.#options = options
  }

  // Functions of the object itself, so that a wrapper can spread it.
  readonly filter: StorageTransaction['filter'] = (collection, query) =>
    this.#callOn(this.#homeFor(collection, query.conditions), false, (on) =>
      on.filter(collection, query),
    )

  readonly insert: StorageTransaction['insert'] = (collection, row) =>
    this.#callOn(this.#homeFor(collection, []), true, (on) => on.insert(collection, row))

  readonly update: StorageTransaction['update'] = (collection, conditions, ...changes) =>
    this.#callOn(this.#homeFor(collection, conditions), true, (on) =>
      on.update(collection, conditions, ...changes),
    )

  readonly updateText: Required<StorageTransaction>['updateText'] = (
    collection,
    conditions,
    changes,
    select,
  ) =>
    this.#callOn(this.#homeFor(collection, conditions), true, (on) =>
      on.updateText?.(collection, conditions, changes, select),
    )

  readonly delete: StorageTransaction['delete'] = (collection, conditions) =>
    this.#callOn(this.#homeFor(collection, conditions), true, (on) =>
      on.delete(collection, conditions),
    )

  /** Ends the transaction. Later calls reject. */
  end(): void {
    this.#isEnded = true
  }

  /** Throws the error of an adapter that could not begin its transaction. */
  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #homeFor(collection: PublishedCollection, conditions: readonly Condition[]): StorageAdapter {
    return this.#options.homeFor(collection, conditions)
  }

  async #callOn<Value>(
    home: StorageAdapter,
    writes: boolean,
    call: (inner: StorageTransaction) => MaybePromise<Value>,
  ): Promise<Value> {
    this.#throwIfEnded()
    const { active, options } = this.#options
    const waits = (writes || options.mode === 'write') && !this.holds.has(home)
    if (waits && wouldDeadlock(active, this, home))
      throw new StorageError('unavailable', { isConflict: true })
    if (waits) this.awaits.add(home)
    try {
      const inner = await this.#begunOn(home)
      this.#throwIfEnded()
      return await call(inner)
    } finally {
      if (waits) this.awaits.delete(home)
      if (waits) this.holds.add(home)
    }
  }

  async #begunOn(home: StorageAdapter): Promise<StorageTransaction> {
    const open = this.opened.get(home) ?? holdTransaction(home, this.#options.options)
    this.opened.set(home, open)
    try {
      return await open.begun
    } catch (error) {
      this.#failure ??= { error }
      throw error
    }
  }

  #throwIfEnded(): void {
    if (this.#isEnded) throw new Error('The transaction has ended.')
  }
}

/** Returns whether a transaction ahead waits, directly or indirectly, for an adapter that this one holds. */
function wouldDeadlock(
  active: ReadonlySet<ActiveTransaction>,
  self: ActiveTransaction,
  wanted: StorageAdapter,
  seen: ReadonlySet<ActiveTransaction> = new Set([self]),
): boolean {
  const ahead = [...active].filter(
    (other) => !seen.has(other) && (other.holds.has(wanted) || other.awaits.has(wanted)),
  )
  const visited = new Set([...seen, ...ahead])
  return ahead.some((other) =>
    [...other.awaits].some(
      (next) => self.holds.has(next) || wouldDeadlock(active, self, next, visited),
    ),
  )
}
