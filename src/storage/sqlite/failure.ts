import type { PublishedCollection } from '../../definition/published.ts'
import { StorageError } from '../adapter.ts'

/** What was being done when a statement failed. */
export type Operation = 'read' | 'save' | 'delete'

type FailureKind =
  'busy' | 'unavailable' | 'duplicate' | 'notNull' | 'check' | 'foreignKey' | 'fault'

/** The result codes that mean something here. Longer names of a family start like the family's. */
const kinds: readonly (readonly [name: string, code: number, kind: FailureKind])[] = [
  ['SQLITE_CONSTRAINT_CHECK', 275, 'check'],
  ['SQLITE_CONSTRAINT_FOREIGNKEY', 787, 'foreignKey'],
  ['SQLITE_CONSTRAINT_NOTNULL', 1299, 'notNull'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 1555, 'duplicate'],
  ['SQLITE_CONSTRAINT_TRIGGER', 1811, 'check'],
  ['SQLITE_CONSTRAINT_UNIQUE', 2067, 'duplicate'],
  ['SQLITE_CONSTRAINT_ROWID', 2579, 'duplicate'],
  ['SQLITE_BUSY', 5, 'busy'],
  ['SQLITE_LOCKED', 6, 'busy'],
  ['SQLITE_READONLY', 8, 'unavailable'],
  ['SQLITE_IOERR', 10, 'unavailable'],
  ['SQLITE_FULL', 13, 'unavailable'],
  ['SQLITE_CANTOPEN', 14, 'unavailable'],
  ['SQLITE_PROTOCOL', 15, 'unavailable'],
]

/** Whether another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return kindOf(error) === 'busy'
}

/** An error that counts as a lock: the handle's owner has a transaction of its own open. */
export function handleInUse(): Error {
  const error = new Error('the SQLite handle has a transaction open that its owner began')
  return Object.assign(error, { code: 'SQLITE_BUSY' })
}

/** What the port wants to be thrown for an error of a driver: a refusal, or the error as it is. */
export function storageFailure(
  error: unknown,
  operation: Operation,
  collection?: PublishedCollection,
  fieldsOf: (kind: 'check' | 'foreignKey', message: string) => readonly string[] = () => [],
): unknown {
  const refuse = (kind: StorageError['kind'], fields: readonly string[] = []): StorageError =>
    new StorageError(kind, { fields, cause: error })
  switch (kindOf(error)) {
    case 'busy':
    case 'unavailable':
      return refuse('unavailable')
    case 'duplicate':
      return refuse('duplicate', concerned(error, collection))
    case 'notNull':
      return refuse('invalid', concerned(error, collection))
    case 'check':
      return refuse('invalid', fieldsOf('check', (error as Error).message))
    case 'foreignKey':
      if (operation === 'delete') return refuse('referenced')
      return refuse('invalid', fieldsOf('foreignKey', (error as Error).message))
    case 'fault':
      return error
  }
}

// better-sqlite3 gives the name of the extended result code, node:sqlite its number.
function kindOf(error: unknown): FailureKind {
  if (!(error instanceof Error)) return 'fault'
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  // ON DELETE RESTRICT is a trigger to SQLite.
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
 * The fields named by `UNIQUE constraint failed: table.column, table.column`. Names are not quoted
 * there and may hold dots and commas, so they are read by the names that the collection knows.
 */
function concerned(error: unknown, collection: PublishedCollection | undefined): readonly string[] {
  if (collection === undefined) return []
  const prefix = `${collection.table.toLowerCase()}.`
  const start = (error as Error).message.indexOf('constraint failed: ')
  let rest = (error as Error).message.slice(start + 'constraint failed: '.length).toLowerCase()
  const found: string[] = []
  while (start !== -1 && rest.startsWith(prefix)) {
    rest = rest.slice(prefix.length)
    const next = `, ${prefix}`
    const field = collection.fields.find(({ column }) => {
      const name = column.toLowerCase()
      return rest === name || rest.startsWith(name + next)
    })
    if (field !== undefined) found.push(field.name)
    const end = field === undefined ? rest.indexOf(next) : field.column.length
    rest = end === -1 ? '' : rest.slice(end + 2)
  }
  return found
}
