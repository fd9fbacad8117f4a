import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Affinity } from './column-types.ts'
import type { Guarantee } from '../../storage/sqlite/reading/guaranteed-values.ts'
import { columnTypeOf } from '../../storage/sqlite/statements/columns.ts'
import type { Identities } from '../../storage/sqlite/statements/statements.ts'
import type { FoundTables } from '../database.ts'
import type { Column, Table } from '../model.ts'

/** Returns what the columns of fields guarantee. Other fields have none, or one whose values are computed. */
export function guaranteesOf(
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): ReadonlyMap<PublishedField, Guarantee> {
  const guarantees = new Map<PublishedField, Guarantee>()
  for (const collection of collections) {
    const table = tables.find(collection.table)
    if (table === undefined) continue
    // In a STRICT table, a column as new tables have it accepts only values that fit.
    const fitting = table.strict === true ? tables.written?.(collection) : undefined
    for (const field of collection.fields) {
      const guarantee = fitting?.has(field) === true ? 'fit' : guaranteeOf(table, field)
      if (guarantee !== undefined) guarantees.set(field, guarantee)
    }
  }
  return guarantees
}

function guaranteeOf(
  { kind, find }: Table,
  { column: name, inKey }: PublishedField,
): Guarantee | undefined {
  const column = find(name)
  if (kind !== 'table' || column?.isComputed !== false) return undefined
  // A column of affinity TEXT stores a number as a string.
  const hasNoNumber = column.base === 'TEXT' && (!inKey || column.notNull)
  return hasNoNumber ? 'no-number' : 'stored'
}

/**
 * Returns the collections of which a column may have another value than it is given: SQLite computes it from others, or
 * converts texts to numbers.
 */
export function readBackCollections(
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): readonly PublishedCollection[] {
  return collections.filter(({ table, fields }) => {
    const found = tables.find(table)
    return fields.some((field) => {
      const column = found?.find(field.column)
      return column !== undefined && isReadBackField(field, column)
    })
  })
}

/** Returns whether a column may have another value than it is given. */
export function isReadBackField(field: PublishedField, column: Column): boolean {
  return column.isComputed || !keepsValues(field, column) || mayConvert(field, column)
}

/** Returns whether a column converts some values of a field, which a save then rejects. */
function mayConvert({ type }: PublishedField, { base }: Column): boolean {
  return type === 'json' && base === 'NUMERIC'
}

/** Returns, for collections without key, the columns whose values together no two rows have, if they are known. */
export function identitiesIn(
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): Identities {
  const identities = new Map<PublishedCollection, readonly string[]>()
  for (const collection of collections.filter(({ key }) => key.length === 0)) {
    const columns = tables.find(collection.table)?.identity
    if (columns !== undefined) identities.set(collection, columns)
  }
  return identities
}

/** Returns whether a column keeps each value of a field as it is given. */
function keepsValues(field: PublishedField, { base }: Column): boolean {
  return columnTypeOf(field).fits.includes(base as Affinity)
}
