import type { PublishedCollection } from '../definition/published.ts'
import { whenDone, whenSettled, type MaybePromise } from '../maybe-promise.ts'
import type { DataEvent } from '../request/event.ts'
import type { RejectedOutcome } from '../request/outcome.ts'
import { asTransaction } from '../observation/open-transaction.ts'
import { entriesShownTo } from '../request/view.ts'
import { isStorageError } from '../storage/adapter.ts'
import type { StorageError, StorageTransaction, TransactionOptions } from '../storage/adapter.ts'
import { conflictPauses, isConflict } from '../work/repeat-conflicts.ts'
import { Rollback } from './guard.ts'
import { notingConflicts, type UnseenKeys } from './repeated-work.ts'
import type { Caller, Running, Runtime } from './runtime.ts'
import { isAboutItem } from './write-faults.ts'

/** How a unit of work begins. */
export interface UnitOptions<Result> extends Pick<
  TransactionOptions,
  'mode' | 'brief' | 'oneWrite'
> {
  /** The collection of its event; absent for other work. If functions serve it, there is no transaction. */
  readonly collection?: PublishedCollection
  /** How many events are nested around it. Default 0. */
  readonly depth?: number | undefined
  /**
   * Called instead of failing if the work has ended, but storage rejects the commit because of a value or a
   * duplicate: a deferred constraint, or one that has undone the transaction.
   */
  readonly rejectedAtCommit?: (error: StorageError) => Result
  /** Whether the work is repeated after a conflict although code of the application was called. Default false. */
  readonly repeatsCode?: boolean
}

/**
 * Runs work as a unit: in a transaction of its own, or without one for a served collection. A
 * {@link Rollback} that the work throws rolls the transaction back, and `undone` returns the result. A
 * transaction that fails because of others is repeated, unless code of the application was called that must not run twice.
 */
export function runUnit<Result>(
  { adapter }: Runtime,
  options: UnitOptions<Result>,
  work: (running: Running) => MaybePromise<Result>,
  undone: (undo: Rollback) => Result,
): MaybePromise<Result> {
  const { collection, depth = 0, mode, brief, oneWrite, rejectedAtCommit, repeatsCode } = options
  const unseen: UnseenKeys = new Set()
  let log: Running['log']
  let hasEnded = false
  let pause: ReturnType<typeof conflictPauses> | undefined
  const complete = (transaction?: StorageTransaction): MaybePromise<Result> =>
    whenDone(work({ transaction, depth, log }), (result) => {
      if (log.failure !== undefined) throw log.failure.error
      hasEnded = true
      return result
    })
  const begin = (): MaybePromise<Result> => {
    log = { writes: 0, committed: [] }
    hasEnded = false
    if (collection?.serve !== undefined) return complete()
    const begun = oneWrite === true ? { mode, brief, oneWrite } : { mode, brief }
    return adapter.transaction(begun, (transaction) => {
      const own = repeatsCode === true ? notingConflicts(transaction, log, unseen) : transaction
      return mode === 'write' ? asTransaction(() => complete(own)) : complete(own)
    })
  }
  const completed = (result: Result): Result => {
    for (const announce of log.committed) announce()
    return result
  }
  const failed = (error: unknown): MaybePromise<Result> => {
    if (error instanceof Rollback) return undone(error)
    if (hasEnded && rejectedAtCommit !== undefined && isAboutItem(error))
      return rejectedAtCommit(error)
    const conflict = conflictBehind(error, log)
    if (conflict === undefined || (log.hasCalledCode === true && repeatsCode !== true)) throw error
    pause ??= conflictPauses()
    return pause(conflict).then(
      () => whenSettled(begin, completed, failed),
      () => {
        throw error
      },
    )
  }
  return whenSettled(begin, completed, failed)
}

/** Returns the conflict because of which work may be repeated: the error, or that for which code has thrown its own. */
function conflictBehind(
  error: unknown,
  { conflict, hasTimedOut }: Running['log'],
): StorageError | undefined {
  // Its code may still run, beside a repetition.
  if (hasTimedOut === true) return undefined
  if (isConflict(error)) return error
  // An error of storage is the reason itself.
  return isStorageError(error) ? undefined : conflict
}

/**
 * Returns a rejection as the caller of the outermost event may see it. The rejected event may be one
 * that a handler invoked with the rights of `system`.
 */
export function rejectionFor(
  { principal }: Caller,
  { rejected, collection }: Rollback,
): RejectedOutcome {
  const validations = entriesShownTo(principal, collection, rejected.validations)
  return { ...rejected, validations }
}

/** Returns whether the unit of an event ends with its first write that succeeds, and can't fail after it. */
export function isOneWrite({ collection, type, output }: DataEvent): boolean {
  if (type === 'Filter' || output !== undefined) return false
  const { before, after } = collection.events[type] ?? {}
  // Application code may write other items, and deletes may write those that refer to the item.
  if (before !== undefined || after !== undefined || collection.rulesOn[type].length > 0)
    return false
  // The value that a column default gives may not fit.
  if (type === 'Insert') return !collection.hasColumnDefaults
  return type === 'Update' || collection.referredBy.length === 0
}

/**
 * Returns whether the transactions of a collection may share a commit. Application code that waits would
 * block the writers that share it. A collection whose code is declared async, or has returned a promise
 * before, is written in transactions of its own.
 */
export function isBrief(runtime: Runtime, collection: PublishedCollection): boolean {
  const known = runtime.waiting.get(collection)
  if (known !== undefined) return !known
  // `prepare` runs before the transaction.
  const handlers = Object.values(collection.events).flatMap((event) =>
    Object.entries(event as Readonly<Record<string, object>>)
      .filter(([moment]) => moment !== 'prepare')
      .map(([, handler]) => handler),
  )
  const checks = collection.validations.map((rule) => ('check' in rule ? rule.check : rule.schema))
  const waits = [...handlers, ...checks].some((code) => code.constructor.name === 'AsyncFunction')
  runtime.waiting.set(collection, waits)
  return !waits
}
