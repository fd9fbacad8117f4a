import type { PublishedCollection } from '../../definition/published.ts'
import { isStorageError, StorageError } from '../adapter.ts'
import type { Operation, Tables } from '../sql/dialect.ts'

type FailureKind = 'conflict' | 'unavailable' | 'duplicate' | 'foreignKey' | 'invalid'

/** The SQLSTATE codes that are handled. A code of two characters stands for its class. */
const kinds: Readonly<Record<string, FailureKind>> = {
  '40001': 'conflict',
  '40P01': 'conflict',
  '23505': 'duplicate',
  '23503': 'foreignKey',
  '23001': 'foreignKey',
  '23502': 'invalid',
  '23514': 'invalid',
  '23P01': 'invalid',
  '44000': 'invalid',
  '22001': 'invalid',
  '22003': 'invalid',
  '22007': 'invalid',
  '22008': 'invalid',
  '22P02': 'invalid',
  '54000': 'invalid',
  P0001: 'invalid',
  '25006': 'unavailable',
  '25P02': 'unavailable',
  '25P03': 'unavailable',
  '55P03': 'unavailable',
  '57014': 'unavailable',
  '57P01': 'unavailable',
  '57P02': 'unavailable',
  '57P03': 'unavailable',
  '57P05': 'unavailable',
  '58030': 'unavailable',
  '08': 'unavailable',
  '53': 'unavailable',
  ECONNREFUSED: 'unavailable',
  ECONNRESET: 'unavailable',
  ETIMEDOUT: 'unavailable',
  EPIPE: 'unavailable',
  ENOTFOUND: 'unavailable',
  EAI_AGAIN: 'unavailable',
}

// The driver gives these errors no code.
const lostMessage =
  /^Connection terminated|^Cannot use a pool after|not queryable|^timeout exceeded when trying to connect|^timeout expired/

interface ServerError extends Error {
  readonly code?: unknown
  readonly table?: unknown
  readonly constraint?: unknown
  readonly column?: unknown
}

/** Returns whether an error has ended its transaction, whatever is rolled back. */
export function endsTransaction(error: unknown): boolean {
  return kindOf(error) === 'conflict' || isLost(error)
}

/** Returns whether the server did not answer, so that the connection can't be used any more. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  const { code } = error as ServerError
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return true
  return code.startsWith('08') || code.startsWith('57P') || code === '25P03'
}

/** Converts an error of the driver to a StorageError. Returns any other error unchanged. */
export function storageFailure(
  error: unknown,
  operation: Operation,
  tables?: Tables,
  collection?: PublishedCollection,
): unknown {
  if (isStorageError(error)) return error
  const fields = (): readonly string[] =>
    tables === undefined || collection === undefined
      ? []
      : fieldsOf(error as ServerError, tables, collection)
  switch (kindOf(error)) {
    case 'conflict':
      return new StorageError('unavailable', { cause: error, isConflict: true })
    case 'unavailable':
      return unavailable(error)
    case 'duplicate':
      return new StorageError('duplicate', { fields: fields(), cause: error })
    case 'foreignKey':
      return operation === 'delete'
        ? new StorageError('referenced', { cause: error })
        : new StorageError('invalid', { fields: fields(), cause: error })
    case 'invalid':
      // The same statement could succeed only with other conditions.
      if (operation === 'read') return error
      return new StorageError('invalid', { fields: fields(), cause: error })
    default:
      return error
  }
}

function kindOf(error: unknown): FailureKind | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, message } = error as ServerError
  if (typeof code === 'string') return kinds[code] ?? kinds[code.slice(0, 2)]
  return lostMessage.test(message) ? 'unavailable' : undefined
}

function fieldsOf(
  { table, constraint, column }: ServerError,
  tables: Tables,
  collection: PublishedCollection,
): readonly string[] {
  const own = tables.find(collection.table)
  if (own === undefined || own.name !== table) return []
  const columns =
    typeof constraint === 'string'
      ? (own.constraints.get(constraint) ?? [])
      : typeof column === 'string'
        ? [column]
        : []
  return collection.fields
    .filter((field) => columns.includes(own.find(field.column)?.name ?? ''))
    .map(({ name }) => name)
}

/** Creates the error of a call that storage can't carry out now. */
export function unavailable(cause: unknown): StorageError {
  return new StorageError('unavailable', { cause })
}

/** Creates the error of every call after `close`. */
export function closedError(): StorageError {
  return unavailable(new Error('the storage is closed'))
}
