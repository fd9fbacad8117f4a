import { inTime, isThenable, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { internal, isServiceError } from '../errors.ts'
import type { RejectedOutcome } from '../request/outcome.ts'
import type { EventPlace } from '../observation/reports.ts'
import type { DataEvent } from '../request/event.ts'
import { entriesShownTo } from '../request/view.ts'
import { isStorageError } from '../storage/adapter.ts'
import type { Budget } from './units/budget.ts'
import type { Runtime } from './runtime.ts'
import { storageIsLate } from './units/storage-calls.ts'

/** Thrown by a handler's `reject`: the event ends at once, with the finding that was added. */
export class HandlerRejection extends Error {}

/** Thrown to roll a transaction back with a rejected outcome. */
export class Rollback extends Error {
  readonly rejected: RejectedOutcome
  /** The collection that the rejection is about. */
  readonly collection: PublishedCollection

  constructor(rejected: RejectedOutcome, collection: PublishedCollection) {
    super('rejected')
    this.rejected = rejected
    this.collection = collection
  }

  /**
   * Returns the parts of the rejection that the caller of the outermost event may read. A handler may have invoked the
   * rejected event with the rights of `system`.
   */
  outcomeFor(principal: Principal): RejectedOutcome {
    const { rejected, collection } = this
    const validations = entriesShownTo(principal, collection, rejected.validations)
    return { ...rejected, validations }
  }
}

/** A unit of work that is undone. */
interface UndoneUnit {
  /** Undefined if what it wrote can't be rolled back. */
  readonly transaction: object | undefined
  readonly depth: number
  readonly runtime: Pick<Runtime, 'report'>
}

/** Returns the error that undoes an event that was rejected after it had written. */
export function rejectedTooLate(
  { collection, type }: DataEvent,
  { transaction, depth, runtime }: UndoneUnit,
  outcome: RejectedOutcome,
): Error {
  // The client must not see what a handler tried to save.
  if (transaction !== undefined)
    return new Rollback(depth === 1 ? outcome : { ...outcome, echo: undefined }, collection)
  // A response that nothing was saved would be wrong.
  const { application, name } = collection
  const error = new TypeError(
    `The handler after of ${type} rejected what a function of ${application}/${name} had written, which can't be rolled back. Reject in before or in a validation, or call fail(message).`,
  )
  const place = { application, collection: name, event: type }
  runtime.report({ type: 'handler-failed', place, name: 'after', error })
  return internal(error)
}

/** A call of application code. */
export interface ApplicationCall<Result> {
  readonly place: EventPlace
  /** The rule's or handler's name, for reports. */
  readonly name: string
  readonly run: () => MaybePromise<Result>
  /** The time limit, in milliseconds. Default: `handlerTimeout`. */
  readonly limit?: number | undefined
  /** Called when the code exceeds its time limit. */
  readonly abort: () => void
  /** Called when the code returns a promise. */
  readonly onWait: () => void
  /** Returns whether the code waits for storage. */
  readonly isInStorage: () => boolean
  /** The time of the request. Undefined: after its response. */
  readonly budget: Budget | undefined
}

/**
 * Calls application code, and limits its time: code that is late is reported and becomes INTERNAL, unless it waits for
 * storage, which is then unavailable. Rejections, rollbacks, and errors of service and storage pass; anything else that
 * it throws is reported, and becomes INTERNAL.
 */
export function callApplication<Result>(
  runtime: Runtime,
  call: ApplicationCall<Result>,
): MaybePromise<Result> {
  const run = (): MaybePromise<Result> => {
    const result = call.run()
    if (!isThenable(result)) return result
    call.onWait()
    return settledInTime(runtime, call, Promise.resolve(result))
  }
  return whenFailed(run, (error) => {
    if (error instanceof HandlerRejection || error instanceof Rollback) throw error
    if (isServiceError(error) || isStorageError(error)) throw error
    runtime.report({ type: 'handler-failed', place: call.place, name: call.name, error })
    throw internal(error)
  })
}

function settledInTime<Result>(
  { report, handlerTimeout }: Runtime,
  { place, name, limit = handlerTimeout, abort, isInStorage, budget }: ApplicationCall<Result>,
  result: Promise<Result>,
): Promise<Result> {
  const milliseconds = Math.min(limit, Math.ceil(budget?.left() ?? limit))
  return inTime(result, milliseconds, (reject) => {
    if (isInStorage()) reject(storageIsLate(name, milliseconds))
    else {
      report({ type: 'handler-timed-out', place, name, milliseconds })
      const error = internal(new Error(`${name} did not settle in time`))
      budget?.codeIsLate(error)
      reject(error)
    }
    abort()
  })
}

/**
 * Calls a `committed` handler, without delaying the response. Whatever it throws is only reported. Never throws.
 */
export function callAfterCommit(runtime: Runtime, place: EventPlace, run: () => unknown): void {
  const guarded = async (): Promise<void> => {
    try {
      await run()
    } catch (error) {
      runtime.report({ type: 'committed-handler-failed', place, error })
    }
  }
  const call = {
    place,
    name: 'committed',
    run: guarded,
    abort: nothing,
    onWait: nothing,
    isInStorage: () => false,
    budget: undefined,
  }
  const called = async (): Promise<void> => callApplication(runtime, call)
  runtime.track(called().catch(nothing))
}

function nothing(): void {
  // A time-out is reported, and the transaction has ended: there is nothing to stop.
}
