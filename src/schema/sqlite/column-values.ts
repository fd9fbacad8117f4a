import { Buffer } from 'node:buffer'
import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { literalText, quoted } from '../../storage/sql/fragments.ts'
import {
  lackingOf,
  unfilledColumns,
  unfilledMistake,
  valueCounts,
  type Lacking,
  type UnfilledColumn,
} from '../required-columns.ts'
import { bindValue } from '../../storage/sqlite/statements/columns.ts'
import { rowsOf, type Connection } from '../../storage/sqlite/connection/connection.ts'
import { throwMistakes } from '../../storage/sqlite/connection/failure.ts'
import type { Tables } from './tables.ts'
import { folded } from '../model.ts'

/** Returns a value of a field as a literal of SQL, in the form that its column stores. */
export function literalOf(field: PublishedField, value: NonNullable<StoredValue>): string {
  const stored = bindValue(field, value)
  if (typeof stored === 'string') return literalText(stored)
  if (stored instanceof Uint8Array) return `X'${Buffer.from(stored).toString('hex')}'`
  // Without a point it would be an integer.
  return typeof stored === 'number' && Number.isInteger(stored) && Math.abs(stored) < 1e21
    ? `${stored}.0`
    : String(stored)
}

/** Counts the rows without required values: in all columns (default), or only in those that tables lack. */
export function countLacking(
  connection: Connection,
  tables: Tables,
  collections: readonly PublishedCollection[],
  of: 'all' | 'absent' = 'all',
): Lacking {
  const find = (name: string) => {
    const found = tables.find(name)
    const column = (own: string) => found?.columns.get(folded(own))
    return found && { kind: found.kind, name, find: column }
  }
  const counts = valueCounts(collections, { find, identityOf: folded }, quoted, of)
  return lackingOf(
    counts,
    counts.map(({ statement }) => rowsOf(connection, statement)[0]),
  )
}

/** Counts the rows that need a value of a column that tables lack. Throws a TypeError if a value is not known. */
export function absentValues(
  connection: Connection,
  tables: Tables,
  collections: readonly PublishedCollection[],
): Lacking {
  const lacking = countLacking(connection, tables, collections, 'absent')
  const empty = unfilled(collections, lacking).filter(({ statement }) => statement === undefined)
  throwMistakes(empty.map(unfilledMistake))
  return lacking
}

/** Returns the columns of required fields that tables with rows lack. */
export function unfilled(
  collections: readonly PublishedCollection[],
  lacking: Lacking,
): readonly UnfilledColumn[] {
  return unfilledColumns(collections, lacking, {
    quoted,
    identityOf: folded,
    literal: literalOf,
    tableName: (name) => name,
  })
}
