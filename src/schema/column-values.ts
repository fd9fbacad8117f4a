import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { FoundTables, TableDialect } from './database.ts'
import { unfilledColumns, type Lacking, type UnfilledColumn } from './required-columns.ts'
import type { Column } from './model.ts'

/** Returns the columns of required fields that tables with rows lack. */
export function unfilled(
  { dialect, find, identityOf }: FoundTables,
  collections: readonly PublishedCollection[],
  lacking: Lacking,
): readonly UnfilledColumn[] {
  return unfilledColumns(collections, lacking, {
    quoted: dialect.quoted,
    identityOf,
    tableName: (name) => find(name)?.name ?? name,
    literal: (field, value) => literalOf(dialect, field, value),
  })
}

/**
 * Returns the SQL of a value in the column of a field. `column`: an existing one. Undefined: it does not keep the value.
 */
export function literalOf(
  dialect: TableDialect,
  field: PublishedField,
  value: NonNullable<StoredValue>,
  column?: Column,
): string | undefined {
  const type = column === undefined ? dialect.columnTypes[field.type] : dialect.kept(column, field)
  if (type?.parameter === undefined) return type && dialect.schema.value?.(field, value)
  const text = (type.write ?? String)(value)
  const parameter = type.parameter({ read: () => text }, field.definition)
  const { texts } = type.assigned?.(parameter, undefined) ?? parameter
  return texts.join(dialect.schema.literal(text))
}
