import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { literalOf } from './column-values.ts'
import type { ChangingDialect, FoundTables } from './database.ts'
import { folded, groupByTable, type Table } from './model.ts'
import type { Lacking } from './required-columns.ts'

/** The tables of a database as the changes before leave them. */
export interface Draft {
  readonly dialect: ChangingDialect
  readonly tables: FoundTables
  readonly collections: readonly PublishedCollection[]
  /** Returns a table by the name of a collection. */
  find(name: string): Table | undefined
  /** Returns the same string for names of collections that mean the same table. */
  identityOf(name: string): string
  quoted(name: string): string
  /** The rows without required values, as they were when the database was read. */
  readonly lacking: Lacking
}

/** Returns a draft. */
export function draftOf(
  dialect: ChangingDialect,
  tables: FoundTables,
  collections: readonly PublishedCollection[],
  lacking: Lacking,
): Draft {
  const { find, identityOf } = tables
  return { dialect, tables, collections, find, identityOf, quoted: dialect.quoted, lacking }
}

/** Returns a function that returns the same string for names that mean the same column of a table. */
export function columnIdentity({ find }: Draft, table: string): (column: string) => string {
  const known = find(table)
  return (column) => known?.find(column)?.name ?? folded(column)
}

/** Returns the SQL of a value in the column of a field. Undefined: the column does not keep the value. */
export function literalIn(
  { dialect, find }: Draft,
  table: string,
  field: PublishedField,
  value: NonNullable<StoredValue>,
): string | undefined {
  return literalOf(dialect, field, value, find(table)?.find(field.column))
}

/** An existing table, with the collections that share it. */
export interface SharedTable {
  /** Its name in the definition. */
  readonly name: string
  readonly table: Table
  readonly sharing: readonly PublishedCollection[]
}

/** Returns the existing tables of collections, without views. */
export function sharedTables({ collections, find, identityOf }: Draft): readonly SharedTable[] {
  return Array.from(groupByTable(collections, identityOf).values()).flatMap((sharing) => {
    const { table: name } = sharing[0] as PublishedCollection
    const table = find(name)
    return table?.kind === 'table' ? [{ name, table, sharing }] : []
  })
}

/** Returns the fields of collections that share a table for a column of it. */
export function fieldsOf(
  { table, sharing }: Pick<SharedTable, 'table' | 'sharing'>,
  name: string,
): readonly PublishedField[] {
  return sharing
    .flatMap(({ fields }) => fields)
    .filter(({ column }) => table.find(column)?.name === name)
}
