import type { MaybePromise } from '../../../maybe-promise.ts'
import type { PublishedCollection } from '../../../definition/published.ts'
import { pause, runtime } from '../../../runtime.ts'
import { StorageError } from '../../adapter.ts'
import { folded } from '../../../schema/model.ts'

/** The operation during which a statement failed. */
export type Operation = 'read' | 'save' | 'delete'

type FailureKind =
  | 'busy'
  | 'unavailable'
  | 'forbidden'
  | 'duplicate'
  | 'notNull'
  | 'check'
  | 'foreignKey'
  | 'rowNumber'
  | 'fault'

/** The result codes that are handled. An extended code begins with the name of its primary code. */
const kinds: readonly (readonly [name: string, code: number, kind: FailureKind])[] = [
  ['SQLITE_CONSTRAINT_CHECK', 275, 'check'],
  ['SQLITE_CONSTRAINT_FOREIGNKEY', 787, 'foreignKey'],
  ['SQLITE_CONSTRAINT_NOTNULL', 1299, 'notNull'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 1555, 'duplicate'],
  ['SQLITE_CONSTRAINT_TRIGGER', 1811, 'check'],
  ['SQLITE_CONSTRAINT_UNIQUE', 2067, 'duplicate'],
  ['SQLITE_CONSTRAINT_ROWID', 2579, 'duplicate'],
  ['SQLITE_PERM', 3, 'forbidden'],
  ['SQLITE_AUTH', 23, 'forbidden'],
  ['SQLITE_BUSY', 5, 'busy'],
  ['SQLITE_LOCKED', 6, 'busy'],
  ['SQLITE_READONLY', 8, 'unavailable'],
  ['SQLITE_IOERR', 10, 'unavailable'],
  ['SQLITE_FULL', 13, 'unavailable'],
  ['SQLITE_CANTOPEN', 14, 'unavailable'],
  ['SQLITE_PROTOCOL', 15, 'unavailable'],
  ['SQLITE_MISMATCH', 20, 'rowNumber'],
]

/** Returns whether an error means that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return kindOf(error) === 'busy'
}

/** Creates an error that counts as busy: the application has a transaction open on its handle. */
export function handleInUse(): Error {
  const error = new Error('the application has a transaction open on the SQLite handle')
  return Object.assign(error, { code: 'SQLITE_BUSY' })
}

/** Converts an error of a driver to a StorageError. Returns any other error unchanged. */
export function storageFailure(
  error: unknown,
  operation: Operation,
  collection?: PublishedCollection,
  fieldsOf: (kind: 'check' | 'foreignKey', message: string) => readonly string[] = () => [],
): unknown {
  const storageError = (kind: StorageError['kind'], fields: readonly string[] = []): StorageError =>
    new StorageError(kind, { fields, cause: error })
  switch (kindOf(error)) {
    case 'busy':
    case 'unavailable':
      return storageError('unavailable')
    case 'forbidden':
      return storageError('forbidden')
    case 'duplicate':
      return storageError('duplicate', fieldsInMessage(error, collection))
    case 'notNull':
      return storageError('invalid', fieldsInMessage(error, collection))
    // An INTEGER PRIMARY KEY is the number of the row, which has no fraction.
    case 'rowNumber':
      return storageError('invalid')
    case 'check':
      return storageError('invalid', fieldsOf('check', (error as Error).message))
    case 'foreignKey':
      if (operation === 'delete') return storageError('referenced')
      return storageError('invalid', fieldsOf('foreignKey', (error as Error).message))
    case 'fault':
      return error
  }
}

// An error of better-sqlite3 has the name of the extended result code, one of node:sqlite the number.
function kindOf(error: unknown): FailureKind {
  if (!(error instanceof Error)) return 'fault'
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  // SQLite reports ON DELETE RESTRICT with the code of a trigger.
  if (error.message === 'FOREIGN KEY constraint failed') return 'foreignKey'
  if (typeof errcode === 'number') {
    const found = kinds.find(([, known]) => known === errcode || known === (errcode & 0xff))
    if (found !== undefined) return found[2]
  }
  if (typeof code === 'string' && code.startsWith('SQLITE_')) {
    return kinds.find(([name]) => code.startsWith(name))?.[2] ?? 'fault'
  }
  return /^The database connection is not open|^database is not open|^statement has been finalized/.test(
    error.message,
  )
    ? 'unavailable'
    : 'fault'
}

/**
 * Returns the fields in `UNIQUE constraint failed: table.column, table.column`. The names are not quoted
 * and may contain dots and commas, so they are compared with the columns of the collection.
 */
function fieldsInMessage(
  error: unknown,
  collection: PublishedCollection | undefined,
): readonly string[] {
  if (collection === undefined) return []
  const prefix = `${folded(collection.table)}.`
  const start = (error as Error).message.indexOf('constraint failed: ')
  let rest = folded((error as Error).message.slice(start + 'constraint failed: '.length))
  const found: string[] = []
  while (start !== -1 && rest.startsWith(prefix)) {
    rest = rest.slice(prefix.length)
    const next = `, ${prefix}`
    const field = collection.fields.find(({ column }) => {
      const name = folded(column)
      return rest === name || rest.startsWith(name + next)
    })
    if (field !== undefined) found.push(field.name)
    const end = field === undefined ? rest.indexOf(next) : field.column.length
    rest = end === -1 ? '' : rest.slice(end + 2)
  }
  return found
}

/** A function or collation that SQLite does not know. */
export interface UnknownCode {
  readonly kind: 'function' | 'collation'
  readonly name: string
}

/** Returns what SQLite does not know, by the message of its error; undefined if that is not the error. */
export function unknownIn(message: string): UnknownCode | undefined {
  const [, called] = /^(?:no such|unknown) function: ([^(]+)/.exec(message) ?? []
  if (called !== undefined) return { kind: 'function', name: called }
  const [, collation] = /^no such collation sequence: (.+)$/.exec(message) ?? []
  return collation === undefined ? undefined : { kind: 'collation', name: collation }
}

/** Returns what to do about a function or collation that SQLite does not know; undefined if that is not the error. */
export function unknownReason(message: string): string | undefined {
  const { kind, name } = unknownIn(message) ?? {}
  if (kind === undefined) return undefined
  const advice =
    kind === 'function'
      ? 'Register it with the option functions of sqliteStorage'
      : 'Load an extension that has it with the option extensions of sqliteStorage'
  return `SQLite does not know the ${kind} ${name} of the program that made the file. ${advice}`
}

/** Returns why a table can't be read, by the error of reading it. */
export function readFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return unknownReason(message) ?? message
}

/** Creates the error of a call that storage can't carry out now. */
export function unavailable(cause: unknown): StorageError {
  return new StorageError('unavailable', { cause })
}

/** Creates the error of every call after `close`. */
export function closedError(): StorageError {
  return unavailable(new Error('the storage is closed'))
}

/** Throws a TypeError that lists mistakes, if there are any. */
export function throwMistakes(mistakes: readonly string[]): void {
  if (mistakes.length === 0) return
  throw new TypeError(`sqliteStorage: the tables do not fit.\n- ${mistakes.join('\n- ')}`)
}

const pauseMilliseconds = 3

/** Runs work, and retries while another connection holds the lock. Rejects after a time in milliseconds. Never throws. */
export function retryWhileBusy<Result>(
  work: () => MaybePromise<Result>,
  milliseconds: number,
): MaybePromise<Result> {
  const later = (error: unknown): Promise<Result> => retryLater(error, work, milliseconds)
  try {
    const result = work()
    return result instanceof Promise ? result.catch(later) : result
  } catch (error) {
    return later(error)
  }
}

async function retryLater<Result>(
  error: unknown,
  work: () => MaybePromise<Result>,
  milliseconds: number,
): Promise<Result> {
  const began = runtime.performanceNow()
  let latest = error
  while (isBusy(latest) && runtime.performanceNow() - began < milliseconds) {
    await pause(pauseMilliseconds)
    try {
      return await work()
    } catch (again) {
      latest = again
    }
  }
  throw latest
}
