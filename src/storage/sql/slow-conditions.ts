import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Table } from '../../schema/model.ts'
import {
  minScannedRows,
  unindexedConditions,
  type RangeIndex,
} from '../../schema/unindexed-conditions.ts'
import type { UnindexedConditions } from '../problem.ts'
import type { Tables } from './dialect.ts'
import { slowOrders } from './slow-orders.ts'
import { placedColumn, placeOf } from './table-conditions.ts'

/**
 * Returns the conditions of a collection that read the whole table and that an index would serve, if the server estimates
 * that the table is large.
 */
export function slowConditions(
  tables: Tables,
  collection: PublishedCollection,
): readonly UnindexedConditions[] {
  return allSlowConditions(tables, collection).filter(({ statements }) => statements.length > 0)
}

/** Returns the same conditions, and those that no index would serve. */
export function allSlowConditions(
  tables: Tables,
  collection: PublishedCollection,
): readonly UnindexedConditions[] {
  if ((tables.find(collection.table)?.rows ?? 0) < minScannedRows) return []
  // The index of a slow order serves the ranges of its first field.
  const ordered = new Set(
    slowOrders(tables, collection)
      .filter(({ statements }) => statements.length > 0)
      .map(({ fields: [first] }) => first),
  )
  return unindexedConditions(tables, collection, (found, field) =>
    rangeIndex(tables, collection, { found, field, isOrdered: ordered.has(field) }),
  )
}

/** Returns what serves the ranges of a field: an index on text has the order of one collation. */
function rangeIndex(
  tables: Tables,
  collection: PublishedCollection,
  {
    found,
    field,
    isOrdered,
  }: { readonly found: Table; readonly field: PublishedField; readonly isOrdered: boolean },
): RangeIndex {
  const { terms, orders } = tables.dialect
  const column = placedColumn(placeOf(tables, collection), field)
  if (!column.isText || terms.ordered(column) === column.stored) return 'equality'
  if (isOrdered) return 'present'
  const [lacking] = orders?.lacking(found, [[{ ...column, descending: false }]]) ?? []
  return lacking?.statements ?? 'present'
}
