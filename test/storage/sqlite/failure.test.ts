import { expect, test } from 'vitest'
import { isStorageError } from '../../../src/entries/storage.ts'
import {
  handleInUse,
  isBusy,
  storageFailure,
} from '../../../src/storage/sqlite/connection/failure.ts'

test.each(['text', 5, null, undefined, { code: 'SQLITE_BUSY' }])(
  'a thrown %j, which is not an Error, stays itself',
  (thrown) => {
    expect(storageFailure(thrown, 'save')).toBe(thrown)
    expect(isBusy(thrown)).toBe(false)
  },
)

const driverErrors: readonly (readonly [object, string | undefined])[] = [
  [{ code: 'SQLITE_BUSY' }, 'unavailable'],
  [{ code: 'SQLITE_BUSY_SNAPSHOT' }, 'unavailable'],
  [{ errcode: 5 }, 'unavailable'],
  [{ errcode: 517 }, 'unavailable'],
  [{ code: 'SQLITE_LOCKED_SHAREDCACHE' }, 'unavailable'],
  [{ code: 'SQLITE_FULL' }, 'unavailable'],
  [{ code: 'SQLITE_AUTH' }, 'forbidden'],
  [{ errcode: 23 }, 'forbidden'],
  [{ errcode: 3 }, 'forbidden'],
  [{ errcode: 13 }, 'unavailable'],
  [{ errcode: 778 }, 'unavailable'],
  [{ code: 'SQLITE_CANTOPEN_ISDIR' }, 'unavailable'],
  [{ code: 'SQLITE_PROTOCOL' }, 'unavailable'],
  [{ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' }, 'duplicate'],
  [{ errcode: 1555 }, 'duplicate'],
  [{ code: 'SQLITE_CONSTRAINT_ROWID' }, 'duplicate'],
  [{ errcode: 2067 }, 'duplicate'],
  [{ code: 'SQLITE_CONSTRAINT_NOTNULL' }, 'invalid'],
  [{ errcode: 275 }, 'invalid'],
  [{ code: 'SQLITE_CONSTRAINT_TRIGGER' }, 'invalid'],
  [{ errcode: 787 }, 'invalid'],
  [{ code: 'SQLITE_MISMATCH' }, 'invalid'],
  [{ errcode: 20 }, 'invalid'],
  [{ code: 'SQLITE_ERROR' }, undefined],
  [{ errcode: 1 }, undefined],
  [{ code: 'ENOENT' }, undefined],
  [{}, undefined],
]

test.each(driverErrors)('the driver error %j becomes the storage error %s', (members, kind) => {
  const error = Object.assign(new Error('broken'), members)
  const failure = storageFailure(error, 'save')
  if (kind === undefined) expect(failure).toBe(error)
  else expect(failure).toMatchObject({ kind, cause: error })
  expect(isStorageError(failure)).toBe(kind !== undefined)
})

test('a foreign key failure of a delete means that the row is referenced', () => {
  const error = Object.assign(new Error('x'), { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
  expect(storageFailure(error, 'delete')).toMatchObject({ kind: 'referenced' })
  const restricted = Object.assign(new Error('FOREIGN KEY constraint failed'), {
    code: 'SQLITE_CONSTRAINT_TRIGGER',
  })
  expect(storageFailure(restricted, 'delete')).toMatchObject({ kind: 'referenced' })
})

test.each([
  'The database connection is not open',
  'database is not open',
  'statement has been finalized',
])('the error "%s" means that storage is unavailable', (message) => {
  expect(storageFailure(new TypeError(message), 'read')).toMatchObject({ kind: 'unavailable' })
  expect(storageFailure(new TypeError(`so ${message}`), 'read')).toBeInstanceOf(TypeError)
})

test('a transaction of the application on its handle counts as busy', () => {
  expect(isBusy(handleInUse())).toBe(true)
  expect(isBusy(Object.assign(new Error(), { code: 'SQLITE_IOERR' }))).toBe(false)
})
