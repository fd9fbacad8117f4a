import type { PublishedCollection } from '../../definition/published.ts'
import { isStorageError, StorageError } from '../adapter.ts'
import { isAmount, type RowChanges } from '../sql/fragments.ts'
import { exceeds, type WholeBits } from '../../schema/column-limits.ts'
import type { Table } from '../../schema/model.ts'

/** The operation during which a statement failed. */
export type Operation = 'read' | 'save' | 'delete'

/**
 * What an error of a server means. `conflict`: another transaction has undone this one. `locked`: another one has kept a lock
 * for too long. `invalid`: the values are not
 * accepted. `forbidden`: the role of the connection lacks a right, or a policy rejects the row.
 */
export type FailureKind =
  'conflict' | 'locked' | 'unavailable' | 'duplicate' | 'foreignKey' | 'invalid' | 'forbidden'

/** What the codes of errors of the operating system mean that a driver passes on. */
export const networkFailures = {
  ECONNREFUSED: 'unavailable',
  ECONNRESET: 'unavailable',
  ETIMEDOUT: 'unavailable',
  EPIPE: 'unavailable',
  ECONNABORTED: 'unavailable',
  EHOSTUNREACH: 'unavailable',
  EHOSTDOWN: 'unavailable',
  ENETUNREACH: 'unavailable',
  ENETDOWN: 'unavailable',
  ENOTFOUND: 'unavailable',
  EAI_AGAIN: 'unavailable',
} as const

/** The errors of a database. */
export interface Errors {
  /** Returns what an error means. Undefined: it is a fault. */
  kindOf(error: unknown): FailureKind | undefined
  /** Returns whether an error has ended its transaction, whatever is rolled back. */
  endsTransaction(error: unknown): boolean
  /** Returns whether a statement alone that failed with an error has certainly changed nothing. */
  isUndone(error: unknown): boolean
  /**
   * Returns whether a row is too long for an index, which the error may name. Its long strings are the reason. Default:
   * no.
   */
  isTooLong?(error: unknown): boolean
  /** Returns the columns of a table that an error of a save names, or whose index or constraint it names. */
  columnsOf(error: unknown, table: Table): readonly string[]
  /** The bits of each integer type. */
  readonly wholeBits: WholeBits
}

/** What was written when a statement failed. */
export interface Written {
  readonly table: Table | undefined
  readonly collection: PublishedCollection
  /** The values of a save. Absent for a delete. */
  readonly row?: RowChanges
}

/** Converts an error of the driver to a StorageError. Returns any other error unchanged. */
export function storageFailure(
  errors: Errors,
  error: unknown,
  operation: Operation,
  written?: Written,
): unknown {
  if (isStorageError(error)) return error
  const { kindOf, columnsOf, wholeBits } = errors
  const fields = (): readonly string[] => {
    if (written?.table === undefined) return []
    const { table, collection, row = {} } = written
    const named = columnsOf(error, table)
    if (errors.isTooLong?.(error) === true) {
      return longFields(written, named.length > 0 ? named : (table.indexed ?? []))
    }
    // Without the other columns of its constraint, a column says too little.
    const columns = named.includes('') ? [] : named
    return collection.fields
      .filter(({ name, column }) => {
        const own = table.find(column)
        if (own === undefined) return false
        const value = row[name] ?? null
        // An error names one column at most, or none. A sum may be too large, but its amount is not.
        const isNamed = columns.includes(own.name)
        return isNamed || (!isAmount(value) && exceeds(wholeBits, own, value))
      })
      .map(({ name }) => name)
  }
  switch (kindOf(error)) {
    case 'conflict':
      return new StorageError('unavailable', { cause: error, isConflict: true })
    case 'locked':
      return new StorageError('unavailable', { cause: error, isLocked: true })
    case 'unavailable':
      return unavailable(error)
    case 'duplicate':
      return new StorageError('duplicate', { fields: fields(), cause: error })
    case 'foreignKey':
      return operation === 'delete'
        ? new StorageError('referenced', { cause: error })
        : new StorageError('invalid', { fields: fields(), cause: error })
    case 'forbidden':
      return new StorageError('forbidden', {
        cause: error,
        message: `storage: forbidden: ${messageOf(error)}`,
      })
    case 'invalid':
      // The same statement could succeed only with other conditions.
      if (operation === 'read') return error
      return new StorageError('invalid', { fields: fields(), cause: error })
    default:
      return error
  }
}

// Shorter strings are the reason only if an index has many.
const longBytes = 600

/** Returns the fields of columns whose strings are the longest, even if they differ a lot: an index compresses them. */
function longFields(
  { table, collection, row = {} }: Written,
  columns: readonly string[],
): readonly string[] {
  const strings = collection.fields.flatMap(({ name, column }) => {
    const value = row[name]
    const isOwn = columns.includes(table?.find(column)?.name ?? '')
    return isOwn && typeof value === 'string' ? [{ name, bytes: Buffer.byteLength(value) }] : []
  })
  const most = Math.max(...strings.map(({ bytes }) => bytes))
  const share = most > longBytes ? Math.max(longBytes, most / 16) : most / 4
  return strings.filter(({ bytes }) => bytes >= share).map(({ name }) => name)
}

/** Creates the error of a call that storage can't carry out now. */
export function unavailable(cause: unknown): StorageError {
  return new StorageError('unavailable', { cause })
}

/**
 * Creates the error of a call for which the pool has opened no connection. Whatever the reason is, such as a changed
 * password, the request is not at fault and may succeed later.
 */
export function notConnected(cause: unknown): StorageError {
  // Node's error for several addresses of a host has a code and an empty message.
  const reason = cause instanceof AggregateError && 'code' in cause ? cause.code : messageOf(cause)
  return new StorageError('unavailable', {
    cause,
    message: `storage: no connection: ${String(reason)}`,
  })
}

/** Creates the error of a statement to which the server has not responded. */
export function notAnswered(milliseconds: number): Error {
  const message = `the server did not respond within ${Math.round(milliseconds)} ms`
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' })
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Creates the error of every call after `close`. */
export function closedError(): StorageError {
  return unavailable(new Error('the storage is closed'))
}
