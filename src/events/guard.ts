import { inTime, isThenable, type MaybePromise } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { internal, isServiceError } from '../errors.ts'
import type { RejectedOutcome } from '../request/outcome.ts'
import type { Place } from '../observation.ts'
import { isStorageError } from '../storage/adapter.ts'
import type { Runtime } from './runtime.ts'

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
}

/** A call of application code. */
export interface ApplicationCall<Result> {
  readonly place: Place
  /** The rule's or handler's name, for reports. */
  readonly name: string
  readonly run: () => MaybePromise<Result>
  /** Called when the code exceeds its time limit. */
  readonly abort: () => void
  /** Called when the code returns a promise. */
  readonly onWait: () => void
}

/**
 * Calls application code, and limits its time. Rejections, rollbacks, and errors of service and storage
 * pass; anything else that it throws is reported, and becomes INTERNAL.
 */
export async function callApplication<Result>(
  runtime: Runtime,
  call: ApplicationCall<Result>,
): Promise<Result> {
  try {
    const result = call.run()
    if (!isThenable(result)) return result
    call.onWait()
    return await settledInTime(runtime, call, Promise.resolve(result))
  } catch (error) {
    if (error instanceof HandlerRejection || error instanceof Rollback) throw error
    if (isServiceError(error) || isStorageError(error)) throw error
    runtime.report({ type: 'handler-failed', place: call.place, name: call.name, error })
    throw internal(error)
  }
}

function settledInTime<Result>(
  { report, handlerTimeout: milliseconds }: Runtime,
  { place, name, abort }: ApplicationCall<Result>,
  result: Promise<Result>,
): Promise<Result> {
  return inTime(result, milliseconds, (reject) => {
    report({ type: 'handler-timed-out', place, name, milliseconds })
    reject(internal(new Error(`${name} did not settle in time`)))
    abort()
  })
}
