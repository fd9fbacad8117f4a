import type { MaybePromise } from '../../maybe-promise.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { isStorageError, StorageError, type Condition, type StorageAdapter } from '../adapter.ts'
import type { StorageTransaction, TransactionOptions } from '../adapter.ts'

/** A transaction in progress over several adapters: those that it writes to, and those that it waits for. */
export interface ActiveTransaction {
  readonly holds: Set<StorageAdapter>
  readonly awaits: Set<StorageAdapter>
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
  { homeFor, active, options }: MountTransactionOptions,
  work: (transaction: StorageTransaction) => MaybePromise<Result>,
): Promise<Result> {
  const opened = new Map<StorageAdapter, OpenTransaction>()
  const self: ActiveTransaction = { holds: new Set(), awaits: new Set() }
  const state: { ended: boolean; failure?: { readonly error: unknown } } = { ended: false }
  let isCommitted = false

  function throwIfEnded(): void {
    if (state.ended) throw new Error('The transaction has ended.')
  }

  async function callOn<Value>(
    home: StorageAdapter,
    writes: boolean,
    call: (inner: StorageTransaction) => MaybePromise<Value>,
  ): Promise<Value> {
    throwIfEnded()
    const waits = (writes || options.mode === 'write') && !self.holds.has(home)
    if (waits && wouldDeadlock(active, self, home))
      throw new StorageError('unavailable', { isConflict: true })
    if (waits) self.awaits.add(home)
    try {
      const inner = await begunOn(home)
      throwIfEnded()
      return await call(inner)
    } finally {
      if (waits) self.awaits.delete(home)
      if (waits) self.holds.add(home)
    }
  }

  async function begunOn(home: StorageAdapter): Promise<StorageTransaction> {
    const open = opened.get(home) ?? openOn(home, options)
    opened.set(home, open)
    try {
      return await open.begun
    } catch (error) {
      state.failure ??= { error }
      throw error
    }
  }

  active.add(self)
  try {
    const result = await work({
      filter: (collection, query) =>
        callOn(homeFor(collection, query.conditions), false, (on) => on.filter(collection, query)),
      insert: (collection, row) =>
        callOn(homeFor(collection, []), true, (on) => on.insert(collection, row)),
      update: (collection, conditions, changes) =>
        callOn(homeFor(collection, conditions), true, (on) =>
          on.update(collection, conditions, changes),
        ),
      updateText: (collection, conditions, changes, select) =>
        callOn(homeFor(collection, conditions), true, (on) =>
          on.updateText?.(collection, conditions, changes, select),
        ),
      delete: (collection, conditions) =>
        callOn(homeFor(collection, conditions), true, (on) => on.delete(collection, conditions)),
    })
    state.ended = true
    if (state.failure !== undefined) throw state.failure.error
    for (const one of opened.values()) {
      await one.commit()
      isCommitted = true
    }
    return result
  } catch (error) {
    state.ended = true
    await Promise.all([...opened.values()].map((one) => one.undo(error)))
    // Repeated, the work would be done twice on the adapters that have committed.
    throw isCommitted && isStorageError(error) && error.isConflict
      ? new StorageError('unavailable', { cause: error })
      : error
  } finally {
    active.delete(self)
  }
}

/** A transaction of one adapter that stays open until `commit` or `undo` is called. */
interface OpenTransaction {
  /** Rejects if the transaction can't begin. */
  readonly begun: Promise<StorageTransaction>
  commit(): Promise<void>
  /** Undoes the changes unless they are committed. Never rejects. */
  undo(reason: unknown): Promise<void>
}

function openOn(adapter: StorageAdapter, options: TransactionOptions): OpenTransaction {
  let open = (): void => undefined
  let abandon: (reason: unknown) => void = () => undefined
  const gate = new Promise<void>((resolve, reject) => {
    open = resolve
    abandon = reject
  })
  let finished = Promise.resolve()
  const begun = new Promise<StorageTransaction>((begin, fail) => {
    finished = adapter.transaction(options, (inner) => {
      begin(inner)
      return gate
    })
    finished.catch(fail)
  })
  // The promises are awaited later. Until then a rejection must not end the process.
  for (const promise of [gate, begun]) promise.catch(() => undefined)
  return {
    begun,
    commit: () => {
      open()
      return finished
    },
    undo: (reason) => {
      abandon(reason)
      return finished.catch(() => undefined)
    },
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
