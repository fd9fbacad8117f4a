import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { affinityOf } from './column-types.ts'
import { columnTypeOf } from '../../storage/sqlite/statements/columns.ts'
import { exactFields } from './statements.ts'
import type { Identities } from '../../storage/sqlite/statements/statements.ts'
import type { FoundTables } from '../database.ts'
import type { Column } from '../model.ts'

/** Returns the fields whose columns are declared as {@link columnDefinition} writes them. */
export function exactColumns(
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): ReadonlySet<PublishedField> {
  const exact = new Set<PublishedField>()
  for (const collection of collections) {
    const statement = tables.find(collection.table)?.statement
    if (statement === undefined) continue
    for (const field of exactFields(statement, collection)) exact.add(field)
  }
  return exact
}

/**
 * Returns the fields whose columns accept only values that fit: the table is STRICT, and the column has
 * the CHECK that {@link columnDefinition} writes.
 *
 * @param exact the result of {@link exactColumns}
 */
export function guaranteedFields(
  tables: FoundTables,
  collections: readonly PublishedCollection[],
  exact: ReadonlySet<PublishedField>,
): readonly PublishedField[] {
  return collections
    .filter(({ table }) => tables.find(table)?.strict === true)
    .flatMap(({ fields }) => fields.filter((field) => exact.has(field)))
}

/** Returns the fields whose columns have stored values, not computed ones. */
export function storedFields(
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): readonly PublishedField[] {
  return collections.flatMap(({ table, fields }) => {
    const found = tables.find(table)
    if (found?.kind !== 'table') return []
    return fields.filter(({ column }) => found.find(column)?.isComputed === false)
  })
}

/** Returns the fields whose columns store a number as a string: affinity TEXT, and in a key NOT NULL as well. */
export function fieldsWithoutNumbers(
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): readonly PublishedField[] {
  const stored = new Set(storedFields(tables, collections))
  return collections.flatMap(({ table, fields }) => {
    const found = tables.find(table)
    return fields.filter((field) => {
      const column = found?.find(field.column)
      if (column === undefined || !stored.has(field)) return false
      return affinityOf(column.declared) === 'TEXT' && (!field.inKey || column.notNull)
    })
  })
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
  return column.isComputed || !keepsValues(field, column.declared) || mayConvert(field, column)
}

/** Returns whether a column converts some values of a field, which a save then rejects. */
function mayConvert({ type }: PublishedField, { declared }: Column): boolean {
  return type === 'json' && affinityOf(declared) === 'NUMERIC'
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

/** Returns whether a column of this type keeps each value of a field as it is given. */
export function keepsValues(field: PublishedField, declared: string): boolean {
  return columnTypeOf(field).fits.includes(affinityOf(declared))
}
