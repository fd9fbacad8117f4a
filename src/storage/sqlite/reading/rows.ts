import { Buffer } from 'node:buffer'
import { isWithinBounds, type StoredValue } from '../../../definition/field-type.ts'
import type { PublishedCollection } from '../../../definition/published.ts'
import { StorageError, unfitError, type Row, type UnfitValue } from '../../adapter.ts'
import { columnTypeOf } from '../statements/columns.ts'
import type { SqliteRow, SqliteValue } from '../connection/connection.ts'
import { lengthAt } from './guaranteed-values.ts'

/** A row without the values that do not fit their fields. */
export interface ReadRow {
  readonly row: Row
  readonly unfit: readonly UnfitValue[]
  /**
   * Whether a value may not fit, and was read without the lengths: a blob, or a string that contains U+0000, or U+FFFD,
   * so that it may be invalid UTF-8.
   */
  readonly uncertain: boolean
}

const replacement = '\ufffd'
const none: readonly UnfitValue[] = []

/** Converts the values of the named fields to a row. The byte lengths of strings may follow the values. */
export function readRow(
  collection: PublishedCollection,
  names: readonly string[],
  values: SqliteRow,
): ReadRow {
  const row: Record<string, StoredValue> = {}
  let unfit: UnfitValue[] | undefined
  let uncertain = false
  const hasLengths = values.length > names.length
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    const value = values[index] as SqliteValue
    if (!hasLengths && isDoubtful(value)) {
      uncertain = true
      continue
    }
    if (value instanceof Uint8Array) {
      const found = Buffer.from(value).toString()
      unfit = [...(unfit ?? []), { field: name, found: descriptionOf(found) }]
      continue
    }
    if (typeof value === 'string' && value.includes(replacement)) {
      const length = lengthAt(values, names.length, index)
      if (length !== null && length !== Buffer.byteLength(value)) {
        unfit = [...(unfit ?? []), { field: name, found: 'text that is not valid UTF-8' }]
        continue
      }
    }
    const field = collection.byName.get(name)
    // SQLite finds JSON valid that no request could contain.
    if (field?.type === 'json' && typeof value === 'string' && !isWithinBounds(value)) {
      unfit = [...(unfit ?? []), { field: name, found: descriptionOf('text') }]
      continue
    }
    const decode = field && columnTypeOf(field).decode
    row[name] = value === null || decode === undefined ? (value as StoredValue) : decode(value)
  }
  return { row, unfit: unfit ?? none, uncertain }
}

function isDoubtful(value: SqliteValue): boolean {
  if (typeof value === 'string') return value.includes(replacement) || value.includes('\0')
  return value instanceof Uint8Array
}

/**
 * Returns a row that a write has returned. Throws if one of the named fields does not fit, or was converted to a number:
 * an `invalid` StorageError for json, where the client can give another value.
 */
export function keptRow(
  collection: PublishedCollection,
  stored: ReadRow,
  given: Row,
  names: readonly string[],
): Row {
  const unfit = stored.unfit.filter(({ field }) => names.includes(field))
  const converted = names.filter(
    (name) => typeof given[name] === 'string' && typeof stored.row[name] === 'number',
  )
  if (unfit.length === 0 && converted.length === 0) return stored.row
  const fields = [...unfit.map(({ field }) => field), ...converted].filter(
    (name) => collection.byName.get(name)?.type === 'json' && typeof given[name] === 'string',
  )
  if (fields.length > 0) {
    const cause = new Error(`SQLite would convert the numbers of ${fields.join(', ')}`)
    throw new StorageError('invalid', { fields, cause })
  }
  const numbers = converted.map((field) => ({ field, found: 'a number' }))
  throw unfitRow(collection, { ...stored, unfit: [...unfit, ...numbers] })
}

/** Returns the error for a row with values that do not fit. */
export function unfitRow(collection: PublishedCollection, { row, unfit }: ReadRow): StorageError {
  const key = collection.key.map(({ name }) => {
    const misfit = unfit.find(({ field }) => field === name)
    return misfit === undefined ? JSON.stringify(row[name] ?? null) : misfit.found
  })
  return unfitError(collection, key, unfit)
}

const classes: Readonly<Record<string, string>> = {
  text: 'other text',
  integer: 'another integer',
  real: 'another real number',
  blob: 'a blob',
}

function descriptionOf(found: string): string {
  return classes[found] ?? found
}
