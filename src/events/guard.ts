import { inTime, isThenable, type MaybePromise } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { internal, isServiceError } from '../errors.ts'
import type { RejectedOutcome } from '../request/outcome.ts'
import type { Place } from '../observation.ts'
import { isStorageError } from '../storage/adapter.ts'
import type { Runtime } from './runtime.ts'

/** Thrown by a handler's `reject`: its finding is recorded, and the event ends at once. */
export class Refusal extends Error {}

/** Carries a rejection out of a transaction that has to be undone. */
export class Undo extends Error {
  readonly rejected: RejectedOutcome
  /** The collection that the rejection is about. */
  readonly collection: PublishedCollection

  constructor(rejected: RejectedOutcome, collection: PublishedCollection) {
    super('rejected')
    this.rejected = rejected
    this.collection = collection
  }
}

/** Host code of one event: what is called, where, and how to tell it that its time is over. */
export interface HostCall<Result> {
  readonly place: Place
  /** The rule's or handler's name, for reports. */
  readonly name: string
  readonly run: () => MaybePromise<Result>
  readonly abort: () => void
  /** Told when the code does not finish at once. */
  readonly onWait: () => void
}

/**
 * Calls code of the host. What it throws becomes a report and the one 500 answer; refusals and errors
 * of service and storage pass. Code that does not settle in time is cut off.
 */
export async function callHost<Result>(runtime: Runtime, call: HostCall<Result>): Promise<Result> {
  try {
    const result = call.run()
    if (!isThenable(result)) return result
    call.onWait()
    return await settledInTime(runtime, call, Promise.resolve(result))
  } catch (error) {
    if (error instanceof Refusal || error instanceof Undo) throw error
    if (isServiceError(error) || isStorageError(error)) throw error
    runtime.report({ type: 'handler-failed', place: call.place, name: call.name, error })
    throw internal(error)
  }
}

function settledInTime<Result>(
  { report, handlerTimeout: milliseconds }: Runtime,
  { place, name, abort }: HostCall<Result>,
  result: Promise<Result>,
): Promise<Result> {
  return inTime(result, milliseconds, (reject) => {
    report({ type: 'handler-timed-out', place, name, milliseconds })
    reject(internal(new Error(`${name} did not settle in time`)))
    abort()
  })
}
