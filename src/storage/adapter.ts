import type { MaybePromise } from '../maybe-promise.ts'
import type { PublishedCollection, PublishedField } from '../definition/published.ts'
import type { Condition, Row, StorageQuery } from '../request/query.ts'

export type { Condition, Row, SortField, StorageQuery } from '../request/query.ts'
export { searchText } from '../request/search.ts'

/** A page of rows. */
export interface StoragePage {
  readonly rows: readonly Row[]
  /** Null when the query did not ask. */
  readonly count: number | null
}

/** A page of items, each as its JSON text: byte for byte what `JSON.stringify` writes. */
export interface StorageTextPage {
  readonly items: readonly string[]
  readonly count: number | null
}

/**
 * Reads, of committed data outside a transaction, or of the transaction's own view inside one. A read
 * outside may wait until a transaction in progress has ended.
 */
export interface StorageReader {
  /**
   * Returns a page. Rejects with an `unfit` StorageError when a row of the page has a stored value that
   * does not fit its field. An adapter that can't detect this returns the value; the service checks it.
   */
  filter(collection: PublishedCollection, query: StorageQuery): MaybePromise<StoragePage>
}

/** What may be done inside a transaction. Every call MUST reject once the transaction has ended. */
export interface StorageTransaction extends StorageReader {
  /**
   * Stores a row, which is whole but for a field that storage numbers, and returns it as stored.
   * MUST reject with a `duplicate` StorageError when the key, or another unique value, exists; the
   * transaction MUST stay usable then.
   */
  insert(collection: PublishedCollection, row: Row): MaybePromise<Row>
  /**
   * Changes the row that meets all conditions and returns it whole, or undefined when none does. The
   * conditions always contain the key; MUST NOT change any other row. A stored value that does not fit
   * its field is left out of the returned row, so that such a row can be corrected.
   */
  update(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
  ): MaybePromise<Row | undefined>
  /**
   * Removes the row that meets all conditions and returns it whole, or undefined when none does. A stored
   * value that does not fit its field is left out of the returned row, so that such a row can be deleted.
   */
  delete(
    collection: PublishedCollection,
    conditions: readonly Condition[],
  ): MaybePromise<Row | undefined>
}

/** What a transaction is for. */
export interface TransactionOptions {
  /** `read` MUST see one state throughout. It may still write: it tells that most likely it won't. */
  readonly mode: 'read' | 'write'
  /**
   * True when the work runs no asynchronous code of the host. An adapter may then let several
   * transactions share one commit, each in a savepoint of its own.
   */
  readonly brief: boolean
  /**
   * `high`: goes ahead of other waiting transactions. Writes of users and keys have it: a revocation
   * must not wait for application code.
   */
  readonly priority?: 'high'
  /** The collection of the event that it is for; absent for work of another kind. Others may be touched as well. */
  readonly collection?: PublishedCollection
}

/** What an adapter can do beyond the duty of every adapter. The conformance kit reads it. */
export interface StorageAbilities {
  /** Has `filterText`. */
  readonly textPages: boolean
  /** Rows outlive the process. */
  readonly durable: boolean
  /** Numbers new items itself (`generated: 'database'`). */
  readonly generatedNumbers: boolean
}

/**
 * The port of storage. An adapter keeps rows of flat values; types, validation, rights and JSON are
 * the service's business. The published cases of `rowgate/conformance` are the exact contract.
 */
export interface StorageAdapter extends StorageReader {
  /** For messages, such as `memory`. */
  readonly name: string
  readonly supports: StorageAbilities
  /**
   * Called once, before any other call, with every collection that the adapter keeps. MUST fail with
   * a clear message when a table does not fit its definition.
   */
  open(collections: readonly PublishedCollection[]): MaybePromise<void>
  /** Optional ability `textPages`. Undefined: this query has to go through `filter`. */
  filterText?(
    collection: PublishedCollection,
    query: StorageQuery,
  ): MaybePromise<StorageTextPage | undefined>
  /**
   * Optional. Tells whether anything may have changed: the answer differs after every commit, by
   * whatever process, that a read which begins now could see. It is asked once a request, so it MUST
   * be cheap; undefined: storage can't tell, as when it can't be reached. Without it, users and keys
   * are read for each request.
   */
  version?(): string | number | undefined
  /**
   * Runs work in a transaction: commits when it resolves, and only then resolves itself; undoes
   * everything when it rejects, and rejects with the same error. Others MUST NOT see what is not
   * committed. Two transactions that write the same row MUST NOT both commit on a
   * stale view: one of them may be given up with an `unavailable` StorageError. So should one that
   * has waited for its turn for too long.
   */
  transaction<Result>(
    options: TransactionOptions,
    work: (transaction: StorageTransaction) => Promise<Result>,
  ): Promise<Result>
  /**
   * Optional. Told when the service begins to close, while requests are still in progress: what makes them
   * wait inside the adapter should give up. MUST NOT throw.
   */
  beforeClose?(): void
  /**
   * Ends waiting transactions and releases what the adapter itself opened. Every later call MUST reject
   * with an `unavailable` StorageError; a second close does no harm.
   */
  close(): MaybePromise<void>
}

/** Why storage refused. Everything else that an adapter throws is answered with 500. */
export type StorageErrorKind =
  /** A unique value exists already: a failed save on `fields` (D22). */
  | 'duplicate'
  /** A row that the saved one refers to is missing, or a check of the database failed: a failed save. */
  | 'invalid'
  /** Other rows still refer to the deleted one: 409 (D28). */
  | 'referenced'
  /** Can't be reached, locked, full, out of time or closed: 503 (D29). */
  | 'unavailable'
  /** A stored value does not fit its field: 500, and a report with the message of the error. */
  | 'unfit'

const brand = Symbol.for('rowgate.StorageError')

/** The error by which an adapter tells a refusal from a fault. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind
  /** The names of the fields concerned, where storage tells. */
  readonly fields: readonly string[]

  constructor(
    kind: StorageErrorKind,
    options: {
      readonly fields?: readonly string[]
      readonly cause?: unknown
      /** For reports. Default: the kind. */
      readonly message?: string
    } = {},
  ) {
    const { message = `storage: ${kind}`, cause } = options
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StorageError'
    this.kind = kind
    this.fields = options.fields ?? []
    Object.defineProperty(this, brand, { value: true })
  }
}

/** A stored value that does not fit its field. */
export interface UnfitValue {
  readonly field: string
  /** What storage has instead, such as `a blob`. */
  readonly found: string
}

/**
 * Creates the `unfit` StorageError of a row. Its message names the collection, the key and each field.
 * The key has one text for each key field, in order.
 */
export function unfitError(
  { application, name, byName }: PublishedCollection,
  key: readonly string[],
  values: readonly UnfitValue[],
): StorageError {
  const lines = values.map(({ field, found }) => {
    const { kind, definition } = byName.get(field) as PublishedField
    return `${field} must be ${kind.mustBe(definition)}, but storage has ${found}`
  })
  const item = key.length === 0 ? 'an item without key' : `item ${key.join(', ')}`
  const message = `${application}/${name}, ${item}: stored values do not fit their fields: ${lines.join('; ')}.`
  return new StorageError('unfit', { fields: values.map(({ field }) => field), message })
}

/** Tells a {@link StorageError}, also one that another copy of the package made. */
export function isStorageError(value: unknown): value is StorageError {
  return typeof value === 'object' && value !== null && brand in value
}

const vouched = Symbol.for('rowgate.vouchedStorage')

/**
 * Marks an adapter of the library, which itself checks what it returns. The mark is not enumerable: a copy
 * with other methods does not have it.
 */
export function markSelfChecking<Adapter extends StorageAdapter>(adapter: Adapter): Adapter {
  return Object.defineProperty(adapter, vouched, { value: true })
}

/** Whether an adapter itself checks what it returns. */
export function isSelfChecking(adapter: StorageAdapter): boolean {
  return Object.hasOwn(adapter, vouched)
}
