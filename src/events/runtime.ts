import type { CollectionAccess } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Report } from '../observation.ts'
import type { StorageAdapter, StorageTransaction } from '../storage/adapter.ts'

/** What every event of a service runs with. */
export interface Runtime {
  readonly adapter: StorageAdapter
  /** The collection of an application by definition or endpoint name. Throws a TypeError for an unknown one. */
  readonly collectionOf: (
    application: string,
    reference: string | CollectionShape,
  ) => PublishedCollection
  readonly report: Report
  /** Milliseconds that one handler or rule may take. */
  readonly handlerTimeout: number
  readonly now: () => Date
  /** Whether a collection's host code waits for something, as far as it is known. */
  readonly waiting: WeakMap<PublishedCollection, boolean>
  /** Begins an event from outside: once storage is open, and closing waits for its end. */
  readonly enter: <Result>(begin: () => Promise<Result>) => Promise<Result>
  /** Keeps work that goes on after its answer, so that closing can wait for it. */
  readonly track: (work: Promise<unknown>) => void
}

/** Who invoked an event, and on what terms. */
export interface Caller {
  readonly principal: Principal
  /** The warnings that the caller confirmed. */
  readonly confirmed: ReadonlySet<string> | 'all'
  /** Aborted when the caller has left. Asked for only when host code runs. */
  readonly signal: () => AbortSignal | undefined
}

/** A transaction in progress, shared by an event and the events that its handlers invoke. */
export interface Running {
  readonly transaction: StorageTransaction
  /** How many events are nested in each other. */
  readonly depth: number
  readonly log: Log
}

/** What happened in a transaction so far. */
export interface Log {
  /** How many rows were written. */
  writes: number
  /** Why the transaction can only be undone. */
  failure?: { readonly error: unknown }
  /** What is to be done after the commit. */
  readonly committed: (() => void)[]
}

/** The circumstances of one event. */
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
