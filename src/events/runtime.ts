import type { CollectionShape } from '../definition/item.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Language } from '../messages/message.ts'
import type { Report } from '../observation/reports.ts'
import type { StorageAdapter } from '../storage/adapter.ts'
import { Budget } from './units/budget.ts'
import type { RowQueue } from './units/row-queue.ts'

/** What all events of a service share. */
export interface Runtime {
  readonly adapter: StorageAdapter
  /** Returns a collection by definition or endpoint name. Throws a TypeError if it is unknown. */
  readonly collectionOf: (
    application: string,
    reference: string | CollectionShape,
  ) => PublishedCollection
  readonly report: Report
  /** The time limit of one handler or rule, in milliseconds. */
  readonly handlerTimeout: number
  /** The time of one request, in milliseconds. */
  readonly requestTimeout: number
  readonly now: () => Date
  /** Whether the application code of a collection is known to return promises. */
  readonly waiting: WeakMap<PublishedCollection, boolean>
  /** Where transactions that write the same item wait for each other. */
  readonly rows: RowQueue
  /** Runs an event once storage is open. Closing the service waits for its end. */
  readonly enter: <Result>(begin: () => MaybePromise<Result>) => MaybePromise<Result>
  /** Makes closing the service wait for work that continues after its response. */
  readonly track: (work: Promise<unknown>) => void
}

/** The caller of an event. */
export interface Caller {
  readonly principal: Principal
  /** The warnings that the caller confirmed. */
  readonly confirmed: ReadonlySet<string> | 'all'
  /** Returns a signal that is aborted when the client disconnects. Called only by code that waits. */
  readonly signal: () => AbortSignal | undefined
  /** The language of messages; undefined for the English messages of the library. */
  readonly language?: Language | undefined
  /** Returns the address of the client, if it is known. */
  readonly peer?: () => string | undefined
}

/** Runs an event in process as a request of its own: see {@link Budget}. Of a served collection, it may take longer. */
export function inRequest<Result>(
  { enter, requestTimeout }: Pick<Runtime, 'enter' | 'requestTimeout'>,
  collection: PublishedCollection | undefined,
  run: (budget: Budget) => MaybePromise<Result>,
): MaybePromise<Result> {
  const budget = new Budget(requestTimeout)
  budget.extendTo(collection?.serve?.timeout ?? 0)
  return budget.within(() => enter(() => run(budget)))
}
