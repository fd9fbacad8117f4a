import type { CatalogueColumn, CatalogueTable } from '../catalogue-tables.ts'
import { writeEvents, type Denied, type WriteEvent } from './description.ts'

/** Returns the events that a table does not allow, or to which the role of the connection has no right. */
export function deniedOf(table: CatalogueTable): readonly Denied[] {
  const { unwritable } = table
  if (unwritable !== undefined) return [{ events: writeEvents, reason: `it ${unwritable}` }]
  const events = writeEvents.filter((event) => !isAllowed(table, event))
  if (events.length === 0) return []
  const isReadOnly = events.length === writeEvents.length
  const reason = isReadOnly ? 'the role may only read it' : 'the role does not have the right'
  return [{ events, reason }]
}

// A right to one column is enough.
function isAllowed({ columns, isDeletable = true }: CatalogueTable, event: WriteEvent): boolean {
  return event === 'Delete'
    ? isDeletable
    : columns.some((column) => !deniedTo(column).includes(event))
}

/** Returns the events in which the role of the connection may not write a column. */
export function deniedTo({
  isInsertable = true,
  isUpdatable = true,
}: CatalogueColumn): readonly ('Insert' | 'Update')[] {
  return [
    ...(isInsertable ? [] : (['Insert'] as const)),
    ...(isUpdatable ? [] : (['Update'] as const)),
  ]
}
