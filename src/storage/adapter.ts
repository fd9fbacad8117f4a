import type { MaybePromise } from '../maybe-promise.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import type { StorageAdvice, StorageWarning } from '../observation/reports.ts'
import type { Condition, Row, StorageQuery } from '../request/query.ts'
import type { ConnectionLoad } from '../workload.ts'
import type { InspectionProgress, StorageProblem } from './problem.ts'
import type { ReadOnlyOpening } from './read-only-opening.ts'

export type { Condition, Row, SortField, StorageQuery } from '../request/query.ts'
export { searchText } from '../request/query.ts'
export {
  isStorageError,
  StorageError,
  unfitError,
  type StorageErrorKind,
  type UnfitValue,
} from './storage-error.ts'

/** A page of rows. */
export interface StoragePage {
  readonly rows: readonly Row[]
  /** Null if the query does not request it. */
  readonly count: number | null
}

/** A page of items as JSON text: byte for byte the output of `JSON.stringify`. */
export interface StorageTextPage {
  readonly items: readonly string[]
  readonly count: number | null
}

/** The request for which an adapter reads. */
export interface ReadContext {
  /**
   * Returns a signal that is aborted when the client disconnects. Undefined without a client. An adapter whose reads wait or
   * take long may give up then, with an `unavailable` StorageError whose cause is the reason of the signal. Call it only for
   * such a read: each signal adds a listener to the connection.
   */
  signal(): AbortSignal | undefined
  /** Returns what is the same for each request of a caller: where reads wait, one must not take all places. */
  caller?(): string
  /**
   * When the request ends, in milliseconds on the clock of `performance`. An adapter whose reads wait or take long should give up
   * then, with an `unavailable` StorageError: the client has received a response. Undefined: it may take any time.
   */
  readonly deadline?: number | undefined
}

/**
 * Reads. Outside a transaction they see committed rows only, and may wait until an open transaction has
 * ended. Inside, they also see the changes of the transaction.
 */
export interface StorageReader {
  /**
   * Returns a page. Rejects with an `unfit` StorageError if a row has a stored value that does not fit its field. An adapter
   * that can't detect this returns the value; the service checks it. Reads for a request have a context.
   */
  filter(
    collection: PublishedCollection,
    query: StorageQuery,
    context?: ReadContext,
  ): MaybePromise<StoragePage>
}

/** The operations of a transaction. Every call MUST reject after the transaction has ended. */
export interface StorageTransaction extends StorageReader {
  /**
   * Stores a row and returns it as stored. The row is complete, except for a number that storage generates, and for values
   * that are left to the defaults of their columns. MUST reject with a `duplicate` StorageError if the key or another
   * unique value exists. The transaction MUST stay usable after that.
   */
  insert(collection: PublishedCollection, row: Row): MaybePromise<Row>
  /**
   * Changes the row that meets all conditions, which contain the key, and returns it complete, or undefined if there is none.
   * A stored value that does not fit its field is left out of the returned row, so that the row can be corrected.
   * `increments` are amounts, by field, that are added to the stored values; only an adapter with `increments` receives them.
   */
  update(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
    increments?: Readonly<Record<string, string>>,
  ): MaybePromise<Row | undefined>
  /**
   * Optional. Changes a row like `update`, and returns its item as JSON text with the fields of `select`, for a response:
   * byte for byte the output of `JSON.stringify`. Null if no row meets the conditions. If it returns undefined, whether
   * or not it has changed the row, or rejects because of a value, the service calls `update`.
   */
  updateText?(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
    select: readonly string[],
  ): MaybePromise<string | null | undefined>
  /**
   * Removes the row that meets all conditions and returns it complete, or undefined if there is none. A
   * stored value that does not fit its field is left out of the returned row, so that the row can be deleted.
   */
  delete(
    collection: PublishedCollection,
    conditions: readonly Condition[],
  ): MaybePromise<Row | undefined>
}

/** Options of a transaction. */
export interface TransactionOptions {
  /** `read`: the transaction MUST see one state from its first read to its last. It may still write. */
  readonly mode: 'read' | 'write'
  /**
   * True if the work does not wait for application code. The adapter may then let several transactions
   * share one commit, each in its own savepoint.
   */
  readonly brief: boolean
  /**
   * `high`: runs before other waiting transactions. Set for writes of users and keys, because a revocation
   * must not wait for application code.
   */
  readonly priority?: 'high'
  /**
   * True if the work ends with its first write that succeeds, and can't fail after it. The adapter may then commit
   * with that write, but not with an `updateText` that returns undefined. If a write that fails changes nothing, such a
   * transaction needs no savepoint. Default false.
   */
  readonly oneWrite?: boolean
  /**
   * When the request ends, as in {@link ReadContext}. The adapter should not begin to wait for anything later. Whether a
   * commit that takes longer succeeds is not known to the client.
   */
  readonly deadline?: number | undefined
}

/** The abilities of an adapter. */
export interface StorageAbilities {
  /** The adapter has `filterText`. */
  readonly textPages: boolean
  /** Rows outlive the process. */
  readonly durable: boolean
  /** The adapter generates numbers for new items (`generated: 'database'`). */
  readonly generatedNumbers: boolean
  /** Columns have defaults for new items (`default: 'database'`). Default false. */
  readonly columnDefaults?: boolean
  /**
   * Transactions run at the same time, and those that write one row wait for each other, or fail as conflicts:
   * {@link StorageQuery.lock} makes them wait before they have done anything. Default false.
   */
  readonly rowLocks?: boolean
  /** The kinds of conditions that the adapter has. Default: `equal` and `empty`. */
  readonly conditions?: readonly Condition['is'][]
}

/** The items of another collection that belong to each item of a page. */
export interface RelatedQuery {
  readonly collection: PublishedCollection
  /** The page of them that belongs to one item, without the conditions that relate them. Its offset is 0. */
  readonly query: StorageQuery
  /** The names of fields of the page. */
  readonly own: readonly string[]
  /** The names of the fields of the other collection that equal them, one for each. No value equals null. */
  readonly theirs: readonly string[]
}

/** A page as JSON text, with related items. */
export interface RelatedTextPage {
  readonly items: readonly string[]
  /** For each relation, the related items of each item. */
  readonly related: readonly (readonly (readonly string[])[])[]
}

/**
 * The storage port. An adapter keeps rows of flat values. The service handles types, validation, rights
 * and JSON. The cases of `rowgate/conformance` define the exact contract.
 */
export interface StorageAdapter extends StorageReader {
  /** A name for messages, such as `memory`. */
  readonly name: string
  readonly supports: StorageAbilities
  /** Optional. What the service reports when it is created. */
  readonly warnings?: readonly StorageWarning[]
  /** Optional. Called after `open`. Returns what the service reports once storage is open. */
  advice?(): readonly StorageAdvice[]
  /**
   * Called once, before any other method, with every collection that the adapter keeps. MUST reject with a message that
   * names the table and the field if a table does not fit its definition. With `readOnly`, of a command that only reads, it
   * MUST NOT create or change anything, not even a file.
   */
  open(collections: readonly PublishedCollection[], readOnly?: ReadOnlyOpening): MaybePromise<void>
  /**
   * Required for the ability `textPages`. Returns a page as JSON text, for a response. If it returns undefined, the service
   * calls `filter`. Like a cached response, the page may lack commits of other processes for a time that the adapter
   * states. It MUST have every commit of this adapter.
   */
  filterText?(
    collection: PublishedCollection,
    query: StorageQuery,
    context?: ReadContext,
  ): MaybePromise<StorageTextPage | undefined>
  /**
   * Optional, for adapters with `filterText`. Returns the pages of at least one query, as `filterText` does for each: one
   * read for the items that refer to each item of a page. The queries differ only in the values of their `equal` conditions,
   * none of which is null, and request no count. If it returns undefined, the service reads each page alone.
   */
  filterTexts?(
    collection: PublishedCollection,
    queries: readonly StorageQuery[],
    context?: ReadContext,
  ): MaybePromise<readonly StorageTextPage[] | undefined>
  /**
   * Optional, for adapters with `filterText`. Returns a page as `filterText` does, and the items of other collections that
   * belong to each of its items: one call instead of one for the page and one for each relation. The queries search
   * nothing, lock nothing and request no count, and the page has all fields that relate it. If it returns undefined, the
   * service reads the related items after the page.
   */
  filterRelated?(
    collection: PublishedCollection,
    query: StorageQuery,
    relations: readonly RelatedQuery[],
    context?: ReadContext,
  ): MaybePromise<RelatedTextPage | undefined>
  /**
   * Optional. Returns about how many rows meet the conditions; undefined if there is no estimate. Called for collections
   * with `count: 'estimated'`. Without it, they are counted.
   */
  estimateCount?(
    collection: PublishedCollection,
    conditions: readonly Condition[],
  ): MaybePromise<number | undefined>
  /**
   * Optional. Returns a version that changes with every commit that changes a row of these collections, of any process; it
   * may also change with other commits. Called for each request, so it MUST be fast. Undefined: unknown, for instance
   * because storage can't be reached. Without a version, users, keys and rows are read for each request.
   */
  version?(collections: readonly PublishedCollection[]): string | number | undefined
  /** Optional. Returns how the pools of connections of the adapter are used, each with another name. Cheap. */
  connections?(): readonly ConnectionLoad[]
  /**
   * Optional. Called after `open`. Returns whether storage itself enforces a reference: it rejects a row whose
   * referenced row is missing with an `invalid` StorageError, and a delete of a referenced row with
   * `referenced`, or it does what `onDelete` says. Without it, the service enforces the reference in the
   * transaction.
   */
  enforces?(reference: Reference): boolean
  /**
   * Optional. Called after `open`. Returns whether `update` adds amounts to a field exactly, in the statement that evaluates
   * the conditions, which then limit the stored value. Without it, the service locks the item and reads it first.
   */
  increments?(collection: PublishedCollection, field: PublishedField): boolean
  /**
   * Optional. Called after `open`. Returns what identifies the table of a collection: the same string for collections that
   * share their rows. Default: the name of the table in lower case.
   */
  tableOf?(collection: PublishedCollection): string
  /**
   * Optional. Looks for tables that do not fit, and for rows that can't be published, that refer to missing rows or that
   * have the same unique values, without changing anything. May be called before `open` and after it has failed. Without
   * it, the service reads all rows.
   */
  inspect?(
    collections: readonly PublishedCollection[],
    progress: InspectionProgress,
  ): MaybePromise<readonly StorageProblem[]>
  /**
   * Runs work in a transaction. If the work returns a value, or a promise that resolves, it commits and then resolves with
   * the same value. If the work throws or rejects, it undoes all changes and rejects with the same error. Uncommitted
   * changes MUST NOT be visible outside. Two transactions that write the same row MUST NOT both commit based on stale reads:
   * one of them may reject with an `unavailable` StorageError, whose `isConflict` is true if nothing of it is committed. A
   * transaction that has waited too long for others should reject with `unavailable` as well.
   */
  transaction<Result>(
    options: TransactionOptions,
    work: (transaction: StorageTransaction) => MaybePromise<Result>,
  ): Promise<Result>
  /**
   * Ends waiting transactions and releases what the adapter has opened. Every later call MUST reject with an `unavailable`
   * StorageError. A second `close` has no effect.
   */
  close(): MaybePromise<void>
}

/** Returns what identifies the table of a collection, see {@link StorageAdapter.tableOf}. */
export function tableIn(adapter: StorageAdapter, collection: PublishedCollection): string {
  return adapter.tableOf?.(collection) ?? collection.table.toLowerCase()
}
