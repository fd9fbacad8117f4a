import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { SchemaDialect, Tables } from './dialect.ts'
import type { Draft, PlannedChange } from './schema-changes.ts'
import { folded, type Table } from './tables.ts'

/** The tables of a database behind a pool, as the changes before leave them. */
export interface TablesDraft extends Draft {
  readonly tables: Tables
  readonly dialect: SchemaDialect
  readonly all: readonly Table[]
  find(name: string): Table | undefined
}

/** Returns the fields of collections that share a table for a column. */
export function fieldsOf(
  sharing: readonly PublishedCollection[],
  name: string,
): readonly PublishedField[] {
  return sharing
    .flatMap(({ fields }) => fields)
    .filter(({ column }) => folded(column) === folded(name))
}

/** Returns the changes without those that collections with the same table repeat. */
export function withoutRepeated(changes: readonly PlannedChange[]): readonly PlannedChange[] {
  return [...new Map(changes.map((change) => [change.statements.join('\n'), change])).values()]
}
