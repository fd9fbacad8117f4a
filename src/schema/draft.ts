import type { PublishedField } from '../definition/published-field.ts'
import type { SchemaDialect, Tables } from '../storage/sql/dialect.ts'
import type { Draft, PlannedChange, SharedTable } from './changes.ts'
import type { Table } from './model.ts'

/** The tables of a database behind a pool, as the changes before leave them. */
export interface TablesDraft extends Draft {
  readonly tables: Tables
  readonly dialect: SchemaDialect
  readonly all: readonly Table[]
  find(name: string): Table | undefined
}

/** Returns the fields of collections that share a table for a column of it. */
export function fieldsOf(
  { table, sharing }: Pick<SharedTable<Table>, 'table' | 'sharing'>,
  name: string,
): readonly PublishedField[] {
  return sharing
    .flatMap(({ fields }) => fields)
    .filter(({ column }) => table.find(column)?.name === name)
}

/** Returns the changes without those that collections with the same table repeat. */
export function withoutRepeated(changes: readonly PlannedChange[]): readonly PlannedChange[] {
  return [...new Map(changes.map((change) => [change.statements.join('\n'), change])).values()]
}
