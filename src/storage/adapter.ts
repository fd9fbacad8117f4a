import { requirePlainObject } from '../checks/plain-object.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { Increment } from '../definition/increment.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import type { StorageWarning } from '../observation/reports.ts'
import type { Condition, Row, StorageQuery } from '../request/query.ts'
import type { ConnectionLoad } from '../workload.ts'
import type { InspectionProgress, StorageProblem } from './problem.ts'
import type { ReadOnlyOpening } from './read-only-opening.ts'

export type { Condition, Row, SortField, StorageQuery } from '../request/query.ts'
export { searchText } from '../request/query.ts'

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

/**
 * What an update writes, by the name of the field: a value, or an amount that is added to the stored one. An adapter gets
 * amounts only of fields for which its `increments` returns true.
 */
export type RowChanges = Readonly<Record<string, StoredValue | Increment>>

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
   */
  update(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: RowChanges,
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
   * the conditions, which then limit the stored value: `{ stock: { amount: '-1' } }`. Without it, the service locks the
   * item and reads it first.
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

/** The kind of a StorageError. For any other error of an adapter the service responds 500. */
export type StorageErrorKind =
  /** A unique value already exists: a failed save on `fields`. */
  | 'duplicate'
  /** A row that the saved one refers to is missing, or a check of the database failed: a failed save. */
  | 'invalid'
  /** Other rows still refer to the deleted row: 409. */
  | 'referenced'
  /** Storage can't be reached, is locked, full or closed, or the transaction took too long: 503. */
  | 'unavailable'
  /** The database does not let its role do this, or a policy of it rejects the row: 403, and a report. */
  | 'forbidden'
  /** A stored value does not fit its field: 500, and a report with the message of the error. */
  | 'unfit'

const brand = Symbol.for('rowgate.StorageError')

/** The error that an adapter, or a function that serves a collection, throws for a {@link StorageErrorKind}. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind
  /** The names of the affected fields, if storage reports them. */
  readonly fields: readonly string[]
  /** Of `unavailable`: the time after which the client may try again, in seconds. Default 1. */
  readonly retryAfter: number
  /** Of `unavailable`: whether another transaction has undone this one; it can be repeated now. Default false. */
  readonly isConflict: boolean
  /** Of `unavailable`: whether another transaction has kept a row locked for too long. Default false. */
  readonly isLocked: boolean

  constructor(
    kind: StorageErrorKind,
    options: {
      readonly fields?: readonly string[]
      readonly cause?: unknown
      /** For reports. Default: the kind. */
      readonly message?: string
      readonly retryAfter?: number
      readonly isConflict?: boolean
      readonly isLocked?: boolean
    } = {},
  ) {
    requirePlainObject('The options', options, 'StorageError')
    const { message = `storage: ${kind}`, cause, retryAfter = 1 } = options
    if (!Number.isSafeInteger(retryAfter) || retryAfter < 0)
      throw new TypeError('StorageError: retryAfter must be a whole number of seconds')
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StorageError'
    this.kind = kind
    this.fields = options.fields ?? []
    this.retryAfter = retryAfter
    this.isConflict = options.isConflict ?? false
    this.isLocked = options.isLocked ?? false
    Object.defineProperty(this, brand, { value: true })
  }
}

/** A stored value that does not fit its field. */
export interface UnfitValue {
  readonly field: string
  /** A description of the stored value, such as `a blob`. */
  readonly found: string
}

/**
 * Creates the `unfit` StorageError of a row. Its message names the collection, the key and each field.
 * `key` has one string for each key field, in order.
 */
export function unfitError(
  { application, name, byName }: PublishedCollection,
  key: readonly string[],
  values: readonly UnfitValue[],
): StorageError {
  const lines = values.map(({ field, found }) => {
    const { mustBe } = byName.get(field) as PublishedField
    return `${field} must be ${mustBe}, but storage has ${found}`
  })
  const item = key.length === 0 ? 'an item without key' : `item ${key.join(', ')}`
  const message = `${application}/${name}, ${item}: stored values do not fit their fields: ${lines.join('; ')}.`
  return new StorageError('unfit', { fields: values.map(({ field }) => field), message })
}

/** Returns whether a value is a {@link StorageError}, also one of another copy of the package. */
export function isStorageError(value: unknown): value is StorageError {
  return typeof value === 'object' && value !== null && brand in value
}

/** Returns what identifies the table of a collection, see {@link StorageAdapter.tableOf}. */
export function tableIn(adapter: StorageAdapter, collection: PublishedCollection): string {
  return adapter.tableOf?.(collection) ?? collection.table.toLowerCase()
}
