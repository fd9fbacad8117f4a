import type { CollectionAccess } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Language } from '../messages/message.ts'
import type { Report } from '../observation/reports.ts'
import type { StorageAdapter, StorageError, StorageTransaction } from '../storage/adapter.ts'

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
  readonly now: () => Date
  /** Whether the application code of a collection is known to return promises. */
  readonly waiting: WeakMap<PublishedCollection, boolean>
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
  /** The language of messages; undefined for English, without texts of the application. */
  readonly language?: Language | undefined
  /** Returns the address of the client, if it is known. */
  readonly peer?: () => string | undefined
}

/** A unit of work in progress, shared by an event and the events that its handlers invoke. */
export interface Running {
  /** Undefined for an event of a served collection: each event that its code invokes is a unit of its own. */
  readonly transaction: StorageTransaction | undefined
  /** How many events are nested in each other. */
  readonly depth: number
  readonly log: Log
}

/** Returns the transaction of a unit of work. Throws an Error if it has none. */
export function requireTransaction({ transaction }: Running): StorageTransaction {
  if (transaction === undefined) throw new Error('The event runs without a transaction.')
  return transaction
}

/** What a unit of work has done so far. */
export interface Log {
  /** How many rows were written. */
  writes: number
  /** Why it must be rolled back, or fail. */
  failure?: { readonly error: unknown }
  /** Whether code of the application was called, so that the unit must not be repeated. Default false. */
  hasCalledCode?: boolean
  /** The first conflict of repeated work with another transaction. */
  conflict?: StorageError
  /** Whether its code has not ended in time, so that it may still run. */
  hasTimedOut?: boolean
  /** Called after the commit, or the end. */
  readonly committed: (() => void)[]
}

/** What one event runs with. */
export interface Terms {
  readonly runtime: Runtime
  readonly caller: Caller
  readonly running: Running
}

/** Returns a collection for application code. Its calls take part in the transaction of `terms`. */
export type NestedAccess = (
  terms: Terms,
  collection: PublishedCollection,
) => CollectionAccess<CollectionShape>
