import { requirePlainObject } from '../checks/plain-object.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'

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
